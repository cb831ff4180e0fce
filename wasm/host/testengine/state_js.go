package main

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"syscall/js"
	"time"
)

// state is what a program has that goes on from a snapshot: a clock, timers and randomness.
type state struct {
	start time.Time
	ticks atomic.Int64
	held  js.Value
}

// newState begins to count seconds, and looks a hundred times in each whether there is something to do.
func newState(start time.Time) *state {
	s := &state{start: start}
	go func() {
		for range time.Tick(time.Second) {
			s.ticks.Add(1)
		}
	}()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
		}
	}()
	return s
}

// hold keeps a JavaScript value that nobody else can find.
func (s *state) hold() { s.held = js.Global().Get("Object").New() }

func (s *state) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"ticks":    s.ticks.Load(),
		"uptimeMs": time.Since(s.start).Milliseconds(),
		"wallMs":   time.Now().UnixMilli(),
		"random":   []uint64{rand.Uint64(), rand.Uint64()},
	})
}
