package requestlog

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options bound what a Log keeps. The zero value of each means the default.
type Options struct {
	Records    int // of requests from outside, and as many of components inside: 500
	BodyBytes  int // of one body: 64 KiB
	TotalBytes int // of all bodies together: 4 MiB
}

// Log is the memory of the last requests. Its methods are safe to call at once.
type Log struct {
	options Options

	mu        sync.Mutex
	entries   []*entry // in the order of their ids
	internal  int      // how many of them are internal
	lastID    int64
	change    int64 // counts every change of an entry
	held      int   // bytes of bodies
	followers []chan struct{}
	latest    latest

	subscribers map[*Subscriber]struct{}

	auditing auditing
}

// New returns an empty log.
func New(o Options) *Log {
	if o.Records <= 0 {
		o.Records = 500
	}
	if o.BodyBytes <= 0 {
		o.BodyBytes = 64 << 10
	}
	if o.TotalBytes <= 0 {
		o.TotalBytes = 4 << 20
	}
	return &Log{options: o, subscribers: map[*Subscriber]struct{}{}}
}

// Forget drops all requests that have ended: what the start of an engine asked of itself is nobody's history.
func (l *Log) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(func(e *entry) bool { return e.Done })
}

func (l *Log) add(e *entry, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastID++
	e.ID = l.lastID
	l.offer(e, r)
	l.entries = append(l.entries, e)
	count := len(l.entries) - l.internal
	if e.Internal {
		l.internal++
		count = l.internal
	}
	if count > l.options.Records {
		l.evict(e.Internal)
	}
	l.touch(e)
}

// evict drops a twentieth of the entries of one sort, at once so that it is rare: the oldest that have ended, and when
// all are still running the oldest of those.
func (l *Log) evict(internal bool) {
	most := max(l.options.Records/20, 1)
	n := 0
	drop := func(done bool) {
		l.drop(func(e *entry) bool {
			if n == most || e.Internal != internal || e.Done != done {
				return false
			}
			n++
			return true
		})
	}
	drop(true)
	if n == 0 {
		drop(false)
	}
}

func (l *Log) drop(which func(*entry) bool) {
	l.entries = slices.DeleteFunc(l.entries, func(e *entry) bool {
		if !which(e) {
			return false
		}
		if e.Internal {
			l.internal--
		}
		l.release(e)
		e.gone = true
		return true
	})
}

// release gives up what is kept of e's bodies.
func (l *Log) release(e *entry) {
	l.held -= e.requestBody.close() + e.responseBody.close() + e.releaseAudit()
	if e.frames != nil {
		l.held -= e.frames.close()
	}
}

// hold counts n more bytes of e's. When there are too many it gives up those of the oldest entries, and a quarter more
// than it must, so that it does not look through the entries for every byte.
func (l *Log) hold(e *entry, n int) {
	l.held += n
	if l.held <= l.options.TotalBytes {
		return
	}
	for _, old := range l.entries {
		if l.held <= l.options.TotalBytes*3/4 {
			return
		}
		if old != e {
			l.release(old)
		}
	}
}

// touch says that e has changed.
func (l *Log) touch(e *entry) {
	l.change++
	e.change = l.change
	for _, wake := range l.followers {
		select {
		case wake <- struct{}{}:
		default: // woken already
		}
	}
}

// since returns the records that changed after the given change, oldest change first, and the last change.
func (l *Log) since(change int64) ([]Record, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var changed []*entry
	for _, e := range l.entries {
		if e.change > change {
			changed = append(changed, e)
		}
	}
	records := make([]Record, len(changed))
	for i, e := range changed {
		records[i] = e.record()
	}
	return records, l.change
}

// record is e as of now.
func (e *entry) record() Record {
	r := e.Record
	if !r.Done {
		r.MS = time.Since(e.began).Milliseconds()
	}
	return r
}

// find returns the entry with this id; the caller holds the lock.
func (l *Log) find(id int64) *entry {
	at, found := slices.BinarySearchFunc(l.entries, id, func(e *entry, id int64) int { return int(e.ID - id) })
	if !found {
		return nil
	}
	return l.entries[at]
}

// follow returns a channel that is sent to after changes, and what ends it.
func (l *Log) follow() (wake chan struct{}, stop func()) {
	wake = make(chan struct{}, 1)
	l.mu.Lock()
	l.followers = append(l.followers, wake)
	l.mu.Unlock()
	return wake, func() {
		l.mu.Lock()
		l.followers = slices.DeleteFunc(l.followers, func(other chan struct{}) bool { return other == wake })
		l.mu.Unlock()
	}
}
