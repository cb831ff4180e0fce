package coreutils

import (
	"bufio"
	"context"
	"errors"
	"io"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// mostMemory is how many bytes a program may hold of what it reads: the engine
// needs the rest of the process. perLine is what a line takes beside its text.
const (
	mostMemory = 64 << 20
	perLine    = 32
)

// ErrMemory is GNU's word for memory that there is none of.
var ErrMemory = errors.New("memory exhausted")

// ReadAll is io.ReadAll up to what a program may hold; then the error is ErrMemory.
func ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostMemory+1))
	if len(data) > mostMemory {
		return nil, ErrMemory
	}
	return data, err
}

// ReadLine is r.ReadString up to what a program may hold; then the error is
// ErrMemory.
func ReadLine(r *bufio.Reader, end byte) (string, error) {
	var text []byte
	for {
		part, err := r.ReadSlice(end)
		if text == nil && !errors.Is(err, bufio.ErrBufferFull) {
			return string(part), err
		}
		if len(text)+len(part) > mostMemory {
			return "", ErrMemory
		}
		if text = append(text, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return string(text), err
		}
	}
}

// held is how much a program holds, in bytes.
type held int

// add counts a line, and reports whether the program may hold it.
func (h *held) add(text string) bool {
	*h += held(len(text) + perLine)
	return *h <= mostMemory
}

func (h *held) remove(text string) { *h -= held(len(text) + perLine) }

// mostGrowth is by how many bytes live objects may grow while a program runs. All
// objects may take twice of what live ones may: the collector lets as much again
// gather. What the API server takes for the program's requests is among them, and
// natively what other engines of the process take. WebAssembly has 4 GB, and what
// doubles is stopped one step too late.
var mostGrowth uint64 = 512 << 20

func init() {
	if runtime.GOARCH == "wasm" {
		mostGrowth = 256 << 20
	}
}

// What an interpreter may take of the process, which is the API server's as well.
const (
	// lookAtSteps is how long ago the last look must be for a step of a program to
	// look.
	lookAtSteps = 5 * time.Millisecond
	// someSteps is how many steps of an interpreter are short, whatever they do
	// together.
	someSteps = 8
)

// Memory is how the process has grown while a program runs. Nobody knows which
// goroutine an object belongs to: a program also ends for what others take meanwhile.
type Memory struct {
	over   func()
	forget time.Duration
	growth uint64 // mostGrowth; less in tests

	mu    sync.Mutex
	most  uint64    // what live objects may take
	since time.Time // when that was determined

	looked atomic.Int64 // when, in ms since 1970
}

type memoryKey struct{}

// WithMemory returns a context for a program whose memory is looked at: by Look, and
// by the steps of an interpreter that has been given Stepwise of the context.
//
// over is called by whoever finds that the process has grown too much, before the
// next step, and may be called again. It must end the program's context and return at
// once. A program that lives for long has what was there a while ago, forget, as its
// beginning; 0 is for one that does not.
func WithMemory(ctx context.Context, forget time.Duration, over func()) (context.Context, *Memory) {
	m := &Memory{over: over, forget: forget, growth: mostGrowth}
	return context.WithValue(ctx, memoryKey{}, m), m
}

// Look has over called if the process has grown too much since the first look, and
// reports whether it has. The first look may collect garbage.
func (m *Memory) Look() bool {
	now := time.Now()
	m.looked.Store(now.UnixMilli())
	m.mu.Lock()
	most, since := m.most, m.since
	m.mu.Unlock()
	live, all := inUse()
	if most != 0 && (live > most || all > 2*most) {
		m.over()
		return true
	}
	if most == 0 || m.forget > 0 && now.Sub(since) > m.forget {
		live = settled(live) // without m.mu: others need not wait for a collection
		m.mu.Lock()
		m.most, m.since = live+m.growth, now
		m.mu.Unlock()
	}
	return false
}

// inUse returns the bytes of what the last collection has found alive, and of that
// with what came since.
func inUse() (live, all uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

// atRest is what a collection has found alive before a program began.
var atRest atomic.Uint64

// settled returns how many bytes are alive, where the last collection has found live
// bytes: it may have done so while the program before this one held much.
func settled(live uint64) uint64 {
	if live <= atRest.Load()+mostGrowth/2 {
		return live
	}
	runtime.GC()
	live, _ = inUse()
	atRest.Store(live)
	return live
}

// Step looks unless somebody has just done so.
func (m *Memory) Step() {
	if time.Since(time.UnixMilli(m.looked.Load())) > lookAtSteps {
		m.Look()
	}
}

// Stepwise returns ctx for an interpreter that asks it at each step whether it has
// ended: it looks at the memory then. A timer is not enough: other goroutines may run
// before its own, and a text that doubles has the size of the process a few steps
// later.
func Stepwise(ctx context.Context) context.Context {
	m, _ := ctx.Value(memoryKey{}).(*Memory)
	if m == nil {
		return ctx
	}
	return &steps{Context: ctx, memory: m}
}

type steps struct {
	context.Context
	memory *Memory
	count  atomic.Uint32
}

// Err is what the shell asks before each statement.
func (s *steps) Err() error {
	s.memory.Step()
	return s.Context.Err()
}

// Done is what jq asks before each instruction.
func (s *steps) Done() <-chan struct{} {
	if s.count.Add(1)%someSteps == 0 {
		s.memory.Step()
	}
	return s.Context.Done()
}
