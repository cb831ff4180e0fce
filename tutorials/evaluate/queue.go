package evaluate

import "sync"

const (
	// mostQueued is how much may wait for the evaluator.
	mostQueued = 20_000
	// mostQueuedBytes is how many bytes of bodies may.
	mostQueuedBytes = 16 << 20
)

// queue is what waits to be looked at, in order. Putting into it never blocks.
type queue struct {
	mu     sync.Mutex
	items  []item
	bytes  int
	lost   int // items that were dropped
	wake   chan struct{}
	closed bool
}

// item is a thing to be done by the evaluator's goroutine.
type item struct {
	run   func()
	bytes int
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) put(bytes int, run func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if len(q.items) >= mostQueued || q.bytes+bytes > mostQueuedBytes {
		q.lost++
		return
	}
	q.items = append(q.items, item{run, bytes})
	q.bytes += bytes
	select {
	case q.wake <- struct{}{}:
	default: // woken already
	}
}

// take returns all that waits and how much was dropped before it.
func (q *queue) take() (items []item, lost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items, lost = q.items, q.lost
	q.items, q.bytes, q.lost = nil, 0, 0
	return items, lost
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.items = true, nil
}
