package etcd

import (
	"context"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"
)

const (
	// A response takes whole revisions until it has this many events or bytes.
	maxWatchEvents = 1000
	maxWatchBytes  = 1 << 20
)

// watcher is a cursor into the commit log. It pulls: its goroutine takes what is
// new, sends it, and only then looks again, so a slow consumer delays nobody and
// nothing is queued for it.
//
//	commit log   5  6  7  8  9  10
//	                ^              next = 6: revision 6 was the first to touch its
//	                               keys since it last looked; it has seen the rest
//
// A commit that touches none of its keys costs a watcher nothing, not even a
// wake-up. That is why a watcher with nothing to read has no position at all
// (next = 0): it has seen everything, however long ago it last looked, and
// compaction does not concern it.
type watcher struct {
	db   *DB
	span span
	// startRev is the first revision of interest, which may be in the future, or 0
	// for the one after the watch began.
	startRev int64
	// missed: objects of which it may have seen the beginning have gone without an entry.
	missed bool
	// prevKV adds what an event replaced; noPut and noDelete are the filters.
	prevKV, noPut, noDelete, periodic bool

	out  chan clientv3.WatchResponse
	wake chan struct{} // of capacity 1: there is something to look at

	// next is the first revision that may hold an event that was not sent, 0 when
	// there is none. It is written with DB.mu locked, or by the watcher's own
	// goroutine with DB.mu read-locked.
	next int64
	// owed is set when a progress notification was asked for. Guarded as next.
	owed bool

	place int // in watcherSet.spans
}

// watcherSet finds the watchers that a commit concerns. Guarded by DB.mu.
type watcherSet struct {
	// points are the watchers of single keys, spans all others.
	points map[string]map[*watcher]struct{}
	spans  []*watcher
}

func (s *watcherSet) init() { s.points = map[string]map[*watcher]struct{}{} }

func (s *watcherSet) add(w *watcher) {
	if !w.span.point() {
		w.place = len(s.spans)
		s.spans = append(s.spans, w)
		return
	}
	at := s.points[w.span.key]
	if at == nil {
		at = map[*watcher]struct{}{}
		s.points[w.span.key] = at
	}
	at[w] = struct{}{}
}

func (s *watcherSet) remove(w *watcher) {
	if !w.span.point() {
		last := len(s.spans) - 1
		s.spans[w.place] = s.spans[last]
		s.spans[w.place].place = w.place
		s.spans[last] = nil
		s.spans = s.spans[:last]
		return
	}
	at := s.points[w.span.key]
	delete(at, w)
	if len(at) == 0 {
		delete(s.points, w.span.key)
	}
}

// notify tells the watchers of c's keys to look.
func (s *watcherSet) notify(c *commit) {
	for _, v := range c.versions {
		for w := range s.points[v.key] {
			w.notify(c.rev)
		}
		for _, w := range s.spans {
			if w.span.contains(v.key) {
				w.notify(c.rev)
			}
		}
	}
}

// compacted tells the watchers that have fallen behind rev.
func (s *watcherSet) compacted(rev int64) {
	behind := func(w *watcher) {
		if w.next != 0 && w.next < rev {
			w.signal()
		}
	}
	for _, w := range s.spans {
		behind(w)
	}
	for _, at := range s.points {
		for w := range at {
			behind(w)
		}
	}
}

func (w *watcher) notify(rev int64) {
	if rev < w.startRev {
		return
	}
	if w.next == 0 {
		w.next = rev
	}
	w.signal()
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// register makes w part of the set and puts its cursor at its first revision. It
// returns the store's revision then: w sees all that comes after it. It returns
// false after Close.
func (db *DB) register(w *watcher) (rev int64, ok bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return 0, false
	}
	if 0 < w.startRev && w.startRev <= db.rev {
		w.next = w.startRev
		w.missed = db.missed.after+1 < w.startRev && w.startRev <= db.missed.to
		w.signal()
	}
	db.watchers.add(w)
	// Under mu, so that it cannot come after Close has begun to wait.
	db.running.Add(1)
	return db.rev, true
}

func (db *DB) unregister(w *watcher) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.watchers.remove(w)
	db.running.Done()
}

// pulled is what a watcher found when it looked.
type pulled struct {
	events []eventRef
	// rev is the revision up to which the watcher has now seen everything.
	rev int64
	// compactRev is set when revisions it has not seen are gone.
	compactRev int64
	// progress: a notification is owed, and nothing is left to send before it.
	progress bool
	// more: the response was full.
	more bool
}

// eventRef is an event before its bytes are copied.
type eventRef struct{ v, prev *version }

// pull moves the cursor over as many revisions as fit into one response.
func (w *watcher) pull() pulled {
	db := w.db
	db.mu.RLock()
	defer db.mu.RUnlock()
	p := pulled{rev: db.rev}
	if w.next != 0 {
		if w.next < db.compactRev || w.missed {
			p.compactRev = max(db.compactRev, db.missed.to+1)
			return p
		}
		size := 0
		for _, c := range db.log.from(w.next) {
			if len(p.events) >= maxWatchEvents || size >= maxWatchBytes {
				p.more, p.rev = true, c.rev-1
				break
			}
			for _, v := range c.versions {
				if !w.span.contains(v.key) || w.filtered(v) {
					continue
				}
				e := eventRef{v: v}
				if w.prevKV && v.create != v.mod && v.mod-1 >= db.compactRev {
					e.prev = db.index.before(v)
				}
				size += v.size()
				p.events = append(p.events, e)
			}
		}
		w.next = 0
		if p.more {
			w.next = p.rev + 1
			return p
		}
	}
	// A notification below the first revision of interest would tell the consumer
	// that it is further back than it knows itself to be.
	p.progress = w.owed && db.rev >= w.startRev
	w.owed = false
	return p
}

func (w *watcher) filtered(v *version) bool {
	if v.deleted() {
		return w.noDelete
	}
	return w.noPut
}

// run sends what w finds until ctx or the client or the store ends, or w falls
// behind the compaction. It closes out.
func (w *watcher) run(ctx context.Context, client <-chan struct{}) {
	defer close(w.out)
	defer w.db.unregister(w)
	var timer clock.Timer
	var tick <-chan time.Time
	if w.periodic {
		timer = w.db.clock.NewTimer(w.db.opts.ProgressInterval)
		defer timer.Stop()
		tick = timer.C()
	}
	send := func(r clientv3.WatchResponse) bool {
		select {
		case w.out <- r:
			return true
		case <-ctx.Done():
		case <-client:
		case <-w.db.done:
			w.stopped()
		}
		return false
	}
	for {
		p := w.pull()
		switch {
		case p.compactRev != 0:
			send(clientv3.WatchResponse{Header: w.db.header(p.rev), CompactRevision: p.compactRev, Canceled: true})
			return
		case len(p.events) > 0:
			r := clientv3.WatchResponse{Header: w.db.header(p.rev), Events: make([]*clientv3.Event, len(p.events))}
			for i, e := range p.events {
				r.Events[i] = e.v.event(e.prev)
			}
			p.events = nil
			if timer != nil {
				// An event tells the revision as well as a notification does.
				timer.Reset(w.db.opts.ProgressInterval)
			}
			if !send(r) {
				return
			}
		}
		if p.progress && !send(clientv3.WatchResponse{Header: w.db.header(p.rev)}) {
			return
		}
		if p.more {
			continue
		}
		select {
		case <-w.wake:
		case <-tick:
			w.db.oweProgress(w)
			timer.Reset(w.db.opts.ProgressInterval)
		case <-ctx.Done():
			return
		case <-client:
			return
		case <-w.db.done:
			w.stopped()
			return
		}
	}
}

// stopped tells the consumer, if it is listening, why the channel will be closed.
func (w *watcher) stopped() {
	r := clientv3.WatchResponse{Header: w.db.header(0), Canceled: true, CancelReason: rpctypes.ErrorDesc(errStopped)}
	select {
	case w.out <- r:
	default:
	}
}

// oweProgress asks ws to send a progress notification as soon as they have sent
// everything before it.
func (db *DB) oweProgress(ws ...*watcher) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, w := range ws {
		w.owed = true
		w.signal()
	}
}

// tellProgress sends a progress notification to each watcher that has asked for such, as
// soon as it has sent everything before it.
func (db *DB) tellProgress() {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, w := range db.watchers.spans {
		if w.periodic {
			w.owed = true
			w.signal()
		}
	}
}
