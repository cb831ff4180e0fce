package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// restModule and restName are what the engine's module imports: a function that
	// is told a slot, and whether the caller cannot wait. It returns 1 when the rest
	// is there, and 0 when it has begun to fetch the rest, which it does only for a
	// caller that can wait.
	restModule, restName = "kubetab", "rest"
	// parkName is the function that parks the goroutine which calls it, see
	// wasm/patch. It returns 0 where a goroutine cannot be parked.
	parkName = "runtime.asyncPreempt"
	// engineModule is where the rest imports from: the engine's exports.
	engineModule = "engine"
)

// cut parts m in two: the engine with the functions that hot names, by number,
// and the rest with the others.
//
// All keep their slots in the table. In the engine those of the rest have one
// function, absent, which has the rest fetched, parks the goroutine until the rest
// has arrived, and then calls what the slot holds: the rest, when it is
// instantiated, puts its functions into their slots. To tell
// absent which slot that is, calls through the table leave its number in a global
// of the engine. (A function for each slot would tell as much, and cost 600 KB of
// the compressed module.) What the engine calls by number and does not have gets a stand-in
// of a few bytes, which calls through the table.
//
// Both have one memory, one table, and the globals of the engine but that one. The
// table is exported under a name that holds a sum of the whole, and the rest asks
// for it by that name: one of another build cannot be instantiated.
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
	if err := c.findStandIns(); err != nil {
		return nil, nil, err
	}
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
		if hot[f] {
			c.number[f] = len(c.here)
			c.here = append(c.here, f)
		} else {
			c.number[f] = len(c.apart)
			c.apart = append(c.apart, f)
		}
	}
	c.types = append([]string(nil), m.types...)
	add := func(parameters, results int) int {
		t := []byte{typeFunc}
		for _, n := range []int{parameters, results} {
			t = append(append(t, byte(n)), bytes.Repeat([]byte{typeI32}, n)...)
		}
		c.types = append(c.types, string(t))
		return len(c.types) - 1
	}
	c.fetchType, c.plainType, c.sizeType, c.indexType = add(2, 1), add(0, 0), add(0, 1), add(indexParameters, 0)
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
// profile says. Which functions of Go's runtime are called depends on timing and
// on memory, and no two runs agree. Functions of this project change more often
// than the profile is made.
var always = []string{
	"runtime.", "internal/runtime/", "main.", "github.com/kubetab/",
	// What the runtime calls while it holds the thread, and then cannot wait for.
	"internal/abi.", "internal/bytealg.", "internal/chacha8rand.", "internal/cpu.", "internal/stringslite.",
	// A few bytes each, and what is called changes with every program: one that is missing costs a visitor the whole rest.
	// Whoever waits for one of them may hold a lock that all need.
	"sync.", "sync/atomic.", "internal/sync.", "time.",
	// What a terminal's own goroutine calls, which works for nobody that could be told.
	"context.", "errors.", "io.", "strings.", "unicode/utf8.",
	// What requests share: one that waited here, with a lock or a connection, would hold up the others.
	"net/http.(*Transport)", "net/http.(*wantConn", "net/http.(*persistConn)", "net/http.(*Client)", "net/http.(*Server)",
	"net/http.(*conn", "net/http.(*response)", "net/http.(*body", "net/http.(*transfer", "net/http.(*Request)",
	"net/http.(*timeout", "net/http.Header", "k8s.io/klog/v2.(*loggingT)",
	"k8s.io/apiserver/pkg/server/httplog.", "k8s.io/apiserver/pkg/endpoints/filters.",
	"k8s.io/apiserver/pkg/endpoints/responsewriter.",
	// Each request is marked with it, see internal/absent.
	"runtime/pprof.runtime_setProfLabel",
	// Which functions of these are called depends on the load.
	"k8s.io/apiserver/pkg/endpoints/handlers.", "k8s.io/apiserver/pkg/server/filters.",
	"k8s.io/apiserver/pkg/storage/cacher", "k8s.io/apiserver/pkg/util/flowcontrol",
}

func isAlways(symbol string) bool {
	// What Go makes of a type, to compare keys of maps and to hash them, is of the type's package.
	for _, of := range []string{"type:.eq.", "type:.hash."} {
		symbol = strings.TrimPrefix(symbol, of)
	}
	return slices.ContainsFunc(always, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// seldom are the packages of which no function is in the engine: each brings bytes
// that come with the rest, see wasm/patch.
var seldom = []string{"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi/"}

func isSeldom(symbol string) bool {
	return slices.ContainsFunc(seldom, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// resident takes those of seldom from hot, and adds what cannot be elsewhere -
// functions that are not of Go's type, that call imports, or that are exported -
// and those of always.
func (m *module) resident(hot []bool, goType int) ([]bool, error) {
	hot = append([]bool(nil), hot...)
	for _, e := range m.exports {
		if e.kind == kindFunction {
			hot[e.index-len(m.imports)] = true
		}
	}
	for f, body := range m.bodies {
		hot[f] = hot[f] && !isSeldom(m.names[f])
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
		}, nil)
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
	m                   *module
	hot                 []bool
	here, apart         []int   // functions of the engine, and of the rest
	number              []int   // of a function, in here or apart
	standIns            []int   // functions of the rest that the engine calls by number
	standIn             []int   // of a function, in standIns
	tables              *tables // nil when they stay where they are
	types               []string
	goType, fetchType   int
	plainType, sizeType int
	indexType           int
	table               string // the name under which it is exported
}

func (c *cutter) slot(f int) int { return c.m.offset + f }

// findStandIns looks at what the functions of the engine call.
func (c *cutter) findStandIns() error {
	c.standIn = make([]int, len(c.hot))
	called := make([]bool, len(c.hot))
	for f, body := range c.m.bodies {
		if !c.hot[f] {
			continue
		}
		_, err := calls(nil, body, func(to []byte, function int) []byte {
			if callee := function - len(c.m.imports); callee >= 0 && !c.hot[callee] && !called[callee] {
				called[callee] = true
				c.standIn[callee] = len(c.standIns)
				c.standIns = append(c.standIns, callee)
			}
			return to
		}, nil)
		if err != nil {
			return c.m.blame(f, err)
		}
	}
	return nil
}

// engine has one import and one global more than the whole, its functions of the
// whole, the stand-ins, absent, and its own, see engineFunctions.
func (c *cutter) engine() ([]byte, error) {
	m := c.m
	imports := len(m.imports) + 1
	fetch := len(m.imports)
	called := len(m.globals) // the global with the slot of the last call through the table
	firstStandIn := imports + len(c.here)
	absentNumber := firstStandIn + len(c.standIns)
	firstOwn := absentNumber + 1
	own := c.engineFunctions(firstOwn)
	functions := firstOwn + len(own) - imports
	numberOf := func(f int) int {
		if c.hot[f] {
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
		case i < len(c.here):
			w.unsigned(m.functions[c.here[i]])
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
	w.vector(sectionExport, len(m.exports)+1, func(i int) {
		e := exported{name: c.table, kind: kindTable}
		if i < len(m.exports) {
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
			if elements[f] = absentNumber; c.hot[f] {
				elements[f] = numberOf(f)
			}
		}
		w.unsigned(1)
		w.segment(m.offset, elements)
	})
	leaveSlot := func(to []byte) []byte {
		to = unsigned(append(to, opGlobalSet), called)
		return unsigned(append(to, opGlobalGet), called)
	}
	var failed error
	w.vector(sectionCode, functions, func(i int) {
		switch {
		case i < len(c.here):
			f := c.here[i]
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
		w.data(c.tables.image, filled(c.tables.image))
	}
	return w.out, failed
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
//		ret = slot<<16 | block    // the pc
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
	op(opLocalGet, slot, opI64ExtendI32U, opI64Const, 16, opI64Shl, opLocalGet, block, opI64ExtendI32U, opI64Or)
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

// rest has the functions that are apart, and if it brings tables those of arrival.go.
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

// errNoGlobals: wasm/patch has no changes for the Go that linked the module.
var errNoGlobals = errors.New("the module does not export its globals, which the rest needs")
