package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// restModule and restName are what the engine's module imports: the function
	// that fetches the rest and instantiates it, for the slot that it is given.
	restModule, restName = "kubetab", "rest"
	// engineModule is where the rest imports from: the engine's exports.
	engineModule = "engine"
	// gate is the slot of the table, below those of Go, for the function that
	// calls a function of the rest.
	gate = 0
)

// cut parts m in two: the engine with the functions that hot names, by number,
// and the rest with the others.
//
// In the engine each function of the rest has a stand-in of a few bytes, so that
// all keep their numbers and slots in the table. It passes its argument and its
// slot to the function in the slot gate. At first that is one which has the rest
// fetched and then calls what the slot holds; the rest, when it is instantiated,
// puts its functions into their slots and into gate one that only calls.
//
// Both have one memory, one table, and the globals of the engine. The table is
// exported under a name that holds a sum of the whole, and the rest asks for it
// by that name: one of another build cannot be instantiated.
//
// Unless parked is nil, what Go knows of the functions of the rest goes there,
// too; see tables.go. parked names those that are on a stack in the snapshot,
// of which the engine has to know.
func cut(m *module, hot, parked []bool) (engine, rest []byte, err error) {
	goType := -1
	for i, t := range m.types {
		if t == string([]byte{typeFunc, 1, typeI32, 1, typeI32}) {
			goType = i
		}
	}
	if goType < 0 {
		return nil, nil, errors.New("no function is of Go's type")
	}
	hot, err = m.resident(hot, goType)
	if err != nil {
		return nil, nil, err
	}
	c := &cutter{m: m, hot: hot, goType: goType, number: make([]int, len(m.functions))}
	if parked != nil {
		keep := make([]bool, len(hot))
		for f := range keep {
			keep[f] = hot[f] || parked[f]
		}
		if c.tables, err = m.tables(keep); err != nil {
			return nil, nil, err
		}
	}
	for f := range m.functions {
		if !hot[f] {
			c.number[f] = len(c.apart)
			c.apart = append(c.apart, f)
		}
	}
	c.types = append(append([]string(nil), m.types...),
		string([]byte{typeFunc, 2, typeI32, typeI32, 1, typeI32}), // the function in the slot gate
		string([]byte{typeFunc, 1, typeI32, 0}),                   // the function that fetches
		string([]byte{typeFunc, 0, 0}),                            // the rest's own
		string([]byte{typeFunc, 0, 1, typeI32}))
	c.gateType, c.fetchType, c.plainType, c.sizeType = len(m.types), len(m.types)+1, len(m.types)+2, len(m.types)+3
	sum := sha256.New()
	for f, body := range m.bodies {
		sum.Write(body)
		if hot[f] {
			sum.Write([]byte{1})
		} else {
			sum.Write([]byte{0})
		}
	}
	if c.tables != nil {
		sum.Write(c.tables.image)
		sum.Write(c.tables.block)
	}
	c.table = fmt.Sprintf("table %x", sum.Sum(nil)[:8])
	if engine, err = c.engine(); err != nil {
		return nil, nil, err
	}
	rest, err = c.rest()
	return engine, rest, err
}

// always are the packages of which all functions are in the engine, whatever the
// profile says: Go's runtime, of which it depends on the weather what is called,
// and what changes more often than the profile is made.
var always = []string{"runtime.", "internal/runtime/", "main.", "github.com/kubetab/"}

func isAlways(symbol string) bool {
	return slices.ContainsFunc(always, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// resident adds to hot what cannot be elsewhere - functions that are not of Go's
// type, that call imports, or that are exported - and those of always.
func (m *module) resident(hot []bool, goType int) ([]bool, error) {
	hot = append([]bool(nil), hot...)
	for _, e := range m.exports {
		if e.kind == kindFunction {
			hot[e.index-len(m.imports)] = true
		}
	}
	for f, body := range m.bodies {
		if hot[f] {
			continue
		}
		if m.functions[f] != goType || isAlways(m.names[f]) {
			hot[f] = true
			continue
		}
		_, err := calls(nil, body, func(to []byte, function int) []byte {
			hot[f] = hot[f] || function < len(m.imports)
			return to
		})
		if err != nil {
			return nil, m.blame(f, err)
		}
	}
	return hot, nil
}

func (m *module) blame(f int, err error) error {
	return fmt.Errorf("%s: %w", m.names[f], err)
}

// cutter holds what both parts are made from.
type cutter struct {
	m                           *module
	hot                         []bool
	apart                       []int   // functions of the rest
	number                      []int   // of such a function, in the rest
	tables                      *tables // nil when they stay where they are
	types                       []string
	goType, gateType, fetchType int
	plainType, sizeType         int
	table                       string // the name under which it is exported
}

func (c *cutter) slot(f int) int { return c.m.offset + f }

// engine has one import more than the whole, so that functions move up by one,
// and one function more, which is the first in the slot gate.
func (c *cutter) engine() ([]byte, error) {
	m := c.m
	imports := len(m.imports) + 1
	fetch := len(m.imports)
	first := imports + len(m.functions)

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
	w.vector(sectionFunction, len(m.functions)+1, func(i int) {
		if i < len(m.functions) {
			w.unsigned(m.functions[i])
		} else {
			w.unsigned(c.gateType)
		}
	})
	w.section(sectionTable, func() { w.raw(m.table) })
	w.section(sectionMemory, func() { w.raw(m.memory) })
	w.vector(sectionGlobal, len(m.globals), func(i int) { w.raw(m.globals[i]) })
	w.vector(sectionExport, len(m.exports)+1, func(i int) {
		e := exported{name: c.table, kind: kindTable}
		if i < len(m.exports) {
			e = m.exports[i]
			if e.kind == kindFunction {
				e.index++
			}
		}
		w.name(e.name)
		w.raw([]byte{byte(e.kind)})
		w.unsigned(e.index)
	})
	w.section(sectionElement, func() {
		w.unsigned(2)
		w.segment(gate, []int{first})
		w.segment(m.offset, shifted(m.elements))
	})
	var failed error
	w.vector(sectionCode, len(m.functions)+1, func(f int) {
		switch {
		case f == len(m.functions):
			w.sized(callGate(fetch, c.goType))
		case c.hot[f]:
			body, err := calls(nil, m.bodies[f], func(to []byte, function int) []byte {
				if function >= len(m.imports) {
					function++
				}
				return unsigned(append(to, opCall), function)
			})
			if err != nil {
				failed = m.blame(f, err)
			}
			w.sized(body)
		default:
			body := signed([]byte{0, opLocalGet, 0, opI32Const}, c.slot(f))
			body = signed(append(body, opI32Const), gate)
			body = unsigned(append(body, opCallIndirect), c.gateType)
			w.sized(append(body, 0, opEnd))
		}
	})
	if c.tables == nil {
		w.section(sectionData, func() { w.raw(m.data) })
	} else {
		w.data(c.tables.image, filled(c.tables.image))
	}
	return w.out, failed
}

func shifted(functions []int) []int {
	up := make([]int, len(functions))
	for i, f := range functions {
		up[i] = f + 1
	}
	return up
}

// callGate is the body of a function for the slot gate, which calls function
// fetch with the slot first unless that is negative.
func callGate(fetch, goType int) []byte {
	body := []byte{0}
	if fetch >= 0 {
		body = unsigned(append(body, opLocalGet, 1, opCall), fetch)
	}
	body = append(body, opLocalGet, 0, opLocalGet, 1)
	body = unsigned(append(body, opCallIndirect), goType)
	return append(body, 0, opEnd)
}

// rest has the functions that are apart and one more, for the slot gate; and if it
// brings tables, those of arrival.go.
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
	own := c.ownFunctions()
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
		runs := []run{{gate, []int{len(c.apart)}}}
		for i, f := range c.apart {
			last := &runs[len(runs)-1]
			if i > 0 && c.apart[i-1] == f-1 {
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
		})
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

// errNoGlobals: wasm/patch has no changes for the Go that linked the module.
var errNoGlobals = errors.New("the module does not export its globals, which the rest needs")
