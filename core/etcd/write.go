package etcd

import (
	"context"
	"fmt"
)

// write runs decide, alone among writers, and commits the changes it makes as one
// revision. When decide fails, or changes nothing, nothing happens.
//
// It returns the revision of the store after it, and decide's error, the error of
// ctx when it ended before the turn came, rpctypes.ErrGRPCStopped after Close, or
// that the record could not be written.
func (db *DB) write(ctx context.Context, decide func(*view) error) (int64, error) {
	if err := db.take(ctx, db.writeMu); err != nil {
		return 0, err
	}
	defer db.writeMu.Unlock()
	w := view{db: db, rev: db.rev}
	if err := decide(&w); err != nil {
		return 0, err
	}
	if len(w.ops) == 0 {
		return w.rev, nil
	}
	rev, err := db.commit(&w)
	if err != nil {
		return 0, err
	}
	db.checkInvariants()
	return rev, nil
}

// commit records what w has decided as the next revision, which it returns, and
// shows it. Called under writeMu.
func (db *DB) commit(w *view) (int64, error) {
	rev := w.rev + 1
	record, versions := encodeOps(rev, w.ops)
	if err := db.record(revisionKey(rev), record); err != nil {
		return 0, err
	}
	c := &commit{rev: rev, versions: versions}
	if db.opts.Tap == nil {
		db.publish(c)
		return rev, nil
	}
	superseded := db.superseded(c)
	e, isEnd := db.ends(c)
	db.publish(c)
	db.tap(revisionKey(rev), record, superseded...)
	if isEnd {
		db.ended = append(db.ended, e)
		db.forget()
	}
	return rev, nil
}

// record puts a record into the journal. Called under writeMu.
func (db *DB) record(key, record string) error {
	if err := db.journal.Set(key, record); err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	return nil
}

// publish shows a recorded commit to readers and wakes the watchers it concerns.
// Called under writeMu.
func (db *DB) publish(c *commit) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, v := range c.versions {
		v.alwaysAlone = v.alone
		if prev := db.index.at(v.key, v.mod); prev != nil {
			db.leases.detach(prev.lease, v.key)
			v.alwaysAlone = v.alone && prev.alwaysAlone
		}
		db.index.add(v)
		db.leases.attach(v.lease, v.key)
	}
	db.log.add(c)
	db.rev = c.rev
	db.watchers.notify(c)
}

func (db *DB) isClosed() bool {
	select {
	case <-db.done:
		return true
	default:
		return false
	}
}
