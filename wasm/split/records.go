package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// What Go knows of a function beside its code, for stack traces and for the
// collector, is a quarter of the data when it is compressed. It is read only for
// functions that have been called: on a stack, that is. records finds where in
// memory it lies.
//
// The layout is that of runtime/symtab.go and runtime2.go: pcHeader, moduledata,
// _func.

// span is the memory from one address to another.
type span struct{ from, to int }

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

// lineTables calls see with the address of each table of function f that goes
// from program counters to values.
func (t *functionTable) lineTables(f int, see func(address int)) {
	r := t.record(f)
	offsets := []int{t.at(r + recordPCSP), t.at(r + recordPCFile), t.at(r + recordPCLine)}
	for i := range t.at(r + recordNPCData) {
		offsets = append(offsets, t.at(r+recordSize+4*i))
	}
	for _, offset := range offsets {
		if offset != 0 {
			see(t.lines + offset)
		}
	}
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
	for t.start = 0; ; t.start++ {
		next := bytes.Index(image[t.start:], tableHeader)
		if next < 0 {
			return nil, errors.New("no function table: not a module of Go's, or of a Go whose table has another layout")
		}
		t.start += next
		if t.word(t.start+8) == len(m.functions) {
			break
		}
	}
	const firstOffset = 32 // of the header's, which are relative to it
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
			t.firstFuncData = t.word(at + 8*moduleFuncData)
			break
		}
	}
	if !slices.IsSorted([]int{t.start, t.names, t.lines, t.records, len(image)}) || t.firstFuncData <= 0 || t.firstFuncData >= len(image) {
		return nil, errors.New("the function table does not have the layout that this knows")
	}
	return t, nil
}

// coldRecords returns where that lies which only functions need that are not
// kept, in ascending order. The table's index stays, because it is searched for
// other functions.
func (m *module) coldRecords(keep []bool) ([]span, error) {
	t, err := m.findTable()
	if err != nil {
		return nil, err
	}
	lines := map[int]bool{} // address -> whether a function that is kept needs it
	data := map[int]bool{}
	names := map[int]bool{}
	trees := map[int]bool{} // those of data that are inline trees
	var cold []span
	for f := range t.functions {
		if end := t.recordEnd(f); t.record(f) < t.records || end > len(t.image) {
			return nil, fmt.Errorf("the record of function %d is not in the table", f)
		}
		kept := keep[f]
		if !kept {
			cold = append(cold, span{t.record(f), t.recordEnd(f)})
		}
		t.lineTables(f, func(address int) { lines[address] = lines[address] || kept })
		t.funcData(f, func(kind, address int) {
			data[address] = data[address] || kept
			trees[address] = trees[address] || kind == inlineTree
		})
		name := t.names + t.at(t.record(f)+recordName)
		names[name] = names[name] || kept
	}
	for address, kept := range lines {
		if !kept {
			cold = append(cold, span{address, t.lineTableEnd(address)})
		}
	}
	addresses := make([]int, 0, len(data))
	for address := range data {
		addresses = append(addresses, address)
	}
	slices.Sort(addresses)
	for i, address := range addresses[:max(0, len(addresses)-1)] { // where the last ends is not known
		end := addresses[i+1]
		if !data[address] {
			cold = append(cold, span{address, end})
		} else if trees[address] {
			for call := address; call+inlinedCall <= end; call += inlinedCall {
				names[t.names+t.at(call+inlinedName)] = true
			}
		}
	}
	for address, kept := range names {
		if !kept {
			cold = append(cold, span{address, address + bytes.IndexByte(t.image[address:], 0)})
		}
	}
	slices.SortFunc(cold, func(a, b span) int { return a.from - b.from })
	return cold, nil
}
