package coreutils

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

// TestInterpretersStepAFewAtATime has a hundred interpreters step for ever beside a
// goroutine that gives way again and again, as one that answers a request does: between
// two of its turns only a few of them step.
func TestInterpretersStepAFewAtATime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer func(p *passes) { interpreters = p }(interpreters)
	interpreters = &passes{}
	ctx, cancel := context.WithCancel(t.Context())
	ctx, m := (&account{growth: 1 << 40}).with(ctx, cancel)
	defer m.End()
	var all sync.WaitGroup
	var mu sync.Mutex
	steps := 0
	for range 100 {
		all.Go(func() {
			for step := Stepwise(ctx); step.Err() == nil; {
				mu.Lock()
				steps++
				mu.Unlock()
			}
		})
	}
	taken := func() int {
		mu.Lock()
		defer mu.Unlock()
		return steps
	}
	for taken() < 1000 {
		runtime.Gosched()
	}
	begin := taken()
	const rounds = 1000
	for range rounds {
		runtime.Gosched()
	}
	// Go's scheduler looks at its queues in an order of its own: a pass may begin twice between two turns.
	if n := taken() - begin; n > rounds*3*stepsPerPass {
		t.Errorf("%d steps beside %d turns", n, rounds)
	} else if n == 0 {
		t.Error("nobody steps")
	}
	cancel()
	all.Wait()
}

// TestWhoWaitsToStepEndsWithItsContext: nobody waits for a pass that is full.
func TestWhoWaitsToStepEndsWithItsContext(t *testing.T) {
	p := &passes{running: true} // and nobody begins another pass
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.wait(ctx)
}
