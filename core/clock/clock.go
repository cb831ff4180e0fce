package clock

import (
	"container/heap"
	"errors"
	"math"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ErrRate is what SetRate returns for a rate at which time would stand still
// or run backwards, or that is no number.
var ErrRate = errors.New("a clock's rate must be a positive number; pause it to hold time still")

// ErrBackwards is what Step returns for a negative duration.
var ErrBackwards = errors.New("a clock cannot be stepped backwards")

// Clock implements clock.WithTickerAndDelayedExecution of k8s.io/utils over
// another clock. Its methods are safe for concurrent use; make one with New.
type Clock struct {
	base clock.WithTickerAndDelayedExecution

	mu      sync.Mutex
	shown   time.Time // what the clock showed when the base showed since
	since   time.Time
	rate    float64
	paused  bool
	waiters waiters
	alarm   clock.Timer // of the base, for the earliest waiter; nil without one
}

var _ clock.WithTickerAndDelayedExecution = (*Clock)(nil)

// New returns a clock that shows what base shows, at its rate. A nil base is
// the real clock.
func New(base clock.WithTickerAndDelayedExecution) *Clock {
	if base == nil {
		base = clock.RealClock{}
	}
	now := base.Now().Round(0)
	return &Clock{base: base, shown: now, since: now, rate: 1}
}

// State is what a clock shows and how it runs.
type State struct {
	Now    time.Time
	Rate   float64 // seconds of this clock in a second of its base, also while paused
	Paused bool
}

// State returns the clock's state at this moment.
func (c *Clock) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return State{Now: c.nowLocked(), Rate: c.rate, Paused: c.paused}
}

// Pause holds time still. Pausing twice is harmless.
func (c *Clock) Pause() { c.set(func() { c.paused = true }) }

// Resume lets time go on from where it was paused.
func (c *Clock) Resume() { c.set(func() { c.paused = false }) }

// MaxRate is the rate that a cluster's clock may have: it keeps what goes by the clock
// from taking all of a processor.
const MaxRate = 3600

// SetRate makes time pass rate times as fast as the base's. It returns ErrRate
// if rate is not positive and finite. A paused clock stays paused.
func (c *Clock) SetRate(rate float64) error {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return ErrRate
	}
	c.set(func() { c.rate = rate })
	return nil
}

// Step moves time forward by d at once, also while paused. What waits for a
// moment that has passed is woken, and sees the time after the step: to have an
// hour's events happen in their order, run faster instead. It returns
// ErrBackwards if d is negative.
func (c *Clock) Step(d time.Duration) error {
	if d < 0 {
		return ErrBackwards
	}
	c.set(func() { c.shown = c.shown.Add(d) })
	return nil
}

// set changes how time passes from now on, and wakes whom the change concerns.
func (c *Clock) set(change func()) {
	c.mu.Lock()
	c.shown, c.since = c.nowLocked(), c.base.Now().Round(0)
	change()
	due := c.dueLocked()
	c.mu.Unlock()
	ring(due)
}

// Now returns the time that the clock shows, without a monotonic reading.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *Clock) nowLocked() time.Time {
	if c.paused {
		return c.shown
	}
	passed := c.base.Now().Round(0).Sub(c.since)
	if passed < 0 {
		passed = 0 // the base was set back: hold still until it catches up
	}
	if c.rate != 1 {
		passed = scale(passed, c.rate)
	}
	return c.shown.Add(passed)
}

// Since returns how long ago t was.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// After returns a channel that receives the time once d has passed.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

// Sleep returns once d has passed on this clock: never, while it is paused and
// nobody steps it.
func (c *Clock) Sleep(d time.Duration) {
	if d > 0 {
		<-c.After(d)
	}
}

// Tick returns the channel of a ticker that cannot be stopped.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return c.NewTicker(d).C() }

// dueLocked takes the waiters whose time has come off the heap and sets the
// alarm for the next.
func (c *Clock) dueLocked() []woken {
	now := c.nowLocked()
	var due []woken
	for len(c.waiters) > 0 && !c.waiters[0].at.After(now) {
		w := c.waiters[0]
		due = append(due, woken{w, now})
		if w.period > 0 {
			// Ticks that nobody could have taken are dropped, as time.Ticker does.
			missed := now.Sub(w.at)/w.period + 1
			w.at = w.at.Add(missed * w.period)
			heap.Fix(&c.waiters, 0)
		} else {
			heap.Pop(&c.waiters)
		}
	}
	if c.alarm != nil {
		c.alarm.Stop()
		c.alarm = nil
	}
	if len(c.waiters) > 0 && !c.paused {
		// At least a nanosecond, so that rounding cannot make the alarm ring
		// again and again without time passing.
		wait := max(scale(c.waiters[0].at.Sub(now), 1/c.rate), 1)
		// In a goroutine of its own: a fake clock calls with its lock held.
		c.alarm = c.base.AfterFunc(wait, func() { go c.wake() })
	}
	return due
}

func (c *Clock) wake() {
	c.mu.Lock()
	due := c.dueLocked()
	c.mu.Unlock()
	ring(due)
}

// scale multiplies d, which is not negative, and stays within what a Duration
// holds.
func scale(d time.Duration, by float64) time.Duration {
	if by == 1 {
		return d
	}
	scaled := float64(d) * by
	if scaled >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(scaled)
}
