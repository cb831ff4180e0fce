package etcd

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestAdopt: two stores that began differently; one goes on, and the other takes
// over what it has become.
func TestAdopt(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { adopt(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func adopt(t *testing.T, random *rand.Rand) {
	ctx := t.Context()
	theirs, told := openKept(t)
	defer mustClose(t, theirs)
	mine, mineTold := openKept(t)
	defer mustClose(t, mine)
	put := func(db *DB, key, value string, options ...clientv3.OpOption) {
		t.Helper()
		if _, err := db.Client().KV.Put(ctx, key, value, options...); err != nil {
			t.Fatal(err)
		}
	}
	// Those of "kr" are what a newer build renews, those of "kx" what it cannot read.
	key := func() string { return fmt.Sprintf("k%c%d", "rabx"[random.IntN(4)], random.IntN(6)) }
	for n := range random.IntN(40) {
		put(theirs, key(), fmt.Sprint("their base ", n))
	}
	for n := range random.IntN(40) {
		put(mine, key(), fmt.Sprint("my base ", n))
	}
	base := told.entries()
	clear(told)
	myBase := mineTold.entries()
	clear(mineTold)
	theirBase, myStart := contents(t, theirs, 0), contents(t, mine, 0)
	for n := range random.IntN(60) {
		k := key()
		switch random.IntN(4) {
		case 0:
			if _, err := theirs.Client().KV.Delete(ctx, k); err != nil {
				t.Fatal(err)
			}
		case 1:
			lease, err := theirs.Client().Grant(ctx, 3600)
			if err != nil {
				t.Fatal(err)
			}
			put(theirs, k, fmt.Sprint("theirs ", n), clientv3.WithLease(lease.ID))
		default:
			put(theirs, k, fmt.Sprint("theirs ", n))
		}
	}
	want := maps.Clone(myStart)
	var wantLeft []string
	for k, v := range contents(t, theirs, 0) {
		was, wasThere := theirBase[k]
		switch own, here := myStart[k]; {
		case here && own == v:
		case here && k[1] == 'r' && wasThere && was == v:
		case k[1] == 'x':
			wantLeft = append(wantLeft, k)
		default:
			want[k] = v
		}
	}
	for k := range theirBase {
		if _, there := contents(t, theirs, 0)[k]; !there {
			delete(want, k)
		}
	}

	from := mine.Revision()
	watch := mine.Client().Watch(ctx, "k", clientv3.WithPrefix(), clientv3.WithRev(from+1), clientv3.WithPrevKV())
	hold := mine.Hold()
	left, err := hold.Adopt(base, told.entries(), Adoption{
		Renewed: func(k string) bool { return k[1] == 'r' },
		Check: func(k string, _ []byte) error {
			if k[1] == 'x' {
				return errors.New("unreadable")
			}
			return nil
		},
	})
	hold.Release()
	if err != nil {
		t.Fatal(err)
	}
	got := contents(t, mine, 0)
	if !maps.Equal(got, want) {
		t.Fatalf("it has\n%v, want\n%v (theirs %v on %v, mine %v)", got, want, contents(t, theirs, 0), theirBase, myStart)
	}
	var gotLeft []string
	for _, l := range left {
		gotLeft = append(gotLeft, l.Key)
	}
	slices.Sort(gotLeft)
	slices.Sort(wantLeft)
	if !slices.Equal(gotLeft, wantLeft) {
		t.Errorf("left out %v, want %v", gotLeft, wantLeft)
	}
	if !maps.Equal(want, myStart) && mine.Revision() <= max(from, theirs.Revision()) {
		t.Errorf("revision %d is not above %d and %d", mine.Revision(), from, theirs.Revision())
	}

	// Who watched arrives at the same.
	if state := follow(t, mine, watch, myStart); !maps.Equal(state, want) {
		t.Errorf("the watcher has %v, want %v", state, want)
	}

	// And so does the next visit, of what has been told.
	again := mustOpen(t, Options{})
	defer mustClose(t, again)
	if err := replayInto(again, append(myBase, mineTold.entries()...)); err != nil {
		t.Fatal(err)
	}
	if got, want := everything(t, again), everything(t, mine); got != want {
		t.Errorf("the next visit has\n%s, want\n%s", got, want)
	}
}

// TestAdoptRefuses: what is damaged changes nothing.
func TestAdoptRefuses(t *testing.T) {
	theirs, told := openKept(t)
	defer mustClose(t, theirs)
	for _, k := range []string{"k1", "k2"} {
		if _, err := theirs.Client().KV.Put(t.Context(), k, "theirs"); err != nil {
			t.Fatal(err)
		}
	}
	damaged := told.entries()
	damaged[1].Record = damaged[1].Record[:3]
	mine := mustOpen(t, Options{})
	defer mustClose(t, mine)
	before := everything(t, mine)
	for what, tc := range map[string][2][]Entry{
		"the base":    {damaged, nil},
		"the entries": {nil, damaged},
		"their order": {told.entries(), told.entries()},
	} {
		h := mine.Hold()
		_, err := h.Adopt(tc[0], tc[1], Adoption{})
		h.Release()
		if err == nil || !strings.Contains(err.Error(), "replay") {
			t.Errorf("%s: %v", what, err)
		}
		if after := everything(t, mine); after != before {
			t.Errorf("%s: it has changed:\n%s", what, after)
		}
	}
}
