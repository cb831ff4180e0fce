package etcd

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

// load fills the index, the log and the leases from the journal.
func (db *DB) load() error {
	type revocation struct{ lease, rev int64 }
	var (
		format  string
		revoked []revocation
	)
	// In key order: leases, then the store's own facts, then revisions, oldest first.
	err := db.journal.Load(func(key, payload string) error {
		switch {
		case key == keyFormat:
			format = payload
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
			// Revisions from the compaction on are never dropped.
			if rev > db.rev+1 && db.rev+1 >= db.compactRev && db.rev+1 > 2 {
				return fmt.Errorf("revision %d is missing", db.rev+1)
			}
			db.rev = rev
			for _, v := range versions {
				db.index.add(v)
			}
			for _, id := range revokes {
				revoked = append(revoked, revocation{id, rev})
			}
			db.log.add(&commit{rev: rev, versions: versions})
		default:
			return fmt.Errorf("unknown record %q", key)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load %s: %w", db.journal.Name(), err)
	}
	if err := db.checkFormat(format); err != nil {
		return err
	}
	if db.compactRev > db.rev {
		return fmt.Errorf("load %s: compacted at %d but the last revision is %d", db.journal.Name(), db.compactRev, db.rev)
	}
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
	// Finish the compaction that a crash may have cut short.
	if db.compactRev > 0 {
		if err := db.dropHistory(db.compactRev); err != nil {
			return err
		}
	}
	db.checkInvariants()
	return nil
}

// checkFormat reads, or for an empty store writes, the format record:
// name, version and cluster id.
func (db *DB) checkFormat(format string) error {
	if format == "" {
		if db.rev > 1 || len(db.leases.byID) > 0 {
			return fmt.Errorf("load %s: it has records but no format record", db.journal.Name())
		}
		db.clusterID = uint64(randomID())
		payload := fmt.Sprintf("%s %d %x", formatName, formatVersion, db.clusterID)
		return db.journal.Set(keyFormat, journal.Seal(keyFormat, []byte(payload)))
	}
	fields := strings.Fields(format)
	if len(fields) < 2 || fields[0] != formatName {
		return fmt.Errorf("load %s: it is not a store of kubetab: %q", db.journal.Name(), format)
	}
	if fields[1] != strconv.Itoa(formatVersion) || len(fields) != 3 {
		return fmt.Errorf("load %s: it has format %s, this program reads format %d; use a newer program", db.journal.Name(), fields[1], formatVersion)
	}
	id, err := strconv.ParseUint(fields[2], 16, 64)
	if err != nil {
		return fmt.Errorf("load %s: cluster id: %w", db.journal.Name(), err)
	}
	db.clusterID = id
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
