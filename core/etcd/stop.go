package etcd

import (
	"context"
	"sync"
	"sync/atomic"
)

// outage is whether the store answers its clients, as an etcd process does not that has been stopped.
type outage struct {
	mu sync.Mutex // guards changes
	// over is closed when the outage ends. Nil while the store answers.
	over atomic.Pointer[chan struct{}]
}

// Stop has the store answer no client until Resume, as an etcd whose process is gone: requests wait until their
// context ends, as those of clientv3 do that has no connection. Records, revisions and watches stay, and a watch goes on
// after Resume. A request that waits happens after Resume. Stopping twice is harmless.
//
// Methods of DB itself (Hold, Compact, Size and so on) go on: they are for the process that the store is part of.
func (db *DB) Stop() {
	db.outage.mu.Lock()
	defer db.outage.mu.Unlock()
	if db.outage.over.Load() == nil {
		over := make(chan struct{})
		db.outage.over.Store(&over)
	}
}

// Resume ends what Stop has begun. Leases get their full time to live again, as in an etcd that has a new leader. It
// does nothing while the store answers.
func (db *DB) Resume() {
	db.outage.mu.Lock()
	defer db.outage.mu.Unlock()
	over := db.outage.over.Load()
	if over == nil {
		return
	}
	db.mu.Lock()
	now := db.clock.Now()
	for _, l := range db.leases.byID {
		db.leases.refresh(l, now)
	}
	db.mu.Unlock()
	db.outage.over.Store(nil)
	close(*over)
}

// Stopped reports whether the store is between Stop and Resume.
func (db *DB) Stopped() bool { return db.outage.over.Load() != nil }

// reach waits while the store is stopped. Each request of a client begins with it.
//
// It returns the error of ctx when that ends first, and rpctypes.ErrGRPCStopped after Close.
func (db *DB) reach(ctx context.Context) error {
	for {
		over := db.outage.over.Load()
		if over == nil {
			return nil
		}
		select {
		case <-*over:
		case <-ctx.Done():
			return ctx.Err()
		case <-db.done:
			return errStopped
		}
	}
}
