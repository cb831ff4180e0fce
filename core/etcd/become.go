package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// Become makes this store hold what an empty store holds after Replay of base and entries, in
// place of all that it holds: as an etcd that is stopped, restored from a snapshot
// and started. Revisions of records are those of entries, also where this store has
// been further. The newest revision is above both stores', and history begins there.
//
// No watcher is told. A watcher that goes on sees what is written afterwards; a
// client that keeps what it has read before must read anew. Leases have their full
// time to live.
//
// then is called when reads see the new content, and before anybody can write. When it
// fails, the store is as it was. Become must not be called after Release, and is for a
// store in memory.
//
// It fails as Replay does, with then's error, and while the store is being compacted;
// nothing has happened then.
func (h *Hold) Become(base, entries []Entry, then func() error) error {
	db := h.db
	switch {
	case db.isClosed():
		return errStopped
	case db.opts.Path != "":
		return errors.New("etcd: a store with a file cannot become another one")
	}
	// It comes before writeMu, which is ours already: here it is not waited for.
	select {
	case db.compactMu <- struct{}{}:
		defer db.compactMu.Unlock()
	default:
		return errors.New("etcd: a store that is being compacted cannot become another one")
	}
	other, err := Open(Options{Clock: db.clock})
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }() // in memory: nothing to lose
	if err := other.become(base, entries, db.rev+1); err != nil {
		return err
	}
	db.exchange(other)
	if err := then(); err != nil {
		db.exchange(other)
		return err
	}
	db.checkInvariants()
	return nil
}

// become replays base and entries into an empty store, takes it to revision least if it has
// not come so far, and compacts it there.
func (db *DB) become(base, entries []Entry, least int64) error {
	held := db.Hold()
	defer held.Release()
	if err := held.Replay(base, entries); err != nil {
		return err
	}
	if err := db.skipTo(least); err != nil {
		return err
	}
	held.Release()
	if err := db.Compact(context.Background(), db.Revision()); err != nil && !errors.Is(err, rpctypes.ErrGRPCCompacted) {
		return fmt.Errorf("compact: %w", err)
	}
	return nil
}

// exchange gives each store the content of the other one. Watchers stay, and have seen
// everything. Called under db's writeMu; nobody else uses other, apart from its leases.
func (db *DB) exchange(other *DB) {
	other.mu.Lock()
	defer other.mu.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	db.journal, other.journal = other.journal, db.journal
	db.rev, other.rev = other.rev, db.rev
	db.compactRev, other.compactRev = other.compactRev, db.compactRev
	db.droppedRev, other.droppedRev = other.droppedRev, db.droppedRev
	db.replayedRev, other.replayedRev = other.replayedRev, db.replayedRev
	db.gap, other.gap = other.gap, db.gap
	db.missed, other.missed = other.missed, db.missed
	db.base, other.base = other.base, db.base
	db.ended, other.ended = other.ended, db.ended
	db.index, other.index = other.index, db.index
	db.log, other.log = other.log, db.log
	db.leases.byID, other.leases.byID = other.leases.byID, db.leases.byID
	db.leases.queue, other.leases.queue = other.leases.queue, db.leases.queue
	db.leases.wake()
	db.watchers.caughtUp()
}

// caughtUp notes that no watcher has anything to read.
func (s *watcherSet) caughtUp() {
	for _, w := range s.spans {
		w.next = 0
	}
	for _, at := range s.points {
		for w := range at {
			w.next = 0
		}
	}
}

// Each calls f with each key, its value and the revision of the value.
func (h *Hold) Each(f func(key, value string, rev int64)) {
	h.db.index.visit(newSpan("", "\x00"), h.db.rev, func(v *version) bool {
		f(v.key, v.value, v.mod)
		return true
	})
}
