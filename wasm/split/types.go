package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// typesSection is the name of the section in which the linker says where what is known of types is; see wasm/patch's
// cmd/link/internal/wasm/asm.go.
const typesSection = "kubetab.types"

// extent is where in memory something is.
type extent struct{ address, size int }

// typeTables are the runtime's list of types, that of its tables of methods, and the descriptors of types in their order.
type typeTables struct {
	links, methods extent
	descriptors    []extent
}

// readTypes reads what the linker says.
func readTypes(section []byte) (typeTables, error) {
	var all []extent
	r := &reader{rest: section}
	end := 0
	r.vector(func() {
		address := end + r.signed()
		size := r.unsigned()
		all = append(all, extent{address, size})
		end = address + size
	})
	if r.err != nil || r.more() || len(all) < 2 {
		return typeTables{}, errors.New("the linker has not said where types are: the module must be linked by build/patch/go")
	}
	return typeTables{all[0], all[1], all[2:]}, nil
}

// Kinds of types (internal/abi's type.go), for which a descriptor has more than a Type.
const (
	kindOfArray     = 17
	kindOfChan      = 18
	kindOfFunc      = 19
	kindOfInterface = 20
	kindOfMap       = 21
	kindOfPointer   = 22
	kindOfSlice     = 23
	kindOfStruct    = 25
)

// Where a Type has what, and sizes, in bytes.
const (
	typeSize     = 48
	typeFlags    = 20
	typeKind     = 23
	hasUncommon  = 1 // of its flags
	uncommonSize = 16
)

// pointer are the columns of a field of 8 bytes that holds an address or a number below 2^32.
func pointer(column string) []string { return []string{column, ""} }

func fields(of ...[]string) []string {
	var all []string
	for _, field := range of {
		all = append(all, field...)
	}
	return all
}

// typeShapes are the parts of descriptors, as internal/abi has them.
func typeShapes() shapes {
	s := shapes{
		"uncommon":    {"package", "methods", "methods' offset", ""},
		"method":      {"method's name", "method's type", "method through an interface", "method"},
		"field":       fields(pointer("field's name"), pointer("field's type"), pointer("field's offset")),
		"parameter":   pointer("parameter"),
		"declaration": {"declared name", "declared type"},
		"word":        {"word"},

		"link":             {"link"},
		"table of methods": pointer("table of methods"),
	}
	for kind, more := range map[int][]string{
		0:               nil,
		kindOfArray:     fields(pointer("element of array"), pointer("slice of array"), pointer("length")),
		kindOfChan:      fields(pointer("element of channel"), pointer("direction")),
		kindOfFunc:      {"parameters", ""},
		kindOfInterface: fields(pointer("interface's package"), pointer("declarations"), pointer("length of declarations"), pointer("capacity of declarations")),
		kindOfMap: fields(pointer("key"), pointer("element of map"), pointer("group"), pointer("hasher"), pointer("size of group"),
			pointer("size of slot"), pointer("offset of element"), pointer("flags of map")),
		kindOfPointer: pointer("element of pointer"),
		kindOfSlice:   pointer("element of slice"),
		kindOfStruct:  fields(pointer("struct's package"), pointer("fields"), pointer("length of fields"), pointer("capacity of fields")),
	} {
		s[shapeOfKind(kind)] = append(fields(pointer("size"), pointer("pointers"), []string{"hash", "kind"}, pointer("equal"), pointer("mask"),
			[]string{"string", "pointer to it"}), more...)
	}
	return s
}

func shapeOfKind(kind int) string { return fmt.Sprintf("type %d", kind) }

// rows are what is known of types: the lists, and the parts of descriptors. What it does not know is words.
func (all typeTables) rows(image []byte, shapes shapes) []row {
	rows := []row{
		{all.links.address, "link", all.links.size / 4},
		{all.methods.address, "table of methods", all.methods.size / 8},
	}
	for _, t := range all.descriptors {
		at, end := t.address, t.address+t.size
		add := func(shape string, count int) {
			if size := 4 * len(shapes[shape]) * count; count > 0 && at+size <= end && fits(image[at:at+size], shapes[shape]) {
				rows = append(rows, row{at, shape, count})
				at += size
			}
		}
		word := func(offset int) int { return int(binary.LittleEndian.Uint32(image[at+offset:])) }
		if t.address%4 == 0 && t.size >= typeSize {
			kind, flags := int(image[at+typeKind])&31, image[at+typeFlags]
			if shapes[shapeOfKind(kind)] == nil {
				kind = 0
			}
			more, count := "", 0
			switch kind {
			case kindOfFunc:
				n := word(typeSize)
				more, count = "parameter", n&0xffff+n>>16&0x7fff
			case kindOfInterface:
				more, count = "declaration", word(typeSize+16)
			case kindOfStruct:
				more, count = "field", word(typeSize+16)
			}
			add(shapeOfKind(kind), 1)
			methods := 0
			if flags&hasUncommon != 0 && at+uncommonSize <= end {
				methods = word(4) & 0xffff
				add("uncommon", 1)
			}
			add(more, count)
			add("method", methods)
		}
		add("word", (end-at)/4)
	}
	return rows
}

// fits reports whether the words of records that have no column are zero.
func fits(records []byte, shape []string) bool {
	for word := 0; 4*word < len(records); word++ {
		if shape[word%len(shape)] == "" && binary.LittleEndian.Uint32(records[4*word:]) != 0 {
			return false
		}
	}
	return true
}
