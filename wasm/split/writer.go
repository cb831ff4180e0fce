package main

import "encoding/binary"

// writer writes a module, section after section.
type writer struct{ out []byte }

func (w *writer) raw(b []byte)         { w.out = append(w.out, b...) }
func (w *writer) unsigned(v int)       { w.out = unsigned(w.out, v) }
func (w *writer) name(s string)        { w.out = name(w.out, s) }
func (w *writer) sized(content []byte) { w.out = sized(w.out, content) }

// section writes a section with what content writes.
func (w *writer) section(id byte, content func()) {
	// The size comes before the content, and is a number of five bytes so that
	// its place is known.
	w.out = append(w.out, id, 0, 0, 0, 0, 0)
	start := len(w.out)
	content()
	size := len(w.out) - start
	number := binary.AppendUvarint(nil, uint64(size))
	for len(number) < 5 {
		number[len(number)-1] |= 0x80
		number = append(number, 0)
	}
	copy(w.out[start-5:], number)
}

// vector writes a section that is a vector of n elements, of which one writes
// the i-th.
func (w *writer) vector(id byte, n int, one func(i int)) {
	w.section(id, func() {
		w.unsigned(n)
		for i := range n {
			one(i)
		}
	})
}

// segment writes an element segment for the table's slots from offset on.
func (w *writer) segment(offset int, functions []int) {
	w.unsigned(0) // active, of table 0
	w.out = signed(append(w.out, opI32Const), offset)
	w.raw([]byte{opEnd})
	w.unsigned(len(functions))
	for _, f := range functions {
		w.unsigned(f)
	}
}

// data writes the data section: what the spans of memory hold.
func (w *writer) data(memory []byte, spans []span) {
	w.vector(sectionData, len(spans), func(i int) {
		s := spans[i]
		w.unsigned(0) // of memory 0
		w.out = signed(append(w.out, opI32Const), s.from)
		w.raw([]byte{opEnd})
		w.sized(memory[s.from:s.to])
	})
}

// gap is how many bytes there are between two segments of data at least: what
// a segment costs itself is ten, and an engine takes 100,000 of them.
const gap = 64

// span is the memory from one address to another.
type span struct{ from, to int }

// filled returns the spans of memory that are not zero.
func filled(memory []byte) []span {
	var spans []span
	for at, b := range memory {
		if b == 0 {
			continue
		}
		if last := len(spans) - 1; last >= 0 && at-spans[last].to < gap {
			spans[last].to = at + 1
		} else {
			spans = append(spans, span{at, at + 1})
		}
	}
	return spans
}
