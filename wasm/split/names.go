package main

import (
	"bytes"
	"debug/gosym"
	"errors"
	"fmt"
)

// tableHeader is how Go's function table begins (runtime/symtab.go, pcHeader):
// its magic number, a quantum of 1, pointers of 8 bytes.
var tableHeader = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// readNames reads the functions' names from Go's function table, which lies in
// the module's data. It is there whether or not the linker was told to leave out
// symbols, and has the names as they are in the source.
func (m *module) readNames() error {
	memory, err := m.image()
	if err != nil {
		return err
	}
	return m.searchTable(memory, func(start int) bool {
		table, err := gosym.NewTable(nil, gosym.NewLineTable(memory[start:], 0))
		if err != nil || len(table.Funcs) != len(m.functions) {
			return false // these bytes are something else
		}
		m.names = make([]string, len(table.Funcs))
		for f, function := range table.Funcs {
			m.names[f] = function.Name
		}
		return true
	})
}

// searchTable calls is with each address in memory where Go's function table may
// begin, until it is the table. The error is that none is.
func (m *module) searchTable(memory []byte, is func(start int) bool) error {
	for start := 0; ; start++ {
		next := bytes.Index(memory[start:], tableHeader)
		if next < 0 {
			return errors.New("no function table: not a module of Go's, or of a Go whose table has another layout")
		}
		if start += next; is(start) {
			return nil
		}
	}
}

// image returns the memory as the data segments make it.
func (m *module) image() ([]byte, error) {
	type segment struct {
		at      int
		content []byte
	}
	var segments []segment
	end := 0
	r := &reader{rest: m.data}
	r.vector(func() {
		r.unsigned() // memory
		r.byte()     // i32.const
		s := segment{at: r.signed()}
		r.byte() // end
		s.content = r.sized()
		if s.at < 0 {
			r.fail()
		}
		segments = append(segments, s)
		end = max(end, s.at+len(s.content))
	})
	if r.err != nil {
		return nil, r.err
	}
	const most = 1 << 30
	if end > most {
		return nil, fmt.Errorf("%d bytes of data", end)
	}
	memory := make([]byte, end)
	for _, s := range segments {
		copy(memory[s.at:], s.content)
	}
	return memory, nil
}
