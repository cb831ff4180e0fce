package etcd

import (
	"context"
	"sort"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// compactBatch is how many histories are compacted before others get a turn.
const compactBatch = 1000

// Compact forgets the history below rev: reads and watches below rev fail with
// ErrCompacted from then on, and the versions that nobody can see any more are
// removed from memory and from the file when it returns.
//
// It fails with rpctypes.ErrGRPCCompacted when rev is not above the last
// compaction, ErrGRPCFutureRev when rev is above the newest revision,
// ErrGRPCStopped after Close, or that the file could not be written.
func (db *DB) Compact(ctx context.Context, rev int64) error {
	if err := db.take(ctx, db.compactMu); err != nil {
		return err
	}
	defer db.compactMu.Unlock()
	if err := db.setCompacted(ctx, rev); err != nil {
		return err
	}
	if err := db.dropHistory(rev); err != nil {
		return err
	}
	return db.journal.RewriteIfWorth()
}

// setCompacted makes rev the compaction revision, for good: a crash from here on
// finds it at the next start.
func (db *DB) setCompacted(ctx context.Context, rev int64) error {
	if err := db.take(ctx, db.writeMu); err != nil {
		return err
	}
	defer db.writeMu.Unlock()
	switch {
	case rev <= db.compactRev:
		return rpctypes.ErrGRPCCompacted
	case rev > db.rev:
		return rpctypes.ErrGRPCFutureRev
	}
	if err := db.record(keyCompact, uvarintRecord(keyCompact, rev)); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.compactRev = rev
	db.log.compact(rev)
	db.watchers.compacted(rev)
	return nil
}

// dropHistory removes what compaction at rev has made invisible, a batch of keys
// at a time. Doing it again is harmless, which is how a start finishes a
// compaction that a crash has cut short.
func (db *DB) dropHistory(rev int64) error {
	// The revisions that lost versions.
	touched := map[int64]struct{}{}
	for next, more := "", true; more; {
		var err error
		if next, more, err = db.dropVersions(rev, next, touched); err != nil {
			return err
		}
	}
	revs := make([]int64, 0, len(touched))
	for r := range touched {
		revs = append(revs, r)
	}
	// Oldest first and one record at a time, because what is gone from the file
	// after a crash must be a prefix: a put that outlives its tombstone would
	// bring the key back to life.
	sort.Slice(revs, func(i, j int) bool { return revs[i] < revs[j] })
	for _, r := range revs {
		if err := db.shrinkRecord(r); err != nil {
			return err
		}
	}
	db.mu.Lock()
	db.droppedRev = rev
	db.mu.Unlock()
	db.checkInvariants()
	return nil
}

// dropVersions compacts the histories of up to compactBatch keys from key on, and
// returns where to go on. It notes the revisions of what it dropped. It fails with
// rpctypes.ErrGRPCStopped after Close.
func (db *DB) dropVersions(rev int64, key string, touched map[int64]struct{}) (next string, more bool, err error) {
	// What has begun goes on without its caller: a compaction has no way back.
	if err := db.take(context.Background(), db.writeMu); err != nil {
		return "", false, err
	}
	defer db.writeMu.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	var empty []*history
	n := 0
	db.index.ascend(span{key: key, kind: spanFrom}, func(h *history) bool {
		if n++; n > compactBatch {
			next, more = h.key, true
			return false
		}
		for _, v := range h.compact(rev) {
			touched[v.mod] = struct{}{}
		}
		if len(h.versions) == 0 {
			empty = append(empty, h)
		}
		return true
	})
	for _, h := range empty {
		db.index.remove(h)
	}
	return next, more, nil
}

// shrinkRecord removes from the record of rev what is no longer in the index, and
// the record itself when nothing is left of it. It fails with
// rpctypes.ErrGRPCStopped after Close, or that the record could not be written.
func (db *DB) shrinkRecord(rev int64) error {
	if err := db.take(context.Background(), db.writeMu); err != nil {
		return err
	}
	defer db.writeMu.Unlock()
	key := revisionKey(rev)
	payload, ok, err := db.journal.Get(key)
	if err != nil || !ok {
		return err
	}
	versions, _, err := decodeOps(rev, payload)
	if err != nil {
		return err
	}
	var old []*version
	var ops []op
	for _, v := range versions {
		if h := db.index.get(v.key); h != nil {
			if kept := h.last(rev); kept != nil && kept.mod == rev && kept.ver == v.ver {
				old = append(old, kept)
				ops = append(ops, opOf(kept))
			}
		}
	}
	if len(ops) == 0 {
		return db.journal.Delete(key)
	}
	// The surviving versions move to the new record, so that the old one, and the
	// dropped values in it, are not kept alive by them.
	record, fresh := encodeOps(rev, ops)
	if err := db.record(key, record); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for i := range fresh {
		fresh[i].alone, fresh[i].alwaysAlone = old[i].alone, old[i].alwaysAlone
		db.index.get(fresh[i].key).replace(old[i], fresh[i])
	}
	return nil
}
