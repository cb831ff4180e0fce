package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
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
func cut(m *module, hot, parked []bool) (engine, rest made, err error) {
	goType := -1
	for i, t := range m.types {
		if t == string([]byte{typeFunc, 1, typeI32, 1, typeI32}) {
			goType = i
		}
	}
	if goType < 0 {
		return made{}, made{}, errors.New("no function is of Go's type")
	}
	hot, err = m.resident(hot, goType)
	if err != nil {
		return made{}, made{}, err
	}
	c := &cutter{m: m, hot: hot, goType: goType, number: make([]int, len(m.functions))}
	if err := c.findStandIns(); err != nil {
		return made{}, made{}, err
	}
	if parked != nil {
		keep := make([]bool, len(hot))
		for f := range keep {
			keep[f] = hot[f] || parked[f]
		}
		if c.tables, err = m.tables(keep); err != nil {
			return made{}, made{}, err
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
	if engine.module, err = c.engine(); err != nil {
		return made{}, made{}, err
	}
	if rest.module, err = c.rest(); err != nil {
		return made{}, made{}, err
	}
	engine.functions, rest.functions = c.engineNames(), c.namesOf(c.apart)
	return engine, rest, nil
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
	names = append(names, c.namesOf(c.here)...)
	return append(names, c.namesOf(c.standIns)...)
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

// errNoGlobals: wasm/patch has no changes for the Go that linked the module.
var errNoGlobals = errors.New("the module does not export its globals, which the rest needs")
