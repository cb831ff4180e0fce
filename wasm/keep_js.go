package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/wasm/boundary"
)

// identityName is the entry that holds the engine's identity. No entry of the store's has such a name.
const identityName = "identity"

// keeping has the host keep what happens in the store, and what it has kept of an earlier program happen again.
type keeping struct {
	host *boundary.Host
	on   atomic.Bool

	mu      sync.Mutex
	earlier []etcd.Entry
}

// tap is core.Config.Tap.
func (k *keeping) tap(e etcd.Entry) {
	if k.on.Load() {
		k.host.Keep(e.Name, e.Record, e.Supersedes)
	}
}

// kept takes an entry of an earlier program. Those of one that goes on from nothing are never asked for.
func (k *keeping) kept(name string, record []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.earlier = append(k.earlier, etcd.Entry{Name: name, Record: record})
}

// goOn makes a thawed engine what the host has kept of an earlier one, or one of its own, and has what happens from
// then on kept. What is kept and cannot be used is left as it is: the host is told why, and nothing is added to it.
func (k *keeping) goOn(ctx context.Context, engine *core.Engine) error {
	k.mu.Lock()
	earlier := k.earlier
	k.earlier = nil
	k.mu.Unlock()
	k.on.Store(k.host.CanKeep())
	if len(earlier) > 0 {
		err := restore(ctx, engine, earlier)
		if err == nil {
			return nil
		}
		k.on.Store(false)
		k.host.NotKept(err.Error())
	}
	identity, err := engine.Renew(ctx)
	if err != nil {
		return err
	}
	k.tap(etcd.Entry{Name: identityName, Record: identity})
	return nil
}

func restore(ctx context.Context, engine *core.Engine, earlier []etcd.Entry) error {
	var entries []etcd.Entry
	var identity []byte
	for _, e := range earlier {
		if e.Name == identityName {
			identity = e.Record
		} else {
			entries = append(entries, e)
		}
	}
	if identity == nil {
		return fmt.Errorf("%d entries without an identity", len(entries))
	}
	return engine.Restore(ctx, identity, entries)
}
