package etcd

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestEntriesMakeTheSameStore: whatever happened, an empty store that replays the
// entries, packed and unpacked, holds the same objects at the same revisions.
func TestEntriesMakeTheSameStore(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		first := mustOpen(t, Options{})
		c := first.Client()
		key := func() string { return fmt.Sprintf("k%d", random.IntN(6)) }
		for n := range 80 {
			var err error
			switch random.IntN(8) {
			case 0, 1:
				_, err = c.KV.Delete(t.Context(), key())
			case 2:
				var lease *clientv3.LeaseGrantResponse
				if lease, err = c.Grant(t.Context(), 3600); err == nil {
					_, err = c.KV.Put(t.Context(), key(), fmt.Sprint(n), clientv3.WithLease(lease.ID))
				}
			case 3:
				_, err = c.KV.Txn(t.Context()).Then(clientv3.OpPut("k0", fmt.Sprint(n)), clientv3.OpDelete("k1")).Commit()
			case 4:
				if random.IntN(4) == 0 {
					if err = first.Compact(t.Context(), first.Revision()); err != nil && strings.Contains(err.Error(), "compacted") {
						err = nil // twice in a row
					}
				}
			default:
				_, err = c.KV.Put(t.Context(), key(), fmt.Sprint(n))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		hold := first.Hold()
		entries, err := hold.Entries()
		hold.Release()
		if err != nil {
			t.Fatal(err)
		}
		packed := Pack(entries)
		unpacked, err := Unpack(packed)
		if err != nil {
			t.Fatal(err)
		}
		second := mustOpen(t, Options{})
		if err := replayInto(second, unpacked); err != nil {
			t.Fatal(err)
		}
		want, got := everything(t, first), everything(t, second)
		// The last revisions may have left nothing behind.
		want, got = strings.Split(want, "revision")[0], strings.Split(got, "revision")[0]
		if got != want {
			t.Fatalf("seed %d: replayed:\n%s\nwant:\n%s", seed, got, want)
		}
		if _, err := Unpack(packed[:len(packed)-1]); err == nil {
			t.Error("an end that is missing was not noticed")
		}
		if got, want := mustCompact(t, entries), compactedInStore(t, second); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: compacted:\n%q\nwant, as of the store:\n%q", seed, got, want)
		} else if again := mustCompact(t, got); !reflect.DeepEqual(again, got) {
			t.Fatalf("seed %d: compacted twice:\n%q\nwant\n%q", seed, again, got)
		}
		mustClose(t, first)
		mustClose(t, second)
	}
}

func mustCompact(t *testing.T, entries []Entry) []Entry {
	t.Helper()
	compacted, err := Compacted(entries)
	if err != nil {
		t.Fatal(err)
	}
	return compacted
}

// compactedInStore is what Compacted says of a store.
func compactedInStore(t *testing.T, db *DB) []Entry {
	t.Helper()
	state, err := ReadState(t.Context(), db.Client().Client, "")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := state.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestCompactedCostsLittle: a history of objects that came and went is read once, and
// nothing is made of it that a store would need to serve it.
func TestCompactedCostsLittle(t *testing.T) {
	first, told := openKept(t)
	defer mustClose(t, first)
	const gone = 2_000
	for n := range gone {
		key := fmt.Sprintf("k%d", n)
		if _, err := first.Client().KV.Put(t.Context(), key, strings.Repeat("v", 1000)); err != nil {
			t.Fatal(err)
		}
		if _, err := first.Client().KV.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := first.Client().KV.Put(t.Context(), "stays", ""); err != nil {
		t.Fatal(err)
	}
	entries := told.entries()
	const each = 6 // 4 are enough; a store took 17
	if got := testing.AllocsPerRun(3, func() { mustCompact(t, entries) }); got > each*float64(len(entries)) {
		t.Errorf("%d entries were compacted with %.0f allocations, want %d for each at most", len(entries), got, each)
	}
}
