package main

// rest has the functions that are apart, and if it brings tables those of arrival.go. It
// is long because it writes the sections of a module in their order, with one numbering
// of functions.
func (c *cutter) rest() ([]byte, error) {
	m := c.m
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

	w := &writer{out: append([]byte(nil), header...)}
	w.vector(sectionType, len(c.types), func(i int) { w.raw([]byte(c.types[i])) })
	w.vector(sectionImport, len(globals)+2, func(i int) {
		w.name(engineModule)
		switch {
		case i < len(globals):
			w.name(globals[i].name)
			w.raw([]byte{kindGlobal})
			w.raw(m.globals[i][:2]) // type and mutability
		case i == len(globals):
			w.name(memory)
			w.raw([]byte{kindMemory, 0, 0}) // of any size
		default:
			w.name(c.table)
			w.raw([]byte{kindTable, typeFuncref, 0, 0})
		}
	})
	own := c.restFunctions(len(c.apart))
	w.vector(sectionFunction, len(c.apart)+len(own), func(i int) {
		if i < len(c.apart) {
			w.unsigned(c.goType)
		} else {
			w.unsigned(own[i-len(c.apart)].typ)
		}
	})
	if c.tables != nil {
		w.vector(sectionExport, len(own)-ownExported, func(i int) {
			w.name(own[ownExported+i].name)
			w.raw([]byte{kindFunction})
			w.unsigned(len(c.apart) + ownExported + i)
		})
		w.section(sectionStart, func() { w.unsigned(len(c.apart) + ownStart) })
	}
	w.section(sectionElement, func() {
		// Each run of neighbours in the table is a segment.
		type run struct {
			slot      int
			functions []int
		}
		var runs []run
		for i, f := range c.apart {
			if i > 0 && c.apart[i-1] == f-1 {
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
	if c.tables != nil {
		w.section(sectionDataCount, func() { w.unsigned(1) })
	}
	var failed error
	w.vector(sectionCode, len(c.apart)+len(own), func(i int) {
		if i >= len(c.apart) {
			w.sized(own[i-len(c.apart)].body)
			return
		}
		f := c.apart[i]
		body, err := calls(nil, m.bodies[f], func(to []byte, function int) []byte {
			callee := function - len(m.imports)
			if !c.hot[callee] {
				return unsigned(append(to, opCall), c.number[callee])
			}
			to = signed(append(to, opI32Const), c.slot(callee))
			to = unsigned(append(to, opCallIndirect), m.functions[callee])
			return append(to, 0)
		}, nil)
		if err != nil {
			failed = m.blame(f, err)
		}
		w.sized(body)
	})
	if c.tables != nil {
		w.vector(sectionData, 1, func(int) {
			w.unsigned(1) // passive
			w.sized(c.tables.block)
		})
	}
	return w.out, failed
}
