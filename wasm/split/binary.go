package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Section numbers of the binary format, in the order in which sections come.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
)

// What an import or an export is.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
)

const (
	typeI32     = 0x7f
	typeFuncref = 0x70
	typeFunc    = 0x60 // a function type's first byte
)

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// errTorn is what a reader that has run past the end leaves in err.
var errTorn = errors.New("the module is torn")

// reader reads the elements of the binary format. After the first error it
// returns zeroes; whoever reads looks at err once, in the end.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errTorn
	}
	r.rest = nil
}

func (r *reader) more() bool { return len(r.rest) > 0 }

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// unsigned reads an unsigned LEB128 number: a count, a size, an index.
func (r *reader) unsigned() int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > 1<<32 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// signed reads a signed LEB128 number, of 64 bits at most.
func (r *reader) signed() int {
	v := 0
	for shift := 0; shift < 70; shift += 7 {
		b := r.byte()
		v |= int(b&0x7f) << shift
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.fail()
	return 0
}

// vector reads a vector, of which one reads an element.
func (r *reader) vector(one func()) {
	for n := r.unsigned(); n > 0 && r.err == nil; n-- {
		one()
	}
}

func (r *reader) sized() []byte { return r.bytes(r.unsigned()) }
func (r *reader) name() string  { return string(r.sized()) }

func unsigned(to []byte, v int) []byte { return binary.AppendUvarint(to, uint64(v)) }

// signed appends the signed LEB128 number that i32.const takes.
func signed(to []byte, v int) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(to, b)
		}
		to = append(to, b|0x80)
	}
}

func sized(to, content []byte) []byte { return append(unsigned(to, len(content)), content...) }
func name(to []byte, s string) []byte { return append(unsigned(to, len(s)), s...) }

// module is a WebAssembly module as Go's linker makes it: one table, one memory,
// one element segment, nothing imported but functions.
type module struct {
	types      []string // function types, as they are in the file
	imports    []imported
	functions  []int    // the type of each function that is not imported
	table      []byte   // the section's content
	memory     []byte   // the section's content
	globals    [][]byte // type, mutability and value of each
	exports    []exported
	offset     int   // of the element segment: the table's slot for its first function
	elements   []int // functions, from that slot on
	bodies     [][]byte
	data       []byte   // the section's content
	names      []string // of functions; see readNames
	typeTables []byte   // what the linker says of them; see readTypes
}

type imported struct {
	module, name string
	typ          int
}

type exported struct {
	name        string
	kind, index int
}

// parse takes a module to pieces, which share its memory.
func parse(file []byte) (*module, error) {
	if len(file) < len(header) || string(file[:len(header)]) != string(header) {
		return nil, errors.New("not a WebAssembly module")
	}
	m := &module{}
	r := &reader{rest: file[len(header):]}
	for r.more() {
		id := r.byte()
		s := &reader{rest: r.sized()}
		if r.err != nil {
			return nil, r.err
		}
		if err := m.section(id, s); err != nil {
			return nil, err
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	if len(m.functions) != len(m.bodies) || len(m.elements) != len(m.functions) {
		return nil, fmt.Errorf("%d functions, of which %d have a body and %d are in the table: not a module of Go's linker", len(m.functions), len(m.bodies), len(m.elements))
	}
	for i, f := range m.elements {
		if f != len(m.imports)+i {
			return nil, errors.New("the table does not have the functions in their order: not a module of Go's linker")
		}
	}
	return m, nil
}

// section parses one section into m.
func (m *module) section(id byte, s *reader) error {
	switch id {
	case sectionCustom:
		if s.name() == typesSection {
			m.typeTables = s.rest
		}
		s.rest = nil // names for debuggers and the like
	case sectionType:
		s.vector(func() {
			whole := s.rest
			s.byte()
			s.sized() // parameters
			s.sized() // results
			m.types = append(m.types, string(whole[:len(whole)-len(s.rest)]))
		})
	case sectionImport:
		s.vector(func() {
			i := imported{module: s.name(), name: s.name()}
			if kind := s.byte(); kind != kindFunction && s.err == nil {
				s.err = fmt.Errorf("imports %s.%s, which is no function", i.module, i.name)
			}
			i.typ = s.unsigned()
			m.imports = append(m.imports, i)
		})
	case sectionFunction:
		s.vector(func() { m.functions = append(m.functions, s.unsigned()) })
	case sectionTable:
		m.table = s.rest
		if n := s.unsigned(); n != 1 {
			return fmt.Errorf("%d tables, not one", n)
		}
	case sectionMemory:
		m.memory = s.rest
	case sectionGlobal:
		s.vector(func() {
			whole := s.rest
			s.byte() // its type
			s.byte() // var
			s.byte() // t.const
			s.signed()
			s.byte() // end
			m.globals = append(m.globals, whole[:len(whole)-len(s.rest)])
		})
	case sectionExport:
		s.vector(func() {
			m.exports = append(m.exports, exported{name: s.name(), kind: int(s.byte()), index: s.unsigned()})
		})
	case sectionElement:
		if n := s.unsigned(); n != 1 {
			return fmt.Errorf("%d element segments, not one", n)
		}
		s.unsigned() // table
		s.byte()     // i32.const
		m.offset = s.signed()
		s.byte() // end
		s.vector(func() { m.elements = append(m.elements, s.unsigned()) })
	case sectionCode:
		m.bodies = make([][]byte, 0, len(m.functions))
		s.vector(func() { m.bodies = append(m.bodies, s.sized()) })
	case sectionData:
		m.data = s.rest
	default:
		return fmt.Errorf("section %d: not a module of Go's linker", id)
	}
	return nil
}
