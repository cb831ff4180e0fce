// Command testengine is a bridge with a handler that does on demand what an API server does seldom. The tests
// of the host run it, because it builds in seconds and starts in milliseconds.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
	"unsafe"

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
	mux.HandleFunc("GET /goroutines", func(w http.ResponseWriter, r *http.Request) { pprof.Lookup("goroutine").WriteTo(w, 1) })
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
