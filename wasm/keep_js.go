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
	// otherName is an entry that the host adds when it gives back those of another build.
	otherName = "other"
)

// keeping has the host keep what happens in the store, and what it has kept of an earlier program happen again.
type keeping struct {
	host *boundary.Host
	on   atomic.Bool

	mu      sync.Mutex
	earlier []etcd.Entry
	ofOther bool // earlier is of another build
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
// anything it is the first of its cluster. What is kept and cannot be used is treated as without does. The error is
// that there is no randomness.
func (k *keeping) begin(c *core.Config) error {
	if c.AwaitIdentity || !k.host.CanKeep() {
		return nil
	}
	identity, base, entries := k.take()
	if identity == nil && base == nil && len(entries) == 0 {
		return k.first(c)
	}
	before, err := etcd.Unpack(base)
	if err == nil && identity == nil {
		err = fmt.Errorf("%d entries without an identity", len(entries))
	}
	if err != nil {
		return k.without(c, err)
	}
	c.Identity, c.Entries = identity, append(before, entries...)
	k.on.Store(true)
	if k.ofOther {
		c.OfOtherBuild, c.OnLeftOut = true, k.takenOver
		k.keepBase(nil)
		k.keepIdentity(identity)
	}
	return nil
}

// first makes c that of a new cluster, and has it kept. The error is that there is no randomness.
func (k *keeping) first(c *core.Config) error {
	identity, err := core.NewIdentity()
	if err != nil {
		return err
	}
	c.Identity = identity
	k.on.Store(true)
	k.keepBase(nil)
	k.keepIdentity(identity)
	return nil
}

func (k *keeping) keepBase(entries []etcd.Entry) {
	k.tap(etcd.Entry{Name: baseName, Record: etcd.Pack(entries)})
}

func (k *keeping) keepIdentity(identity []byte) {
	k.tap(etcd.Entry{Name: identityName, Record: identity})
}

// without has a program begin without what was kept, which is left as it is: the host is told why. Nothing is added to
// it; what of another build is kept has a place of its own, so that the new cluster can be kept beside it. The error is
// that there is no randomness.
func (k *keeping) without(c *core.Config, why error) error {
	k.host.NotKept(why.Error())
	c.Identity, c.Entries, c.OfOtherBuild = nil, nil, false
	if k.ofOther {
		return k.first(c)
	}
	k.on.Store(false)
	return nil
}

// takenOver tells the host what of another build's cluster this one cannot read.
func (k *keeping) takenOver(left []etcd.LeftOut) {
	lines := make([]string, len(left))
	for i, l := range left {
		lines[i] = fmt.Sprintf("%s: %v", l.Key, l.Why)
	}
	k.host.TakenOver(lines)
}

// goOn makes a thawed engine what the host has kept of an earlier one, or one of its own, and has what happens from
// then on kept. What is kept and cannot be used is treated as without does.
func (k *keeping) goOn(ctx context.Context, engine *core.Engine) error {
	identity, base, entries := k.take()
	k.on.Store(k.host.CanKeep())
	if identity != nil || base != nil || len(entries) > 0 {
		err := k.become(ctx, engine, identity, base, entries)
		if err == nil {
			return nil
		}
		k.host.NotKept(err.Error())
		k.on.Store(k.ofOther)
	}
	if k.on.Load() {
		before, err := engine.Base()
		if err != nil {
			return err
		}
		k.keepBase(before)
	}
	identity, err := engine.Renew(ctx)
	if err != nil {
		return err
	}
	k.keepIdentity(identity)
	return nil
}

// become makes a thawed engine what the host has kept. The errors are those of Engine.Restore and Engine.TakeOver, and
// that a part is missing; nothing has happened then.
func (k *keeping) become(ctx context.Context, engine *core.Engine, identity, base []byte, entries []etcd.Entry) error {
	if identity == nil {
		return fmt.Errorf("%d entries without an identity", len(entries))
	}
	if !k.ofOther {
		return engine.Restore(ctx, identity, entries)
	}
	theirs, err := etcd.Unpack(base)
	if err != nil {
		return err
	}
	own, err := engine.Base()
	if err != nil {
		return err
	}
	left, err := engine.TakeOver(ctx, identity, theirs, entries)
	if err != nil {
		return err
	}
	k.keepBase(own)
	k.keepIdentity(identity)
	k.takenOver(left)
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
		case otherName:
			k.ofOther = true
		default:
			entries = append(entries, e)
		}
	}
	k.earlier = nil
	return identity, base, entries
}
