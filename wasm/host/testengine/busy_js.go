package main

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"syscall/js"
	"time"
	"unsafe"

	"github.com/kubetab/kubetab/internal/absent"
)

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
	mux.HandleFunc("GET /ahead", runAhead)
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
