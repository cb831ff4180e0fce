package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Much of the data is records of a few shapes: what Go knows of types, and of functions. Record after record, brotli sees little in
// common between neighbours: of a method it takes the name, the type and the code for bytes that it has never seen. Field after
// field, most of them follow from the one before.
//
// So the module has the records in columns, in memory that is the heap's later on, and puts them together when it is instantiated.

// row is a record, or several of one shape, one behind the other.
type row struct {
	address int
	shape   string
	count   int
}

// shapes are the columns of each shape's words, of 32 bits. A word without a column is zero.
type shapes map[string][]string

// columns are the streams of bytes that records were made into. Numbers are little endian.
type columns struct {
	start   int // where in memory the streams are
	streams []byte
	rows    int
	first   int // the address from which the gap before the first row is counted
	gaps    int // the address of: how many words are between a row and the one before, 2 bytes each
	shapes  int // of: which shape a row has, a byte each
	counts  int // of: how many records a row has, 2 bytes each
	of      int // of: the shapes, shapeSize bytes each: how many words one has, and the number of the column of each
	columns int // of: the columns, columnSize bytes each
}

// Of a column, the decoder keeps where its next word is, and the last one. The masks say what is added to a word of it: the last
// one, the word in front of it in memory, or nothing.
const (
	columnNext = 4 * iota
	columnLast
	columnAddsLast
	columnAddsFront
	columnSize
)

const (
	shapeSize  = 32
	mostGap    = 1<<16 - 1
	mostCount  = 1<<16 - 1
	mostShapes = 1 << 8 // and columns
)

// column is one that is being made.
type column struct{ words, fronts []uint32 }

// encoder makes columns.
type encoder struct {
	columns
	image                         []byte
	all                           shapes
	rowGaps, rowShapes, rowCounts []byte
	shapeColumns                  []byte
	shapeNumbers, columnNumbers   map[string]int
	list                          []*column // the first is nil, for zeros
}

// encode makes columns of the records in image, of which zeros are left. Rows are in the order of their addresses. The streams are to
// be at the address start, where neither a record nor anything else is.
//
// Errors: rows that overlap, or are not at multiples of 4 from the first one, or of an unknown shape; words that are not zero and
// have no column; more shapes, columns or words of a shape than there are numbers for; no rows.
func encode(image []byte, rows []row, all shapes, start int) (*columns, error) {
	e := &encoder{
		columns: columns{start: start}, image: image, all: all,
		shapeNumbers: map[string]int{}, columnNumbers: map[string]int{}, list: []*column{nil},
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.count == 0 })
	if len(rows) == 0 {
		return nil, errors.New("there are no records")
	}
	e.first = rows[0].address
	end := e.first
	for _, r := range rows {
		shape, err := e.shape(r.shape)
		if err != nil {
			return nil, err
		}
		gap := r.address - end
		if gap < 0 || gap%4 != 0 {
			return nil, fmt.Errorf("a record at %#x, behind one that ends at %#x", r.address, end)
		}
		e.row(gap/4, shape, r.count)
		if end, err = e.words(r); err != nil {
			return nil, err
		}
	}
	e.finish()
	for _, r := range rows {
		clear(image[r.address : r.address+4*len(all[r.shape])*r.count])
	}
	return &e.columns, nil
}

// shape returns the number of a shape.
func (e *encoder) shape(name string) (int, error) {
	if n, ok := e.shapeNumbers[name]; ok {
		return n, nil
	}
	of := e.all[name]
	if len(of) == 0 || len(of) >= shapeSize {
		return 0, fmt.Errorf("%d words in a record of the shape %q", len(of), name)
	}
	numbers := make([]byte, shapeSize)
	numbers[0] = byte(len(of))
	for i, column := range of {
		numbers[1+i] = byte(e.column(column))
	}
	e.shapeColumns = append(e.shapeColumns, numbers...)
	n := len(e.shapeNumbers)
	e.shapeNumbers[name] = n
	if n >= mostShapes || len(e.list) > mostShapes {
		return 0, errors.New("more shapes or columns than there are numbers for")
	}
	return n, nil
}

// column returns the number of a column: 0 for the name "".
func (e *encoder) column(name string) int {
	if name == "" {
		return 0
	}
	n, ok := e.columnNumbers[name]
	if !ok {
		n = len(e.list)
		e.columnNumbers[name] = n
		e.list = append(e.list, &column{})
	}
	return n
}

// row adds a row, or as many as its numbers take.
func (e *encoder) row(gap, shape, count int) {
	add := func(gap, count int) {
		e.rowGaps = binary.LittleEndian.AppendUint16(e.rowGaps, uint16(gap))
		e.rowShapes = append(e.rowShapes, byte(shape))
		e.rowCounts = binary.LittleEndian.AppendUint16(e.rowCounts, uint16(count))
		e.rows++
	}
	for ; gap > mostGap; gap -= mostGap {
		add(mostGap, 0)
	}
	for ; count > 0; count -= mostCount {
		add(gap, min(count, mostCount))
		gap = 0
	}
}

// words puts the words of a row into columns, and returns the address behind them.
func (e *encoder) words(r row) (end int, err error) {
	end = r.address
	for range r.count {
		for _, name := range e.all[r.shape] {
			word := binary.LittleEndian.Uint32(e.image[end:])
			if name != "" {
				c := e.list[e.columnNumbers[name]]
				c.words = append(c.words, word)
				c.fronts = append(c.fronts, binary.LittleEndian.Uint32(e.image[end-4:]))
			} else if word != 0 {
				return 0, fmt.Errorf("a word of a record of the shape %q is %#x, not zero", r.shape, word)
			}
			end += 4
		}
	}
	return end, nil
}

// finish lays the streams out.
func (e *encoder) finish() {
	put := func(content []byte) int {
		for len(e.streams)%4 != 0 {
			e.streams = append(e.streams, 0)
		}
		at := e.start + len(e.streams)
		e.streams = append(e.streams, content...)
		return at
	}
	e.gaps, e.shapes, e.counts, e.of = put(e.rowGaps), put(e.rowShapes), put(e.rowCounts), put(e.shapeColumns)
	e.columns.columns = put(make([]byte, columnSize*len(e.list)))
	for n, c := range e.list[1:] {
		content, addsLast, addsFront := c.best()
		next := put(content)
		state := e.streams[e.columns.columns-e.start+columnSize*(1+n):]
		binary.LittleEndian.PutUint32(state[columnNext:], uint32(next))
		binary.LittleEndian.PutUint32(state[columnAddsLast:], addsLast)
		binary.LittleEndian.PutUint32(state[columnAddsFront:], addsFront)
	}
}

// best returns the words of a column as they are compressed best, and the masks of what is added to them.
func (c *column) best() (content []byte, addsLast, addsFront uint32) {
	const all = 1<<32 - 1
	for _, masks := range []struct{ last, front uint32 }{{0, 0}, {all, 0}, {0, all}} {
		var words []byte
		var last uint32
		for i, word := range c.words {
			words = binary.LittleEndian.AppendUint32(words, word-last&masks.last-c.fronts[i]&masks.front)
			last = word
		}
		if content == nil || packed(words) < packed(content) {
			content, addsLast, addsFront = words, masks.last, masks.front
		}
	}
	return content, addsLast, addsFront
}

// packed is about how many bytes a compressor makes of content.
func packed(content []byte) int {
	var to bytes.Buffer
	w, err := flate.NewWriter(&to, flate.BestSpeed)
	if err != nil {
		panic(err) // of a level that there is
	}
	_, _ = w.Write(content) // to memory
	_ = w.Close()
	return to.Len()
}

// The locals of decode.
const (
	decodeTo     = iota // where the next word goes
	decodeGap           // of the row, and the next one
	decodeShape         // of the row
	decodeShapes        // the end of those
	decodeCount         // of the row
	decodeLeft          // how many of its records are
	decodeOf            // the number of the column of the last word
	decodeOfEnd         // of the record's last word
	decodeColumn
	decodeNext // where the next word of the column is
	decodeWord
	decodeLocals
)

// decode is the body of a function that puts the records together, and leaves zeros where the streams were.
func (c *columns) decode() []byte {
	a := &assembler{1, decodeLocals, typeI32}
	a.let(decodeTo, c.first)
	a.let(decodeGap, c.gaps)
	a.let(decodeShape, c.shapes)
	a.let(decodeShapes, c.shapes+c.rows)
	a.let(decodeCount, c.counts)
	a.op(opLoop, noResult) // for each row
	a.get(decodeTo)
	a.get(decodeGap)
	a.at(opI32Load16U, 0)
	a.number(2)
	a.op(opI32Shl, opI32Add)
	a.set(decodeTo)
	a.step(decodeGap, 2)
	a.get(decodeCount)
	a.at(opI32Load16U, 0)
	a.tee(decodeLeft)
	a.op(opIf, noResult, opLoop, noResult) // for each record
	a.get(decodeShape)
	a.at(opI32Load8U, 0)
	a.number(shapeSize)
	a.op(opI32Mul)
	a.number(c.of)
	a.op(opI32Add)
	a.tee(decodeOf)
	a.get(decodeOf)
	a.at(opI32Load8U, 0)
	a.op(opI32Add)
	a.set(decodeOfEnd)
	a.op(opLoop, noResult) // for each word
	a.step(decodeOf, 1)
	a.get(decodeOf)
	a.at(opI32Load8U, 0)
	a.tee(decodeColumn)
	a.op(opIf, noResult)
	c.decodeWord(a)
	a.op(opEnd)
	a.step(decodeTo, 4)
	a.get(decodeOf)
	a.get(decodeOfEnd)
	a.op(opI32LtU, opBrIf, 0, opEnd)
	a.get(decodeLeft)
	a.number(1)
	a.op(opI32Sub)
	a.tee(decodeLeft)
	a.op(opBrIf, 0, opEnd, opEnd)
	a.step(decodeCount, 2)
	a.step(decodeShape, 1)
	a.get(decodeShape)
	a.get(decodeShapes)
	a.op(opI32LtU, opBrIf, 0, opEnd)
	a.number(c.start)
	a.number(0)
	a.number(len(c.streams))
	a.op(opPrefixed, opMemoryFill, 0, opEnd)
	return *a
}

// decodeWord appends what takes the next word of the column whose number is in decodeColumn.
func (c *columns) decodeWord(a *assembler) {
	a.get(decodeColumn)
	a.number(columnSize)
	a.op(opI32Mul)
	a.number(c.columns)
	a.op(opI32Add)
	a.tee(decodeColumn)
	a.at(opI32Load, columnNext)
	a.tee(decodeNext)
	a.at(opI32Load, 0)
	a.get(decodeColumn)
	a.at(opI32Load, columnLast)
	a.get(decodeColumn)
	a.at(opI32Load, columnAddsLast)
	a.op(opI32And, opI32Add)
	a.get(decodeTo)
	a.number(4)
	a.op(opI32Sub)
	a.at(opI32Load, 0)
	a.get(decodeColumn)
	a.at(opI32Load, columnAddsFront)
	a.op(opI32And, opI32Add)
	a.set(decodeWord)
	a.get(decodeColumn)
	a.get(decodeNext)
	a.number(4)
	a.op(opI32Add)
	a.at(opI32Store, columnNext)
	a.get(decodeColumn)
	a.get(decodeWord)
	a.at(opI32Store, columnLast)
	a.get(decodeTo)
	a.get(decodeWord)
	a.at(opI32Store, 0)
}
