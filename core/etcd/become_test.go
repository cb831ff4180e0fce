package etcd

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// scribble writes at random, some of it under leases, and returns one of these.
func scribble(t *testing.T, db *DB, random *rand.Rand, n int) (lease clientv3.LeaseID) {
	t.Helper()
	ctx := t.Context()
	for i := range n {
		key, value := fmt.Sprintf("k%d", random.IntN(12)), fmt.Sprintf("%p %d", db, i)
		var err error
		switch random.IntN(5) {
		case 0:
			_, err = db.Client().KV.Delete(ctx, key)
		case 1:
			granted, failed := db.Client().Grant(ctx, 3600)
			if err = failed; err == nil {
				lease = granted.ID
				_, err = db.Client().KV.Put(ctx, key, value, clientv3.WithLease(lease))
			}
		default:
			_, err = db.Client().KV.Put(ctx, key, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return lease
}

// TestBecome: a store that becomes another one, further or less far than itself, has
// its records at their revisions. Who watched sees what is written from then on, and
// nobody reads what was before.
func TestBecome(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			theirs, mine := mustOpen(t, Options{}), mustOpen(t, Options{})
			defer mustClose(t, theirs)
			defer mustClose(t, mine)
			scribble(t, theirs, random, random.IntN(80))
			scribble(t, mine, random, random.IntN(80))
			state, err := ReadState(t.Context(), theirs.Client().Client, "", 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			entries, err := state.Entries()
			if err != nil {
				t.Fatal(err)
			}
			from, want := mine.Revision(), contents(t, theirs, 0)
			before := everything(t, mine)
			watch := mine.Client().Watch(t.Context(), "k", clientv3.WithPrefix(), clientv3.WithRev(from+1), clientv3.WithPrevKV())

			hold := mine.Hold()
			refused := errors.New("refused")
			if err := hold.Become(nil, entries, func() error { return refused }); !errors.Is(err, refused) {
				t.Fatal(err)
			}
			if got := everything(t, mine); got != before {
				t.Errorf("after a refusal it has\n%s, want\n%s", got, before)
			}
			read := ""
			if err := hold.Become(nil, entries, func() error { read = everything(t, mine); return nil }); err != nil {
				t.Fatal(err)
			}
			hold.Release()
			records := func(all string) string { return all[:strings.LastIndex(all, "revision")] }
			if got, want := everything(t, mine), everything(t, theirs); records(got) != records(want) || got != read {
				t.Errorf("it has\n%s, want\n%s", got, want)
			}
			if got := mine.Revision(); got != max(theirs.Revision(), from+1) {
				t.Errorf("revision %d after %d and %d", got, from, theirs.Revision())
			}
			if _, err := mine.Client().KV.Get(t.Context(), "k", clientv3.WithPrefix(), clientv3.WithRev(mine.Revision()-1)); !errors.Is(err, rpctypes.ErrCompacted) {
				t.Errorf("what was before: %v", err)
			}
			if got := follow(t, mine, watch, want); !maps.Equal(got, want) { // it fails for an event of before
				t.Errorf("the watcher has %v, want %v", got, want)
			}
			// It is a store like any other: leases hold their keys, and compaction goes on.
			for _, l := range state.Leases {
				if _, err := mine.Client().Revoke(t.Context(), clientv3.LeaseID(l.ID)); err != nil {
					t.Error(err)
				}
				maps.DeleteFunc(want, func(k, _ string) bool { return leaseOf(state, k) == l.ID })
			}
			want["k-last"] = ""
			if got := contents(t, mine, 0); !maps.Equal(got, want) {
				t.Errorf("after its leases it has %v, want %v", got, want)
			}
			scribble(t, mine, random, 20)
			if err := mine.Compact(t.Context(), mine.Revision()); err != nil {
				t.Error(err)
			}
		})
	}
}

func leaseOf(s State, key string) int64 {
	for _, r := range s.Records {
		if r.Key == key {
			return r.Lease
		}
	}
	return 0
}

// TestBecomeRefuses: what is damaged, and a store with a file, change nothing.
func TestBecomeRefuses(t *testing.T) {
	theirs, told := openKept(t)
	defer mustClose(t, theirs)
	random := rand.New(rand.NewPCG(1, 2))
	scribble(t, theirs, random, 20)
	damaged := told.entries()
	damaged[1].Record = damaged[1].Record[:3]
	for what, tc := range map[string]struct {
		options Options
		entries []Entry
	}{
		"damaged entries": {Options{}, damaged},
		"a file":          {Options{Path: t.TempDir() + "/store"}, told.entries()},
	} {
		mine := mustOpen(t, tc.options)
		defer mustClose(t, mine)
		scribble(t, mine, random, 20)
		before := everything(t, mine)
		hold := mine.Hold()
		if err := hold.Become(nil, tc.entries, func() error { return nil }); err == nil {
			t.Errorf("%s: it became another store", what)
		}
		hold.Release()
		if got := everything(t, mine); got != before {
			t.Errorf("%s: it has\n%s, want\n%s", what, got, before)
		}
	}
}
