package etcd

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

// revocation is of a lease, in the revision that deleted its keys.
type revocation struct{ lease, rev int64 }

// load fills the index, the log and the leases from the journal.
func (db *DB) load() error {
	var revoked []revocation
	// In key order: leases, then the store's own facts, then revisions, oldest first.
	err := db.journal.Load(func(key, payload string) error {
		switch {
		case key == keyCluster:
			r := recordReader{rest: payload}
			db.clusterID = r.uvarint()
			return r.err
		case key == keyCompact:
			r := recordReader{rest: payload}
			db.compactRev = int64(r.uvarint())
			return r.err
		case strings.HasPrefix(key, prefixLease):
			return db.leases.load(key, payload, db.clock.Now())
		case strings.HasPrefix(key, prefixRevision):
			rev, err := parseNumberedKey(key)
			if err != nil {
				return err
			}
			versions, revokes, err := decodeOps(rev, payload)
			if err != nil {
				return fmt.Errorf("revision %d: %w", rev, err)
			}
			// Compaction leaves gaps below its revision, nothing else does.
			if rev != db.rev+1 && rev > max(db.compactRev, firstRev) {
				return fmt.Errorf("revision %d is missing", max(db.rev+1, db.compactRev))
			}
			db.rev = rev
			for _, v := range versions {
				db.index.add(v)
			}
			for _, id := range revokes {
				revoked = append(revoked, revocation{id, rev})
			}
			if rev >= db.compactRev {
				db.log.add(&commit{rev: rev, versions: versions})
			}
		default:
			return fmt.Errorf("unknown record %q", key)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load %s: %w", db.journal.Name(), err)
	}
	if db.compactRev > db.rev {
		return fmt.Errorf("load %s: revision %d is missing", db.journal.Name(), db.compactRev)
	}
	if db.clusterID == 0 {
		db.clusterID = uint64(randomID())
		if err := db.record(keyCluster, uvarintRecord(keyCluster, int64(db.clusterID))); err != nil {
			return err
		}
	}
	return db.finish(revoked)
}

// finish does what a crash may have cut short, and attaches keys to their leases.
func (db *DB) finish(revoked []revocation) error {
	// A crash between the record of a revocation and the removal of the lease.
	for _, r := range revoked {
		if l := db.leases.byID[r.lease]; l != nil && l.grantedAt < r.rev {
			if err := db.journal.Delete(leaseKey(l.id)); err != nil {
				return err
			}
			db.leases.remove(l)
		}
	}
	db.index.ascend(span{kind: spanFrom}, func(h *history) bool {
		if v := h.at(db.rev); v != nil {
			db.leases.attach(v.lease, v.key)
		}
		return true
	})
	if db.compactRev > 0 {
		if err := db.dropHistory(db.compactRev); err != nil {
			return err
		}
	}
	db.checkInvariants()
	return nil
}

// uvarintRecord seals a record that is a list of numbers.
func uvarintRecord(key string, numbers ...int64) string {
	buf := make([]byte, 0, len(numbers)*binary.MaxVarintLen64+journal.SealSize)
	for _, n := range numbers {
		buf = binary.AppendUvarint(buf, uint64(n))
	}
	return journal.Seal(key, buf)
}
