package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// What Go knows of a function beside its code, for stack traces and for the
// collector, is most of the data. It is read only for functions that have been
// called: on a stack, that is. Here is found where in memory it lies, and in
// tables.go it is moved.
//
// The layout is that of runtime/symtab.go and runtime2.go: pcHeader, moduledata,
// _func.

// firstOffset is where in the table's header the offsets of its parts are, which are
// relative to it.
const firstOffset = 32

// Offsets in a function's record, and what there is in moduledata, in words of 8
// bytes.
const (
	recordSize     = 44 // without the offsets that follow
	recordName     = 4
	recordPCSP     = 16
	recordPCFile   = 20
	recordPCLine   = 24
	recordNPCData  = 28
	recordNFunc    = 43 // one byte
	moduleNames    = 1  // the slice funcnametab
	moduleFuncData = 40 // gofunc
	moduleWords    = 42
	noFuncData     = 1<<32 - 1
	inlineTree     = 3  // which of a function's funcdata has the calls that were inlined
	inlinedCall    = 16 // the size of one
	inlinedName    = 4
)

// functionTable is what is found through Go's function table.
type functionTable struct {
	image                    []byte
	start                    int // of the table, in memory
	module                   int // the address of moduledata
	names, lines, records    int // addresses: funcnametab, pctab, pclntable
	functions, firstFuncData int
}

// at reads a number of 32 bits.
func (t *functionTable) at(address int) int {
	return int(binary.LittleEndian.Uint32(t.image[address:]))
}

// word reads a number of 64 bits.
func (t *functionTable) word(address int) int {
	return int(binary.LittleEndian.Uint64(t.image[address:]))
}

func (t *functionTable) record(f int) int { return t.records + t.at(t.records+8*f+4) }

// recordEnd is where the record of function f ends.
func (t *functionTable) recordEnd(f int) int {
	r := t.record(f)
	return r + recordSize + 4*(t.at(r+recordNPCData)+int(t.image[r+recordNFunc]))
}

// funcData calls see with the address of each map of stack slots and the like
// that function f has, and its kind.
func (t *functionTable) funcData(f int, see func(kind, address int)) {
	r := t.record(f)
	first := r + recordSize + 4*t.at(r+recordNPCData)
	for i := range int(t.image[r+recordNFunc]) {
		if offset := t.at(first + 4*i); offset != noFuncData {
			see(i, t.firstFuncData+offset)
		}
	}
}

// lineTableEnd is where the table at an address ends: it is pairs of numbers,
// of which the first is not zero but for the first pair's.
func (t *functionTable) lineTableEnd(address int) int {
	r := &reader{rest: t.image[address:]}
	for first := true; ; first = false {
		if r.unsigned() == 0 && !first || r.err != nil {
			return len(t.image) - len(r.rest)
		}
		r.unsigned()
	}
}

// findTable finds Go's function table, see readNames, and what it leads to.
func (m *module) findTable() (*functionTable, error) {
	image, err := m.image()
	if err != nil {
		return nil, err
	}
	image = append(image, make([]byte, 8*moduleWords)...)
	t := &functionTable{image: image, functions: len(m.functions)}
	err = m.searchTable(image, func(start int) bool {
		t.start = start
		return t.word(start+8) == len(m.functions)
	})
	if err != nil {
		return nil, err
	}
	t.names = t.start + t.word(t.start+firstOffset)
	t.lines = t.start + t.word(t.start+firstOffset+24)
	t.records = t.start + t.word(t.start+firstOffset+32)

	// moduledata begins with the table's address and its names'.
	pointer := binary.LittleEndian.AppendUint64(nil, uint64(t.start))
	for at := 0; ; at++ {
		next := bytes.Index(image[at:], pointer)
		if next < 0 {
			return nil, errors.New("no moduledata")
		}
		at += next
		if at%8 == 0 && at+8*moduleWords <= len(image) && t.word(at+8*moduleNames) == t.names {
			t.module = at
			t.firstFuncData = t.word(at + 8*moduleFuncData)
			break
		}
	}
	if !slices.IsSorted([]int{t.start, t.names, t.lines, t.records, len(image)}) || t.firstFuncData <= 0 || t.firstFuncData >= len(image) {
		return nil, errors.New("the function table does not have the layout that this knows")
	}
	return t, nil
}

// isName reports whether a function's name is at an address: that of one which is
// only inlined is in no record.
func (t *functionTable) isName(address int) bool {
	return address > t.names && address < t.names+t.word(t.module+8*(moduleNames+1)) && t.image[address-1] == 0
}
