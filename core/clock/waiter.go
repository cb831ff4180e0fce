package clock

import (
	"container/heap"
	"time"

	"k8s.io/utils/clock"
)

// waiter is a timer, a ticker or a delayed call.
type waiter struct {
	clock  *Clock
	at     time.Time
	period time.Duration  // 0 unless it is a ticker
	c      chan time.Time // nil if call is set
	call   func()
	index  int // in the heap; -1 when it is not there
}

// woken is a waiter whose time has come, and the time at which it did.
type woken struct {
	*waiter
	now time.Time
}

// ring tells waiters that their time has come, without the clock's lock held.
// A channel that still holds an earlier tick is left alone.
func ring(due []woken) {
	for _, w := range due {
		if w.call != nil {
			go w.call()
			continue
		}
		select {
		case w.c <- w.now:
		default:
		}
	}
}

// NewTimer returns a timer that fires once d has passed on this clock, at once
// if d is not positive.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	w := &waiter{clock: c, c: make(chan time.Time, 1), index: -1}
	w.Reset(d)
	return w
}

// AfterFunc calls f in a goroutine of its own once d has passed on this clock.
// The timer it returns has no channel.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	w := &waiter{clock: c, call: f, index: -1}
	w.Reset(d)
	return w
}

// NewTicker returns a ticker with a period of d on this clock. It panics if d
// is not positive, as time.NewTicker does.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker {
	if d <= 0 {
		panic("clock: the period of a ticker must be positive")
	}
	w := &waiter{clock: c, c: make(chan time.Time, 1), period: d, index: -1}
	w.Reset(d)
	return ticker{w}
}

// C returns the channel on which the time is delivered; nil for AfterFunc.
func (w *waiter) C() <-chan time.Time { return w.c }

// Stop prevents the timer from firing. It reports whether it did.
func (w *waiter) Stop() bool {
	c := w.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.index < 0 {
		return false
	}
	first := w.index == 0
	heap.Remove(&c.waiters, w.index)
	if first && c.alarm != nil && len(c.waiters) == 0 {
		c.alarm.Stop()
		c.alarm = nil
	} // otherwise the alarm rings early, and is set again for the next waiter
	return true
}

// Reset makes the timer fire once d has passed from now. It reports whether it
// was waiting before.
func (w *waiter) Reset(d time.Duration) bool {
	c := w.clock
	c.mu.Lock()
	waiting := w.index >= 0
	if waiting {
		heap.Remove(&c.waiters, w.index)
	}
	w.at = c.nowLocked().Add(max(d, 0))
	heap.Push(&c.waiters, w)
	var due []woken
	if w.index == 0 {
		due = c.dueLocked()
	}
	c.mu.Unlock()
	ring(due)
	return waiting
}

// ticker is a waiter whose Stop says nothing.
type ticker struct{ *waiter }

func (t ticker) Stop() { t.waiter.Stop() }

// waiters is a heap, the earliest first.
type waiters []*waiter

func (h waiters) Len() int           { return len(h) }
func (h waiters) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h waiters) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *waiters) Push(x any) {
	w := x.(*waiter)
	w.index = len(*h)
	*h = append(*h, w)
}

func (h *waiters) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	w.index = -1
	return w
}
