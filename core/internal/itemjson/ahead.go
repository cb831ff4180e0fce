package itemjson

import (
	"bytes"
	"reflect"
	"runtime"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	upstream "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

const (
	// batchItems is how many items a goroutine encodes at once at most: some hundred
	// microseconds, beside which a goroutine costs nothing.
	batchItems = 64
	// batchBytes is how much of it: a list may have items of a megabyte.
	batchBytes = 1 << 20
	// mostAhead is how many batches of a list are encoded beside each other at most.
	mostAhead = 4
)

// encodings encodes items of a list, one after the other. Where there are many and
// several processors, the next ones are encoded while one is written.
type encodings struct {
	serializer *upstream.Serializer
	items      reflect.Value
	which      []int // the indices of those that are to be encoded, and that nobody encodes yet
	size       int   // of a batch
	begun      []*batch
	current    *batch
}

// batch is what one goroutine encodes, and what it has left for who takes it.
type batch struct {
	left     []int // the indices of what is not encoded yet
	text     bytes.Buffer
	ends     []int // of each item in text
	given    int   // of those
	err      error // of the item behind the last of ends
	panicked any   // what upstream's encoder said then, of the same item
	done     chan struct{}
}

func newEncodings(s *upstream.Serializer, items reflect.Value, which []int) *encodings {
	e := &encodings{serializer: s, items: items, which: which, size: 1, current: &batch{}}
	if ahead := min(runtime.GOMAXPROCS(0), mostAhead); ahead > 1 && len(which) > batchItems {
		e.size = batchItems
		for range ahead {
			e.begin()
		}
	}
	return e
}

// next returns the JSON of the next item with a comma behind it, until it is called
// again. Its errors are upstream's, and so is a panic.
func (e *encodings) next() ([]byte, error) {
	b := e.current
	if b.given == len(b.ends) && b.err == nil && b.panicked == nil {
		b = e.turn()
	}
	if b.given == len(b.ends) {
		if b.panicked != nil {
			panic(b.panicked)
		}
		return nil, b.err
	}
	begin := 0
	if b.given > 0 {
		begin = b.ends[b.given-1]
	}
	b.given++
	return b.text.Bytes()[begin:b.ends[b.given-1]], nil
}

// turn goes on to what comes after all that the current batch has.
func (e *encodings) turn() *batch {
	switch {
	case len(e.current.left) > 0:
		e.current.encode(e.serializer, e.items)
	case len(e.begun) == 0:
		e.current.left = e.take()
		e.current.encode(e.serializer, e.items)
	default:
		e.current, e.begun = e.begun[0], e.begun[1:]
		<-e.current.done
		e.begin()
	}
	return e.current
}

func (e *encodings) take() []int {
	n := min(e.size, len(e.which))
	taken := e.which[:n]
	e.which = e.which[n:]
	return taken
}

func (e *encodings) begin() {
	taken := e.take()
	if len(taken) == 0 {
		return
	}
	b := &batch{left: taken, done: make(chan struct{})}
	e.begun = append(e.begun, b)
	go func() {
		defer close(b.done)
		defer func() { b.panicked = recover() }()
		b.encode(e.serializer, e.items)
	}()
}

// end returns when nobody looks at the items any more.
func (e *encodings) end() {
	for _, b := range e.begun {
		<-b.done
	}
}

func (b *batch) encode(s *upstream.Serializer, items reflect.Value) {
	b.text.Reset()
	b.ends, b.given = b.ends[:0], 0
	for len(b.left) > 0 && b.text.Len() < batchBytes {
		item := items.Index(b.left[0]).Addr().Interface().(k8sruntime.Object)
		b.left = b.left[1:]
		if b.err = s.Encode(item, &b.text); b.err != nil {
			return
		}
		b.text.Bytes()[b.text.Len()-1] = ',' // for the line's end
		b.ends = append(b.ends, b.text.Len())
	}
}
