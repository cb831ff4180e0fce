package bridge

import (
	"sync"
	"time"
)

// A flush is mostly an event of a watch, and goes to the host as a message of its own. Each message is a task in three
// threads: the engine's, the service worker's and the page's. With thousands of events a second these tasks cost too much:
// 200 watches of 100 writes a second took 3.7 processors. A busy bridge therefore gathers the flushes of each response for
// a while, and hands over those of all responses in one message. The same watches then took a little more than one processor.
const (
	// paceWindow is how long flushes are counted, and busy how many of all responses make the bridge busy.
	paceWindow = 100 * time.Millisecond
	busy       = 100
	// gathering is how long a busy bridge gathers flushes.
	gathering = 100 * time.Millisecond
	// A response that has not flushed for seldom is quiet: its next flush goes to the host at once.
	seldom = time.Second
)

// pace counts flushes, and keeps the responses that flush later.
type pace struct {
	mu     sync.Mutex
	began  time.Time // of the window
	last   int       // flushes in the window before
	count  int       // and in this one
	queued []*response
}

// flushed counts one more and reports whether there are too many for each to go at once.
func (p *pace) flushed(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if since := now.Sub(p.began); since >= paceWindow {
		p.last = 0
		if since < 2*paceWindow {
			p.last = p.count
		}
		p.began, p.count = now, 0
	}
	p.count++
	return max(p.last, p.count) > busy
}

// queue has w flush a while from now. Each response may be queued once at a time.
func (p *pace) queue(w *response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queued = append(p.queued, w)
	if len(p.queued) == 1 {
		time.AfterFunc(gathering, p.release)
	}
}

func (p *pace) release() {
	p.mu.Lock()
	queued := p.queued
	p.queued = nil
	p.mu.Unlock()
	for _, w := range queued {
		go w.flushQueued() // which may wait for credit
	}
}
