// Command testengine is a bridge with a handler that does on demand what an API server does seldom. The tests
// of the host run it, because it builds in seconds and starts in milliseconds.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"syscall/js"
	"time"
	"unsafe"

	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/wasm/boundary"
	"github.com/kubetab/kubetab/wasm/bridge"
)

func main() {
	start := time.Now()
	debug.SetMaxStack(64 << 20)
	host, err := boundary.FindHost()
	if err != nil {
		panic(err)
	}
	config, err := host.Config()
	if err != nil {
		panic(err)
	}
	if strings.Contains(config, "fail") {
		host.Fatal("told to fail")
		os.Exit(1)
	}
	b := bridge.New(host)
	closing := make(chan struct{})
	functions := boundary.Functions{
		Bridge: b,
		Start:  start,
		Close:  func() { close(closing) },
		Freeze: func() { host.Stage("frozen", 0) },
		Kept:   func(string, []byte) {},
		Thawed: func() { host.Stage("ready", 0) },
	}
	if err := boundary.Publish(functions); err != nil {
		panic(err)
	}
	if err := host.Started(); err != nil {
		panic(err)
	}
	s := newState(start)
	if strings.Contains(config, "hold") {
		s.hold()
	}
	b.SetHandler(handler(s))
	host.Stage("ready", time.Since(start))
	<-closing
}

func handler(s *state) http.Handler {
	events := make(chan string)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })
	mux.Handle("GET /state", s)
	// A stream of what is posted to /event.
	mux.HandleFunc("GET /watch", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		for {
			select {
			case e := <-events:
				io.WriteString(w, e)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /event", func(w http.ResponseWriter, r *http.Request) {
		e, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		events <- string(e)
	})
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		for _, v := range r.Header["X-Value"] {
			w.Header().Add("X-Value", v)
		}
		w.WriteHeader(http.StatusAccepted)
		io.Copy(w, r.Body)
	})
	// More than any window, to a reader that may not read.
	mux.HandleFunc("GET /endless", func(w http.ResponseWriter, r *http.Request) {
		for block := bytes.Repeat([]byte("x"), 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("GET /caller", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, caller) })
	mux.HandleFunc("GET /name", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, name()) })
	mux.HandleFunc("GET /stack", func(w http.ResponseWriter, r *http.Request) { w.Write(stack()) })
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, file()) })
	mux.HandleFunc("GET /empty", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	// 1 MB from beyond the first 2 GiB of the memory. What is below is allocated and left alone, so it takes none of the machine's.
	mux.HandleFunc("GET /far", func(w http.ResponseWriter, _ *http.Request) {
		var below [][]byte
		block := make([]byte, 128<<20)
		for ; uintptr(unsafe.Pointer(unsafe.SliceData(block))) < 1<<31; block = make([]byte, 128<<20) {
			below = append(below, block)
		}
		far := block[:1<<20]
		for i := range far {
			far[i] = 'x'
		}
		w.Write(far)
		runtime.KeepAlive(below)
	})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("broken invariant") })
	mux.HandleFunc("GET /late-panic", func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		panic("broken half way")
	})
	mux.HandleFunc("GET /crash", func(http.ResponseWriter, *http.Request) { go func() { panic("nobody recovers this") }() })
	mux.HandleFunc("GET /endless-recursion", func(http.ResponseWriter, *http.Request) { fmt.Fprint(io.Discard, depth(1<<30)) })
	handleBusy(mux)
	for name, call := range seldom {
		mux.HandleFunc("GET /seldom/"+name, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, call()) })
	}
	// Far deeper than JavaScript's stack is, from the goroutine's beginning and again from far down.
	mux.HandleFunc("GET /recursion", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, depth(100_000), depth(100_000), sawtooth(20, 10_000), largeFrames(200), littering(100_000))
	})
	return mux
}

// handleBusy has what takes all of the time that it gets.
func handleBusy(mux *http.ServeMux) {
	// What never waits for anything, until the request is cancelled; and how many of these there are.
	var busy atomic.Int32
	mux.HandleFunc("GET /busy", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, busy.Load()) })
	mux.HandleFunc("GET /busy/{with}", func(w http.ResponseWriter, r *http.Request) {
		busy.Add(1)
		defer busy.Add(-1)
		w.(http.Flusher).Flush()
		work := map[string]func(){
			"allocating": func() { litter = make([]byte, 64) },
			"large":      func() { litter = make([]byte, 1<<20) },
			"recursion":  func() { littering(1000) },
			"collecting": func() { heap = grow(heap, 1<<20); runtime.GC() },
			"files":      func() { _ = os.WriteFile("/tmp/busy", make([]byte, 4096), 0o600) },
			"logging":    func() { fmt.Fprintln(os.Stderr, "busy") },
			"goroutines": func() { done := make(chan struct{}); go close(done); <-done },
			"answering":  answering,
			// Neither allocates.
			"calls":    func() { _ = depth(20) },
			"searches": func() { slow.MatchString(text) },
		}[r.PathValue("with")]
		for r.Context().Err() == nil {
			work()
		}
	})
	mux.HandleFunc("GET /behind", runBehind)
	mux.HandleFunc("GET /hurrying", runHurrying)
	mux.HandleFunc("GET /beside-garbage", runBesideGarbage)
	// What knows no context, and takes years: its owner ends with the request, and it with its owner.
	mux.HandleFunc("GET /owned/{with}", func(w http.ResponseWriter, r *http.Request) {
		work := map[string]func(){
			"search":  func() { slow.MatchString(strings.Repeat("x", 256<<20)) },
			"numbers": func() { new(big.Int).Exp(big.NewInt(3), big.NewInt(1<<40), nil) },
		}[r.PathValue("with")]
		busy.Add(1)
		go func() {
			defer busy.Add(-1)
			defer absent.Own(func(error) {})()
			context.AfterFunc(r.Context(), absent.Ender())
			work()
		}()
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
}

// runBehind tells for how long it took to give way five hundred times beside twenty programs, and how often a program ran
// meanwhile: for a request, and for what a program has asked the server for, also when it has ended since. It returns when a
// program has run that waited behind somebody who could always run.
func runBehind(w http.ResponseWriter, _ *http.Request) {
	const programs = 20
	var begun, ran atomic.Int32
	var over atomic.Bool
	defer over.Store(true)
	for range programs {
		go func() {
			defer absent.OwnFor(func(error) {}, nil)()
			begun.Add(1) // one that is not a program yet runs among all others
			for !over.Load() {
				ran.Add(1)
				for began := time.Now(); time.Since(began) < time.Millisecond; {
				}
				runtime.Gosched()
			}
		}()
	}
	ranSince := func(before int32) bool { return ran.Load() > before }
	for begun.Load() < programs {
		runtime.Gosched()
	}
	givesWay := func() string {
		began, before := time.Now(), ran.Load()
		for range 500 {
			runtime.Gosched()
		}
		return fmt.Sprintf(`{"took": %d, "ran": %d}`, time.Since(began).Milliseconds(), ran.Load()-before)
	}
	request := givesWay()
	served := func(waits bool) string {
		answer, done := make(chan string, 1), make(chan struct{})
		go func() {
			defer absent.OwnFor(func(error) {}, nil)()
			go func() {
				defer close(done)
				defer absent.Serve()()
				answer <- givesWay()
			}()
			if waits {
				<-done
			}
		}()
		return <-answer
	}
	fmt.Fprintf(w, `{"a request": %s, "a program's": %s, "one of a program that has ended": %s}`, request, served(true), served(false))
	for before := ran.Load(); !ranSince(before); {
		runtime.Gosched()
	}
}

// runBesideGarbage has a program fill the heap, so that no room is left when a collection begins, and allocates until that one is
// over. It tells how many bytes it has allocated, and about how many were marked by who allocates.
func runBesideGarbage(w http.ResponseWriter, _ *http.Request) {
	const large = 128 << 20 // more than the heap may grow by until a collection is over
	const links = 4 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var list *link
	for range links {
		list = &link{list}
	}
	began := time.Now()
	runtime.GC()
	collecting := time.Since(began)
	for began := time.Now(); time.Since(began) < 2*collecting; { // nobody has to help where little else has run
		runtime.Gosched()
	}
	debug.SetGCPercent(100)
	first, helpedBefore := collections()
	var filled atomic.Bool
	go func() {
		defer absent.OwnFor(func(error) {}, nil)()
		runtime.Gosched() // it runs behind others
		litter = make([]byte, large)
		filled.Store(true)
	}()
	for !filled.Load() {
		runtime.Gosched()
	}
	litter = nil
	allocated, helped := 0, 0.0
	for ended := first; ended == first; ended, helped = collections() {
		for range 1024 {
			crumbs = make([]byte, 64)
		}
		allocated += 1024 * 64
		runtime.Gosched()
	}
	runtime.KeepAlive(list)
	marked := (helped - helpedBefore) / collecting.Seconds() * links * float64(unsafe.Sizeof(link{}))
	fmt.Fprintf(w, `{"allocated": %d, "marked": %.0f}`, allocated, marked)
}

// A link of a list is a pointer and nothing else: all of it is marked.
type link struct{ next *link }

// collections returns how many collections have ended, and for how many seconds who allocates helped with them.
func collections() (ended uint64, helped float64) {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/cpu/classes/gc/mark/assist:cpu-seconds"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Float64()
}

// crumbs is what a request of runBesideGarbage allocates.
var crumbs []byte

// runHurrying tells how often a program that hurries ran while the request gave way a hundred times, and how often one did that
// it has started. It returns when both run behind the request again, because their time is over, or, with steps, because each has
// made one more step than they may.
func runHurrying(w http.ResponseWriter, r *http.Request) {
	var first, second atomic.Int32
	var enough, over atomic.Bool
	defer over.Store(true)
	calculates := func(ran *atomic.Int32) {
		for told := false; !over.Load(); ran.Add(1) {
			if enough.Load() && !told {
				if r.URL.Query().Has("steps") {
					absent.Step()
				} else {
					absent.Hurry(time.Now().Add(20*time.Millisecond), 1)
				}
				told = true
			}
			for began := time.Now(); time.Since(began) < time.Millisecond; {
			}
			runtime.Gosched()
		}
	}
	go func() {
		defer absent.OwnFor(func(error) {}, nil)()
		absent.Hurry(time.Now().Add(time.Hour), 2)
		absent.Step()
		absent.Step()
		go func() {
			defer absent.OwnFor(func(error) {}, nil)()
			calculates(&second)
		}()
		calculates(&first)
	}()
	for first.Load() == 0 || second.Load() == 0 {
		runtime.Gosched()
	}
	givesWay := func() (int32, int32) {
		one, other := first.Load(), second.Load()
		for range 100 {
			runtime.Gosched()
		}
		return first.Load() - one, second.Load() - other
	}
	one, other := givesWay()
	fmt.Fprintf(w, `{"one": %d, "one that it has started": %d}`, one, other)
	enough.Store(true)
	for one > 20 || other > 20 {
		one, other = givesWay()
	}
}

// answering makes a call to JavaScript that JavaScript answers by a call into Go, and panics when that was lost.
func answering() {
	called := false
	f := js.FuncOf(func(js.Value, []js.Value) any {
		called = true
		return 1
	})
	defer f.Release()
	if answer := f.Invoke(); !called || answer.Type() != js.TypeNumber {
		panic(fmt.Sprintf("A call from JavaScript was lost: it was heard: %v, and answered by %v.", called, answer))
	}
}

// slow looks at each letter of a text for a while, and does not find what it looks for.
var (
	slow = regexp.MustCompile("(x|y|z)*(x|y)*a")
	text = strings.Repeat("x", 1<<20)
)

// name returns the name of file.
func name() string {
	f := file
	return runtime.FuncForPC(**(**uintptr)(unsafe.Pointer(&f))).Name()
}

// stack returns the trace of its goroutine.
func stack() []byte {
	text := make([]byte, 1<<12)
	return text[:runtime.Stack(text, false)]
}

// file returns the file that it is in, as who logs asks.
//
//go:noinline
func file() string {
	_, name, _, _ := runtime.Caller(0)
	return name
}

// caller is the name of a function that only a start calls, which the program keeps: as a string of Go's own tables.
var caller string

func init() {
	bytes.FieldsFunc([]byte("a"), func(rune) bool {
		pc := make([]uintptr, 1)
		runtime.Callers(2, pc)
		frame, _ := runtime.CallersFrames(pc).Next()
		caller = frame.Function
		return false
	})
}

// depth returns n, by way of n calls.
//
//go:noinline
func depth(n int) int {
	if n == 0 {
		return 0
	}
	return depth(n-1) + 1
}

// sawtooth goes down by step in each of n turns, and comes back up and goes down again at each.
//
//go:noinline
func sawtooth(n, step int) int {
	if n == 0 {
		return depth(step)
	}
	return down(step, func() int { return depth(step) - step + sawtooth(n-1, step) })
}

//go:noinline
func down(n int, f func() int) int {
	if n == 0 {
		return f()
	}
	return down(n-1, f)
}

// littering is depth with garbage, whose collection looks into the stacks of goroutines that run.
//
//go:noinline
func littering(n int) int {
	if n == 0 {
		return 0
	}
	litter = make([]byte, 4096)
	return littering(n-1) + 1
}

var litter []byte

// heap is what a collection has to look through.
var heap *node

type node struct{ left, right *node }

// grow returns a tree of n nodes, at least as large as the one that there is.
func grow(tree *node, n int) *node {
	if tree == nil && n > 0 {
		tree = &node{grow(nil, (n-1)/2), grow(nil, (n-1)/2)}
	}
	return tree
}

// largeFrames recurses with frames of 100 KB.
//
//go:noinline
func largeFrames(n int) int {
	var frame [100_000]byte
	if n == 0 {
		return int(frame[0])
	}
	frame[n] = byte(n)
	return largeFrames(n-1) + int(frame[n]) - n%256 + 1
}

var locked sync.Mutex

// seldom are the ways to call a function that nothing else here calls, so that wasm/split's test can leave it to the rest.
var seldom = map[string]func() string{
	// Arguments point into the stack: an array, and a closure with a variable.
	"stack": onStack,
	// Nobody but the argument refers to what is on the heap.
	"heap": func() string {
		return string(bytes.ToTitle(bytes.Repeat([]byte("b"), 3000)))
	},
	// The function is where a goroutine begins, and a closure of which nobody else knows.
	"goroutine": func() string {
		b := bytes.NewBufferString("something")
		begin(b.Reset)
		for b.Len() > 0 {
			time.Sleep(time.Millisecond)
		}
		return "done"
	},
	"lock": func() string {
		locked.Lock()
		defer locked.Unlock()
		return onStack()
	},
}

//go:noinline
func begin(f func()) { go f() }

//go:noinline
func onStack() string {
	var letters [64]byte
	for i := range letters {
		letters[i] = byte('A' + i)
	}
	looked := 0
	at := bytes.IndexFunc(letters[:], func(r rune) bool {
		looked++
		return r == 'a' && depth(100) == 100
	})
	return string(letters[at:at+3]) + strings.Repeat("!", looked)
}
