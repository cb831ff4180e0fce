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
	// Record is sealed with a checksum; empty means that the entry is gone. A store that
	// has replayed it is over its bytes, which must not change any more: a copy of all
	// that a full store holds would not find room beside it.
	Record []byte
	// Supersedes names entries that are no longer needed when this one is kept.
	// Watchers of a store that was replayed without them see fewer states of an
	// object. An entry that does nothing stands for objects that had come and gone by
	// then: watchers that may have seen one of them are told of a compaction.
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
// are told the previous state with each change. What has been deleted is forgotten
// later: see forget. Called before c is published.
func (db *DB) superseded(c *commit) (names []string) {
	for _, v := range c.versions {
		prev := db.index.at(v.key, c.rev)
		if prev != nil && !v.deleted() && prev.alone && prev.create != prev.mod {
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
// base is what entries go on from, for a store that is empty, or nil where the store has
// that already: whoever keeps the entries has the base elsewhere, and Options.Tap does
// not tell that an entry of it is superseded.
//
// It fails with ErrBase, with what is wrong with a record, and with
// rpctypes.ErrGRPCStopped after Close; nothing has happened then. It fails half way
// only when the journal does.
func (h *Hold) Replay(base, entries []Entry) error {
	db := h.db
	if db.isClosed() {
		return errStopped
	}
	p, err := parseEntries(slices.Concat(base, entries), db.rev)
	if err != nil {
		return err
	}
	db.setBase(db.rev)
	r := replaying{db: db, began: db.rev, begins: p.begins, ofBase: make(map[string]bool, len(base))}
	for _, e := range base {
		r.ofBase[e.Name] = true
	}
	if p.begins > 0 {
		if err := db.beginAt(p.begins); err != nil {
			return err
		}
	}
	for _, l := range p.leases {
		if err := r.lease(l); err != nil {
			return err
		}
	}
	for _, c := range p.commits {
		if err := r.commit(c); err != nil {
			return err
		}
	}
	db.replayed()
	db.tellProgress()
	db.checkInvariants()
	return nil
}

// replaying is one Replay.
type replaying struct {
	db *DB
	// began is the revision that the store was at, begins the one where history begins,
	// or 0.
	began, begins int64
	ofBase        map[string]bool // names of entries
}

func (r replaying) lease(l replayedLease) error {
	db := r.db
	if err := db.record(l.key, l.record); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.leases.load(l.key, l.payload, db.clock.Now())
}

func (r replaying) commit(c replayedCommit) error {
	db := r.db
	if c.rev > r.begins {
		if err := db.skipTo(c.rev - 1); err != nil { // superseded
			return err
		}
	}
	if err := db.record(revisionKey(c.rev), c.record); err != nil {
		return err
	}
	// What was forgotten is not there to be deleted.
	versions := slices.DeleteFunc(slices.Clone(c.versions), func(v *version) bool {
		return v.deleted() && db.index.at(v.key, c.rev) == nil
	})
	if c.rev > r.begins && slices.ContainsFunc(versions, db.followsGap) {
		db.gapUntil(c.rev, r.began)
	}
	made := &commit{rev: c.rev, versions: versions}
	isBase := r.ofBase[entryName(revisionKey(c.rev))]
	if e, is := db.ends(made); is && !isBase {
		db.ended = append(db.ended, e)
	}
	db.publish(made)
	if c.rev > r.begins && (c.isMark || len(versions) < len(c.versions)) {
		after := db.base
		if isBase {
			after = r.began
		}
		db.missUntil(c.rev, after)
	}
	if isBase {
		db.setBase(c.rev)
	}
	if c.rev == r.begins { // as after a compaction, which keeps its own revision alone
		db.mu.Lock()
		defer db.mu.Unlock()
		db.log.compact(r.begins)
	}
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

// missUntil notes that what came and went between two revisions is missing. Called
// under writeMu.
func (db *DB) missUntil(rev, after int64) {
	db.gapUntil(rev, after)
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.missed.to == 0 {
		db.missed.after = after
	}
	db.missed.to = rev
}

// replayed notes that up to now revisions may be empty, and states of objects missing.
func (db *DB) replayed() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.replayedRev = db.rev
}

type replayedLease struct {
	key, payload, record string
}

type replayedCommit struct {
	rev      int64
	isMark   bool // it does nothing: see Entry.Supersedes
	record   string
	versions []*version
}

// parsed are entries in order.
type parsed struct {
	begins  int64 // where history begins, or 0
	leases  []replayedLease
	commits []replayedCommit
}

// parseEntries checks everything, so that what can be refused is refused before
// anything has been done to a store at rev.
func parseEntries(entries []Entry, rev int64) (parsed, error) {
	var p parsed
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	for _, e := range sorted {
		if err := p.add(e, rev); err != nil {
			return parsed{}, err
		}
	}
	if p.begins > 0 && !slices.ContainsFunc(p.commits, func(c replayedCommit) bool { return c.rev == p.begins }) {
		return parsed{}, fmt.Errorf("replay: revision %d is missing, where history begins", p.begins)
	}
	return p, nil
}

func (p *parsed) add(e Entry, at int64) error {
	key, n, err := parseEntryName(e.Name)
	if err != nil {
		return err
	}
	record := borrow.String(e.Record)
	payload, err := journal.Unseal(key, record)
	if err != nil {
		return fmt.Errorf("replay %s: %w", e.Name, err)
	}
	switch key[:1] {
	case prefixCompacted:
		if at != firstRev || p.begins != 0 || n <= firstRev {
			return fmt.Errorf("replay %s: history begins once, in an empty store", e.Name)
		}
		p.begins = n
	case prefixLease:
		r := recordReader{rest: payload}
		r.uvarint()
		r.uvarint()
		if r.err != nil {
			return fmt.Errorf("replay %s: %w", e.Name, r.err)
		}
		p.leases = append(p.leases, replayedLease{key, payload, record})
	default:
		if n <= at || len(p.commits) > 0 && n <= p.commits[len(p.commits)-1].rev {
			return fmt.Errorf("replay %s: %w, %d", e.Name, ErrBase, at)
		}
		versions, revokes, err := decodeOps(n, payload)
		if err != nil {
			return fmt.Errorf("replay %s: %w", e.Name, err)
		}
		p.commits = append(p.commits, replayedCommit{n, len(versions)+len(revokes) == 0, record, versions})
	}
	return nil
}
