package clock

import (
	"errors"
	"math"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// at fails the test unless the clock shows epoch plus want.
func at(t *testing.T, c *Clock, want time.Duration) {
	t.Helper()
	if got := c.Now().Sub(epoch); got != want {
		t.Fatalf("the clock shows %v after the epoch, want %v", got, want)
	}
}

// rings waits for a timer and returns when it fired.
func rings(t *testing.T, c <-chan time.Time) time.Duration {
	t.Helper()
	select {
	case now := <-c:
		return now.Sub(epoch)
	case <-time.After(time.Minute):
		t.Fatal("the timer does not fire")
		return 0
	}
}

// fired reports whether a timer's channel holds a time, and which.
func fired(c <-chan time.Time) (time.Duration, bool) {
	select {
	case now := <-c:
		return now.Sub(epoch), true
	default:
		return 0, false
	}
}

func TestUntouchedShowsItsBase(t *testing.T) {
	base := testingclock.NewFakeClock(epoch)
	c := New(base)
	base.Step(90 * time.Minute)
	at(t, c, 90*time.Minute)
	if got := c.Since(epoch); got != 90*time.Minute {
		t.Errorf("Since(epoch) = %v", got)
	}
}

func TestPauseRateStep(t *testing.T) {
	base := testingclock.NewFakeClock(epoch)
	c := New(base)
	base.Step(time.Second)
	c.Pause()
	c.Pause()
	base.Step(time.Hour)
	at(t, c, time.Second)
	if err := c.Step(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	at(t, c, 3*time.Second)
	if err := c.SetRate(60); err != nil {
		t.Fatal(err)
	}
	base.Step(time.Second)
	at(t, c, 3*time.Second)
	c.Resume()
	base.Step(time.Second)
	at(t, c, 63*time.Second)
	if err := c.SetRate(0.5); err != nil {
		t.Fatal(err)
	}
	base.Step(2 * time.Second)
	at(t, c, 64*time.Second)
	if s := c.State(); s.Rate != 0.5 || s.Paused || s.Now.Sub(epoch) != 64*time.Second {
		t.Errorf("State() = %+v", s)
	}
}

func TestRefusesToStandStillOrRunBackwards(t *testing.T) {
	c := New(testingclock.NewFakeClock(epoch))
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := c.SetRate(rate); !errors.Is(err, ErrRate) {
			t.Errorf("SetRate(%v) = %v, want ErrRate", rate, err)
		}
	}
	if err := c.Step(-1); !errors.Is(err, ErrBackwards) {
		t.Errorf("Step(-1) = %v, want ErrBackwards", err)
	}
}

func TestBaseSetBack(t *testing.T) {
	base := testingclock.NewFakeClock(epoch)
	c := New(base)
	base.SetTime(epoch.Add(-time.Hour))
	at(t, c, 0)
}

func TestTimers(t *testing.T) {
	base := testingclock.NewFakeClock(epoch)
	c := New(base)
	ten, three := c.NewTimer(10*time.Second), c.NewTimer(3*time.Second)
	if _, ok := fired(c.NewTimer(-1).C()); !ok {
		t.Error("a timer for the past did not fire at once")
	}
	if err := c.SetRate(10); err != nil {
		t.Fatal(err)
	}
	base.Step(300 * time.Millisecond)
	if got := rings(t, three.C()); got != 3*time.Second {
		t.Errorf("the 3 s timer fired at %v", got)
	}
	if _, ok := fired(ten.C()); ok {
		t.Error("the 10 s timer fired after 3 s")
	}
	if !ten.Stop() || ten.Stop() {
		t.Error("Stop does not say whether it stopped the timer")
	}
	if three.Reset(time.Second) {
		t.Error("Reset says that a timer which had fired was waiting")
	}
	c.Pause()
	base.Step(time.Hour)
	if _, ok := fired(three.C()); ok {
		t.Error("a timer fired while the clock was paused")
	}
	if err := c.Step(time.Second); err != nil {
		t.Fatal(err)
	}
	if got, ok := fired(three.C()); !ok || got != 4*time.Second {
		t.Errorf("the timer fired: %v at %v, want 4s", ok, got)
	}
	if base.HasWaiters() {
		t.Error("nothing waits, and a timer of the base is still set")
	}
}

func TestTickerDropsMissedTicks(t *testing.T) {
	base := testingclock.NewFakeClock(epoch)
	c := New(base)
	ticker := c.NewTicker(time.Second)
	if err := c.Step(3500 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got, ok := fired(ticker.C()); !ok || got != 3500*time.Millisecond {
		t.Errorf("tick: %v at %v", ok, got)
	}
	if _, ok := fired(ticker.C()); ok {
		t.Error("missed ticks were kept")
	}
	base.Step(500 * time.Millisecond)
	if got := rings(t, ticker.C()); got != 4*time.Second {
		t.Errorf("tick at %v, want 4s", got)
	}
	ticker.Stop()
	base.Step(time.Minute)
	if _, ok := fired(ticker.C()); ok {
		t.Error("a stopped ticker ticked")
	}
}

func TestAfterFuncRunsOnce(t *testing.T) {
	base := testingclock.NewFakeClock(epoch)
	c := New(base)
	ran := make(chan time.Time, 2)
	c.AfterFunc(time.Minute, func() { ran <- c.Now() })
	if err := c.Step(time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := (<-ran).Sub(epoch); got != time.Hour {
		t.Errorf("ran at %v", got)
	}
	base.Step(time.Hour)
	if len(ran) > 0 {
		t.Error("ran twice")
	}
}

func TestRealBase(t *testing.T) {
	c := New(nil)
	if err := c.SetRate(1000); err != nil {
		t.Fatal(err)
	}
	start := c.Now()
	c.Sleep(2 * time.Second) // two milliseconds of real time
	if passed := c.Since(start); passed < 2*time.Second {
		t.Errorf("%v passed", passed)
	}
}
