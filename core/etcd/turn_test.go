package etcd

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Requests that change the store and wait for their turn heed their context, and
// the end of the store.
func TestWaitingForATurnEnds(t *testing.T) {
	for what, request := range map[string]func(context.Context, *DB) error{
		"put": func(ctx context.Context, db *DB) error {
			_, err := db.Client().KV.Put(ctx, "k", "v")
			return err
		},
		"grant": func(ctx context.Context, db *DB) error {
			_, err := db.Client().Lease.Grant(ctx, 60)
			return err
		},
		"revoke": func(ctx context.Context, db *DB) error {
			_, err := db.Client().Lease.Revoke(ctx, 1)
			return err
		},
		"compact": func(ctx context.Context, db *DB) error {
			_, err := db.Client().KV.Compact(ctx, 2)
			return err
		},
	} {
		for how, tc := range map[string]struct {
			end  func(cancel context.CancelFunc, db *DB) (wait func() error)
			want error
		}{
			"its context": {func(cancel context.CancelFunc, _ *DB) func() error {
				cancel()
				return func() error { return nil }
			}, context.Canceled},
			"the store": {func(_ context.CancelFunc, db *DB) func() error {
				closed := make(chan error, 1)
				go func() { closed <- db.Close() }()
				return func() error { return <-closed }
			}, rpctypes.ErrStopped},
		} {
			t.Run(what+" until the end of "+how, func(t *testing.T) {
				db := mustOpen(t, Options{})
				defer mustClose(t, db)
				if _, err := db.Client().KV.Put(t.Context(), "k", "first"); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				hold := db.Hold()
				defer hold.Release()
				ended := make(chan error, 1)
				go func() { ended <- request(ctx, db) }()
				wait := tc.end(cancel, db)
				select {
				case err := <-ended:
					if !errors.Is(err, tc.want) {
						t.Errorf("%v, want %v", err, tc.want)
					}
				case <-time.After(patience):
					t.Error("it still waits")
				}
				hold.Release()
				if err := wait(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A watch sees what comes after the revision that its creation tells, all of it
// and nothing else, also while others write.
func TestCreatedTellsWhereAWatchBegins(t *testing.T) {
	db := mustOpen(t, Options{})
	defer mustClose(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		client := db.Client()
		for ctx.Err() == nil {
			if _, err := client.KV.Put(ctx, "k", "v"); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			runtime.Gosched() // on one processor every step of the watches would wait for the end of a time slice
		}
	}()
	defer func() { cancel(); <-writing }()
	for range 2000 {
		watching, stop := context.WithCancel(ctx)
		responses := db.Client().Watch(watching, "k", clientv3.WithCreatedNotify())
		created, first := <-responses, <-responses
		stop()
		if !created.Created || len(first.Events) == 0 {
			t.Fatalf("%+v, and then %+v", created, first)
		}
		if told, saw := created.Header.Revision, first.Events[0].Kv.ModRevision; saw != told+1 {
			t.Fatalf("the watch was created at %d, and its first event is of %d", told, saw)
		}
	}
}
