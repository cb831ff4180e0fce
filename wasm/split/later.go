package main

// later has the functions of a part beside the engine, and if it brings tables, those of arrival.go. It
// is long because it writes the sections of a module in their order, with one numbering
// of functions.
func (c *cutter) later(p part) ([]byte, error) {
	m := c.m
	apart := c.of[p]
	own := c.restFunctions(len(apart))
	if p == partSoon {
		own = c.soonFunctions(len(apart))
	}
	bringsBlock := len(own) > ownExported
	var globals []exported
	for i := range m.globals {
		for _, e := range m.exports {
			if e.kind == kindGlobal && e.index == i {
				globals = append(globals, e)
				break
			}
		}
		if len(globals) != i+1 {
			return nil, errNoGlobals
		}
	}
	memory := ""
	for _, e := range m.exports {
		if e.kind == kindMemory {
			memory = e.name
		}
	}

	// What comes soon may call what is not there yet.
	var leaveSlot func([]byte) []byte
	if p == partSoon {
		leaveSlot = leavesSlotIn(len(globals))
		globals = append(globals, exported{name: calledName})
	}

	w := &writer{out: append([]byte(nil), header...)}
	w.vector(sectionType, len(c.types), func(i int) { w.raw([]byte(c.types[i])) })
	w.vector(sectionImport, len(globals)+2, func(i int) {
		w.name(engineModule)
		switch {
		case i < len(globals):
			w.name(globals[i].name)
			w.raw([]byte{kindGlobal})
			if i < len(m.globals) {
				w.raw(m.globals[i][:2]) // type and mutability
			} else {
				w.raw([]byte{typeI32, 1})
			}
		case i == len(globals):
			w.name(memory)
			w.raw([]byte{kindMemory, 0, 0}) // of any size
		default:
			w.name(c.table)
			w.raw([]byte{kindTable, typeFuncref, 0, 0})
		}
	})
	w.vector(sectionFunction, len(apart)+len(own), func(i int) {
		if i < len(apart) {
			w.unsigned(c.goType)
		} else {
			w.unsigned(own[i-len(apart)].typ)
		}
	})
	if bringsBlock {
		w.vector(sectionExport, len(own)-ownExported, func(i int) {
			w.name(own[ownExported+i].name)
			w.raw([]byte{kindFunction})
			w.unsigned(len(apart) + ownExported + i)
		})
	}
	if len(own) > 0 {
		w.section(sectionStart, func() { w.unsigned(len(apart) + ownStart) })
	}
	w.section(sectionElement, func() {
		// Each run of neighbours in the table is a segment.
		type run struct {
			slot      int
			functions []int
		}
		var runs []run
		for i, f := range apart {
			if i > 0 && apart[i-1] == f-1 {
				last := &runs[len(runs)-1]
				last.functions = append(last.functions, i)
			} else {
				runs = append(runs, run{c.slot(f), []int{i}})
			}
		}
		w.unsigned(len(runs))
		for _, r := range runs {
			w.segment(r.slot, r.functions)
		}
	})
	if bringsBlock {
		w.section(sectionDataCount, func() { w.unsigned(1) })
	}
	var failed error
	w.vector(sectionCode, len(apart)+len(own), func(i int) {
		if i >= len(apart) {
			w.sized(own[i-len(apart)].body)
			return
		}
		f := apart[i]
		body, err := calls(nil, m.bodies[f], func(to []byte, function int) []byte {
			callee := function - len(m.imports)
			if c.partOf[callee] == p {
				return unsigned(append(to, opCall), c.number[callee])
			}
			to = signed(append(to, opI32Const), c.slot(callee))
			if leaveSlot != nil && c.partOf[callee] == partRest {
				to = leaveSlot(to)
			}
			to = unsigned(append(to, opCallIndirect), m.functions[callee])
			return append(to, 0)
		}, leaveSlot)
		if err != nil {
			failed = m.blame(f, err)
		}
		w.sized(body)
	})
	switch {
	case bringsBlock:
		w.vector(sectionData, 1, func(int) {
			w.unsigned(1) // passive
			w.sized(c.tables.block)
		})
	case len(own) > 0:
		w.data(c.tables.withSoon)
	}
	return w.out, failed
}
