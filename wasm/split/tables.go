package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Go's tables of functions are most of the data, and most of them belong to
// functions of other parts. The type tables puts the records of the
// engine's functions next to each other, then those of functions that come soon, whose bytes come with them and for which
// the room is kept, so that the heap can have the memory behind them. The other records go into a block that comes with the
// rest and is at the end of memory, wherever that is then.
//
// The runtime sees the block as a second moduledata, with an index of its own: an
// entry of the index without a record belongs to a function of the other part. See
// kubetabTables in wasm/patch's runtime/symtab.go.
//
// No index is in the modules: brotli makes 560 KB of its row of numbers that go up
// by one, and a loop of a millisecond makes the row again. Each record says which function it is of, and both indexes are filled when their
// part is instantiated; see arrival.go.
type tables struct {
	layout
	image                       []byte // memory as the engine's data makes it
	block                       []byte // what the rest brings: so many bytes as brought says, and then those that are late
	brought                     int
	room                        int // what it takes in memory: the rest's index is behind it
	engine, soon, rest          index
	withSoon                    []piece // of image, which has zeros there
	firstEntry                  int     // what the first function's record says that it is of
	stores                      []store
	late                        []late
	columns                     *columns // what the engine puts together when it begins
	end                         int      // of the memory that the program is linked for
	next, bloc, blocMax, behind int      // addresses of variables of the runtime
}

// late are bytes of the program's data that come with the rest: they are in the block
// from offset on, and go to where they were linked to be.
type late struct{ address, offset, size int }

// bytesMark is before the address of a slice of bytes that are to be late.
var bytesMark = []byte("\x00kubetab\x00.bytes\x00")

// index is where the index of a part is, in memory or in the block. Offsets in it
// count from base; the records begin at records and end at end. An index that is there already, to which records are added,
// has no functions.
type index struct{ address, base, records, end, functions int }

// store is a word that the rest writes when its block is in place.
type store struct {
	address, value int
	inBlock        bool // the value is counted from where the block is
}

const memoryPage = 64 << 10

// knowledge is what is known of the functions of one part.
type knowledge struct {
	t                           *functionTable
	data                        map[int]datum // all of the module's
	names, lines, maps, records []byte
	name, line, placed          map[int]int // address in the whole -> offset in names, lines, maps
}

// datum is one of the funcdata: a map of stack slots, an inline tree and the like.
type datum struct {
	end    int
	isTree bool
}

func newKnowledge(t *functionTable, data map[int]datum) *knowledge {
	return &knowledge{
		t: t, data: data,
		names: []byte{0}, lines: []byte{0}, // both have a meaning for the offset 0
		name: map[int]int{t.names: 0}, line: map[int]int{t.lines: 0}, placed: map[int]int{},
	}
}

func (k *knowledge) addName(address int) int {
	if _, ok := k.name[address]; !ok {
		end := address + bytes.IndexByte(k.t.image[address:], 0) + 1
		k.name[address] = len(k.names)
		k.names = append(k.names, k.t.image[address:end]...)
	}
	return k.name[address]
}

func (k *knowledge) addLines(address int) int {
	if _, ok := k.line[address]; !ok {
		k.line[address] = len(k.lines)
		k.lines = append(k.lines, k.t.image[address:k.t.lineTableEnd(address)]...)
	}
	return k.line[address]
}

func (k *knowledge) addMap(address int) int {
	if at, ok := k.placed[address]; ok {
		return at
	}
	for len(k.maps)%8 != address%8 {
		k.maps = append(k.maps, 0)
	}
	at := len(k.maps)
	k.placed[address] = at
	k.maps = append(k.maps, k.t.image[address:k.data[address].end]...)
	if !k.data[address].isTree {
		return at
	}
	for tree := k.maps[at:]; len(tree) >= k.t.inlinedSize; tree = tree[k.t.inlinedSize:] {
		field := tree[k.t.inlinedName:]
		// What lies between the tree and the next symbol may look like a part of it.
		if name := k.t.names + int(binary.LittleEndian.Uint32(field)); k.t.isName(name) {
			binary.LittleEndian.PutUint32(field, uint32(k.addName(name)))
		}
	}
	return at
}

// addCollectors adds those of the tables of function f that the collector of garbage reads, and who unwinds a stack.
func (k *knowledge) addCollectors(f int) {
	record := k.t.record(f)
	fields := []int{k.t.recordPCSP}
	for i := range k.t.at(record + k.t.recordNPCData) {
		fields = append(fields, k.t.recordSize+4*i)
	}
	for _, field := range fields {
		if value := k.t.at(record + field); value != 0 {
			k.addLines(k.t.lines + value)
		}
	}
}

// askedNames begin the names of functions that an engine asks for before a visitor sees anything: client-go names the handlers of
// the controllers that begin when a cluster has its keys, those with identity in core/controllers.
var askedNames = []string{"k8s.io/kubernetes/pkg/controller/certificates/", "k8s.io/kubernetes/pkg/controller/serviceaccount.", own + "kubetab/core/controllers."}

// comparedNames begin the names of functions that the runtime compares with something, whatever they are then for: kubetabNameHere
// in wasm/patch's runtime/symtab.go, and argMapInternal in runtime/stkframe.go.
var comparedNames = []string{"runtime.", "regexp.", "math/big.", "github.com/itchyny/gojq.", "reflect.makeFuncStub", "reflect.methodValueCall"}

// addRecord returns the offset of a function's record, a copy that refers to what
// is here.
func (k *knowledge) addRecord(f int) int {
	from, to := k.t.record(f), k.t.recordEnd(f)
	offset := len(k.records)
	k.records = append(k.records, k.t.image[from:to]...)
	record := k.records[offset:]
	change := func(field int, changed func(value int) int) {
		value := int(binary.LittleEndian.Uint32(record[field:]))
		binary.LittleEndian.PutUint32(record[field:], uint32(changed(value)))
	}
	lines := func(value int) int {
		if value == 0 {
			return 0
		}
		return k.addLines(k.t.lines + value)
	}
	change(k.t.recordName, func(value int) int { return k.addName(k.t.names + value) })
	for _, field := range []int{k.t.recordPCSP, k.t.recordPCFile, k.t.recordPCLine} {
		change(field, lines)
	}
	field := k.t.recordSize
	for range k.t.at(from + k.t.recordNPCData) {
		change(field, lines)
		field += 4
	}
	for range int(k.t.image[from+k.t.recordNFunc]) {
		change(field, func(value int) int {
			if value == noFuncData {
				return noFuncData
			}
			return k.addMap(k.t.firstFuncData + value)
		})
		field += 4
	}
	for len(k.records)%8 != 0 {
		k.records = append(k.records, 0)
	}
	return offset
}

// tables moves what Go knows of functions to the part that knownBy names for each. Where functions come soon, the names, lines and
// files of the engine's come with them: only traces and logs tell them, and who asks earlier has them fetched (kubetabNames in
// wasm/patch's runtime/symtab.go). The names of those that named says stay, because the program may keep one as a string, and so
// do those that the runtime compares. It is long because it is one pass over the runtime's tables, whose offsets each step leaves
// to the next.
func (m *module) tables(knownBy []part, named []bool) (*tables, error) {
	t, err := m.findTable()
	if err != nil {
		return nil, err
	}
	first, rest := t.module, t.variable(tablesRest)
	known := t.known

	data := map[int]datum{}
	for f := range t.functions {
		if end := t.recordEnd(f); t.record(f) < t.records || end > len(t.image) {
			return nil, fmt.Errorf("the record of function %d is not in the table", f)
		}
		t.funcData(f, func(kind, address int) {
			data[address] = datum{isTree: data[address].isTree || kind == t.inlineTree}
		})
	}
	end := known(t.moduleTableEnd)
	for _, address := range slices.Backward(slices.Sorted(maps.Keys(data))) {
		data[address] = datum{end, data[address].isTree}
		end = address
	}
	engine, other := newKnowledge(t, data), newKnowledge(t, data)

	// The index has an entry for each function and one more, which stays, and then
	// comes an empty record, for functions of a rest that is not there.
	indexSize := t.entrySize * (t.functions + 1)
	firstRecord := indexSize + (t.recordSize+7)/8*8
	engine.records = make([]byte, firstRecord)
	copy(engine.records[indexSize-t.entrySize:], t.image[t.records+indexSize-t.entrySize:t.records+indexSize])
	firstEntry := t.at(t.records)
	if err := m.checkSlots(t, firstEntry); err != nil {
		return nil, err
	}
	namesComeSoon := slices.Contains(knownBy, partSoon)
	if namesComeSoon {
		for f, part := range knownBy {
			if part == partRest {
				continue
			}
			if named[f] || hasPrefix(m.names[f], comparedNames) || hasPrefix(m.names[f], askedNames) {
				engine.addName(t.names + t.at(t.record(f)+t.recordName))
			}
			if part == partEngine {
				engine.addCollectors(f)
			}
		}
	}
	namesHere, linesHere := len(engine.names), len(engine.lines)
	for f, part := range knownBy {
		if t.at(t.records+t.entrySize*f) != firstEntry+f || t.at(t.record(f)) != firstEntry+f {
			return nil, errors.New("the function table does not have the functions in their order: not one of Go's linker")
		}
		switch part {
		case partEngine:
			engine.addRecord(f)
		case partRest:
			other.addRecord(f)
		}
	}
	// What comes soon is of the same tables, behind what the engine has.
	engineMaps, engineRecords := len(engine.maps), len(engine.records)
	for f, part := range knownBy {
		if part == partSoon {
			engine.addRecord(f)
		}
	}

	image := bytes.Clone(t.image)
	w := &placing{image: image, at: t.names, end: known(t.moduleTableEnd)}
	clear(image[w.at:w.end])
	set := func(offset, value int) { binary.LittleEndian.PutUint64(image[first+offset:], uint64(value)) }
	setHeader := func(offset, address int) {
		binary.LittleEndian.PutUint64(image[t.start+offset:], uint64(address-t.start))
	}
	place := func(offset, ofHeader int, content []byte) {
		address := w.place(content)
		set(offset, address)
		set(offset+8, len(content))
		set(offset+16, len(content))
		setHeader(ofHeader, address)
	}
	if need := len(engine.names) + len(engine.lines) + len(engine.maps) + len(engine.records) + (t.lines - known(t.moduleUnits)); need+8*placeAlignment > w.end-w.at {
		return nil, errors.New("the engine's tables need more room than there is")
	}
	var withSoon []piece
	comesSoon := func(from, to int) {
		if namesComeSoon && from < to {
			withSoon = append(withSoon, piece{from, bytes.Clone(image[from:to])})
			clear(image[from:to])
		}
	}
	place(t.moduleNames, t.headerNames, engine.names)
	comesSoon(w.at-len(engine.names)+namesHere, w.at)
	files := known(t.moduleUnits) // and what belongs to them
	moved := w.place(t.image[files:t.lines]) - files
	comesSoon(files+moved, w.at)
	for _, each := range []struct{ module, header int }{{t.moduleUnits, t.headerUnits}, {t.moduleFiles, t.headerFiles}} {
		set(each.module, known(each.module)+moved)
		setHeader(each.header, known(each.module)+moved)
	}
	place(t.moduleLines, t.headerLines, engine.lines)
	comesSoon(w.at-len(engine.lines)+linesHere, w.at)
	placed := w.place(engine.maps)
	set(t.moduleFuncData, placed)
	comesSoon(placed+engineMaps, w.at)
	place(t.moduleRecords, t.headerRecords, engine.records)
	indexed := w.at - len(engine.records)
	comesSoon(indexed+engineRecords, w.at)
	set(t.moduleIndex, indexed)
	if from, to := (w.at+memoryPage-1)/memoryPage*memoryPage, w.end/memoryPage*memoryPage; from < to {
		binary.LittleEndian.PutUint64(image[t.variables+8*tablesFree:], uint64(from))
		binary.LittleEndian.PutUint64(image[t.variables+8*tablesFreeEnd:], uint64(to))
	}

	made := &tables{
		layout: t.layout, image: image[:len(image)-t.moduleSize], firstEntry: firstEntry, end: known(t.moduleEnd), withSoon: withSoon,
		next: t.variable(tablesNext), bloc: t.variable(tablesBloc), blocMax: t.variable(tablesBlocMax), behind: t.variables + 8*tablesBehind,
	}
	in := &placing{}
	bring := func(offset int, content []byte) {
		made.stores = append(made.stores,
			store{rest + offset, in.place(content), true},
			store{rest + offset + 8, len(content), false},
			store{rest + offset + 16, len(content), false})
	}
	bring(t.moduleNames, other.names)
	bring(t.moduleLines, other.lines)
	made.stores = append(made.stores, store{rest + t.moduleFuncData, in.place(other.maps), true})
	bring(t.moduleRecords, other.records)
	made.stores = append(made.stores, store{rest + t.moduleTableEnd, in.at, true})
	made.block = in.image
	made.engine = index{address: indexed, base: indexed, records: indexed + firstRecord, end: indexed + engineRecords, functions: t.functions}
	made.soon = index{address: indexed, base: indexed, records: made.engine.end, end: w.at}
	records := in.at - len(other.records)
	made.rest = index{address: (in.at + 7) / 8 * 8, base: records, records: records, end: in.at, functions: t.functions}
	made.room = made.rest.address + indexSize
	made.stores = append(made.stores,
		store{rest + t.moduleIndex, made.rest.address, true},
		store{rest + t.moduleIndex + 8, t.functions + 1, false},
		store{rest + t.moduleIndex + 16, t.functions + 1, false})
	// The others are as the engine's. The runtime may only now begin, and verify what it finds; of a bad one it does not
	// expect data.
	const pointer, slice = 8, 24
	for _, same := range []struct{ offset, size int }{
		{t.moduleHeader, pointer},
		{t.moduleUnits, slice},
		{t.moduleFiles, slice},
		{t.moduleMinPC, pointer},
		{t.moduleMaxPC, pointer},
		{t.moduleText, pointer},
		{t.moduleTextEnd, pointer},
		{t.moduleConst, pointer},
	} {
		for offset := same.offset; offset < same.offset+same.size; offset += 8 {
			value := int(binary.LittleEndian.Uint64(image[first+offset:]))
			made.stores = append(made.stores, store{rest + offset, value, false})
		}
	}
	// bad is a byte of a word of flags, all of which are false otherwise.
	made.stores = append(made.stores, store{rest + t.moduleBad/8*8, 1 << (8 * (t.moduleBad % 8)), false})
	made.stores = append(made.stores, store{made.next, rest, false})
	if err := made.takeBytes(); err != nil {
		return nil, err
	}
	return made, m.toColumns(t, made, (w.at+memoryPage-1)/memoryPage*memoryPage, w.end)
}

// toColumns takes from memory what the engine puts together when it begins: what is known of types, and of its functions. Columns
// are where the heap will be.
func (m *module) toColumns(t *functionTable, made *tables, free, end int) error {
	types, err := readTypes(m.typeTables)
	if err != nil {
		return err
	}
	shapes := typeShapes()
	rows := append(types.rows(made.image, shapes), recordRows(t, made.image, made.engine, shapes)...)
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.address, b.address) })
	made.columns, err = encode(made.image, rows, shapes, free)
	if err == nil && free+len(made.columns.streams) > end {
		err = errors.New("the columns need more room than there is")
	}
	return err
}

// blockBits is how far a program counter is from the slot of its function: below are the blocks of the function.
// wasm/snapshot/parked.mjs has it, too.
const blockBits = 16

// checkSlots says whether the functions have the slots in the table that their entries name, and program counters are what
// the parts of the module and wasm/snapshot take them for.
func (m *module) checkSlots(t *functionTable, firstEntry int) error {
	if firstEntry != m.offset || t.known(t.moduleMinPC) != firstEntry<<blockBits {
		return fmt.Errorf("the first function is entry %#x of the index, in slot %#x, and the first program counter is %#x: wasm/split is written for slots and %d bits",
			firstEntry, m.offset, t.known(t.moduleMinPC), blockBits)
	}
	return nil
}

// takeBytes moves the bytes of which marks tell from the image to the end of the
// block.
func (t *tables) takeBytes() error {
	word := func(address int) int {
		if address < 0 || address+8 > len(t.image) {
			return -1
		}
		return int(binary.LittleEndian.Uint64(t.image[address:]))
	}
	t.brought = len(t.block)
	for at := 0; ; at++ {
		next := bytes.Index(t.image[at:], bytesMark)
		if next < 0 {
			return nil
		}
		at += next
		slice := word(at + len(bytesMark))
		address, size := word(slice), word(slice+8)
		if address < 0 || size < 0 || address+size > len(t.image) {
			return fmt.Errorf("the mark at %#x is before no slice of bytes", at)
		}
		t.late = append(t.late, late{address, len(t.block), size})
		t.block = append(t.block, t.image[address:address+size]...)
		clear(t.image[address : address+size])
	}
}

// placing lays pieces of memory one after the other.
type placing struct {
	image   []byte
	at, end int // in image, which grows where there is no end
}

// placeAlignment is what addresses of pieces are multiples of.
const placeAlignment = 32

// place returns where it has put content. Beyond the end nothing is put.
func (p *placing) place(content []byte) int {
	p.at = (p.at + placeAlignment - 1) / placeAlignment * placeAlignment
	address := p.at
	p.at += len(content)
	switch {
	case p.end == 0:
		p.image = append(append(p.image, make([]byte, address-len(p.image))...), content...)
	case p.at <= p.end:
		copy(p.image[address:], content)
	}
	return address
}
