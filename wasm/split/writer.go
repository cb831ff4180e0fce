package main

import "encoding/binary"

// writer writes a module, section after section.
type writer struct{ out []byte }

func (w *writer) raw(b []byte)         { w.out = append(w.out, b...) }
func (w *writer) unsigned(v int)       { w.out = unsigned(w.out, v) }
func (w *writer) name(s string)        { w.out = name(w.out, s) }
func (w *writer) sized(content []byte) { w.out = sized(w.out, content) }

// section writes a section with what content writes.
func (w *writer) section(id byte, content func()) {
	// The size comes before the content, and is a number of five bytes so that
	// its place is known.
	w.out = append(w.out, id, 0, 0, 0, 0, 0)
	start := len(w.out)
	content()
	size := len(w.out) - start
	number := binary.AppendUvarint(nil, uint64(size))
	for len(number) < 5 {
		number[len(number)-1] |= 0x80
		number = append(number, 0)
	}
	copy(w.out[start-5:], number)
}

// vector writes a section that is a vector of n elements, of which one writes
// the i-th.
func (w *writer) vector(id byte, n int, one func(i int)) {
	w.section(id, func() {
		w.unsigned(n)
		for i := range n {
			one(i)
		}
	})
}

// segment writes an element segment for the table's slots from offset on.
func (w *writer) segment(offset int, functions []int) {
	w.unsigned(0) // active, of table 0
	w.out = signed(append(w.out, opI32Const), offset)
	w.raw([]byte{opEnd})
	w.unsigned(len(functions))
	for _, f := range functions {
		w.unsigned(f)
	}
}

// data writes the data section: what memory holds.
func (w *writer) data(pieces []piece) {
	w.vector(sectionData, len(pieces), func(i int) {
		w.unsigned(0) // of memory 0
		w.out = signed(append(w.out, opI32Const), pieces[i].address)
		w.raw([]byte{opEnd})
		w.sized(pieces[i].content)
	})
}

// gap is how many bytes there are between two segments of data at least: what
// a segment costs itself is ten, and an engine takes 100,000 of them.
const gap = 64

// piece is what memory holds from an address on.
type piece struct {
	address int
	content []byte
}

// filled returns the pieces of memory that are not zero.
func filled(memory []byte) []piece {
	var pieces []piece
	end := -gap
	for at, b := range memory {
		if b == 0 {
			continue
		}
		if at-end >= gap {
			pieces = append(pieces, piece{address: at})
		}
		end = at + 1
		last := &pieces[len(pieces)-1]
		last.content = memory[last.address:end]
	}
	return pieces
}
