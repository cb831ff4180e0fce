package coreutils

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
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

// What live objects may take while programs run, in bytes. All objects may take twice
// as much: the collector lets as much again gather. What the API server takes for a
// program's requests is among them, and natively what other engines of the process
// take. WebAssembly has 4 GB: there large objects are claimed, see claim.go, because what a
// look finds may be one step too late.
var (
	// process is the account of the process's programs: its memory is one.
	process = &account{growth: 512 << 20}
	// mostLive is the limit up to which programs may grow little by little.
	mostLive uint64 = math.MaxUint64
	// mostConceded is the limit up to which they may grow for what Concede was told.
	mostConceded uint64 = math.MaxUint64
	// sharedFor is how long what was alive when a program began counts for the programs
	// that begin beside it. Natively an engine that starts takes some hundred MB.
	sharedFor = time.Second
)

func init() {
	if runtime.GOARCH == "wasm" {
		// A full engine has room for 3 GiB (core/memory.go) while all of its objects are deleted.
		process.growth, mostLive, mostConceded, sharedFor = 256<<20, 2<<30, 3<<30, time.Minute
	}
}

// LimitMemory has programs keep to a process that may take so many bytes of memory: together they
// may take an eighth of it, and little where half of it is alive. It is to be called before any
// program runs.
func LimitMemory(bytes uint64) {
	process.growth = min(process.growth, bytes/8)
	mostLive, mostConceded = bytes/2, bytes/4*3
}

// leastGrowth is what programs may take where more than mostLive is alive: whoever
// makes room needs them.
const leastGrowth = 16 << 20

// What an interpreter may take of the process, which is the API server's as well.
const (
	// lookAtSteps is how long ago the last look must be for a step of a program to
	// look.
	lookAtSteps = 5 * time.Millisecond
	// someSteps is how many steps of an interpreter are short, whatever they do
	// together.
	someSteps = 8
	// endPatience is how long others wait for programs that were told to end: the step
	// that such a one is at may copy hundreds of MB.
	endPatience = time.Minute
	// forgotten is how long ago the beginning of programs lies at most: what the API
	// server has taken since is not theirs.
	forgotten = time.Minute
)

// account limits the memory that all programs of the process take together. With a
// limit for each program, a few that double at once would take a multiple of it.
type account struct {
	growth uint64 // by how much live objects may grow

	judging sync.Mutex // one look at a time; before mu

	mu       sync.Mutex
	running  int           // programs that have begun, and not ended
	ending   int           // of those, the ones that were told to end because they took too much
	allEnded chan struct{} // closed when none is ending; nil while none is
	patience time.Time     // until when others wait for them
	left     bool          // a program has ended, and what it held may be among what the last collection found alive
	most     uint64        // what live objects may take; 0 before the first look
	since    time.Time     // when that was determined

	collected uint64 // under judging: what all objects took after the last collection of a look

	// limit has large objects claimed with which all objects would take more than most; see claim.go. nil where none are.
	limit func(most uint64)
}

func (a *account) begin(m *Memory) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running++; a.running == 1 || time.Since(a.since) > sharedFor && a.ending == 0 {
		a.most = 0
	}
	m.after = a.allEnded
	a.setLimit()
}

// over reports whether the process has grown too much. While a program that took too
// much ends, what is alive is still that program's.
func (a *account) over() bool {
	live, all := inUse()
	now := time.Now()
	a.mu.Lock()
	most, ending, since, left := a.most, a.ending, a.since, a.left
	a.mu.Unlock()
	// The last collection may have been before all of this came, or before a program ended.
	if most != 0 && ending == 0 && (live <= most && all > most && all > a.collected+a.growth/4 || live > most && left) {
		live, all = a.collect()
		a.collected = all
	}
	switch {
	case most != 0 && (ending == 0 && live > most || all > 2*most):
		return true
	case most == 0, now.Sub(since) > forgotten && ending == 0 && live < mostLive:
		live = settled(live) // without a.mu: others need not wait for a collection
		growth := a.growth
		if live > mostLive-growth {
			growth = leastGrowth
		}
		a.collected = 0
		a.mu.Lock()
		a.most, a.since = live+growth, now
		a.setLimit()
		a.mu.Unlock()
	}
	return false
}

// Concede says that the API server has taken so many bytes for a request of ctx's program that
// makes room, such as one that deletes an object: its watch caches hold deleted objects for a
// while. Programs are not ended for these. Where ctx is no program's it does nothing.
func Concede(ctx context.Context, bytes uint64) {
	if m, _ := ctx.Value(memoryKey{}).(*Memory); m != nil {
		m.account.concede(bytes)
	}
}

func (a *account) concede(bytes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.most == 0 || a.most >= mostConceded {
		return
	}
	a.most += min(bytes, mostConceded-a.most)
	a.setLimit()
}

// collect collects garbage, of the programs that have ended too, and returns what inUse
// does then.
func (a *account) collect() (live, all uint64) {
	a.mu.Lock()
	a.left = false
	a.mu.Unlock()
	runtime.GC()
	return inUse()
}

// wait returns when no other program than m's is ending that took too much, when ctx has
// ended, or when patience has: what both would take is more than there is.
func (a *account) wait(ctx context.Context, m *Memory) {
	a.mu.Lock()
	allEnded, patience := a.allEnded, time.Until(a.patience)
	if m.tooMuch || patience <= 0 {
		allEnded = nil
	}
	a.mu.Unlock()
	if allEnded == nil {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-allEnded:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// spares reports whether m's program began while others were told to end that have not
// ended yet: what there is too much of is theirs.
func (a *account) spares(m *Memory) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ending > 0 && m.after == a.allEnded && time.Now().Before(a.patience)
}

// Memory is what the process takes while a program runs. Nobody knows which goroutine
// an object belongs to: a program also ends for what others take meanwhile.
type Memory struct {
	account *account
	ctx     context.Context // of the program
	tell    func()
	looked  atomic.Int64 // when, in ms since 1970

	// Under account.mu.
	tooMuch, ended bool
	after          chan struct{} // account.allEnded when the program began
}

type memoryKey struct{}

// WithMemory returns a context for a program whose memory is looked at: by Look, and
// by the steps of an interpreter that has been given Stepwise of the context. The
// program calls End when it has ended.
//
// over is called by whoever finds that the process has grown too much, before the
// next step, and may be called again. It must end the program's context and return at
// once. What the process may grow by is counted from when the first of the programs
// that run now began, or from a minute ago.
func WithMemory(ctx context.Context, over func()) (context.Context, *Memory) {
	return process.with(ctx, over)
}

func (a *account) with(ctx context.Context, over func()) (context.Context, *Memory) {
	m := &Memory{account: a, ctx: ctx, tell: over}
	a.begin(m)
	return context.WithValue(ctx, memoryKey{}, m), m
}

// Look has over called if the process has grown too much, and reports whether it has.
// It may collect garbage.
func (m *Memory) Look() bool {
	m.looked.Store(time.Now().UnixMilli())
	if !m.account.ends(m) {
		return false
	}
	m.tell()
	return true
}

// ends reports whether m's program must end, and notes that it is about to.
func (a *account) ends(m *Memory) bool {
	a.judging.Lock()
	defer a.judging.Unlock()
	if a.spares(m) || !a.over() {
		return false
	}
	a.tookTooMuch(m)
	return true
}

// tookTooMuch notes that m's program is about to end.
func (a *account) tookTooMuch(m *Memory) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.tooMuch || m.ended {
		return
	}
	m.tooMuch = true
	if a.ending++; a.ending == 1 {
		a.allEnded, a.patience = make(chan struct{}), time.Now().Add(endPatience)
	}
	a.setLimit()
}

// End says that the program has ended, and that what it held is garbage. Another call
// does nothing.
func (m *Memory) End() {
	a := m.account
	a.mu.Lock()
	tooMuch, ended := m.tooMuch, m.ended
	m.ended = true
	a.mu.Unlock()
	if ended {
		return
	}
	if tooMuch {
		a.collect() // so that the others are not ended for what this one held
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running--
	a.left = a.left || !tooMuch
	if tooMuch {
		if a.ending--; a.ending == 0 {
			close(a.allEnded)
			a.allEnded = nil
			a.setLimit()
		}
	}
}

// inUse returns the bytes of the objects that the last collection has found alive,
// and the bytes of these and all objects allocated since.
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
	if live <= atRest.Load()+process.growth/2 {
		return live
	}
	runtime.GC()
	live, _ = inUse()
	atRest.Store(live)
	return live
}

// Step looks at the memory unless that has just been done. Before that it lets others
// run, because a goroutine that allocates nothing gives way to no other on js/wasm, and
// waits for programs that end because they took too much.
func (m *Memory) Step(ctx context.Context) {
	if time.Since(time.UnixMilli(m.looked.Load())) <= lookAtSteps {
		return
	}
	runtime.Gosched()
	m.account.wait(ctx, m)
	m.Look()
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
	s.memory.Step(s.Context)
	return s.Context.Err()
}

// Done is what jq asks before each instruction.
func (s *steps) Done() <-chan struct{} {
	if s.count.Add(1)%someSteps == 0 {
		s.memory.Step(s.Context)
	}
	return s.Context.Done()
}
