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

// No entry of the store's has a name like these.
const (
	// identityName is the entry that holds the engine's identity.
	identityName = "identity"
	// baseName is the entry that holds what was in the store before the first of the others: that of the snapshot,
	// or nothing. Who starts from nothing needs it, and who goes on from the snapshot does not.
	baseName = "base"
)

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

// begin has a program that starts from nothing go on from what the host has kept, and has what it does kept. Without
// anything it is the first of its cluster. What is kept and cannot be used is left as it is: the host is told why, and
// nothing is added to it. The error is that there is no randomness.
func (k *keeping) begin(c *core.Config) error {
	if c.AwaitIdentity || !k.host.CanKeep() {
		return nil
	}
	identity, base, entries := k.take()
	if identity == nil && base == nil && len(entries) == 0 {
		identity, err := core.NewIdentity()
		if err != nil {
			return err
		}
		c.Identity = identity
		k.on.Store(true)
		k.tap(etcd.Entry{Name: baseName, Record: etcd.Pack(nil)})
		k.tap(etcd.Entry{Name: identityName, Record: identity})
		return nil
	}
	before, err := etcd.Unpack(base)
	if err == nil && identity == nil {
		err = fmt.Errorf("%d entries without an identity", len(entries))
	}
	if err != nil {
		k.refuse(err)
		return nil
	}
	c.Identity, c.Entries = identity, append(before, entries...)
	k.on.Store(true)
	return nil
}

// refuse leaves what is kept as it is.
func (k *keeping) refuse(why error) {
	k.on.Store(false)
	k.host.NotKept(why.Error())
}

// goOn makes a thawed engine what the host has kept of an earlier one, or one of its own, and has what happens from
// then on kept. What is kept and cannot be used is treated as begin does.
func (k *keeping) goOn(ctx context.Context, engine *core.Engine) error {
	identity, base, entries := k.take()
	k.on.Store(k.host.CanKeep())
	if identity != nil || base != nil || len(entries) > 0 {
		err := fmt.Errorf("%d entries without an identity", len(entries))
		if identity != nil {
			err = engine.Restore(ctx, identity, entries)
		}
		if err == nil {
			return nil
		}
		k.refuse(err)
	} else if k.on.Load() {
		before, err := engine.Base()
		if err != nil {
			return err
		}
		k.tap(etcd.Entry{Name: baseName, Record: etcd.Pack(before)})
	}
	identity, err := engine.Renew(ctx)
	if err != nil {
		return err
	}
	k.tap(etcd.Entry{Name: identityName, Record: identity})
	return nil
}

// take returns what the host has kept, which is then the caller's.
func (k *keeping) take() (identity, base []byte, entries []etcd.Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.earlier {
		switch e.Name {
		case identityName:
			identity = e.Record
		case baseName:
			base = e.Record
		default:
			entries = append(entries, e)
		}
	}
	k.earlier = nil
	return identity, base, entries
}
