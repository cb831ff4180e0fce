package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
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
	// engineModule is where the other parts import from: the engine's exports.
	engineModule = "engine"
	// calledName is the engine's export of the slot of the last call through the table, if there are three parts.
	calledName = "called"
)

// A part is where a function is.
type part byte

const (
	partEngine part = iota // what a page begins with
	partSoon               // what comes as soon as the engine runs
	partRest               // what comes when it is called
	parts
)

// cut cuts m into the engine, what comes soon, and the rest, as partOf says of each function. Without functions that come
// soon there is no module for them.
//
// All functions keep their slots in the table. In the engine those of the other parts have one
// function, absent, which has the next part fetched, parks the goroutine until that part
// has arrived, and then calls what the slot holds: a part, when it is
// instantiated, puts its functions into their slots. A function of the rest that is called before what comes soon is there
// finds absent a second time. To tell
// absent which slot that is, calls through the table leave its number in a global
// of the engine. (A function for each slot would tell as much, and cost 600 KB of
// the compressed module.) What the engine calls by number and does not have gets a stand-in
// of a few bytes, which calls through the table.
//
// All have one memory, one table, and the globals of the engine; that one only what comes soon has, which may call what is
// not there. The rest comes last. The
// table is exported under a name that holds a sum of the whole, and the other parts ask
// for it by that name: one of another build cannot be instantiated.
//
// Unless parked is nil, what Go knows of the functions of a part goes there,
// too; see tables.go. parked names those that are on a stack in the snapshot,
// of which the engine has to know.
func cut(m *module, partOf []part, parked []bool) (made [parts]made, err error) {
	goType, err := m.goType()
	if err != nil {
		return made, err
	}
	c := &cutter{m: m, partOf: partOf, goType: goType, number: make([]int, len(m.functions))}
	if err := c.findStandIns(); err != nil {
		return made, err
	}
	if parked != nil {
		knownBy := slices.Clone(partOf)
		for f := range knownBy {
			if parked[f] {
				knownBy[f] = partEngine
			}
		}
		if c.tables, err = m.tables(knownBy, parked); err != nil {
			return made, err
		}
	}
	for f, p := range partOf {
		c.number[f] = len(c.of[p])
		c.of[p] = append(c.of[p], f)
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
		sum.Write([]byte{byte(partOf[f])})
	}
	if c.tables != nil {
		sum.Write(c.tables.image)
		sum.Write(c.tables.columns.streams)
		sum.Write(c.tables.block)
		for _, piece := range c.tables.withSoon {
			sum.Write(piece.content)
		}
	}
	c.table = fmt.Sprintf("table %x", sum.Sum(nil)[:8])
	if made[partEngine].module, err = c.engine(); err != nil {
		return made, err
	}
	made[partEngine].functions = c.engineNames()
	for _, p := range []part{partSoon, partRest} {
		if p == partSoon && !c.comesSoon() {
			continue
		}
		if made[p].module, err = c.later(p); err != nil {
			return made, err
		}
		made[p].functions = c.namesOf(c.of[p])
	}
	return made, nil
}

// goType is the number of the type of Go's functions.
func (m *module) goType() (int, error) {
	for i, t := range m.types {
		if t == string([]byte{typeFunc, 1, typeI32, 1, typeI32}) {
			return i, nil
		}
	}
	return 0, errors.New("no function is of Go's type")
}

// made is a part.
type made struct {
	module []byte
	// functions are the names of its functions by their numbers, imports first. Those
	// of split's own, at the end, have none.
	functions []string
}

func (m *module) blame(f int, err error) error {
	return fmt.Errorf("%s: %w", m.names[f], err)
}

// cutter holds what the parts are made from.
type cutter struct {
	m                   *module
	partOf              []part
	of                  [parts][]int // the functions of each part
	number              []int        // of a function, in its part
	standIns            []int        // functions of other parts that the engine calls by number
	standIn             []int        // of a function, in standIns
	tables              *tables      // nil when they stay where they are
	types               []string
	goType, fetchType   int
	plainType, sizeType int
	indexType           int
	table               string // the name under which it is exported
}

func (c *cutter) namesOf(functions []int) []string {
	names := make([]string, len(functions))
	for i, f := range functions {
		names[i] = c.m.names[f]
	}
	return names
}

func (c *cutter) engineNames() []string {
	var names []string
	for _, i := range c.m.imports {
		names = append(names, i.module+"."+i.name)
	}
	names = append(names, restModule+"."+restName)
	names = append(names, c.namesOf(c.of[partEngine])...)
	return append(names, c.namesOf(c.standIns)...)
}

// comesSoon says whether there are three parts.
func (c *cutter) comesSoon() bool { return len(c.of[partSoon]) > 0 }

func (c *cutter) slot(f int) int { return c.m.offset + f }

// findStandIns looks at what the functions of the engine call.
func (c *cutter) findStandIns() error {
	c.standIn = make([]int, len(c.partOf))
	called := make([]bool, len(c.partOf))
	for f, body := range c.m.bodies {
		if c.partOf[f] != partEngine {
			continue
		}
		_, err := calls(nil, body, func(to []byte, function int) []byte {
			if callee := function - len(c.m.imports); callee >= 0 && c.partOf[callee] != partEngine && !called[callee] {
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

// errNoGlobals: the module was not linked by what wasm/patch makes of Go.
var errNoGlobals = errors.New("the module does not export its globals, which the rest needs: it must be linked by build/patch/go")
