package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// TestStop: a stopped store keeps every request of a client waiting until its deadline, and changes nothing.
func TestStop(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	c := db.Client()
	if _, err := c.KV.Put(t.Context(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	rev := db.Revision()
	db.Stop()
	db.Stop()
	if !db.Stopped() {
		t.Error("it answers")
	}
	for name, request := range map[string]func(context.Context) error{
		"range": func(ctx context.Context) error { _, err := c.KV.Get(ctx, "a"); return err },
		"put":   func(ctx context.Context) error { _, err := c.KV.Put(ctx, "a", "2"); return err },
		"txn": func(ctx context.Context) error {
			_, err := c.KV.Txn(ctx).Then(clientv3.OpPut("a", "2")).Commit()
			return err
		},
		"delete":  func(ctx context.Context) error { _, err := c.KV.Delete(ctx, "a"); return err },
		"compact": func(ctx context.Context) error { _, err := c.KV.Compact(ctx, rev); return err },
		"grant":   func(ctx context.Context) error { _, err := c.Grant(ctx, 60); return err },
		"status":  func(ctx context.Context) error { _, err := c.Status(ctx, ""); return err },
		"get": func(ctx context.Context) error {
			_, err := c.Kubernetes.Get(ctx, "a", kubernetes.GetOptions{})
			return err
		},
		"list": func(ctx context.Context) error {
			_, err := c.Kubernetes.List(ctx, "a", kubernetes.ListOptions{})
			return err
		},
		"optimistic put": func(ctx context.Context) error {
			_, err := c.Kubernetes.OptimisticPut(ctx, "b", []byte("1"), 0, kubernetes.PutOptions{})
			return err
		},
		"progress": c.Watcher.RequestProgress,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := request(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the end of its context", name, err)
		}
		cancel()
	}
	if got := db.Revision(); got != rev {
		t.Errorf("revision %d, want %d", got, rev)
	}
	db.Resume()
	if r, err := c.KV.Get(t.Context(), "a"); err != nil || string(r.Kvs[0].Value) != "1" {
		t.Error(r, err)
	}
}

// TestResume: a write that waited happens, a watch of before sees it, and no lease has ended in between.
func TestResume(t *testing.T) {
	clock, db, lease := leased(t)
	c := db.Client()
	watch := c.Watch(t.Context(), "a")
	db.Stop()
	written := make(chan error)
	go func() {
		_, err := c.KV.Put(t.Context(), "a", "1")
		written <- err
	}()
	clock.Step(time.Hour)
	if due := db.dueLeases(); len(due) > 0 { // whoever asked just before the store was stopped
		t.Errorf("leases %v end while it is stopped", due)
	}
	db.Resume()
	if err := <-written; err != nil {
		t.Error(err)
	}
	if r := <-watch; len(r.Events) != 1 || string(r.Events[0].Kv.Value) != "1" {
		t.Errorf("watched %+v", r)
	}
	if r, err := c.TimeToLive(t.Context(), lease); err != nil || r.TTL != 30 {
		t.Errorf("lease %+v %v, want its full time again", r, err)
	}
	if r, err := c.KV.Get(t.Context(), "leased"); err != nil || r.Count != 1 {
		t.Error(r, err)
	}
}

// TestCloseWhileStopped lets those go who wait.
func TestCloseWhileStopped(t *testing.T) {
	db := mustOpen(t, Options{})
	db.Stop()
	asked := make(chan error)
	c := db.Client()
	go func() {
		_, err := c.KV.Get(context.Background(), "a")
		asked <- err
	}()
	mustClose(t, db)
	if err := <-asked; err == nil {
		t.Error("a closed store has answered")
	}
}
