package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubetab/kubetab/core/etcd/internal/borrow"
)

// State is what a store holds at one revision, without its history: what etcd's
// snapshot restore with --mark-compacted leaves of a store.
type State struct {
	// Revision is the newest revision, at least that of every record.
	Revision int64
	// Leases are those that records name.
	Leases []LeaseState
	// Records are sorted by key.
	Records []RecordState
}

// LeaseState is a lease as it was granted.
type LeaseState struct {
	ID  int64
	TTL int64 // seconds
}

// RecordState is what etcd's mvccpb.KeyValue says of a key.
type RecordState struct {
	Key            string
	Value          []byte
	CreateRevision int64
	ModRevision    int64
	Version        int64
	Lease          int64 // 0 for none
}

// ReadState reads all keys with that prefix at the newest revision, and the leases
// that they are under. The client may be one of an etcd cluster. A lease that ends
// meanwhile is left out with its records.
//
// It fails with ErrLarge when the values have more than most bytes, before it has them
// all: in a tab there may be no room for a copy. Otherwise it fails as the client does,
// and with ctx's error.
func ReadState(ctx context.Context, client *clientv3.Client, prefix string, most int64) (State, error) {
	if err := checkSize(ctx, client, prefix, most); err != nil {
		return State{}, err
	}
	found, err := client.KV.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return State{}, err
	}
	s := State{Revision: found.Header.Revision, Records: make([]RecordState, 0, len(found.Kvs))}
	granted := map[int64]bool{} // whether a lease is still there
	for _, kv := range found.Kvs {
		if kv.Lease != 0 {
			is, asked := granted[kv.Lease]
			if !asked {
				lease, err := client.TimeToLive(ctx, clientv3.LeaseID(kv.Lease))
				if err != nil {
					return State{}, err
				}
				if is = lease.GrantedTTL > 0; is {
					s.Leases = append(s.Leases, LeaseState{ID: kv.Lease, TTL: lease.GrantedTTL})
				}
				granted[kv.Lease] = is
			}
			if !is {
				continue
			}
		}
		s.Records = append(s.Records, RecordState{
			Key: string(kv.Key), Value: kv.Value, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version, Lease: kv.Lease,
		})
	}
	return s, nil
}

// ErrLarge is returned by ReadState for more than it may read.
var ErrLarge = errors.New("the values are too large")

// sizePage is how many keys checkSize has at a time, each with a value of usually at most 1.5 MiB.
const sizePage = 32

// checkSize fails with ErrLarge when the values of all keys with that prefix have more
// than most bytes, and as the client does. Others may write meanwhile: each page is of
// the newest revision.
func checkSize(ctx context.Context, client *clientv3.Client, prefix string, most int64) error {
	end := clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix))
	for size, from, more := int64(0), cmp.Or(prefix, "\x00"), true; more; {
		page, err := client.KV.Get(ctx, from, end, clientv3.WithLimit(sizePage))
		if err != nil {
			return err
		}
		for _, kv := range page.Kvs {
			size += int64(len(kv.Value))
			from = string(kv.Key) + "\x00"
		}
		if size > most {
			return fmt.Errorf("%w: above %d bytes", ErrLarge, most)
		}
		more = page.More
	}
	return nil
}

// Check says what no store can hold: a key twice or out of order, a revision that is
// not between the first write and s.Revision, a lease that is not there.
func (s State) Check() error {
	c, err := s.Checker()
	if err != nil {
		return err
	}
	for _, r := range s.Records {
		if err := c.Next(r); err != nil {
			return err
		}
	}
	return nil
}

// Checker is Check for records that come one after another.
type Checker struct {
	newest int64
	leases map[int64]bool
	n      int    // of records that have been checked
	last   string // key
}

// Checker returns one for a state with the revision and the leases of s, whose records
// it does not look at. It fails as Check does.
func (s State) Checker() (*Checker, error) {
	if s.Revision < firstRev {
		return nil, fmt.Errorf("revision %d: an empty store is at %d", s.Revision, firstRev)
	}
	leases := map[int64]bool{}
	for _, l := range s.Leases {
		switch {
		case l.ID <= 0 || leases[l.ID]:
			return nil, fmt.Errorf("lease %d: it is there twice, or is no number of a lease", l.ID)
		case l.TTL < minLeaseTTL || l.TTL > maxLeaseTTL:
			return nil, fmt.Errorf("lease %d: a time to live of %d s", l.ID, l.TTL)
		}
		leases[l.ID] = true
	}
	return &Checker{newest: s.Revision, leases: leases}, nil
}

// Next checks the next record, whose value it does not look at. It fails as Check does.
func (c *Checker) Next(r RecordState) error {
	c.n++
	if err := r.check(c.newest, c.leases); err != nil {
		return fmt.Errorf("record %d, %q: %w", c.n, r.Key, err)
	}
	if c.n > 1 && c.last >= r.Key {
		return fmt.Errorf("record %d, %q: it follows %q, and records are sorted by key", c.n, r.Key, c.last)
	}
	c.last = r.Key
	return nil
}

func (r RecordState) check(newest int64, leases map[int64]bool) error {
	switch {
	case r.Key == "":
		return errors.New("it has no key")
	case r.CreateRevision <= firstRev || r.CreateRevision > r.ModRevision || r.ModRevision > newest:
		return fmt.Errorf("created at revision %d, changed at %d, in a store at %d", r.CreateRevision, r.ModRevision, newest)
	case r.Version < 1 || r.Version > r.ModRevision-r.CreateRevision+1:
		return fmt.Errorf("version %d between the revisions %d and %d", r.Version, r.CreateRevision, r.ModRevision)
	case r.Lease != 0 && !leases[r.Lease]:
		return fmt.Errorf("lease %d is not there", r.Lease)
	}
	return nil
}

// Renumbered is s with the lowest revisions that keep the order of its writes.
// Versions are 1. It is for callers that give records new revisions anyway.
func (s State) Renumbered() State {
	revs := make([]int64, len(s.Records))
	for i, r := range s.Records {
		revs[i] = r.ModRevision
	}
	slices.Sort(revs)
	revs = slices.Compact(revs)
	records := slices.Clone(s.Records)
	for i := range records {
		at, _ := slices.BinarySearch(revs, records[i].ModRevision)
		rev := firstRev + 1 + int64(at)
		records[i].CreateRevision, records[i].ModRevision, records[i].Version = rev, rev, 1
	}
	return State{Revision: firstRev + int64(len(revs)), Leases: s.Leases, Records: records}
}

// Entries returns what an empty store has to Replay to hold s: the same records at
// the same revisions, and history compacted up to s.Revision. It costs what the
// records cost, however many revisions there were. It fails as Check does.
func (s State) Entries() ([]Entry, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(s.Records)+len(s.Leases)+2)
	// Nobody else has the bytes of record.
	add := func(key, record string) {
		entries = append(entries, Entry{Name: entryName(key), Record: borrow.Bytes(record)})
	}
	if s.Revision > firstRev {
		mark := numberedKey(prefixCompacted, s.Revision)
		add(mark, uvarintRecord(mark, s.Revision))
	}
	for _, l := range s.Leases {
		key := leaseKey(l.ID)
		add(key, uvarintRecord(key, l.TTL, s.Revision))
	}
	byRev := slices.Clone(s.Records)
	slices.SortStableFunc(byRev, func(a, b RecordState) int { return cmp.Compare(a.ModRevision, b.ModRevision) })
	last := int64(firstRev)
	var ops []op
	var slots []slot
	for len(byRev) > 0 {
		last = byRev[0].ModRevision
		ops = ops[:0]
		for len(byRev) > 0 && byRev[0].ModRevision == last {
			r := byRev[0]
			byRev = byRev[1:]
			ops = append(ops, op{kind: opPut, key: r.Key, value: borrow.String(r.Value), create: r.CreateRevision, ver: r.Version, lease: r.Lease})
		}
		var record string
		record, slots = sealOps(last, ops, slots[:0])
		add(revisionKey(last), record)
	}
	if last < s.Revision { // what was deleted last
		empty, _ := sealOps(s.Revision, nil, nil)
		add(revisionKey(s.Revision), empty)
	}
	return entries, nil
}
