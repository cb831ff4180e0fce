package etcd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	testingclock "k8s.io/utils/clock/testing"
)

// TestResponsesHoldWholeRevisions has a revision that is larger than a response
// should be, between small ones.
func TestResponsesHoldWholeRevisions(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c, ctx := db.Client(), t.Context()
	const n = maxWatchEvents + 500
	for i := range n {
		if _, err := c.KV.Put(ctx, fmt.Sprintf("k%04d", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.KV.Delete(ctx, "k", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.KV.Put(ctx, "k", "v"); err != nil {
		t.Fatal(err)
	}
	sizes, events := []int{}, 0
	for r := range c.Watch(ctx, "k", clientv3.WithPrefix(), clientv3.WithRev(2)) {
		sizes = append(sizes, len(r.Events))
		events += len(r.Events)
		if last := r.Events[len(r.Events)-1].Kv.ModRevision; r.Header.Revision < last {
			t.Fatalf("a response up to %d says that it is up to %d", last, r.Header.Revision)
		}
		if events == 2*n+1 {
			break
		}
	}
	// 1000 puts, the other 500 and the delete of all 1500, and the last put.
	if fmt.Sprint(sizes) != "[1000 2000 1]" {
		t.Errorf("responses of %v events", sizes)
	}
}

// TestResponsesAreBounded: a response stops after a megabyte, too.
func TestResponsesAreBounded(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c, ctx := db.Client(), t.Context()
	for range 9 {
		if _, err := c.KV.Put(ctx, "k", strings.Repeat("x", maxWatchBytes/2)); err != nil {
			t.Fatal(err)
		}
	}
	sizes, events := []int{}, 0
	for r := range c.Watch(ctx, "k", clientv3.WithRev(2)) {
		sizes = append(sizes, len(r.Events))
		if events += len(r.Events); events == 9 {
			break
		}
	}
	if fmt.Sprint(sizes) != "[2 2 2 2 1]" {
		t.Errorf("responses of %v events", sizes)
	}
}

// TestPeriodicProgress moves the clock over the interval. A watch that had an event
// in the meantime is told nothing.
func TestPeriodicProgress(t *testing.T) {
	clock := testingclock.NewFakeClock(time.Unix(1_700_000_000, 0))
	db := mustOpen(t, Options{Clock: clock, ProgressInterval: time.Minute})
	defer mustClose(t, db)
	c, ctx := db.Client(), t.Context()
	idle := c.Watch(ctx, "idle", clientv3.WithProgressNotify())
	silent := c.Watch(ctx, "idle")
	if _, err := c.KV.Put(ctx, "busy", "1"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		eventually(t, "the watch does not wait for the clock", clock.HasWaiters)
		clock.Step(time.Minute)
		if r := <-idle; !r.IsProgressNotify() || r.Header.Revision != 2 {
			t.Fatalf("got %+v", r)
		}
	}
	eventually(t, "the watch does not wait for the clock", clock.HasWaiters)
	clock.Step(40 * time.Second)
	if _, err := c.KV.Put(ctx, "idle", "1"); err != nil {
		t.Fatal(err)
	}
	if r := <-idle; len(r.Events) != 1 {
		t.Fatalf("got %+v", r)
	}
	// The next notification is due a minute after the event.
	eventually(t, "the watch does not wait for the clock", clock.HasWaiters)
	clock.Step(40 * time.Second)
	if _, err := c.KV.Put(ctx, "idle", "2"); err != nil {
		t.Fatal(err)
	}
	if r := <-idle; len(r.Events) != 1 {
		t.Fatalf("got %+v", r)
	}
	for want := range 2 {
		if r := <-silent; len(r.Events) == 0 {
			t.Fatalf("response %d of a watch without notifications is %+v", want, r)
		} else if len(r.Events) == 2 {
			break
		}
	}
}

// TestProgressComesAfterEvents asks while there is much to read.
func TestProgressComesAfterEvents(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c, ctx := db.Client(), t.Context()
	watch := c.Watch(ctx, "k")
	const n = 3 * maxWatchEvents
	for range n {
		if _, err := c.KV.Put(ctx, "k", "v"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.RequestProgress(ctx); err != nil {
		t.Fatal(err)
	}
	events := 0
	for r := range watch {
		events += len(r.Events)
		if r.IsProgressNotify() {
			if events != n || r.Header.Revision != n+1 {
				t.Errorf("progress %d after %d events", r.Header.Revision, events)
			}
			return
		}
	}
}

// TestRefusedWatches are those that cannot begin.
func TestRefusedWatches(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c := db.Client()
	r := <-c.Watch(t.Context(), "b", clientv3.WithRange("a"))
	if !r.Canceled || r.Err() == nil || !strings.Contains(r.Err().Error(), "mvcc: watcher range is empty") {
		t.Errorf("an empty range: %v", r.Err())
	}
	if r := <-c.Watch(t.Context(), "a", clientv3.WithRev(-1)); r.Err() != rpctypes.ErrCompacted {
		t.Errorf("a negative revision: %v", r.Err())
	}
}

// TestIdleWatchIsNotBehind: compaction does not concern a watch that has seen
// everything, however long ago it last looked.
func TestIdleWatchIsNotBehind(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c, ctx := db.Client(), t.Context()
	idle := c.Watch(ctx, "idle")
	for range 10 {
		if _, err := c.KV.Put(ctx, "busy", "1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Compact(ctx, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := c.KV.Put(ctx, "idle", "1"); err != nil {
		t.Fatal(err)
	}
	if r := <-idle; r.Err() != nil || len(r.Events) != 1 {
		t.Errorf("got %+v, %v", r, r.Err())
	}
}
