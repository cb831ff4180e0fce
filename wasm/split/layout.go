package main

import (
	"bytes"
	"errors"
	"fmt"
)

// tablesMark is how kubetabTables begins, which wasm/patch adds to runtime/symtab.go. What follows are words of 8 bytes.
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
	tablesRows
	tablesLayout
)

// layout is where the runtime keeps what it knows of functions, in bytes: sizes of types, and offsets in them. The runtime
// that is linked into the module tells it.
type layout struct {
	frameSize, frameFunc, frameName, frameKnown                                        int
	headerFunctions, headerNames, headerUnits, headerFiles, headerLines, headerRecords int
	entrySize, entryFunction, entryRecord                                              int
	recordSize, recordEntry, recordName, recordPCSP, recordPCFile, recordPCLine        int
	recordNPCData, recordNFunc                                                         int
	inlineTree                                                                         int // which of a function's funcdata it is
	inlinedSize, inlinedName                                                           int
	moduleSize, moduleHeader, moduleNames, moduleUnits, moduleFiles, moduleLines       int
	moduleRecords, moduleIndex, moduleMinPC, moduleMaxPC, moduleText, moduleTextEnd    int
	moduleEnd, moduleConst, moduleFuncData, moduleTableEnd, moduleBad                  int
}

// layoutRow is a row of the runtime's list, as it is written there, and where its number belongs.
type layoutRow struct {
	written string
	to      *int
}

// rows are in the runtime's order.
func (l *layout) rows() []layoutRow {
	return []layoutRow{
		{"unsafe.Sizeof(Frame{})", &l.frameSize},
		{"unsafe.Offsetof(Frame{}.Func)", &l.frameFunc},
		{"unsafe.Offsetof(Frame{}.Function)", &l.frameName},
		{"unsafe.Offsetof(Frame{}.funcInfo)", &l.frameKnown},
		{"unsafe.Offsetof(pcHeader{}.nfunc)", &l.headerFunctions},
		{"unsafe.Offsetof(pcHeader{}.funcnameOffset)", &l.headerNames},
		{"unsafe.Offsetof(pcHeader{}.cuOffset)", &l.headerUnits},
		{"unsafe.Offsetof(pcHeader{}.filetabOffset)", &l.headerFiles},
		{"unsafe.Offsetof(pcHeader{}.pctabOffset)", &l.headerLines},
		{"unsafe.Offsetof(pcHeader{}.pclnOffset)", &l.headerRecords},
		{"unsafe.Sizeof(functab{})", &l.entrySize},
		{"unsafe.Offsetof(functab{}.entryoff)", &l.entryFunction},
		{"unsafe.Offsetof(functab{}.funcoff)", &l.entryRecord},
		{"unsafe.Sizeof(*(*_func)(nil))", &l.recordSize},
		{"unsafe.Offsetof((*_func)(nil).entryOff)", &l.recordEntry},
		{"unsafe.Offsetof((*_func)(nil).nameOff)", &l.recordName},
		{"unsafe.Offsetof((*_func)(nil).pcsp)", &l.recordPCSP},
		{"unsafe.Offsetof((*_func)(nil).pcfile)", &l.recordPCFile},
		{"unsafe.Offsetof((*_func)(nil).pcln)", &l.recordPCLine},
		{"unsafe.Offsetof((*_func)(nil).npcdata)", &l.recordNPCData},
		{"unsafe.Offsetof((*_func)(nil).nfuncdata)", &l.recordNFunc},
		{"abi.FUNCDATA_InlTree", &l.inlineTree},
		{"unsafe.Sizeof(inlinedCall{})", &l.inlinedSize},
		{"unsafe.Offsetof(inlinedCall{}.nameOff)", &l.inlinedName},
		{"unsafe.Sizeof(firstmoduledata)", &l.moduleSize},
		{"unsafe.Offsetof(firstmoduledata.pcHeader)", &l.moduleHeader},
		{"unsafe.Offsetof(firstmoduledata.funcnametab)", &l.moduleNames},
		{"unsafe.Offsetof(firstmoduledata.cutab)", &l.moduleUnits},
		{"unsafe.Offsetof(firstmoduledata.filetab)", &l.moduleFiles},
		{"unsafe.Offsetof(firstmoduledata.pctab)", &l.moduleLines},
		{"unsafe.Offsetof(firstmoduledata.pclntable)", &l.moduleRecords},
		{"unsafe.Offsetof(firstmoduledata.ftab)", &l.moduleIndex},
		{"unsafe.Offsetof(firstmoduledata.minpc)", &l.moduleMinPC},
		{"unsafe.Offsetof(firstmoduledata.maxpc)", &l.moduleMaxPC},
		{"unsafe.Offsetof(firstmoduledata.text)", &l.moduleText},
		{"unsafe.Offsetof(firstmoduledata.etext)", &l.moduleTextEnd},
		{"unsafe.Offsetof(firstmoduledata.end)", &l.moduleEnd},
		{"unsafe.Offsetof(firstmoduledata.rodata)", &l.moduleConst},
		{"unsafe.Offsetof(firstmoduledata.gofunc)", &l.moduleFuncData},
		{"unsafe.Offsetof(firstmoduledata.epclntab)", &l.moduleTableEnd},
		{"unsafe.Offsetof(firstmoduledata.bad)", &l.moduleBad},
	}
}

// readLayout returns the address of kubetabTables in memory, and the layout that it tells.
//
// Errors: there is no kubetabTables, its rows are others, or code of this package takes something for granted that is not so.
func readLayout(image []byte) (variables int, l layout, err error) {
	variables = bytes.Index(image, tablesMark)
	rows := l.rows()
	if variables < 0 || variables+8*(tablesLayout+len(rows)) > len(image) {
		return 0, l, errors.New("no kubetabTables: the module must be linked by build/patch/go")
	}
	t := functionTable{image: image}
	if n := t.word(variables + 8*tablesRows); n != len(rows) {
		return 0, l, fmt.Errorf("the runtime tells %d numbers of its layout, and wasm/split/layout.go has %d", n, len(rows))
	}
	for i, row := range rows {
		*row.to = t.word(variables + 8*(tablesLayout+i))
	}
	return variables, l, l.check()
}

// check says what of the layout is taken for granted: by the loops of arrival.go, which make the index, and where tables
// writes two words for a pair.
func (l layout) check() error {
	for _, same := range []struct {
		what      string
		got, want int
	}{
		{"size of functab", l.entrySize, 8},
		{"offset of functab.entryoff", l.entryFunction, 0},
		{"offset of functab.funcoff", l.entryRecord, 4},
		{"offset of _func.entryOff", l.recordEntry, 0},
		{"offset of moduledata.pcHeader", l.moduleHeader, 0},
		{"alignment of _func", l.recordSize % 4, 0},
		{"alignment of moduledata", l.moduleSize % 8, 0},
		{"end of pcHeader's counts", l.headerUnits - l.headerNames, 8},
		{"order of pcHeader's offsets", l.headerFiles - l.headerUnits, 8},
	} {
		if same.got != same.want {
			return fmt.Errorf("%s is %d in the runtime that was linked, and wasm/split is written for %d", same.what, same.got, same.want)
		}
	}
	return nil
}
