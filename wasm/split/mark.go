package main

import "strconv"

// markPrefix begins the names under which a marked module exports its marks.
const markPrefix = "mark "

// marksEach is how many functions have their marks in one global: a module may
// have 100,000 exports, and there are more functions than that.
const marksEach = 32

// mark has each function of m set a bit of a global when it is called, or
// resumed. The export "mark 7" has those of functions 7*32 to 7*32+31, counted
// without imports, from the lowest bit on.
func mark(m *module) []byte {
	firstMark := len(m.globals)
	marks := (len(m.functions) + marksEach - 1) / marksEach
	w := &writer{out: append([]byte(nil), header...)}
	w.vector(sectionType, len(m.types), func(i int) { w.raw([]byte(m.types[i])) })
	w.vector(sectionImport, len(m.imports), func(i int) {
		w.name(m.imports[i].module)
		w.name(m.imports[i].name)
		w.raw([]byte{kindFunction})
		w.unsigned(m.imports[i].typ)
	})
	w.vector(sectionFunction, len(m.functions), func(i int) { w.unsigned(m.functions[i]) })
	w.section(sectionTable, func() { w.raw(m.table) })
	w.section(sectionMemory, func() { w.raw(m.memory) })
	w.vector(sectionGlobal, firstMark+marks, func(i int) {
		if i < firstMark {
			w.raw(m.globals[i])
		} else {
			w.raw([]byte{typeI32, 1, opI32Const, 0, opEnd})
		}
	})
	w.vector(sectionExport, len(m.exports)+marks, func(i int) {
		e := exported{kind: kindGlobal}
		if i < len(m.exports) {
			e = m.exports[i]
		} else {
			group := i - len(m.exports)
			e.name, e.index = markPrefix+strconv.Itoa(group), firstMark+group
		}
		w.name(e.name)
		w.raw([]byte{byte(e.kind)})
		w.unsigned(e.index)
	})
	w.section(sectionElement, func() {
		w.unsigned(1)
		w.segment(m.offset, m.elements)
	})
	w.vector(sectionCode, len(m.functions), func(f int) {
		r := &reader{rest: m.bodies[f]}
		r.vector(func() { // locals
			r.unsigned()
			r.byte()
		})
		locals := m.bodies[f][:len(m.bodies[f])-len(r.rest)]
		body := append([]byte(nil), locals...)
		group := firstMark + f/marksEach
		body = unsigned(append(body, opGlobalGet), group)
		body = signed(append(body, opI32Const), int(int32(1)<<(f%marksEach)))
		body = unsigned(append(body, opI32Or, opGlobalSet), group)
		w.sized(append(body, r.rest...))
	})
	w.section(sectionData, func() { w.raw(m.data) })
	return w.out
}
