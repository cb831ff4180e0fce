package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestEntriesCostWhatObjectsCost: however often objects are changed, come and go and
// expire, the entries are those of the objects that are there and of the last deletions;
// also over many programs, each of which goes on from the entries of the one before. With
// KUBETAB_TIMING they come to a million revisions.
func TestEntriesCostWhatObjectsCost(t *testing.T) {
	for _, isBaseElsewhere := range []bool{true, false} { // a resumed snapshot's, or replayed with the entries
		t.Run(fmt.Sprint(isBaseElsewhere), func(t *testing.T) { cost(t, isBaseElsewhere) })
	}
}

func cost(t *testing.T, isBaseElsewhere bool) {
	const stays, mostEnded, programs = 10, 16, 4
	// The base: objects that will be changed, deleted, and that expire.
	first, kept := openKept(t)
	for n := range stays {
		mustPut(t, first, fmt.Sprint("base", n), "before", 0)
	}
	began(t, first, kept)
	hold := first.Hold()
	base, err := hold.Entries()
	hold.Release()
	if err != nil {
		t.Fatal(err)
	}
	first.mostEnded = mostEnded
	for program := range programs {
		live(t, first, program, stays)
		// Of each object its creation and what it is; of a deletion two more and its own; the mark.
		if most := 2*2*stays + 3*mostEnded + 1; len(kept) > most {
			t.Errorf("program %d: %d entries are kept, want %d at most", program, len(kept), most)
		}
		next := mustOpen(t, Options{Tap: kept.tap})
		hold := next.Hold()
		var err error
		if isBaseElsewhere {
			if err = hold.Replay(nil, base); err == nil { // as the copy of the first one
				err = hold.Replay(nil, kept.entries())
			}
		} else {
			err = hold.Replay(base, kept.entries())
		}
		hold.Release()
		if err != nil {
			t.Fatal(err)
		}
		next.mostEnded = mostEnded
		if got, want := everything(t, next), everything(t, first); got != want {
			t.Fatalf("program %d: it has\n%s, want\n%s", program, got, want)
		}
		mustClose(t, first)
		first = next
	}
	mustClose(t, first)
}

// live is what happens in one program.
func live(t *testing.T, db *DB, program, stays int) {
	t.Helper()
	ctx := t.Context()
	rounds := 300
	if os.Getenv("KUBETAB_TIMING") != "" {
		rounds = 65_000
	}
	for n := range rounds {
		mustPut(t, db, fmt.Sprint("often", n%stays), fmt.Sprint(program, n), 0)
		mustPut(t, db, "gone", "made", 0)
		mustPut(t, db, "gone", "changed", 0)
		mustDelete(t, db, "gone")
		if n%10 != 0 {
			continue
		}
		lease, err := db.Client().Grant(ctx, 3600)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			mustPut(t, db, fmt.Sprint("expires", k), "", int64(lease.ID))
		}
		if _, err := db.Client().Revoke(ctx, lease.ID); err != nil {
			t.Fatal(err)
		}
	}
	mustPut(t, db, fmt.Sprint("base", 2*program), "changed", 0)
	mustDelete(t, db, fmt.Sprint("base", 2*program+1))
	// What survives a program is deleted in the next one.
	if program > 0 {
		mustDelete(t, db, fmt.Sprint("survives", program-1))
	}
	mustPut(t, db, fmt.Sprint("survives", program), "", 0)
}

func mustPut(t *testing.T, db *DB, key, value string, lease int64) {
	t.Helper()
	if _, err := db.Client().KV.Put(t.Context(), key, value, clientv3.WithLease(clientv3.LeaseID(lease))); err != nil {
		t.Fatal(err)
	}
}

func mustDelete(t *testing.T, db *DB, key string) {
	t.Helper()
	if r, err := db.Client().KV.Delete(t.Context(), key); err != nil || r.Deleted != 1 {
		t.Fatal(r, err)
	}
}

// TestWatchOfWhatIsForgotten: whoever may have seen an object whose entries were
// forgotten hears of a compaction, and nobody else does.
func TestWatchOfWhatIsForgotten(t *testing.T) {
	first, kept := openKept(t)
	defer mustClose(t, first)
	second := mustOpen(t, Options{})
	defer mustClose(t, second)
	for _, db := range []*DB{first, second} {
		mustPut(t, db, "k-base", "", 0)
	}
	began(t, first, kept)
	base := first.Revision()
	first.mostEnded = 2
	for n := range 3 {
		mustPut(t, first, fmt.Sprint("k", n), "", 0)
		mustDelete(t, first, fmt.Sprint("k", n))
	}
	forgotten := base + 4 // k2 is not
	mustPut(t, first, "k-stays", "", 0)
	if names := slices.Sorted(maps.Keys(kept)); len(names) != 4 { // the mark, k2's two, and what stays
		t.Errorf("the entries are %v", names)
	}
	if err := replayInto(second, kept.entries()); err != nil {
		t.Fatal(err)
	}
	if after, to := second.Missed(); after != base || to != forgotten {
		t.Errorf("objects between %d and %d are missing, want %d and %d", after, to, base, forgotten)
	}
	for seen := base; seen <= second.Revision()-1; seen++ {
		r := <-second.Client().Watch(t.Context(), "k", clientv3.WithPrefix(), clientv3.WithRev(seen+1))
		if isTold := errors.Is(r.Err(), rpctypes.ErrCompacted); isTold != (base < seen && seen < forgotten) || !isTold && r.Err() != nil {
			t.Errorf("a watch of whoever has seen revision %d of %d to %d: %v", seen, base, second.Revision(), r.Err())
		}
	}
}

// TestEntriesFollowTheBase: what ended before the base has no entry that could be forgotten.
func TestEntriesFollowTheBase(t *testing.T) {
	db, kept := openKept(t)
	defer mustClose(t, db)
	db.mostEnded = 4
	for range db.mostEnded {
		mustPut(t, db, "k", "", 0)
		mustDelete(t, db, "k")
	}
	began(t, db, kept)
	base := entryName(revisionKey(db.Revision()))
	mustPut(t, db, "k", "", 0)
	mustDelete(t, db, "k")
	if names := slices.Sorted(maps.Keys(kept)); len(names) != 2 || names[0] <= base {
		t.Errorf("the entries after %s are %v", base, names)
	}
}

// TestWhatElseAnEntryHolds: an entry that has something of another object stays, whatever
// has ended.
func TestWhatElseAnEntryHolds(t *testing.T) {
	first, kept := openKept(t)
	defer mustClose(t, first)
	first.mostEnded = 2
	if _, err := first.Client().KV.Txn(t.Context()).Then(clientv3.OpPut("k-gone", ""), clientv3.OpPut("k-stays", "")).Commit(); err != nil {
		t.Fatal(err)
	}
	mustDelete(t, first, "k-gone")
	for range 3 {
		mustPut(t, first, "k-gone", "", 0)
		mustDelete(t, first, "k-gone")
	}
	second := mustOpen(t, Options{})
	defer mustClose(t, second)
	if err := replayInto(second, kept.entries()); err != nil {
		t.Fatal(err)
	}
	if got, want := everything(t, second), everything(t, first); got != want {
		t.Errorf("it has\n%s, want\n%s", got, want)
	}
}

// TestReplayOfManyRevisions: revisions that nothing is left of cost nothing.
func TestReplayOfManyRevisions(t *testing.T) {
	first, told := openKept(t)
	defer mustClose(t, first)
	for n := range 20_000 {
		mustPut(t, first, fmt.Sprintf("k%d", n%3), fmt.Sprint(n), 0)
	}
	entries := told.entries()
	if len(entries) != 2*3 {
		t.Errorf("%d entries for 3 objects", len(entries))
	}
	second := mustOpen(t, Options{})
	defer mustClose(t, second)
	if err := replayInto(second, entries); err != nil {
		t.Fatal(err)
	}
	if got, want := everything(t, second), everything(t, first); got != want {
		t.Errorf("it has\n%s, want\n%s", got, want)
	}
	// A gap is one commit.
	if n := len(second.log.commits); n > 2*len(entries) {
		t.Errorf("%d entries made %d commits", len(entries), n)
	}
}

// TestProgressAfterReplay: whoever asked for progress hears how far a replay has come,
// also where nothing of theirs has changed.
func TestProgressAfterReplay(t *testing.T) {
	first, kept := openKept(t)
	defer mustClose(t, first)
	mustPut(t, first, "k", "", 0)
	second := mustOpen(t, Options{})
	defer mustClose(t, second)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watch := second.Client().Watch(ctx, "other", clientv3.WithPrefix(), clientv3.WithProgressNotify())
	if err := replayInto(second, kept.entries()); err != nil {
		t.Fatal(err)
	}
	if r := <-watch; !r.IsProgressNotify() || r.Header.Revision != first.Revision() {
		t.Errorf("%v", r)
	}
}
