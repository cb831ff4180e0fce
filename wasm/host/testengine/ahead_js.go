package main

import (
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubetab/kubetab/internal/absent"
)

// runAhead tells how often others ran, of a thousand who always can. fewest is of the one that ran least, when all together might
// have run twenty times each. The rest is of all together: while a request handed something to another goroutine and had it back a
// hundred times, while it calculated for as long as they take for one round and more, and while fifty goroutines, none of them a
// request's, had a lock one after the other. cut is of a goroutine that calculated for a millisecond a hundred times, and of how many
// of these times half of the others had run when it was over.
func runAhead(w http.ResponseWriter, _ *http.Request) {
	const hands, goes, waiters = 100, 100, 50
	c := newCrowd()
	defer close(c.over)
	c.runs()
	c.runs()
	fewest := c.fewest()
	handing := c.during(func() { handOver(hands) })
	calculating := c.during(func() { calculate(500 * time.Millisecond) })
	cut := c.cutsShort(goes)
	locking := c.hasLock(waiters)
	fmt.Fprintf(w, `{"others": %d, "fewest": %d, "handing": %d, "hands": %d, "calculating": %d, "cut": %d, "goes": %d, "locking": %d}`,
		len(c.by), fewest, handing, 2*hands, calculating, cut, goes, locking)
}

// handOver hands something to another goroutine and has it back, that many times.
func handOver(times int) {
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		for range there {
			back <- struct{}{}
		}
	}()
	for range times {
		there <- struct{}{}
		<-back
	}
	close(there)
}

func calculate(lasts time.Duration) {
	for began := time.Now(); time.Since(began) < lasts; {
		_ = depth(20)
	}
}

// A crowd can always run. It is of pairs, of which one can run while the other waits for it.
type crowd struct {
	ran  atomic.Int64
	by   [1000]atomic.Int64
	over chan struct{}
}

func newCrowd() *crowd {
	c := &crowd{over: make(chan struct{})}
	for i := range c.by {
		ordinary(func() { c.run(&c.by[i]) })
	}
	return c
}

// ordinary starts a goroutine that is like all others, and not like the request by which it is started.
func ordinary(f func()) {
	absent.Ahead(func(error) {}, func(answered func()) {
		answered()
		f()
	})
}

func (c *crowd) run(by *atomic.Int64) {
	there := make(chan struct{})
	go func() {
		for range there {
		}
	}()
	defer close(there)
	for {
		select {
		case there <- struct{}{}:
			c.ran.Add(1)
			by.Add(1)
		case <-c.over:
			return
		}
	}
}

func (c *crowd) fewest() int64 {
	fewest := c.by[0].Load()
	for i := range c.by {
		fewest = min(fewest, c.by[i].Load())
	}
	return fewest
}

// during tells how often they ran while f did.
func (c *crowd) during(f func()) int64 {
	before := c.ran.Load()
	f()
	return c.ran.Load() - before
}

// runs waits until they have run ten times each on average, and for long enough to starve, as Mutex calls it: a millisecond.
func (c *crowd) runs() {
	enough := c.ran.Load() + 10*int64(len(c.by))
	for began := time.Now(); c.ran.Load() < enough || time.Since(began) < 10*time.Millisecond; {
		time.Sleep(time.Millisecond) // they run meanwhile: who waits here takes none of their time
	}
}

// cutsShort tells in how many of so many calculations of a millisecond half of the crowd ran, or more.
func (c *crowd) cutsShort(goes int) (cut int) {
	calculated := make(chan struct{})
	ordinary(func() {
		defer close(calculated)
		for range goes {
			runtime.Gosched() // so that the turn may end at any time of it
			if c.during(func() { calculate(time.Millisecond) }) > int64(len(c.by)/2) {
				cut++
			}
		}
	})
	<-calculated
	return cut
}

// hasLock tells how often they ran while so many goroutines had a lock one after the other, for which these had waited.
func (c *crowd) hasLock(waiters int) int64 {
	var mu sync.Mutex
	var had sync.WaitGroup
	left := waiters
	mu.Lock()
	ordinary(func() {
		for range waiters {
			had.Go(func() {
				mu.Lock()
				left--
				mu.Unlock()
			})
		}
	})
	c.runs()
	// The first of them is woken, and finds the lock held: who waits is handed it from then on.
	mu.Unlock()
	mu.Lock()
	c.runs()
	return c.during(func() {
		mu.Unlock()
		had.Wait()
	})
}
