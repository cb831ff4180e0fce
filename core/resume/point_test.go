package resume

import (
	"errors"
	"sync"
	"testing"

	"github.com/kubetab/kubetab/core/etcd"
)

// newPoint returns a point over a store of its own, and the store.
func newPoint(t *testing.T) (*Point, *etcd.DB) {
	t.Helper()
	db, err := etcd.Open(etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return NewPoint(Engine{Store: db}), db
}

// Whoever freezes and thaws meanwhile, a point that has ended holds nothing, and nobody
// freezes it again.
func TestEndWhileOthersFreeze(t *testing.T) {
	p, db := newPoint(t)
	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for range 100 {
				_ = p.Freeze()  // after End it fails
				_, _ = p.Base() // another may have thawed it
				p.thaw()
			}
		})
	}
	p.End()
	if _, err := db.Client().KV.Put(t.Context(), "a", "1"); err != nil {
		t.Error(err)
	}
	others.Wait()
	if err := p.Freeze(); err == nil {
		t.Error("an engine that has ended is frozen")
	}
	if _, err := p.Base(); !errors.Is(err, ErrNotFrozen) {
		t.Errorf("Base: %v, want ErrNotFrozen", err)
	}
}

// Only a frozen engine goes on as another, and what fails leaves it frozen.
func TestStates(t *testing.T) {
	ctx := t.Context()
	p, _ := newPoint(t)
	identity, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	damaged := []etcd.Entry{{Name: "r0000000000000001", Record: []byte("no record")}}
	all := map[string]func() error{
		"Base":     func() error { _, err := p.Base(); return err },
		"Restore":  func() error { return p.Restore(ctx, identity, damaged) },
		"TakeOver": func() error { _, err := p.TakeOver(ctx, identity, nil, damaged); return err },
		"Become":   func() error { return p.Become(ctx, identity, nil, damaged) },
	}
	for name, call := range all {
		if err := call(); !errors.Is(err, ErrNotFrozen) {
			t.Errorf("%s of a running engine: %v, want ErrNotFrozen", name, err)
		}
	}
	for range 2 { // twice is harmless
		if err := p.Freeze(); err != nil {
			t.Fatal(err)
		}
	}
	delete(all, "Base")
	delete(all, "Become") // it asks the caches of an engine
	for name, call := range all {
		if err := call(); err == nil || errors.Is(err, ErrNotFrozen) {
			t.Errorf("%s of damaged entries: %v", name, err)
		}
		if p.state != frozen || p.hold == nil {
			t.Errorf("%s has thawed the engine", name)
		}
	}
	p.thaw()
	if p.state != running || p.hold != nil {
		t.Error("it is not thawed")
	}
}
