package coreutils

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/interp"

	"github.com/kubetab/kubetab/internal/absent"
)

// What scripts may take of a process that is not theirs. The interpreter that
// runs them, mvdan.cc/sh, counts neither calls nor processes.
const (
	// mostNested is how often functions may call each other. Go ends the process
	// when a stack is full, whose end mostFrames is far from.
	mostNested = 1000
	mostFrames = 24_000
	// mostProcesses is how many parts of pipelines, jobs and scripts may run at once.
	mostProcesses = 2000
	// callsPerLook is after how many commands the stack is looked at, on average.
	callsPerLook = 16
)

// interpreter begins the names of the interpreter's functions; interpreterCall is
// the one that calls what a script has defined.
const (
	interpreter     = "mvdan.cc/sh/v3/interp."
	interpreterCall = interpreter + "(*Runner).call"
)

// ErrFork is what a shell says when there can be no more processes.
var ErrFork = errors.New("fork: Resource temporarily unavailable")

// Admit is for interp.CallHandler: it returns bash's error for a command that must
// not begin, because functions call each other without end, or because too much
// runs at once ([ErrFork]). name is the command's.
func Admit(name string) error {
	absent.Step()
	if err := nested(name); err != nil {
		return err
	}
	return running.admit()
}

// nested looks at the calling goroutine's stack, now and then.
func nested(name string) error {
	if rand.IntN(callsPerLook) != 0 {
		return nil
	}
	var one [1]uintptr
	if runtime.Callers(mostNested, one[:]) == 0 {
		return nil // each call has several frames
	}
	stack := make([]uintptr, mostFrames)
	stack = stack[:runtime.Callers(0, stack)]
	calls := 0
	for frames, more := runtime.CallersFrames(stack), true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); frame.Function == interpreterCall {
			calls++
		}
	}
	most := mostNested
	if interp.IsBuiltin(name) {
		most *= 2 // the next function will be told, by its name
	}
	if calls <= most && len(stack) < mostFrames {
		return nil
	}
	return fmt.Errorf("%s: maximum function nesting level exceeded (%d)", name, min(calls, mostNested))
}

// running counts goroutines of the interpreter: each is what a process would be.
var running processes

// processes is what the last count has found.
type processes struct {
	mu         sync.Mutex
	goroutines int              // in all
	scripts    int              // of them the interpreter's
	counted    time.Time        // real time
	known      map[uintptr]bool // whether a program counter is the interpreter's
}

// countEvery is how long a count holds.
const countEvery = 100 * time.Millisecond

// admit counts only when goroutines have come that could be too many: counting
// stops everything for a moment.
func (p *processes) admit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := runtime.NumGoroutine()
	if p.goroutines == 0 {
		p.goroutines = now // whoever asks first is the first of them; counting wants names, which a page may not have yet
	}
	if now < p.goroutines {
		p.scripts = max(0, p.scripts-(p.goroutines-now))
		p.goroutines = now
	}
	if p.scripts+now-p.goroutines <= mostProcesses {
		return nil
	}
	if time.Since(p.counted) < countEvery {
		return ErrFork // most of what has come since will be the interpreter's
	}
	p.count()
	if p.scripts <= mostProcesses {
		return nil
	}
	return ErrFork
}

func (p *processes) count() {
	if p.known == nil {
		p.known = map[uintptr]bool{}
	}
	p.goroutines, p.counted = runtime.NumGoroutine(), time.Now()
	p.scripts = scripts(func(pc uintptr) bool {
		is, ok := p.known[pc]
		if !ok {
			f := runtime.FuncForPC(pc)
			is = f != nil && strings.HasPrefix(f.Name(), interpreter)
			p.known[pc] = is
		}
		return is
	})
}
