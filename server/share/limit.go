package share

import (
	"context"
	"sync"
	"time"
)

// mostAddresses is how many addresses a Window counts; what comes from further ones is refused until the next period.
const mostAddresses = 100_000

// Window is a Limiter in the memory of a process: so many requests of an address in each period.
type Window struct {
	most   int
	period time.Duration
	now    func() time.Time

	mu     sync.Mutex
	ends   time.Time
	counts map[string]int
}

// NewWindow allows most requests of an address in each period. now is the clock; nil is time.Now.
func NewWindow(most int, period time.Duration, now func() time.Time) *Window {
	if now == nil {
		now = time.Now
	}
	return &Window{most: most, period: period, now: now}
}

// Allow implements Limiter. It never fails.
func (w *Window) Allow(_ context.Context, address string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.now(); !now.Before(w.ends) {
		w.ends, w.counts = now.Add(w.period), map[string]int{}
	}
	if _, ok := w.counts[address]; !ok && len(w.counts) >= mostAddresses {
		return false, nil
	}
	w.counts[address]++
	return w.counts[address] <= w.most, nil
}
