package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Go's tables of functions are most of the data, and three quarters of them
// belong to functions of the rest. The type tables puts the records of the
// engine's functions next to each other, so that the heap can have the memory
// behind them, and the other records into a block that comes with the rest and
// goes to the end of memory, wherever that is then.
//
// The runtime sees the block as a second moduledata, with an index of its own: an
// entry of the index without a record belongs to a function of the other part. See
// kubetabTables in wasm/patch's runtime/symtab.go.
//
// No index is in the modules: brotli makes 560 KB of its row of numbers that go up
// by one, and a loop of a millisecond makes the row again. Each record says which function it is of, and both indexes are filled when their
// part is instantiated; see arrival.go.
type tables struct {
	image                       []byte // memory as the engine's data makes it
	block                       []byte // what the rest brings: so many bytes as brought says, and then those that are late
	brought                     int
	room                        int // what it takes in memory: the rest's index is behind it
	engine, rest                index
	firstEntry                  int // what the first function's record says that it is of
	stores                      []store
	late                        []late
	end                         int // of the memory that the program is linked for
	next, bloc, blocMax, behind int // addresses of variables of the runtime
}

// late are bytes of the program's data that come with the rest: they are in the block
// from offset on, and go to where they were linked to be.
type late struct{ address, offset, size int }

// bytesMark is before the address of a slice of bytes that are to be late.
var bytesMark = []byte("\x00kubetab\x00.bytes\x00")

// index is where the index of a part is, in memory or in the block. Offsets in it
// count from base; the records begin at records and end at end.
type index struct{ address, base, records, end, functions int }

// store is a word that the rest writes when its block is in place.
type store struct {
	address, value int
	inBlock        bool // the value is counted from where the block is
}

const memoryPage = 64 << 10

// tablesMark is how kubetabTables begins. What follows are words.
var tablesMark = []byte("\x00kubetab\x00.tables")

const (
	tablesFree = 2 + iota
	tablesFreeEnd
	tablesBehind
	tablesFirst
	tablesRest
	tablesNext
	tablesBloc
	tablesBlocMax
	tablesWords
)

// Words of moduledata beside those of records.go; a slice is three.
const (
	moduleHeader   = 0
	moduleUnits    = 4
	moduleFiles    = 7
	moduleLines    = 10
	moduleRecords  = 13
	moduleIndex    = 16
	modulePC       = 20 // minpc, maxpc, text, etext
	moduleEnd      = 34
	moduleConst    = 39
	moduleTableEnd = 41
	moduleFlags    = 67 // hasmain and bad, a byte each
	moduleBad      = 1 << 8
)

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
	for tree := k.maps[at:]; len(tree) >= inlinedCall; tree = tree[inlinedCall:] {
		field := tree[inlinedName:]
		// What lies between the tree and the next symbol may look like a part of it.
		if name := k.t.names + int(binary.LittleEndian.Uint32(field)); k.t.isName(name) {
			binary.LittleEndian.PutUint32(field, uint32(k.addName(name)))
		}
	}
	return at
}

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
	change(recordName, func(value int) int { return k.addName(k.t.names + value) })
	for _, field := range []int{recordPCSP, recordPCFile, recordPCLine} {
		change(field, lines)
	}
	field := recordSize
	for range k.t.at(from + recordNPCData) {
		change(field, lines)
		field += 4
	}
	for range int(k.t.image[from+recordNFunc]) {
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

// tables moves what Go knows of functions: of those that are not kept to a block
// for the rest. It is long because it is one pass over the runtime's tables, whose offsets
// each step leaves to the next.
func (m *module) tables(keep []bool) (*tables, error) {
	t, err := m.findTable()
	if err != nil {
		return nil, err
	}
	variables := bytes.Index(t.image, tablesMark)
	if variables < 0 || variables+8*tablesWords > len(t.image) {
		return nil, errors.New("no kubetabTables: wasm/patch has no changes for the Go that linked it")
	}
	variable := func(word int) int { return t.word(variables + 8*word) }
	first, rest := variable(tablesFirst), variable(tablesRest)
	if first != t.module {
		return nil, errors.New("kubetabTables does not have the layout that this knows")
	}
	known := func(word int) int { return t.word(first + 8*word) }

	data := map[int]datum{}
	for f := range t.functions {
		if end := t.recordEnd(f); t.record(f) < t.records || end > len(t.image) {
			return nil, fmt.Errorf("the record of function %d is not in the table", f)
		}
		t.funcData(f, func(kind, address int) {
			data[address] = datum{isTree: data[address].isTree || kind == inlineTree}
		})
	}
	end := known(moduleTableEnd)
	for _, address := range slices.Backward(slices.Sorted(maps.Keys(data))) {
		data[address] = datum{end, data[address].isTree}
		end = address
	}
	engine, other := newKnowledge(t, data), newKnowledge(t, data)

	// The index has an entry for each function and one more, which stays, and then
	// comes an empty record, for functions of a rest that is not there.
	indexSize := 8 * (t.functions + 1)
	firstRecord := indexSize + (recordSize+7)/8*8
	engine.records = make([]byte, firstRecord)
	copy(engine.records[indexSize-8:], t.image[t.records+indexSize-8:t.records+indexSize])
	firstEntry := t.at(t.records)
	for f, kept := range keep {
		if t.at(t.records+8*f) != firstEntry+f || t.at(t.record(f)) != firstEntry+f {
			return nil, errors.New("the function table does not have the functions in their order: not one of Go's linker")
		}
		if kept {
			engine.addRecord(f)
		} else {
			other.addRecord(f)
		}
	}

	image := bytes.Clone(t.image)
	w := &placing{image: image, at: t.names, end: known(moduleTableEnd)}
	clear(image[w.at:w.end])
	set := func(word, value int) { binary.LittleEndian.PutUint64(image[first+8*word:], uint64(value)) }
	setHeader := func(word, address int) {
		binary.LittleEndian.PutUint64(image[t.start+firstOffset+8*word:], uint64(address-t.start))
	}
	place := func(word, ofHeader int, content []byte) {
		address := w.place(content)
		set(word, address)
		set(word+1, len(content))
		set(word+2, len(content))
		setHeader(ofHeader, address)
	}
	place(moduleNames, 0, engine.names)
	files := known(moduleUnits) // and what belongs to them
	moved := w.place(t.image[files:t.lines]) - files
	for i, word := range []int{moduleUnits, moduleFiles} {
		set(word, known(word)+moved)
		setHeader(1+i, known(word)+moved)
	}
	place(moduleLines, 3, engine.lines)
	set(moduleFuncData, w.place(engine.maps))
	place(moduleRecords, 4, engine.records)
	indexed := w.at - len(engine.records)
	set(moduleIndex, indexed)
	if w.at > w.end {
		return nil, errors.New("the engine's tables need more room than there is")
	}
	if from, to := (w.at+memoryPage-1)/memoryPage*memoryPage, w.end/memoryPage*memoryPage; from < to {
		binary.LittleEndian.PutUint64(image[variables+8*tablesFree:], uint64(from))
		binary.LittleEndian.PutUint64(image[variables+8*tablesFreeEnd:], uint64(to))
	}

	made := &tables{image: image[:len(image)-8*moduleWords], firstEntry: firstEntry, next: variable(tablesNext), bloc: variable(tablesBloc), blocMax: variable(tablesBlocMax), behind: variables + 8*tablesBehind, end: known(moduleEnd)}
	in := &placing{}
	bring := func(word int, content []byte) {
		made.stores = append(made.stores,
			store{rest + 8*word, in.place(content), true},
			store{rest + 8*word + 8, len(content), false},
			store{rest + 8*word + 16, len(content), false})
	}
	bring(moduleNames, other.names)
	bring(moduleLines, other.lines)
	made.stores = append(made.stores, store{rest + 8*moduleFuncData, in.place(other.maps), true})
	bring(moduleRecords, other.records)
	made.stores = append(made.stores, store{rest + 8*moduleTableEnd, in.at, true})
	made.block = in.image
	made.engine = index{address: indexed, base: indexed, records: indexed + firstRecord, end: w.at, functions: t.functions}
	records := in.at - len(other.records)
	made.rest = index{address: (in.at + 7) / 8 * 8, base: records, records: records, end: in.at, functions: t.functions}
	made.room = made.rest.address + indexSize
	made.stores = append(made.stores,
		store{rest + 8*moduleIndex, made.rest.address, true},
		store{rest + 8*moduleIndex + 8, t.functions + 1, false},
		store{rest + 8*moduleIndex + 16, t.functions + 1, false})
	// The others are as the engine's. The runtime may only now begin, and verify what it finds; of a bad one it does not
	// expect data.
	for _, same := range []struct{ word, count int }{{moduleHeader, 1}, {moduleUnits, 3}, {moduleFiles, 3}, {modulePC, 4}, {moduleConst, 1}} {
		for word := same.word; word < same.word+same.count; word++ {
			value := int(binary.LittleEndian.Uint64(image[first+8*word:]))
			made.stores = append(made.stores, store{rest + 8*word, value, false})
		}
	}
	made.stores = append(made.stores, store{rest + 8*moduleFlags, moduleBad, false})
	made.stores = append(made.stores, store{made.next, rest, false})
	return made, made.takeBytes()
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

// place returns where it has put content. Beyond the end nothing is put.
func (p *placing) place(content []byte) int {
	const alignment = 32
	p.at = (p.at + alignment - 1) / alignment * alignment
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
