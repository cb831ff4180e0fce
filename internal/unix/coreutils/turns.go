package coreutils

import (
	"context"
	"runtime"
	"sync"
)

// stepsPerPass is how many steps of interpreters may run before everything else that
// can run has had its turn, where all goroutines share one thread.
const stepsPerPass = 8

// passes lets interpreters step a few at a time. A scheduler knows no priorities: with
// hundreds of processes in a line, a request to the API server would wait for all of
// them each time one of its goroutines gives way to another.
type passes struct {
	mu      sync.Mutex
	left    int // steps of this pass
	waiting []chan struct{}
	running bool // whether run does
}

// interpreters is where those of the process wait; nil where goroutines have threads
// of their own.
var interpreters *passes

// wait returns when the caller may step, or when ctx has ended.
func (p *passes) wait(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	if p.left > 0 {
		p.left--
		p.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	if !p.running {
		p.running = true
		go p.run()
	}
	p.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
	}
}

// run begins passes for as long as somebody waits.
func (p *passes) run() {
	for {
		runtime.Gosched()
		p.mu.Lock()
		p.left = stepsPerPass
		for p.left > 0 && len(p.waiting) > 0 {
			close(p.waiting[0])
			p.waiting[0] = nil
			p.waiting = p.waiting[1:]
			p.left--
		}
		if len(p.waiting) == 0 {
			p.running, p.waiting = false, nil
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
	}
}
