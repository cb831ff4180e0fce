package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// What Go knows of a function beside its code, for stack traces and for the
// collector, is most of the data. It is read only for functions that have been
// called: on a stack, that is. Here is found where in memory it lies, and in
// tables.go it is moved.
//
// layout.go has where the runtime keeps what: pcHeader, moduledata, _func.

// noFuncData is the offset of funcdata that a function does not have.
const noFuncData = 1<<32 - 1

// functionTable is what is found through Go's function table.
type functionTable struct {
	layout
	image                    []byte
	variables                int // the address of kubetabTables
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

func (t *functionTable) record(f int) int {
	return t.records + t.at(t.records+t.entrySize*f+t.entryRecord)
}

// recordEnd is where the record of function f ends.
func (t *functionTable) recordEnd(f int) int {
	r := t.record(f)
	return r + t.recordSize + 4*(t.at(r+t.recordNPCData)+int(t.image[r+t.recordNFunc]))
}

// funcData calls see with the address of each map of stack slots and the like
// that function f has, and its kind.
func (t *functionTable) funcData(f int, see func(kind, address int)) {
	r := t.record(f)
	first := r + t.recordSize + 4*t.at(r+t.recordNPCData)
	for i := range int(t.image[r+t.recordNFunc]) {
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
	variables, l, err := readLayout(image)
	if err != nil {
		return nil, err
	}
	image = append(image, make([]byte, l.moduleSize)...) // zeros at the end are in no data segment
	t := &functionTable{layout: l, image: image, variables: variables, functions: len(m.functions)}
	err = m.searchTable(image, func(start int) bool {
		t.start = start
		return t.word(start+t.headerFunctions) == len(m.functions)
	})
	if err != nil {
		return nil, err
	}
	t.names = t.start + t.word(t.start+t.headerNames)
	t.lines = t.start + t.word(t.start+t.headerLines)
	t.records = t.start + t.word(t.start+t.headerRecords)
	t.module = t.variable(tablesFirst)
	if t.module <= 0 || t.module+t.moduleSize > len(image) || t.known(t.moduleHeader) != t.start || t.known(t.moduleNames) != t.names {
		return nil, errors.New("moduledata does not refer to the function table")
	}
	t.firstFuncData = t.known(t.moduleFuncData)
	if !slices.IsSorted([]int{t.start, t.names, t.lines, t.records, len(image)}) || t.firstFuncData <= 0 || t.firstFuncData >= len(image) {
		return nil, errors.New("the parts of the function table are in another order than Go's linker writes them")
	}
	return t, nil
}

// variable is a word of kubetabTables.
func (t *functionTable) variable(word int) int { return t.word(t.variables + 8*word) }

// known is a word of moduledata.
func (t *functionTable) known(offset int) int { return t.word(t.module + offset) }

// isName reports whether a function's name is at an address: that of one which is
// only inlined is in no record.
func (t *functionTable) isName(address int) bool {
	return address > t.names && address < t.names+t.known(t.moduleNames+8) && t.image[address-1] == 0
}

// recordRows are the records of the index i in image, which is made from that of t. It adds their shapes.
func recordRows(t *functionTable, image []byte, i index, shapes shapes) []row {
	shapeOf := func(what string, words int) string {
		shape := fmt.Sprint(what, words)
		if shapes[shape] == nil {
			for word := range words {
				shapes[shape] = append(shapes[shape], fmt.Sprint(what, " ", word))
			}
		}
		return shape
	}
	var rows []row
	for at := i.records; at < i.end; {
		pcdata, funcdata := int(binary.LittleEndian.Uint32(image[at+t.recordNPCData:])), int(image[at+t.recordNFunc])
		for _, part := range []struct {
			what  string
			words int
		}{{"record", t.recordSize / 4}, {"pcdata", pcdata}, {"funcdata", funcdata}} {
			if part.words > 0 {
				rows = append(rows, row{at, shapeOf(part.what, part.words), 1})
				at += 4 * part.words
			}
		}
		at = (at + 7) / 8 * 8
	}
	return rows
}
