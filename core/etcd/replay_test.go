package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// keeper does with entries what their owner should: keeps the newest of each
// name, and not those that are superseded.
type keeper map[string]Entry

func (k keeper) tap(e Entry) {
	for _, name := range e.Supersedes {
		delete(k, name)
	}
	if len(e.Record) == 0 {
		delete(k, e.Name)
		return
	}
	k[e.Name] = e
}

func (k keeper) entries() []Entry { return slices.Collect(maps.Values(k)) }

// openKept opens a store whose entries are kept.
func openKept(t *testing.T) (*DB, keeper) {
	t.Helper()
	kept := keeper{}
	return mustOpen(t, Options{Tap: kept.tap}), kept
}

func replayInto(db *DB, entries []Entry) error {
	h := db.Hold()
	defer h.Release()
	return h.Replay(nil, entries)
}

// everything is what a client can read, in text.
func everything(t *testing.T, db *DB) string {
	t.Helper()
	f, err := db.rangeKeys(&pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, v := range f.versions {
		fmt.Fprintf(&b, "%s=%s create %d mod %d ver %d lease %d\n", v.key, v.value, v.create, v.mod, v.ver, v.lease)
	}
	return fmt.Sprintf("%srevision %d", b.String(), db.Revision())
}

// contents are the values that a client reads, by key; at a revision, or as they
// are at 0.
func contents(t *testing.T, db *DB, revision int64) map[string]string {
	t.Helper()
	r, err := db.Client().KV.Get(t.Context(), "k", clientv3.WithPrefix(), clientv3.WithRev(revision))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, kv := range r.Kvs {
		all[string(kv.Key)] = string(kv.Value)
	}
	return all
}

// past are the contents at a revision, or nil where a client is told that they were compacted.
func past(t *testing.T, db *DB, revision int64) map[string]string {
	t.Helper()
	_, err := db.Client().KV.Get(t.Context(), "k", clientv3.WithPrefix(), clientv3.WithRev(revision))
	if errors.Is(err, rpctypes.ErrCompacted) {
		return nil
	}
	return contents(t, db, revision)
}

// follow returns what a watcher of db has in the end who had state at the start,
// and sees that each event tells of what was there before.
func follow(t *testing.T, db *DB, watch clientv3.WatchChan, state map[string]string) map[string]string {
	t.Helper()
	const last = "k-last"
	if _, err := db.Client().KV.Put(t.Context(), last, ""); err != nil {
		t.Fatal(err)
	}
	state = maps.Clone(state)
	for r := range watch {
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		for _, e := range r.Events {
			k := string(e.Kv.Key)
			before, was := state[k]
			if e.IsCreate() == was || was && (e.PrevKv == nil || string(e.PrevKv.Value) != before) {
				t.Fatalf("%v, where %q (%t) was before", e, before, was)
			}
			if state[k] = string(e.Kv.Value); e.Type == clientv3.EventTypeDelete {
				delete(state, k)
			}
		}
		if _, ok := state[last]; ok {
			break
		}
	}
	delete(state, last)
	return state
}

// TestReplay: two stores with the same past; one goes on, and the other is told.
func TestReplay(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { replay(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

// began makes what db holds the base of the entries that kept has from now on.
func began(t *testing.T, db *DB, kept keeper) {
	t.Helper()
	hold := db.Hold()
	defer hold.Release()
	if _, err := hold.Entries(); err != nil {
		t.Fatal(err)
	}
	clear(kept)
}

func replay(t *testing.T, random *rand.Rand) {
	first, kept := openKept(t)
	defer mustClose(t, first)
	first.mostEnded = 2 + random.IntN(20)
	second := mustOpen(t, Options{})
	defer mustClose(t, second)
	key := func() string { return fmt.Sprintf("k%d", random.IntN(8)) }

	for range 10 {
		k := key()
		for _, db := range []*DB{first, second} {
			if _, err := db.Client().KV.Put(t.Context(), k, "base"); err != nil {
				t.Fatal(err)
			}
		}
	}
	began(t, first, kept) // the other has it
	base := first.Revision()
	// As the watch caches do, from the beginning and with what was there before.
	watch := second.Client().Watch(t.Context(), "k", clientv3.WithPrefix(), clientv3.WithRev(base+1), clientv3.WithPrevKV())

	c := first.Client()
	for n := range 60 {
		var err error
		switch random.IntN(10) {
		case 0, 1:
			_, err = c.KV.Delete(t.Context(), key())
		case 2:
			var lease *clientv3.LeaseGrantResponse
			if lease, err = c.Grant(t.Context(), 3600); err == nil {
				_, err = c.KV.Put(t.Context(), key(), fmt.Sprint(n), clientv3.WithLease(lease.ID))
			}
			if err == nil && random.IntN(2) == 0 {
				_, err = c.Revoke(t.Context(), lease.ID)
			}
		case 3:
			_, err = c.KV.Txn(t.Context()).Then(clientv3.OpPut("k0", fmt.Sprint(n)), clientv3.OpPut("k1", fmt.Sprint(n))).Commit()
		case 4:
			err = first.Compact(t.Context(), first.Revision())
			if err != nil && strings.Contains(err.Error(), "compacted") {
				err = nil // twice in a row
			}
		default:
			_, err = c.KV.Put(t.Context(), key(), fmt.Sprint(n))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := replayInto(second, kept.entries()); err != nil {
		t.Fatal(err)
	}
	want := everything(t, first)
	if got := everything(t, second); got != want {
		t.Fatalf("after the replay:\n%s\nwant:\n%s", got, want)
	}

	// Of each revision the second store says what the first one says, or that it no longer knows.
	exact := 0
	for revision := base; revision <= first.Revision(); revision++ {
		want, got := past(t, first, revision), past(t, second, revision)
		switch {
		case want == nil || got == nil: // compacted
		case !maps.Equal(got, want):
			t.Fatalf("at revision %d of %d after %d: %v, want %v", revision, first.Revision(), base, got, want)
		default:
			exact++
		}
	}
	if exact == 0 {
		t.Error("no revision can be read, not even the newest")
	}

	// Whoever begins to watch now sees all that the first store knows of, or hears of a compaction.
	for revision := base; revision <= first.Revision(); revision++ {
		late(t, first, second, revision)
	}

	// A watcher arrives at the same state.
	now := contents(t, first, 0)
	if state := follow(t, second, watch, contents(t, second, base)); !maps.Equal(state, now) {
		t.Fatalf("the watcher has %v, want %v", state, now)
	}
}

// late sees that who has the contents of a revision, and begins to watch after it, has in
// the end what is there, or hears that it cannot begin there.
func late(t *testing.T, first, second *DB, revision int64) {
	t.Helper()
	had := past(t, first, revision)
	if had == nil {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := second.Client().Watch(ctx, "k", clientv3.WithPrefix(), clientv3.WithRev(revision+1))
	for at := revision; at < second.Revision(); {
		r, ok := <-watch
		if !ok || r.Err() != nil {
			after, to := second.Missed()
			if !errors.Is(r.Err(), rpctypes.ErrCompacted) || revision <= after || revision >= to {
				t.Fatalf("a watch from %d, where objects between %d and %d are missing: %v", revision+1, after, to, r.Err())
			}
			return
		}
		for _, e := range r.Events {
			if had[string(e.Kv.Key)] = string(e.Kv.Value); e.Type == clientv3.EventTypeDelete {
				delete(had, string(e.Kv.Key))
			}
		}
		at = r.Header.Revision
	}
	if now := contents(t, first, 0); !maps.Equal(had, now) {
		t.Fatalf("a watch from %d has %v, want %v", revision+1, had, now)
	}
}

// TestReplayOfABaseThatExpires: an object of the base was changed under a lease, and has
// expired. After a replay nobody reads the state that was before the change where the
// changed one was.
func TestReplayOfABaseThatExpires(t *testing.T) {
	first, kept := openKept(t)
	defer mustClose(t, first)
	second := mustOpen(t, Options{})
	defer mustClose(t, second)
	ctx := t.Context()
	for _, db := range []*DB{first, second} {
		if _, err := db.Client().KV.Put(ctx, "k", "base"); err != nil {
			t.Fatal(err)
		}
	}
	began(t, first, kept)
	c := first.Client()
	lease, err := c.Grant(ctx, 3600)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := c.KV.Put(ctx, "k", "changed", clientv3.WithLease(lease.ID))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Revoke(ctx, lease.ID); err != nil {
		t.Fatal(err)
	}
	if err := replayInto(second, kept.entries()); err != nil {
		t.Fatal(err)
	}
	if was := past(t, second, changed.Header.Revision); was != nil && was["k"] != "changed" {
		t.Errorf("%v is read where k was changed", was)
	}
	if now := contents(t, second, 0); len(now) != 0 {
		t.Errorf("%v is left of what expired", now)
	}
}

func TestReplayRefuses(t *testing.T) {
	db, kept := openKept(t)
	defer mustClose(t, db)
	if _, err := db.Client().KV.Put(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	good := kept.entries()[0]
	altered := slices.Clone(good.Record)
	altered[3] ^= 1
	for what, tc := range map[string]struct {
		entry Entry
		want  string
	}{
		"a name of nothing":   {Entry{Name: "x", Record: good.Record}, "no name"},
		"another's name":      {Entry{Name: "r00000000000000ff", Record: good.Record}, "checksum"},
		"a negative revision": {Entry{Name: "rffffffffffffffff", Record: good.Record}, "no name"},
		"an altered record":   {Entry{Name: good.Name, Record: altered}, "checksum"},
		"half a record":       {Entry{Name: good.Name, Record: good.Record[:5]}, "checksum"},
		"no record":           {Entry{Name: good.Name}, "checksum"},
	} {
		t.Run(what, func(t *testing.T) {
			fresh := mustOpen(t, Options{})
			defer mustClose(t, fresh)
			before := everything(t, fresh)
			if err := replayInto(fresh, []Entry{tc.entry}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if after := everything(t, fresh); after != before {
				t.Errorf("it has changed:\n%s", after)
			}
		})
	}
	if err := replayInto(db, []Entry{good}); !errors.Is(err, ErrBase) {
		t.Errorf("%v, want ErrBase", err)
	}
}

// TestHold: who wants to write waits, who reads does not.
func TestHold(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	h := db.Hold()
	written := make(chan error)
	go func() {
		_, err := db.Client().KV.Put(t.Context(), "k", "v")
		written <- err
	}()
	if r, err := db.Client().KV.Get(t.Context(), "k"); err != nil || r.Count != 0 {
		t.Fatal(r, err)
	}
	h.Release()
	h.Release()
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}
