package etcd

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	testingclock "k8s.io/utils/clock/testing"
)

// leased opens a store whose time is that of a clock. It holds the key "leased", which
// a lease of 30 s keeps.
func leased(t *testing.T) (*testingclock.FakeClock, *DB, clientv3.LeaseID) {
	t.Helper()
	clock := testingclock.NewFakeClock(time.Unix(1_700_000_000, 0))
	db := mustOpen(t, Options{Clock: clock})
	t.Cleanup(func() { mustClose(t, db) })
	lease, err := db.Client().Grant(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Client().KV.Put(t.Context(), "leased", "1", clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	return clock, db, lease.ID
}

// TestKeepAlive keeps a lease for hours of the clock, and lets it go.
func TestKeepAlive(t *testing.T) {
	clock, db, lease := leased(t)
	c := db.Client()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	alive, err := c.KeepAlive(ctx, lease)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if r := <-alive; r == nil || r.TTL != 30 || r.ID != lease {
			t.Fatalf("got %+v", r)
		}
		// One waits to renew it, one for its end.
		eventually(t, "nobody waits for the clock", func() bool { return clock.Waiters() == 2 })
		clock.Step(10 * time.Second)
	}
	<-alive
	if r, err := c.KV.Get(t.Context(), "leased"); err != nil || r.Count != 1 {
		t.Fatal(r, err)
	}
	cancel()
	for range alive {
	}
	eventually(t, "nobody waits for the end", func() bool { return clock.Waiters() == 1 })
	clock.Step(30 * time.Second)
	eventually(t, "the key outlives its lease", func() bool {
		r, err := c.KV.Get(t.Context(), "leased")
		return err == nil && r.Count == 0
	})
}

// TestKeepAliveOfNothing closes the channel at once, as upstream's does.
func TestKeepAliveOfNothing(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	alive, err := db.Client().KeepAlive(t.Context(), 12345)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := <-alive; ok {
		t.Errorf("got %+v", r)
	}
}

// TestRemainingTime counts whole seconds.
func TestRemainingTime(t *testing.T) {
	clock, db, lease := leased(t)
	c := db.Client()
	for _, step := range []struct {
		by   time.Duration
		want int64
	}{{0, 30}, {time.Second, 29}, {500 * time.Millisecond, 28}, {28 * time.Second, 0}, {500 * time.Millisecond, -1}} {
		clock.Step(step.by)
		ttl, err := c.TimeToLive(t.Context(), lease)
		if err != nil || ttl.TTL != step.want {
			t.Errorf("after %v more: %+v, %v, want %d", step.by, ttl, err, step.want)
		}
	}
}

// TestRenewedInTime: between the look at the clock and the end of a lease somebody
// may have renewed it.
func TestRenewedInTime(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c := db.Client()
	lease, err := c.Grant(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.revokeLease(t.Context(), int64(lease.ID), true); err != nil {
		t.Fatal(err)
	}
	if ttl, err := c.TimeToLive(t.Context(), lease.ID); err != nil || ttl.TTL < 0 {
		t.Errorf("%+v, %v", ttl, err)
	}
}
