package etcd

import "fmt"

// checkInvariants panics when what the store has in memory contradicts itself. It
// does so in builds with -race or -tags invariants only: it reads everything.
//
// Call it without mu.
func (db *DB) checkInvariants() {
	if !invariants {
		return
	}
	// Not RLock: that would leave the watchers free to move their cursors.
	db.mu.Lock()
	defer db.mu.Unlock()
	// All of it is too much after every commit of a test with many.
	if db.index.tree.Len()+len(db.log.commits) > 500 && db.rev%256 != 0 {
		return
	}
	if err := db.inconsistency(); err != nil {
		panic(fmt.Errorf("etcd: invariant broken at revision %d (compacted at %d): %w", db.rev, db.compactRev, err))
	}
}

// inconsistency returns the first contradiction. Called with mu held.
func (db *DB) inconsistency() (err error) {
	check := func(ok bool, format string, args ...any) {
		if !ok && err == nil {
			err = fmt.Errorf(format, args...)
		}
	}
	check(db.compactRev <= db.rev, "the compaction is ahead of the store")
	check(db.rev >= firstRev, "no revision")

	attached := 0
	last := ""
	db.index.ascend(span{kind: spanFrom}, func(h *history) bool {
		check(last == "" || last < h.key, "keys %q and %q are out of order", last, h.key)
		last = h.key
		if e := h.inconsistency(db.rev, db.compactRev, db.droppedRev, db.replayedRev); e != nil {
			check(false, "history of %q: %w", h.key, e)
		}
		if v := h.at(db.rev); v != nil {
			if l := db.leases.byID[v.lease]; l != nil {
				_, ok := l.keys[h.key]
				check(ok, "%q is not attached to its lease %d", h.key, l.id)
				attached++
			} else {
				check(v.lease == 0, "%q has lease %d, which does not exist", h.key, v.lease)
			}
		}
		return err == nil
	})

	// Every revision from the compaction on is in the log, once, in order.
	next := max(db.compactRev, firstRev+1)
	for _, c := range db.log.commits {
		check(c.rev == next || next < c.rev && c.rev <= db.replayedRev, "the log has revision %d where %d should be", c.rev, next)
		check(len(c.versions) > 0 || c.rev <= db.replayedRev, "revision %d is empty", c.rev)
		for _, v := range c.versions {
			check(v.mod == c.rev, "revision %d has a version of %d", c.rev, v.mod)
			h := db.index.get(v.key)
			check(h != nil && h.last(v.mod) != nil && h.last(v.mod).mod == v.mod, "revision %d of %q is not in the index", v.mod, v.key)
		}
		next = c.rev + 1
	}
	check(next == db.rev+1, "the log ends before revision %d", next)

	for id, l := range db.leases.byID {
		check(l.id == id && db.leases.queue[l.place] == l, "lease %d is misplaced", id)
		attached -= len(l.keys)
	}
	check(attached == 0, "a lease has a key that does not have it")
	check(len(db.leases.queue) == len(db.leases.byID), "the queue of leases has %d of %d", len(db.leases.queue), len(db.leases.byID))
	for i, l := range db.leases.queue {
		parent := db.leases.queue[max(i-1, 0)/2]
		check(!l.expiry.Before(parent.expiry), "lease %d expires before its parent in the heap", l.id)
	}

	watcher := func(w *watcher) {
		check(w.next == 0 || (w.startRev <= w.next && w.next <= db.rev), "a watcher from %d is at %d", w.startRev, w.next)
	}
	for i, w := range db.watchers.spans {
		check(w.place == i, "a watcher is misplaced")
		watcher(w)
	}
	for key, at := range db.watchers.points {
		check(len(at) > 0, "the set of watchers of %q is empty", key)
		for w := range at {
			watcher(w)
		}
	}
	return err
}

// inconsistency returns what is wrong with a history in a store at rev that was
// compacted, whose history was dropped, and that was replayed without what was
// superseded, up to these revisions.
func (h *history) inconsistency(rev, compacted, dropped, replayed int64) error {
	if len(h.versions) == 0 {
		return fmt.Errorf("it is empty")
	}
	var prev *version
	for i, v := range h.versions {
		switch {
		case v.key != h.key:
			return fmt.Errorf("it has a version of %q", v.key)
		case v.mod > rev:
			return fmt.Errorf("revision %d is in the future", v.mod)
		case prev != nil && v.mod < prev.mod:
			return fmt.Errorf("revision %d follows %d", v.mod, prev.mod)
		case prev != nil && v.mod == prev.mod && !v.deleted():
			return fmt.Errorf("revision %d puts it after another change", v.mod)
		case v.mod <= dropped && i > 0:
			return fmt.Errorf("revision %d should be gone", prev.mod)
		case v.mod < dropped && v.deleted():
			return fmt.Errorf("the tombstone of %d should be gone", v.mod)
		case v.deleted():
			if prev != nil && prev.deleted() {
				return fmt.Errorf("revision %d deletes what is deleted", v.mod)
			}
		case prev == nil && compacted > 0:
			// Its beginning may be gone.
		case v.mod <= replayed && v.create < v.mod && v.ver > 1 && (prev == nil || prev.deleted() && v.create > prev.mod):
			// Its beginning was superseded, see Hold.Entries.
		case prev == nil || prev.deleted():
			if v.create != v.mod || v.ver != 1 {
				return fmt.Errorf("revision %d begins with version %d, created at %d", v.mod, v.ver, v.create)
			}
		case v.create == prev.create && v.ver > prev.ver && v.mod <= replayed:
			// What was in between was superseded.
		case v.create != prev.create || v.ver != prev.ver+1:
			return fmt.Errorf("version %d of %d follows version %d of %d", v.ver, v.create, prev.ver, prev.create)
		}
		prev = v
	}
	return nil
}
