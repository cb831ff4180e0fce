package bridge

import (
	"sync"
	"time"
)

// One event of a watch is worth a message of its own. Thousands in a second are not: each is a task in the
// engine's thread, the service worker's and the page's, and 200 watches of 100 writes a second would ask for
// four processors. A bridge that is flushed so often gathers what each response flushes for a while, and hands over
// that of all responses together, which costs the host one message.
const (
	paceWindow = 100 * time.Millisecond
	busy       = 100 // flushes within paceWindow, of all responses
	gathering  = 100 * time.Millisecond
	seldom     = time.Second // is a flush that comes so long after the response's last one: it goes at once
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
