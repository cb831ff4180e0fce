package etcd

import (
	"fmt"
	"math/rand/v2"
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
		mustClose(t, first)
		mustClose(t, second)
	}
}
