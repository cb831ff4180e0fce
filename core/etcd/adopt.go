package etcd

import (
	"cmp"
	"fmt"
	"slices"
)

// Adoption says what a store takes of another one's.
type Adoption struct {
	// Renewed reports whether what both stores began with under key is better here:
	// it stays where the other store has not changed it. nil is never.
	Renewed func(key string) bool
	// Check says what is wrong with a value that is not to be taken. nil is nothing.
	Check func(key string, value []byte) error
}

// LeftOut is what was in another store and has not been taken.
type LeftOut struct {
	Key string
	Why error
}

// Adopt makes this store hold the content of another store, which began with
// another base. The other store's content is base with entries on top. Adopt is
// for entries that Replay refuses with ErrBase.
//
// Afterwards this store has every key of the other store, except for those that a
// excludes. Keys that were deleted in the other store are deleted here, and keys
// that only this store began with stay. Values are the other's, in the order in
// which they were written there; revisions are new ones, above all of both stores.
// Watchers see the difference as ordinary writes, and Options.Tap is told of them.
// Leases have their full time to live again. It must not be called after Release.
//
// It takes the entries over, whose records are gone when it returns: there may be no
// room for both stores.
//
// It returns what was left out, and fails as Replay does; nothing has happened then.
func (h *Hold) Adopt(base, entries []Entry, a Adoption) ([]LeftOut, error) {
	db := h.db
	if db.isClosed() {
		return nil, errStopped
	}
	theirs, err := db.adopt(base, entries, a)
	if err != nil {
		return nil, err
	}
	if err := db.skipTo(max(db.rev, theirs.rev)); err != nil {
		return nil, err
	}
	for i, v := range theirs.taken {
		w := view{db: db, rev: db.rev}
		if v.deleted() {
			w.deleteRange(span{key: v.key})
		} else {
			if err := db.takeLease(v.lease, theirs.ttls); err != nil {
				return nil, err
			}
			w.put(v.key, v.value, v.lease)
		}
		if _, err := db.commit(&w); err != nil {
			return nil, err
		}
		theirs.taken[i] = nil // and its record with it
	}
	db.checkInvariants()
	return theirs.left, nil
}

// adopted is what a store takes of another one.
type adopted struct {
	rev   int64 // the other store's newest
	taken []*version
	ttls  map[int64]int64 // seconds, by lease
	left  []LeftOut
}

// adopt makes the other store of base and entries, which ends with this call: only
// what is taken of it stays, and entries lose their records.
func (db *DB) adopt(base, entries []Entry, a Adoption) (adopted, error) {
	other, err := Open(Options{Clock: db.clock})
	if err != nil {
		return adopted{}, err
	}
	defer func() { _ = other.Close() }() // in memory: nothing to lose
	held := other.Hold()
	defer held.Release()
	if err := held.Replay(base, nil); err != nil {
		return adopted{}, fmt.Errorf("the base: %w", err)
	}
	began := other.rev
	if err := held.Replay(nil, entries); err != nil {
		return adopted{}, err
	}
	for i := range entries {
		entries[i].Record = nil
	}
	theirs := adopted{rev: other.rev, ttls: make(map[int64]int64, len(other.leases.byID))}
	theirs.taken, theirs.left = db.difference(other, began, a)
	for id, l := range other.leases.byID {
		theirs.ttls[id] = l.ttl
	}
	return theirs, nil
}

// difference returns the versions to write so that db holds other's content, in
// the order in which other wrote them, and what a leaves out. began is the
// revision at which other's base ends.
func (db *DB) difference(other *DB, began int64, a Adoption) (taken []*version, left []LeftOut) {
	other.index.ascend(newSpan("", "\x00"), func(h *history) bool {
		now, mine := h.at(other.rev), db.index.at(h.key, db.rev)
		switch {
		case now == nil && mine != nil && h.at(began) != nil:
			taken = append(taken, h.versions[len(h.versions)-1]) // the deletion
		case now == nil,
			mine != nil && mine.value == now.value,
			mine != nil && now.mod <= began && a.Renewed != nil && a.Renewed(h.key):
		default:
			if a.Check != nil {
				if err := a.Check(h.key, []byte(now.value)); err != nil {
					left = append(left, LeftOut{h.key, err})
					return true
				}
			}
			taken = append(taken, now)
		}
		return true
	})
	slices.SortStableFunc(taken, func(a, b *version) int { return cmp.Compare(a.mod, b.mod) })
	return taken, left
}

// takeLease grants a lease that the other store has and db has not.
func (db *DB) takeLease(id int64, ttls map[int64]int64) error {
	ttl, is := ttls[id]
	if id == 0 || !is || db.leases.byID[id] != nil {
		return nil
	}
	_, err := db.addLease(id, ttl)
	return err
}
