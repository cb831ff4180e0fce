package awk

import (
	"fmt"
	"runtime"
)

// definition is one of the program's own.
type definition struct {
	name       string
	parameters []string
	body       []statement
}

// userCall is a call of a function, which may be defined further down.
type userCall struct {
	name string
	args []expression
}

// What bounds recursion: what goes further does not end. Go ends the process when a stack is full, and how much of it a call
// takes depends on the expression that the call stands in.
const (
	deepest      = 5000
	mostFrames   = 200_000
	callsPerLook = 50 // at the stack
)

func (c userCall) eval(m *machine) value {
	m.breathe()
	f := m.program.functions[c.name]
	if m.depth++; m.depth > deepest || m.depth%callsPerLook == 0 && runtime.Callers(mostFrames, make([]uintptr, 1)) != 0 {
		panic(failure{fmt.Errorf("function %s calls itself too often", c.name)})
	}
	locals := make(map[string]*slot, len(f.parameters))
	for i, parameter := range f.parameters {
		locals[parameter] = &slot{value: unset}
		if i < len(c.args) {
			locals[parameter] = m.passed(c.args[i])
		}
	}
	before := m.locals
	m.locals, m.result = locals, unset
	j := m.run(f.body)
	m.locals = before
	m.depth--
	if j == nextRecord || j == nextFile || j == leave {
		panic(unwinding{j})
	}
	result := m.result
	m.result = unset
	return result
}

// passed is an argument: arrays by reference, values as they are.
func (m *machine) passed(arg expression) *slot {
	name, ok := arg.(variable)
	if !ok {
		return &slot{value: arg.eval(m)}
	}
	s := m.slot(string(name))
	switch {
	case s.array != nil:
		return &slot{value: unset, array: s.array}
	case s.value.unset:
		return &slot{value: unset, outer: s}
	}
	return &slot{value: s.value}
}

type returnStatement struct{ result expression }

func (s returnStatement) run(m *machine) jump {
	result := unset
	if s.result != nil {
		result = s.result.eval(m)
	}
	m.result = result
	return returned
}
