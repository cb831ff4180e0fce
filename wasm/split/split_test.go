package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 127, 128, 8191, 8192, 4096 + 153038, math.MaxInt32, math.MinInt32, -1, -64, -65} {
		r := &reader{rest: signed(nil, n)}
		if got := r.signed(); got != n || r.err != nil || r.more() {
			t.Errorf("signed %d is read as %d, %v, and leaves %d bytes", n, got, r.err, len(r.rest))
		}
		if n < 0 {
			continue
		}
		r = &reader{rest: unsigned(nil, n)}
		if got := r.unsigned(); got != n || r.err != nil || r.more() {
			t.Errorf("%d is read as %d, %v, and leaves %d bytes", n, got, r.err, len(r.rest))
		}
	}
	for _, torn := range [][]byte{nil, {0x80}, {0xff, 0xff}} {
		r := &reader{rest: torn}
		if r.signed(); r.err == nil {
			t.Errorf("% x is a signed number", torn)
		}
		r = &reader{rest: torn}
		if r.unsigned(); r.err == nil {
			t.Errorf("% x is a number", torn)
		}
	}
}

// body has one instruction of each form, and a call between any two.
func body() (whole []byte, called int) {
	forms := [][]byte{
		{opBlock, 0x40}, {0x03, typeI32}, {opIf, 0x40}, {0x05}, {opEnd}, {opEnd}, {opEnd},
		{opBr, 0x80, 1}, {opBrIf, 0}, {opBrTable, 2, 0, 0x81, 0, 1}, {0x0f}, {0x00}, {0x01}, {0x1a}, {0x1b},
		{opCallIndirect, 0x90, 1, 0}, {opLocalGet, 0}, {0x21, 1}, {0x22, 2}, {opGlobalGet, 3}, {opGlobalSet, 0x84, 0},
		{opI32Load, 2, 0x90, 0x10}, {opI64Store32, 0, 0x10}, {opMemorySize, 0}, {opMemoryGrow, 0},
		{opI32Const, 0x90, 0x7f}, {opI64Const, 0x90, 0x90, 0x90, 0x10},
		{opF32Const, 0x10, 0x10, 0x10, 0x10}, {opF64Const, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10},
		{0x45}, {0x6a}, {opExtend32S}, {opPrefixed, 0}, {opPrefixed, opMemoryCopy, 0, 0}, {opPrefixed, opMemoryFill, 0},
	}
	whole = []byte{2, 3, typeI32, 0x90, 1, 0x7e} // locals
	for _, f := range forms {
		whole = append(append(whole, opCall, 5), f...)
	}
	return append(whole, opEnd), len(forms)
}

func TestOnlyCallsAreChanged(t *testing.T) {
	whole, want := body()
	called := 0
	got, err := calls(nil, whole, func(to []byte, function int) []byte {
		called++
		return append(to, opCall, byte(function))
	}, nil)
	if err != nil || !bytes.Equal(got, whole) || called != want {
		t.Errorf("%d calls, %v:\n% x, want %d:\n% x", called, err, got, want, whole)
	}
	for n := range whole[:len(whole)-1] {
		// What is left of an instruction is either none or torn; it must be found where it is.
		got, err := calls(nil, whole[:n], func(to []byte, function int) []byte { return append(to, opCall, byte(function)) }, nil)
		if err == nil && !bytes.Equal(got, whole[:n]) {
			t.Errorf("the first %d bytes become % x", n, got)
		}
	}
}

func TestSlotsAreLeftBeforeCallsThroughTheTable(t *testing.T) {
	whole, _ := body()
	call := func(to []byte, function int) []byte { return append(to, opCall, byte(function)) }
	got, err := calls(nil, whole, call, func(to []byte) []byte { return append(to, opGlobalSet, 7) })
	through := []byte{opCallIndirect, 0x90, 1, 0}
	if want := bytes.Replace(whole, through, append([]byte{opGlobalSet, 7}, through...), 1); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v:\n% x, want\n% x", err, got, want)
	}
}

func TestUnknownInstructionsAreErrors(t *testing.T) {
	for _, instruction := range [][]byte{{0x06}, {0x12, 0}, {0x1c, 1, typeI32}, {0x25, 0}, {0xc5}, {0xd0, 0x70}, {opPrefixed, 8, 0, 0}, {0xfd, 12}} {
		if _, err := calls(nil, append([]byte{0}, instruction...), nil, nil); err == nil || !strings.Contains(err.Error(), "unknown instruction") {
			t.Errorf("% x: %v", instruction, err)
		}
	}
}

func TestSymbolsAreOfPackages(t *testing.T) {
	for symbol, want := range map[string][2]string{
		"main.main":          {"main", "main"},
		"a.b/c.(*T).F.func1": {"a.b/c", "(*T).F.func1"},
		"slices.SortFunc[go.shape.[]x.io/y.T,go.shape.int]": {"slices", "SortFunc"},
		"a/b.(*T[c/d.E]).F":            {"a/b", "(*T).F"},
		"a/b.F[...].func1":             {"a/b", "F.func1"},
		"type:.eq.net/http.Cookie":     {"type:.eq.net/http", "Cookie"},
		"wasm_pc_f_loop":               {"", "wasm_pc_f_loop"},
		"gopkg.in/inf%2ev0.(*Dec).Add": {"gopkg.in/inf%2ev0", "(*Dec).Add"},
	} {
		if pkg, function := splitSymbol(symbol); pkg != want[0] || function != want[1] {
			t.Errorf("%s: %q, %q", symbol, pkg, function)
		}
	}
}

func TestProfilesAreReadAsWritten(t *testing.T) {
	p := profile{}
	for _, symbol := range []string{"a.F", "a.G", "b/c.(*T).F", "wasm_pc_f_loop"} {
		p.add(symbol)
	}
	var first, second bytes.Buffer
	if err := p.writeTo(&first); err != nil {
		t.Fatal(err)
	}
	got, err := readProfile(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := got.writeTo(&second); err != nil || first.String() != second.String() {
		t.Errorf("%v:\n%s\nwas\n%s", err, &second, &first)
	}
	if !got.has("a.G") || got.has("a.H") || !got.has("wasm_pc_f_loop") || got.has("c.(*T).F") {
		t.Errorf("%v", got)
	}
	for _, text := range []string{"\tF\n", "a\n", "a:\n\tF\na:\n"} {
		if _, err := readProfile(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a profile", text)
		}
	}
}

// The rows that the runtime tells are those that layout.go reads, in the same order.
func TestLayoutHasTheRowsOfTheRuntime(t *testing.T) {
	diff, err := os.ReadFile("../patch/_diffs/std/runtime/symtab.go.diff")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(diff), "+\tlayout: [...]uintptr{\n")
	list, _, closed := strings.Cut(list, "+\t},\n")
	if !found || !closed {
		t.Fatal("kubetabTables has no layout")
	}
	var told, read []string
	for line := range strings.Lines(list) {
		told = append(told, strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(line, "+")), ","))
	}
	for _, row := range new(layout).rows() {
		read = append(read, row.written)
	}
	if !slices.Equal(told, read) {
		t.Errorf("the runtime tells\n%s\nand layout.go reads\n%s", strings.Join(told, "\n"), strings.Join(read, "\n"))
	}
	if !strings.Contains(string(diff), fmt.Sprintf("const kubetabRows = %d\n", len(read))) {
		t.Errorf("kubetabRows is not %d", len(read))
	}
}

// tellsLayout makes memory with a kubetabTables whose layout is that of the Go that wasm/patch changes.
func tellsLayout(change func(l *layout)) []byte {
	l := layout{
		frameSize: 88, frameFunc: 8, frameName: 16, frameKnown: 72,
		headerFunctions: 8, headerNames: 32, headerUnits: 40, headerFiles: 48, headerLines: 56, headerRecords: 64,
		entrySize: 8, entryRecord: 4, recordSize: 44, recordName: 4, moduleSize: 600,
	}
	change(&l)
	rows := l.rows()
	memory := make([]byte, 16+8*(tablesLayout+len(rows)))
	copy(memory[16:], tablesMark)
	binary.LittleEndian.PutUint64(memory[16+8*tablesRows:], uint64(len(rows)))
	for i, row := range rows {
		binary.LittleEndian.PutUint64(memory[16+8*(tablesLayout+i):], uint64(*row.to))
	}
	return memory
}

func TestLayoutIsRead(t *testing.T) {
	at, l, err := readLayout(tellsLayout(func(*layout) {}))
	if err != nil || at != 16 || l.frameKnown != 72 || l.headerRecords != 64 || l.moduleSize != 600 {
		t.Errorf("%d, %+v, %v", at, l, err)
	}
}

// A module is refused whose runtime has a layout that wasm/split cannot work with.
func TestLayoutsThatAreRefused(t *testing.T) {
	short := tellsLayout(func(*layout) {})
	binary.LittleEndian.PutUint64(short[16+8*tablesRows:], 40)
	for name, memory := range map[string][]byte{
		"an entry of another size":   tellsLayout(func(l *layout) { l.entrySize = 16 }),
		"an entry in another order":  tellsLayout(func(l *layout) { l.entryFunction, l.entryRecord = 4, 0 }),
		"a record that begins other": tellsLayout(func(l *layout) { l.recordEntry = 4 }),
		"other rows":                 short,
		"none":                       make([]byte, 4096),
		"one that is torn":           short[:100],
	} {
		if _, _, err := readLayout(memory); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// together puts records together as the function decode does.
func (c *columns) together(image []byte) {
	at := func(address int) []byte {
		if address >= c.start {
			return c.streams[address-c.start:]
		}
		return image[address:]
	}
	word := func(address int) uint32 { return binary.LittleEndian.Uint32(at(address)) }
	to := c.first
	for row := range c.rows {
		to += 4 * int(binary.LittleEndian.Uint16(at(c.gaps+2*row)))
		shape := at(c.of + shapeSize*int(at(c.shapes + row)[0]))
		for range binary.LittleEndian.Uint16(at(c.counts + 2*row)) {
			for _, number := range shape[1 : 1+shape[0]] {
				if number != 0 {
					state := c.columns + columnSize*int(number)
					next := int(word(state + columnNext))
					v := word(next) + word(state+columnLast)&word(state+columnAddsLast) + word(to-4)&word(state+columnAddsFront)
					binary.LittleEndian.PutUint32(at(state+columnNext), uint32(next+4))
					binary.LittleEndian.PutUint32(at(state+columnLast), v)
					binary.LittleEndian.PutUint32(at(to), v)
				}
				to += 4
			}
		}
	}
}

func TestColumnsPutTogether(t *testing.T) {
	const many = 70_000 // more than a row can count
	shapes := shapes{"point": {"x", "y", "", "sum"}, "number": {"number"}}
	rows := []row{{8, "point", 3}, {64, "number", 1}, {68, "number", many}, {64 + 8*many, "point", many}, {100 + 24*many, "number", 2}}
	image := make([]byte, 200+24*many)
	for i := range image[:64+4*many] {
		image[i] = byte(i * i >> 3)
	}
	for i := range 4 * many {
		v := []int{i, 7 * i % 1000, 0, 7*i%1000 + 3}[i%4]
		binary.LittleEndian.PutUint32(image[64+8*many+4*i:], uint32(v))
	}
	for at := 16; at < 56; at += 16 {
		clear(image[at : at+4]) // the word of a point that has no column
	}
	want := bytes.Clone(image)
	c, err := encode(image, rows, shapes, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(image, want) || image[8] != 0 {
		t.Error("the records are still there")
	}
	if len(c.streams) > 4*many*6 {
		t.Errorf("%d bytes for %d words", len(c.streams), many*5)
	}
	if c.together(image); !bytes.Equal(image, want) {
		t.Error("what is put together is something else")
	}
}

func TestColumnsRefuse(t *testing.T) {
	shapes := shapes{"word": {"word"}, "zero": {""}, "none": {}}
	for name, rows := range map[string][]row{
		"one in another":            {{8, "word", 4}, {12, "word", 1}},
		"one between words":         {{8, "word", 1}, {14, "word", 1}},
		"one that is not zero":      {{16, "zero", 1}},
		"one of an unknown shape":   {{8, "else", 1}},
		"one of a shape of nothing": {{8, "none", 1}},
	} {
		image := bytes.Repeat([]byte{1}, 64)
		if _, err := encode(image, rows, shapes, 1<<20); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestTypesAreRead(t *testing.T) {
	section := unsigned(nil, 3)
	for _, n := range []int{5000, 40, -3000, 16, 8, 72} {
		if section = signed(section, n); n == 40 || n == 16 || n == 72 {
			section = unsigned(section[:len(section)-len(signed(nil, n))], n)
		}
	}
	got, err := readTypes(section)
	if want := (typeTables{extent{5000, 40}, extent{2040, 16}, []extent{{2064, 72}}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for n := range section {
		if _, err := readTypes(section[:n]); err == nil {
			t.Errorf("the first %d bytes are taken", n)
		}
	}
}

// A descriptor that is not what it seems to be is words, none of which is lost.
func TestUnknownTypesAreWords(t *testing.T) {
	image := bytes.Repeat([]byte{0xff}, 256)
	shapes := typeShapes()
	for _, size := range []int{4, 48, 100, 200} {
		rows := typeTables{descriptors: []extent{{16, size}}}.rows(image, shapes)
		words := 0
		for _, r := range rows {
			words += r.count * len(shapes[r.shape])
		}
		if words != size/4 {
			t.Errorf("%d words of a descriptor of %d bytes", words, size)
		}
	}
}

// TestByLoad: which of these is called no profile can tell.
func TestByLoad(t *testing.T) {
	for symbol, want := range map[string]bool{
		"k8s.io/client-go/tools/cache.(*RealFIFO).PopBatch.func4":                                 true,
		"k8s.io/client-go/tools/cache.typedSharedIndexInformer[*k8s.io/api/core/v1.Pod].GetStore": false,
		"k8s.io/client-go/tools/portforward.(*TunnelingConnection).Write":                         false,
		"sort.reverseRange":                       true,
		"slices.heapSortCmpFunc[go.shape.string]": true,
		"slices.Chunk[go.shape.[]uint8]":          false,
	} {
		if got := isByLoad(symbol); got != want {
			t.Errorf("%s: %v", symbol, got)
		}
	}
}
