package etcd

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func readState(t *testing.T, db *DB) State {
	t.Helper()
	s, err := ReadState(t.Context(), db.Client().Client, "k", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLargeStateIsNotRead: in a tab, a copy of a large store may find no room.
func TestLargeStateIsNotRead(t *testing.T) {
	const n, size = 10 * sizePage, 10_000
	db := mustOpen(t, Options{})
	client := db.Client().Client
	for i := range n {
		if _, err := client.KV.Put(t.Context(), fmt.Sprint("k", i), strings.Repeat("v", size)); err != nil {
			t.Fatal(err)
		}
	}
	for _, prefix := range []string{"k", ""} {
		if s, err := ReadState(t.Context(), client, prefix, n*size); err != nil || len(s.Records) != n {
			t.Errorf("%q: %d records, %v", prefix, len(s.Records), err)
		}
		if _, err := ReadState(t.Context(), client, prefix, n*size-1); !errors.Is(err, ErrLarge) {
			t.Errorf("%q, a byte too many: %v", prefix, err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadState(t.Context(), client, "k", size); !errors.Is(err, ErrLarge) {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 2*sizePage*size {
		t.Errorf("%d bytes to find out, of %d", taken, n*size)
	}
}

func entriesOf(t *testing.T, s State) []Entry {
	t.Helper()
	entries, err := s.Entries()
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := Unpack(Pack(entries))
	if err != nil {
		t.Fatal(err)
	}
	return unpacked
}

// written has a random history.
func written(t *testing.T, seed uint64) *DB {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	db := mustOpen(t, Options{})
	c := db.Client()
	key := func() string { return fmt.Sprintf("k%d", random.IntN(6)) }
	for n := range 60 {
		var err error
		switch random.IntN(6) {
		case 0:
			_, err = c.KV.Delete(t.Context(), key())
		case 1:
			var lease *clientv3.LeaseGrantResponse
			if lease, err = c.Grant(t.Context(), 3600); err == nil {
				_, err = c.KV.Put(t.Context(), key(), fmt.Sprint(n), clientv3.WithLease(lease.ID))
			}
		case 2:
			_, err = c.KV.Txn(t.Context()).Then(clientv3.OpPut("k0", fmt.Sprint(n)), clientv3.OpDelete("k1")).Commit()
		default:
			_, err = c.KV.Put(t.Context(), key(), fmt.Sprint(n))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// TestStateMakesTheSameStore: an empty store that replays a state holds the same
// records at the same revisions, and goes on from there as any store does, also
// after it was closed and opened again.
func TestStateMakesTheSameStore(t *testing.T) {
	for seed := range uint64(10) {
		want := readState(t, written(t, seed))
		path := filepath.Join(t.TempDir(), "store")
		kept := keeper{}
		second := mustOpen(t, Options{Path: path, Tap: kept.tap})
		if err := replayInto(second, entriesOf(t, want)); err != nil {
			t.Fatal(err)
		}
		if got := readState(t, second); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\n%v\nis not\n%v", seed, got, want)
		}
		c := second.Client()
		_, err := c.KV.Get(t.Context(), "k0", clientv3.WithRev(want.Revision-1))
		if !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("history before it: %v", err)
		}
		watch := c.Watch(t.Context(), "k", clientv3.WithPrefix(), clientv3.WithRev(want.Revision+1), clientv3.WithPrevKV())
		for _, r := range want.Records {
			if _, err := c.KV.Put(t.Context(), r.Key, "next"); err != nil {
				t.Fatal(err)
			}
			event := (<-watch).Events[0]
			if event.PrevKv == nil || event.PrevKv.ModRevision != r.ModRevision || event.Kv.Version != r.Version+1 {
				t.Fatalf("%s: %v after %v", r.Key, event, r)
			}
		}
		if err := second.Compact(t.Context(), second.Revision()); err != nil {
			t.Fatal(err)
		}
		after := readState(t, second)
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		again := mustOpen(t, Options{Path: path})
		if got := readState(t, again); !reflect.DeepEqual(got, after) {
			t.Errorf("seed %d: opened again:\n%v\nis not\n%v", seed, got, after)
		}
		// What was told since goes on from the state.
		third := mustOpen(t, Options{})
		if err := replayInto(third, append(entriesOf(t, want), kept.entries()...)); err != nil {
			t.Fatal(err)
		}
		if got := readState(t, third); !reflect.DeepEqual(got, after) {
			t.Errorf("seed %d: gone on:\n%v\nis not\n%v", seed, got, after)
		}
	}
}

// TestStateOfManyRevisions: it is the records that a store is made of, and not the
// revisions that there were.
func TestStateOfManyRevisions(t *testing.T) {
	const newest = 1 << 50
	s := State{Revision: newest, Records: []RecordState{{Key: "k", Value: []byte("v"), CreateRevision: 7, ModRevision: newest - 3, Version: 12}}}
	db := mustOpen(t, Options{})
	if err := replayInto(db, entriesOf(t, s)); err != nil {
		t.Fatal(err)
	}
	if got := readState(t, db); !reflect.DeepEqual(got, s) {
		t.Errorf("%v is not %v", got, s)
	}
	put, err := db.Client().KV.Put(t.Context(), "k", "w")
	if err != nil || put.Header.Revision != newest+1 {
		t.Errorf("the next revision: %v, %v", put, err)
	}
}

// TestEntriesAreOfTheirOwn: what becomes of a state afterwards changes nothing in its entries.
func TestEntriesAreOfTheirOwn(t *testing.T) {
	want := readState(t, written(t, 3))
	s := State{Revision: want.Revision, Leases: want.Leases}
	for _, r := range want.Records {
		r.Value = bytes.Clone(r.Value)
		s.Records = append(s.Records, r)
	}
	entries, err := s.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Records {
		for i := range r.Value {
			r.Value[i] = '?'
		}
	}
	db := mustOpen(t, Options{})
	if err := replayInto(db, entries); err != nil {
		t.Fatal(err)
	}
	if got := readState(t, db); !reflect.DeepEqual(got, want) {
		t.Errorf("%v is not %v", got, want)
	}
}

// TestRenumbered: the order of writes stays, and no revision is left out.
func TestRenumbered(t *testing.T) {
	s := State{Revision: 1000, Records: []RecordState{
		{Key: "a", CreateRevision: 40, ModRevision: 50, Version: 2},
		{Key: "b", CreateRevision: 20, ModRevision: 20, Version: 1},
		{Key: "c", CreateRevision: 50, ModRevision: 50, Version: 1},
	}}
	got := s.Renumbered()
	if err := got.Check(); err != nil {
		t.Error(err)
	}
	if got.Revision != 3 || got.Records[0].ModRevision != 3 || got.Records[1].ModRevision != 2 || got.Records[2].ModRevision != 3 {
		t.Errorf("%+v", got)
	}
	if s.Records[0].ModRevision != 50 {
		t.Error("the original has been changed")
	}
}

// TestImpossibleStates: what no store can hold is refused before anything is done,
// with the record that is wrong.
func TestImpossibleStates(t *testing.T) {
	record := func(change func(*RecordState)) State {
		r := RecordState{Key: "k", CreateRevision: 4, ModRevision: 6, Version: 2}
		change(&r)
		return State{Revision: 9, Records: []RecordState{{Key: "a", CreateRevision: 2, ModRevision: 2, Version: 1}, r}}
	}
	for what, tc := range map[string]struct {
		state State
		want  string
	}{
		"no key":                   {record(func(r *RecordState) { r.Key = "" }), `record 2, "": it has no key`},
		"of the future":            {record(func(r *RecordState) { r.ModRevision = 10 }), `record 2, "k": created at revision 4, changed at 10`},
		"changed before it was":    {record(func(r *RecordState) { r.CreateRevision = 7 }), "created at revision 7"},
		"a revision below zero":    {record(func(r *RecordState) { r.CreateRevision = -1 }), "created at revision -1"},
		"more often than possible": {record(func(r *RecordState) { r.Version = 4 }), "version 4"},
		"a lease that is nowhere":  {record(func(r *RecordState) { r.Lease = 3 }), "lease 3 is not there"},
		"out of order":             {record(func(r *RecordState) { r.Key = "A" }), "sorted by key"},
		"twice":                    {record(func(r *RecordState) { r.Key = "a" }), "sorted by key"},
		"a lease twice":            {State{Revision: 2, Leases: []LeaseState{{3, 60}, {3, 60}}}, "lease 3"},
		"a lease without time":     {State{Revision: 2, Leases: []LeaseState{{3, 0}}}, "a time to live of 0 s"},
		"no revision":              {State{}, "revision 0"},
	} {
		if _, err := tc.state.Entries(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", what, err, tc.want)
		}
	}
	db := mustOpen(t, Options{})
	if _, err := db.Client().KV.Put(t.Context(), "k", "mine"); err != nil {
		t.Fatal(err)
	}
	before := everything(t, db)
	s := State{Revision: 9, Records: []RecordState{{Key: "a", CreateRevision: 2, ModRevision: 2, Version: 1}}}
	if err := replayInto(db, entriesOf(t, s)); err == nil || !strings.Contains(err.Error(), "in an empty store") {
		t.Errorf("a store that holds something: %v", err)
	}
	if after := everything(t, db); after != before {
		t.Errorf("%s has become %s", before, after)
	}
}
