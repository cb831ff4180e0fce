package main

import "slices"

// engine has one import and one global more than the whole, its functions of the
// whole, the stand-ins, absent, and its own, see engineFunctions. It is long because it
// writes the sections of a module in their order, with one numbering of functions.
func (c *cutter) engine() ([]byte, error) {
	m := c.m
	imports := len(m.imports) + 1
	fetch := len(m.imports)
	called := len(m.globals) // the global with the slot of the last call through the table
	firstStandIn := imports + len(c.of[partEngine])
	absentNumber := firstStandIn + len(c.standIns)
	firstOwn := absentNumber + 1
	own := c.engineFunctions(firstOwn)
	functions := firstOwn + len(own) - imports
	numberOf := func(f int) int {
		if c.partOf[f] == partEngine {
			return imports + c.number[f]
		}
		return firstStandIn + c.standIn[f]
	}

	park := slices.Index(m.names, parkName)
	sp, ret := m.exportedGlobal("SP"), m.exportedGlobal("RET0")
	if park < 0 || sp < 0 || ret < 0 {
		return nil, errNoGlobals
	}

	w := &writer{out: append([]byte(nil), header...)}
	w.vector(sectionType, len(c.types), func(i int) { w.raw([]byte(c.types[i])) })
	w.vector(sectionImport, imports, func(i int) {
		next := imported{module: restModule, name: restName, typ: c.fetchType}
		if i < len(m.imports) {
			next = m.imports[i]
		}
		w.name(next.module)
		w.name(next.name)
		w.raw([]byte{kindFunction})
		w.unsigned(next.typ)
	})
	w.vector(sectionFunction, functions, func(i int) {
		switch {
		case i < len(c.of[partEngine]):
			w.unsigned(m.functions[c.of[partEngine][i]])
		case imports+i < firstOwn:
			w.unsigned(c.goType)
		default:
			w.unsigned(own[imports+i-firstOwn].typ)
		}
	})
	w.section(sectionTable, func() { w.raw(m.table) })
	w.section(sectionMemory, func() { w.raw(m.memory) })
	w.vector(sectionGlobal, len(m.globals)+1, func(i int) {
		if i < len(m.globals) {
			w.raw(m.globals[i])
		} else {
			w.raw([]byte{typeI32, 1, opI32Const, 0, opEnd})
		}
	})
	more := []exported{{name: c.table, kind: kindTable}}
	if c.comesSoon() {
		more = append(more, exported{name: calledName, kind: kindGlobal, index: called})
	}
	w.vector(sectionExport, len(m.exports)+len(more), func(i int) {
		var e exported
		if i >= len(m.exports) {
			e = more[i-len(m.exports)]
		} else {
			e = m.exports[i]
			if e.kind == kindFunction {
				e.index = numberOf(e.index - len(m.imports))
			}
		}
		w.name(e.name)
		w.raw([]byte{byte(e.kind)})
		w.unsigned(e.index)
	})
	if len(own) > 0 {
		w.section(sectionStart, func() { w.unsigned(firstOwn + ownStart) })
	}
	w.section(sectionElement, func() {
		elements := make([]int, len(m.elements))
		for f := range elements {
			if elements[f] = absentNumber; c.partOf[f] == partEngine {
				elements[f] = numberOf(f)
			}
		}
		w.unsigned(1)
		w.segment(m.offset, elements)
	})
	leaveSlot := leavesSlotIn(called)
	var failed error
	w.vector(sectionCode, functions, func(i int) {
		switch {
		case i < len(c.of[partEngine]):
			f := c.of[partEngine][i]
			body, err := calls(nil, m.bodies[f], func(to []byte, function int) []byte {
				if function >= len(m.imports) {
					function = numberOf(function - len(m.imports))
				}
				return unsigned(append(to, opCall), function)
			}, leaveSlot)
			if err != nil {
				failed = m.blame(f, err)
			}
			w.sized(body)
		case imports+i < absentNumber:
			body := signed([]byte{0, opLocalGet, 0, opI32Const}, c.slot(c.standIns[imports+i-firstStandIn]))
			body = unsigned(append(leaveSlot(body), opCallIndirect), c.goType)
			w.sized(append(body, 0, opEnd))
		case imports+i == absentNumber:
			w.sized(absent{fetch: fetch, park: numberOf(park), called: called, sp: sp, ret: ret, goType: c.goType}.body())
		default:
			w.sized(own[imports+i-firstOwn].body)
		}
	})
	if c.tables == nil {
		w.section(sectionData, func() { w.raw(m.data) })
	} else {
		w.data(append(filled(c.tables.image), piece{c.tables.columns.start, c.tables.columns.streams}))
	}
	return w.out, failed
}

// leavesSlotIn returns what leaves the slot that is on the stack in a global.
func leavesSlotIn(global int) func(to []byte) []byte {
	return func(to []byte) []byte {
		to = unsigned(append(to, opGlobalSet), global)
		return unsigned(append(to, opGlobalGet), global)
	}
}

// absent is what the body of the function absent is made of: functions, globals
// and a type by their numbers.
type absent struct {
	fetch, park     int
	called, sp, ret int
	goType          int
}

// body is that of the function absent. It is called in place of the function whose
// slot is in the global called, with the block at which that is to go on.
//
//	slot = called
//	if !fetch(slot, 0) {
//		ret = slot<<blockBits | block    // the pc
//		if block != 0 { push ret }
//		if park(0) { return 1 }   // to wasm_pc_f_loop, which calls the function when the goroutine goes on
//		if block != 0 { pop }
//		fetch(slot, 1)
//	}
//	return table[slot](block)
func (a absent) body() []byte {
	const block, slot = 0, 1
	body := []byte{1, 1, typeI32}
	op := func(code ...byte) { body = append(body, code...) }
	with := func(code byte, number int) { body = unsigned(append(body, code), number) }
	move := func(add byte) {
		with(opGlobalGet, a.sp)
		op(opI32Const, 8, add)
		with(opGlobalSet, a.sp)
	}

	with(opGlobalGet, a.called)
	op(opLocalTee, slot, opI32Const, 0)
	with(opCall, a.fetch)
	op(opI32Eqz, opIf, noResult)
	op(opLocalGet, slot, opI64ExtendI32U, opI64Const, blockBits, opI64Shl, opLocalGet, block, opI64ExtendI32U, opI64Or)
	with(opGlobalSet, a.ret)
	op(opLocalGet, block, opIf, noResult)
	move(opI32Sub)
	with(opGlobalGet, a.sp)
	with(opGlobalGet, a.ret)
	op(opI64Store, 3, 0, opEnd)
	op(opI32Const, 0)
	with(opCall, a.park)
	op(opIf, noResult, opI32Const, 1, opReturn, opEnd)
	op(opLocalGet, block, opIf, noResult)
	move(opI32Add)
	op(opEnd)
	op(opLocalGet, slot, opI32Const, 1)
	with(opCall, a.fetch)
	op(opDrop, opEnd)
	op(opLocalGet, block, opLocalGet, slot)
	with(opCallIndirect, a.goType)
	op(0, opEnd)
	return body
}

// exportedGlobal is the number of the global that has this name; -1 when there is
// none.
func (m *module) exportedGlobal(name string) int {
	for _, e := range m.exports {
		if e.kind == kindGlobal && e.name == name {
			return e.index
		}
	}
	return -1
}
