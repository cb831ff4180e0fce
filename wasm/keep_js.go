package main

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/wasm/boundary"
)

// Entries beside those of the store's journal, none of which has a name like these.
const (
	// identityName is the entry that holds the engine's identity.
	identityName = "identity"
	// baseName is the entry that holds the content of the store before the first change: the content of the snapshot's
	// store, or nothing. An engine that starts without the snapshot needs it; one that resumes the snapshot does not.
	baseName = "base"
	// bundleName is an entry that the page adds for a cluster that begins with a bundle. It is there until an engine has
	// begun with it.
	bundleName = "bundle"
	// otherName is an entry that the host adds when the other entries were kept by another build.
	otherName = "other"
)

// keeping gives the changes of the store to the host, which keeps them from visit to visit. At the next visit the host
// gives them back, and keeping replays them. docs/module.md#visits has the picture.
type keeping struct {
	host *boundary.Host
	on   atomic.Bool

	mu      sync.Mutex
	earlier []etcd.Entry
	ofOther bool   // earlier is of another build
	bundle  []byte // nil unless the page has added one
	opened  []byte // the identity of a cluster that begins with bundle, until begun has told the host
}

// tap is core.Config.Tap: it gives an entry to the host once keeping is on.
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

// begin prepares c for a program that starts without a snapshot: it puts the entries of an earlier program into c, and
// turns keeping on. If there are none, the program begins a new cluster. If they cannot be used, it does what without
// does. It returns an error when there is no randomness. A program that will be frozen keeps nothing yet: see goOn.
func (k *keeping) begin(c *core.Config) error {
	if c.AwaitIdentity || !k.host.CanKeep() {
		return nil
	}
	identity, base, entries := k.take()
	switch {
	case k.bundle != nil && identity == nil:
		if err := k.open(c, entries); err != nil {
			return k.without(c, err)
		}
		return nil
	case identity == nil && base == nil && len(entries) == 0:
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

// open makes c begin with the bundle that the page has added, and turns keeping on. The settings in c stay: the page has
// taken them from the bundle. The bundle stays with the host until begun, and so does an engine that ends before it begin
// with the bundle again; what such an engine has left is forgotten here.
//
// The errors are those of bundle.Read and core.Config.Open, and that there is no randomness; nothing has happened then.
func (k *keeping) open(c *core.Config, left []etcd.Entry) error {
	b, err := bundle.Read(bytes.NewReader(k.bundle), bundle.DefaultLimits())
	if err != nil {
		return err
	}
	identity, err := core.NewIdentity()
	if err != nil {
		return err
	}
	with := *c
	opening, err := with.Open(b)
	if err != nil {
		return err
	}
	c.Identity, c.Entries, c.OfOtherBuild = identity, with.Entries, with.OfOtherBuild
	k.on.Store(true)
	for _, e := range left {
		k.tap(etcd.Entry{Name: e.Name})
	}
	if opening.Exact {
		k.keepBase(c.Entries)
	} else { // the engine writes them anew, and the tap sees it
		c.OnLeftOut = k.takenOver
		k.keepBase(nil)
	}
	k.opened = identity
	return nil
}

// begun is called when an engine has been made of c: what it began with is kept from then on, and a bundle is forgotten.
func (k *keeping) begun() {
	if k.opened != nil {
		k.keepIdentity(k.opened)
		k.opened = nil
	}
	if k.bundle != nil && k.on.Load() {
		k.tap(etcd.Entry{Name: bundleName})
		k.bundle = nil
	}
}

// first gives c the identity of a new cluster, and turns keeping on. It returns an error when there is no randomness.
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

// without has a program begin a new cluster because the kept entries cannot be used, and tells the host why. The entries
// stay as they are. If this build has kept them, the new cluster is not kept, because its entries would go to the same
// place. If another build has kept them, the new cluster has a place of its own and is kept. It returns an error when
// there is no randomness.
func (k *keeping) without(c *core.Config, why error) error {
	k.host.NotKept(why.Error())
	c.Identity, c.Entries, c.OfOtherBuild, k.opened = nil, nil, false, nil
	if k.ofOther {
		return k.first(c)
	}
	k.on.Store(false)
	return nil
}

// takenOver tells the host which objects of another build's cluster this build cannot read.
func (k *keeping) takenOver(left []etcd.LeftOut) {
	lines := make([]string, len(left))
	for i, l := range left {
		lines[i] = fmt.Sprintf("%s: %v", l.Key, l.Why)
	}
	k.host.TakenOver(lines)
}

// goOn makes a resumed engine the cluster that the host has kept, or a new cluster if nothing is kept. From then on
// changes are kept. If the kept entries cannot be used, it tells the host why and makes a new cluster, as without does.
// It returns the errors of Engine.Base and Engine.Renew.
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

// become makes a resumed engine the cluster that the host has kept. It returns an error when the identity is missing,
// when the base cannot be read, and the errors of Engine.Base, Engine.Restore and Engine.TakeOver; the engine is
// unchanged then.
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

// take returns the entries that the host has given, and forgets them.
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
		case bundleName:
			k.bundle = e.Record
		default:
			entries = append(entries, e)
		}
	}
	k.earlier = nil
	return identity, base, entries
}
