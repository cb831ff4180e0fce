package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// bunt is buntdb's goroutine, which looks once a second whether its database was
// closed: it cannot be waited for.
var bunt = goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager")

// TestCloseEndsEverything leaves watches, keep-alives and requests behind.
func TestCloseEndsEverything(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), bunt)
	for _, path := range []string{"", filepath.Join(t.TempDir(), "store")} {
		db := mustOpen(t, Options{Path: path})
		c, ctx := db.Client(), context.Background()
		lease, err := c.Grant(ctx, 60)
		if err != nil {
			t.Fatal(err)
		}
		alive, err := c.KeepAlive(ctx, lease.ID)
		if err != nil {
			t.Fatal(err)
		}
		idle := c.Watch(ctx, "idle", clientv3.WithProgressNotify())
		// Nobody reads this one.
		full := c.Watch(ctx, "a", clientv3.WithPrefix())
		for i := range 10 {
			if _, err := c.KV.Put(ctx, fmt.Sprint("a", i), "x", clientv3.WithLease(lease.ID)); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, db)
		if err := db.Close(); err != nil {
			t.Errorf("the second Close: %v", err)
		}
		if r, ok := <-idle; ok && r.Err() != rpctypes.ErrStopped {
			t.Errorf("the idle watch ends with %v", r.Err())
		}
		for range full {
		}
		for range idle {
		}
		for range alive {
		}
	}
}

// TestAfterClose asks everything of a closed store.
func TestAfterClose(t *testing.T) {
	db := mustOpen(t, Options{})
	c, ctx := db.Client(), t.Context()
	endpoint := c.Endpoints()[0]
	mustClose(t, db)
	for name, ask := range map[string]func() error{
		"Get":           func() error { _, err := c.KV.Get(ctx, "a"); return err },
		"Put":           func() error { _, err := c.KV.Put(ctx, "a", "b"); return err },
		"Delete":        func() error { _, err := c.KV.Delete(ctx, "a"); return err },
		"Txn":           func() error { _, err := c.KV.Txn(ctx).Then(clientv3.OpGet("a")).Commit(); return err },
		"Txn write":     func() error { _, err := c.KV.Txn(ctx).Then(clientv3.OpPut("a", "b")).Commit(); return err },
		"Compact":       func() error { _, err := c.Compact(ctx, 1); return err },
		"Grant":         func() error { _, err := c.Grant(ctx, 10); return err },
		"Revoke":        func() error { _, err := c.Revoke(ctx, 1); return err },
		"TimeToLive":    func() error { _, err := c.TimeToLive(ctx, 1); return err },
		"Leases":        func() error { _, err := c.Leases(ctx); return err },
		"KeepAliveOnce": func() error { _, err := c.KeepAliveOnce(ctx, 1); return err },
		"Status":        func() error { _, err := c.Status(ctx, endpoint); return err },
		"OptimisticPut": func() error {
			_, err := c.Kubernetes.OptimisticPut(ctx, "a", nil, 0, kubernetes.PutOptions{})
			return err
		},
		"OptimisticDelete": func() error {
			_, err := c.Kubernetes.OptimisticDelete(ctx, "a", 0, kubernetes.DeleteOptions{})
			return err
		},
		"List": func() error { _, err := c.Kubernetes.List(ctx, "a", kubernetes.ListOptions{}); return err },
	} {
		if err := ask(); err != rpctypes.ErrStopped {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.KeepAlive(ctx, 1); err == nil {
		t.Error("KeepAlive works")
	}
}

// TestWatchAfterClose: a watch of a closed store waits until somebody ends it.
func TestWatchAfterClose(t *testing.T) {
	db := mustOpen(t, Options{})
	c := db.Client()
	mustClose(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	w, other := c.Watch(ctx, "a"), c.Watch(t.Context(), "a")
	for _, ch := range []clientv3.WatchChan{w, other} {
		select {
		case r, ok := <-ch:
			t.Errorf("got %+v, %v", r, ok)
		default:
		}
	}
	cancel()
	for r := range w {
		t.Errorf("got %+v", r)
	}
	if err := c.Watcher.Close(); err != nil {
		t.Error(err)
	}
	for r := range other {
		t.Errorf("got %+v", r)
	}
}

// TestCanceled asks everything with a context that has ended.
func TestCanceled(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c := db.Client()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() error{
		"Get":     func() error { _, err := c.KV.Get(ctx, "a"); return err },
		"Put":     func() error { _, err := c.KV.Put(ctx, "a", "b"); return err },
		"Txn":     func() error { _, err := c.KV.Txn(ctx).Then(clientv3.OpPut("a", "b")).Commit(); return err },
		"Compact": func() error { _, err := c.Compact(ctx, 1); return err },
		"Grant":   func() error { _, err := c.Grant(ctx, 10); return err },
		"OptimisticPut": func() error {
			_, err := c.Kubernetes.OptimisticPut(ctx, "a", nil, 0, kubernetes.PutOptions{})
			return err
		},
		"Read":     func() error { _, err := c.Kubernetes.Get(ctx, "a", kubernetes.GetOptions{}); return err },
		"Progress": func() error { return c.RequestProgress(ctx) },
	} {
		if err := ask(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := <-c.Watch(ctx, "a"); ok {
		t.Error("a watch says something")
	}
	if db.Revision() != 1 {
		t.Error("something was written")
	}
}

// TestClientsAreSeparate closes one client of two, and one store of two.
func TestClientsAreSeparate(t *testing.T) {
	one, other := mustOpen(t, Options{}), mustOpen(t, Options{})
	defer mustClose(t, other)
	a, b := one.Client(), one.Client()
	if len(a.Endpoints()) != 1 || a.Endpoints()[0] != b.Endpoints()[0] || a.Endpoints()[0] == other.Client().Endpoints()[0] {
		t.Errorf("endpoints %q, %q, of another store %q", a.Endpoints(), b.Endpoints(), other.Client().Endpoints())
	}
	ctx := t.Context()
	ends, goesOn := a.Watch(ctx, "k"), b.Watch(ctx, "k")
	_ = a.Close()
	for r := range ends {
		t.Errorf("the watch of the closed client says %v", r)
	}
	if _, ok := <-a.Watch(ctx, "k"); ok {
		t.Error("the closed client watches")
	}
	if err := a.RequestProgress(ctx); err == nil {
		t.Error("the closed client asks for progress")
	}
	if _, err := a.KeepAlive(ctx, 1); err == nil {
		t.Error("the closed client keeps alive")
	}
	if _, err := b.KV.Put(ctx, "k", "v"); err != nil {
		t.Fatal(err)
	}
	if r := <-goesOn; len(r.Events) != 1 {
		t.Errorf("the watch of the other client says %v", r)
	}
	mustClose(t, one)
	if _, err := other.Client().KV.Put(ctx, "k", "v"); err != nil {
		t.Errorf("the other store: %v", err)
	}
	if other.Revision() != 2 {
		t.Errorf("the other store is at %d", other.Revision())
	}
}

// TestStatus is what upstream's feature checker and metrics look at.
func TestStatus(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c := db.Client()
	empty, err := c.Status(t.Context(), c.Endpoints()[0])
	if err != nil || empty.Version != "3.7.0" || empty.Leader != empty.Header.MemberId {
		t.Fatal(empty, err)
	}
	if _, err := c.KV.Put(t.Context(), "a", strings.Repeat("x", 10_000)); err != nil {
		t.Fatal(err)
	}
	full, err := c.Status(t.Context(), c.Endpoints()[0])
	if err != nil || full.DbSize < empty.DbSize+10_000 || full.DbSizeInUse != full.DbSize {
		t.Error(full, err)
	}
	if _, err := c.MemberList(t.Context()); status.Code(err) != codes.Unimplemented {
		t.Errorf("MemberList: %v", err)
	}
	if _, err := c.AuthStatus(t.Context()); status.Code(err) != codes.Unimplemented {
		t.Errorf("AuthStatus: %v", err)
	}
	if alarms, err := c.AlarmList(t.Context()); err != nil || len(alarms.Alarms) > 0 {
		t.Error(alarms, err)
	}
}

// TestBytesBelongToTheCaller writes over everything that goes in and comes out.
func TestBytesBelongToTheCaller(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c, ctx := db.Client(), t.Context()
	spoil := func(b []byte) {
		for i := range b[:cap(b)] {
			b[:cap(b)][i] = '!'
		}
	}
	watch := c.Watch(ctx, "k", clientv3.WithPrefix(), clientv3.WithPrevKV())
	value := []byte("value")
	if _, err := c.Kubernetes.OptimisticPut(ctx, "key", value, 0, kubernetes.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	spoil(value)
	put := clientv3.OpPut("key2", "value")
	if _, err := c.KV.Do(ctx, put); err != nil {
		t.Fatal(err)
	}
	spoil(put.KeyBytes())
	spoil(put.ValueBytes())
	if _, err := c.KV.Put(ctx, "key", "value"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r, err := c.KV.Get(ctx, "k", clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for i, kv := range r.Kvs {
			if string(kv.Value) != "value" || string(kv.Key) != []string{"key", "key2"}[i] {
				t.Fatalf("%q is %q", kv.Key, kv.Value)
			}
			spoil(kv.Key)
			spoil(kv.Value)
		}
		one, err := c.Kubernetes.Get(ctx, "key", kubernetes.GetOptions{})
		if err != nil || string(one.KV.Value) != "value" {
			t.Fatal(one, err)
		}
		spoil(one.KV.Key)
		spoil(one.KV.Value)
	}
	n := 0
	for n < 3 {
		r := <-watch
		for _, e := range r.Events {
			n++
			if string(e.Kv.Value) != "value" || e.PrevKv != nil && string(e.PrevKv.Value) != "value" {
				t.Errorf("event %v", e)
			}
			spoil(e.Kv.Key)
			spoil(e.Kv.Value)
			if e.PrevKv != nil {
				spoil(e.PrevKv.Value)
			}
		}
	}
	del, err := c.KV.Delete(ctx, "k", clientv3.WithPrefix(), clientv3.WithPrevKV())
	if err != nil || len(del.PrevKvs) != 2 {
		t.Fatal(del, err)
	}
	for _, kv := range del.PrevKvs {
		if string(kv.Value) != "value" {
			t.Errorf("deleted %v", kv)
		}
		spoil(kv.Value)
	}
	old, err := c.KV.Get(ctx, "key", clientv3.WithRev(2))
	if err != nil || !bytes.Equal(old.Kvs[0].Value, []byte("value")) {
		t.Error(old, err)
	}
}

// TestSlowWatchBlocksNobody has a watch that nobody reads while thousands are
// written, and then reads all of it.
func TestSlowWatchBlocksNobody(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c, ctx := db.Client(), t.Context()
	slow := c.Watch(ctx, "k")
	const n = 5000
	for i := range n {
		if _, err := c.KV.Put(ctx, "k", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	next := 0
	for r := range slow {
		for _, e := range r.Events {
			if string(e.Kv.Value) != fmt.Sprint(next) {
				t.Fatalf("%q follows %d", e.Kv.Value, next-1)
			}
			next++
		}
		if next == n {
			return
		}
	}
}

// TestConcurrentUpdates increments one counter from many sides, with one watch that
// must see every number once, and compactions all the while.
func TestConcurrentUpdates(t *testing.T) {
	db := mustOpen(t, Options{Path: filepath.Join(t.TempDir(), "store")})
	defer mustClose(t, db)
	ctx := t.Context()
	const sides, each = 8, 100
	watch := db.Client().Watch(ctx, "counter")
	var wg sync.WaitGroup
	for range sides {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := db.Client().Kubernetes
			for done := 0; done < each; {
				now, err := c.Get(ctx, "counter", kubernetes.GetOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				var at, value int64
				if now.KV != nil {
					at = now.KV.ModRevision
					_, _ = fmt.Sscan(string(now.KV.Value), &value)
				}
				resp, err := c.OptimisticPut(ctx, "counter", fmt.Append(nil, value+1), at, kubernetes.PutOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				if resp.Succeeded {
					done++
				}
			}
		}()
	}
	for seen := 0; seen < sides*each; {
		r := <-watch
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		for _, e := range r.Events {
			seen++
			if string(e.Kv.Value) != fmt.Sprint(seen) || e.Kv.Version != int64(seen) {
				t.Fatalf("%q, version %d, is number %d", e.Kv.Value, e.Kv.Version, seen)
			}
		}
		// Everything up to here has been seen, so the watch is not behind.
		if err := db.Compact(ctx, r.Events[len(r.Events)-1].Kv.ModRevision); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}

// TestLocked is about the message; see package journal for the lock itself.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	db := mustOpen(t, Options{Path: path})
	defer mustClose(t, db)
	second, err := Open(Options{Path: path})
	if err == nil {
		mustClose(t, second)
		if locksFiles {
			t.Error("two stores have one file")
		}
		return
	}
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// TestDamaged is about the message; see package journal for the damage.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "store")
	if _, err := Open(Options{Path: path}); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// TestObserve counts the requests that upstream's latency tracker does not see.
func TestObserve(t *testing.T) {
	n := 0
	db := mustOpen(t, Options{Observe: func(context.Context, time.Duration) { n++ }})
	defer mustClose(t, db)
	c, ctx := db.Client().Kubernetes, t.Context()
	_, _ = c.Get(ctx, "a", kubernetes.GetOptions{})
	_, _ = c.List(ctx, "a", kubernetes.ListOptions{})
	_, _ = c.Count(ctx, "a", kubernetes.CountOptions{})
	_, _ = c.OptimisticPut(ctx, "a", nil, 0, kubernetes.PutOptions{})
	_, _ = c.OptimisticDelete(ctx, "a", 2, kubernetes.DeleteOptions{})
	if n != 5 {
		t.Errorf("observed %d requests of 5", n)
	}
}
