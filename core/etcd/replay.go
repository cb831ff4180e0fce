package etcd

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubetab/kubetab/core/etcd/internal/borrow"
	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

// Entry is a record of the journal, as Options.Tap is told of it and Replay takes
// it: a lease, or what one revision did. State.Entries makes one more, which says
// that history begins at a revision.
type Entry struct {
	// Name is unique, and in order of names are entries replayed: where history
	// begins, leases, then revisions, oldest first.
	Name string
	// Record is sealed with a checksum; empty means that the entry is gone.
	Record []byte
	// Supersedes names entries that are no longer needed when this one is kept.
	// Watchers of a store that was replayed without them see fewer states of an
	// object, and miss that it came and went only if it was under a lease.
	Supersedes []string
}

// Begins reports whether e says where history begins.
func (e Entry) Begins() bool { return strings.HasPrefix(e.Name, prefixCompacted) }

// ErrBase is returned by Replay for entries that do not follow the store's newest
// revision: they were made by a store that went on from another one.
var ErrBase = errors.New("the records follow another revision than the store's")

// prefixCompacted begins the name of the entry that says where history begins. The
// journal has that under keyCompact.
const prefixCompacted = "c"

// entryName is the name of the entry with that key of the journal: text, because
// keys are bytes.
func entryName(key string) string {
	name := make([]byte, 1, 17)
	name[0] = key[0]
	return string(hex.AppendEncode(name, borrow.Bytes(key[1:])))
}

func parseEntryName(name string) (key string, n int64, err error) {
	if len(name) == 17 && strings.Contains(prefixCompacted+prefixLease+prefixRevision, name[:1]) {
		var u uint64
		if u, err = strconv.ParseUint(name[1:], 16, 63); err == nil {
			return numberedKey(name[:1], int64(u)), int64(u), nil
		}
	}
	return "", 0, fmt.Errorf("replay: %q is no name of an entry", name)
}

// tap tells Options.Tap of a record. Called under writeMu.
func (db *DB) tap(key, record string, supersedes ...string) {
	if db.opts.Tap != nil {
		db.opts.Tap(Entry{Name: entryName(key), Record: []byte(record), Supersedes: supersedes})
	}
}

// superseded names the entries that c makes superfluous for those who will replay.
// The record that created an object stays while the object does, because watchers
// are told the previous state with each change. Called before c is published.
func (db *DB) superseded(c *commit) (names []string) {
	if db.opts.Tap == nil {
		return nil
	}
	for _, v := range c.versions {
		prev := db.index.at(v.key, c.rev)
		if prev == nil {
			continue
		}
		// An object of the base keeps its changes: without them it would be read as the base
		// has it until it is deleted.
		expires := v.deleted() && prev.lease != 0 && prev.alwaysAlone && prev.create > db.base
		changed := prev.create != prev.mod
		if expires && changed {
			names = append(names, entryName(revisionKey(prev.create)))
		}
		if expires || prev.alone && changed && !v.deleted() {
			names = append(names, entryName(revisionKey(prev.mod)))
		}
	}
	return names
}

// Hold is a store in which nothing is written. All others who want to write wait,
// each as long as its context.
type Hold struct {
	db      *DB
	release func()
}

// Hold waits for the write that is going on, if any.
func (db *DB) Hold() *Hold {
	db.writeMu.Lock()
	return &Hold{db, sync.OnceFunc(db.writeMu.Unlock)}
}

// Release lets the others write. Releasing twice is harmless.
func (h *Hold) Release() { h.release() }

// Revision returns the revision of the newest write.
func (h *Hold) Revision() int64 { return h.db.rev }

// Changed calls f with each key that has been written after revision since and
// what its value is, or was before it was deleted, and with the revision of that.
func (h *Hold) Changed(since int64, f func(key, value string, rev int64)) {
	db := h.db
	db.index.ascend(newSpan("", "\x00"), func(k *history) bool {
		v := k.last(db.rev)
		if v == nil || v.mod <= since {
			return true
		}
		value := v.value
		if before := db.index.before(v); v.deleted() && before != nil {
			value = before.value
		}
		f(v.key, value, v.mod)
		return true
	})
}

// Replay does again what another store did after the revision that this one is at:
// objects, revisions and leases are the other's, and watchers see what happened as
// they would have seen it there. Leases have their full time to live again. Readers at
// a revision of which something is missing are told that history was compacted
// (rpctypes.ErrGRPCCompacted). It must not be called after Release.
//
// It fails with ErrBase, with what is wrong with a record, and with
// rpctypes.ErrGRPCStopped after Close; nothing has happened then. It fails half way
// only when the journal does.
func (h *Hold) Replay(entries []Entry) error {
	db := h.db
	if db.isClosed() {
		return errStopped
	}
	base := db.rev
	begins, leases, commits, err := parseEntries(entries, base)
	if err != nil {
		return err
	}
	if begins > 0 {
		if err := db.beginAt(begins); err != nil {
			return err
		}
	}
	for _, l := range leases {
		if err := db.record(l.key, string(l.record)); err != nil {
			return err
		}
		db.mu.Lock()
		err := db.leases.load(l.key, l.payload, db.clock.Now())
		db.mu.Unlock()
		if err != nil {
			return err
		}
	}
	for _, c := range commits {
		if c.rev > begins {
			if err := db.skipTo(c.rev - 1); err != nil { // superseded
				return err
			}
		}
		if err := db.record(revisionKey(c.rev), c.record); err != nil {
			return err
		}
		// What expired is not there to be deleted when its entries are not.
		versions := slices.DeleteFunc(c.versions, func(v *version) bool {
			return v.deleted() && db.index.at(v.key, c.rev) == nil
		})
		if c.rev > begins && (len(versions) < len(c.versions) || slices.ContainsFunc(versions, db.followsGap)) {
			db.gapUntil(c.rev, base)
		}
		db.publish(&commit{rev: c.rev, versions: versions})
		if c.rev == begins { // as after a compaction, which keeps its own revision alone
			db.mu.Lock()
			db.log.compact(begins)
			db.mu.Unlock()
		}
	}
	// An empty store cannot tell what of it is the base.
	db.base = base
	if base == firstRev {
		db.base = db.rev
	}
	db.replayed()
	db.checkInvariants()
	return nil
}

// beginAt makes an empty store one that was compacted at rev before anything of it
// is known. Called under writeMu.
func (db *DB) beginAt(rev int64) error {
	if err := db.record(keyCompact, uvarintRecord(keyCompact, rev)); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.compactRev, db.droppedRev = rev, rev
	return nil
}

// skipTo makes rev the newest revision, with nothing in those that are skipped. In
// memory they cost nothing, however many they are; a file has a record of each, because
// one that is missing there is damage. Called under writeMu.
func (db *DB) skipTo(rev int64) error {
	next := db.rev + 1
	if db.opts.Path == "" {
		next = max(next, rev)
	}
	for ; next <= rev; next++ {
		empty, _ := encodeOps(next, nil)
		if err := db.record(revisionKey(next), empty); err != nil {
			return err
		}
		db.publish(&commit{rev: next})
	}
	db.replayed()
	return nil
}

// followsGap reports whether states of v's object before v are missing: their records
// were superseded. Called under writeMu.
func (db *DB) followsGap(v *version) bool {
	if v.deleted() {
		return false
	}
	before := db.index.at(v.key, v.mod)
	if before == nil {
		return v.ver != 1
	}
	return v.ver != 1 && v.ver != before.ver+1
}

// gapUntil notes that states between a replay's base and rev are missing. Called under
// writeMu.
func (db *DB) gapUntil(rev, base int64) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.gap.to == 0 {
		db.gap.from = base + 1
	}
	db.gap.to = rev
}

// replayed notes that up to now revisions may be empty, and states of objects missing.
func (db *DB) replayed() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.replayedRev = db.rev
}

type replayedLease struct {
	key, payload string
	record       []byte
}

type replayedCommit struct {
	rev      int64
	record   string
	versions []*version
}

// parseEntries checks everything, so that what can be refused is refused before
// anything has been done. begins is where history begins, or 0.
func parseEntries(entries []Entry, base int64) (begins int64, leases []replayedLease, commits []replayedCommit, err error) {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	for _, e := range sorted {
		key, n, err := parseEntryName(e.Name)
		if err != nil {
			return 0, nil, nil, err
		}
		record := string(e.Record)
		payload, err := journal.Unseal(key, record)
		if err != nil {
			return 0, nil, nil, fmt.Errorf("replay %s: %w", e.Name, err)
		}
		if strings.HasPrefix(key, prefixCompacted) {
			if base != firstRev || begins != 0 || n <= firstRev {
				return 0, nil, nil, fmt.Errorf("replay %s: history begins once, in an empty store", e.Name)
			}
			begins = n
			continue
		}
		if strings.HasPrefix(key, prefixLease) {
			r := recordReader{rest: payload}
			r.uvarint()
			r.uvarint()
			if r.err != nil {
				return 0, nil, nil, fmt.Errorf("replay %s: %w", e.Name, r.err)
			}
			leases = append(leases, replayedLease{key, payload, e.Record})
			continue
		}
		if n <= base || len(commits) > 0 && n <= commits[len(commits)-1].rev {
			return 0, nil, nil, fmt.Errorf("replay %s: %w, %d", e.Name, ErrBase, base)
		}
		versions, _, err := decodeOps(n, payload)
		if err != nil {
			return 0, nil, nil, fmt.Errorf("replay %s: %w", e.Name, err)
		}
		commits = append(commits, replayedCommit{n, record, versions})
	}
	if begins > 0 && !slices.ContainsFunc(commits, func(c replayedCommit) bool { return c.rev == begins }) {
		return 0, nil, nil, fmt.Errorf("replay: revision %d is missing, where history begins", begins)
	}
	return begins, leases, commits, nil
}
