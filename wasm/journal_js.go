package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/resume"
	"github.com/kubetab/kubetab/wasm/boundary"
)

// Entries beside those of the store's journal, none of which has a name like these.
const (
	// identityName is the entry that holds the engine's identity.
	identityName = "identity"
	// baseName is the entry that holds the content of the store before the first change: the content of the snapshot's
	// store, that of a bundle, or nothing. An engine that starts without the snapshot needs it. One that resumes the
	// snapshot needs it where it is not the snapshot's.
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
	host      *boundary.Host
	clock     *clock.Clock // the engine's, which a bundle sets
	verbosity int          // of the log
	on        atomic.Bool

	mu      sync.Mutex
	earlier []etcd.Entry
	ofOther bool   // earlier is of another build
	bundle  []byte // nil unless the page has added one
	opened  []byte // the identity of a cluster that begins with bundle, until begun has told the host
}

// tap is resume.Config.Tap: it gives an entry to the host once keeping is on.
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
	if c.Resume.AwaitIdentity || !k.host.CanKeep() {
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
	c.Resume.Identity, c.Resume.Base, c.Resume.Entries = identity, before, entries
	k.on.Store(true)
	if k.ofOther {
		c.Resume.OfOtherBuild, c.Resume.OnLeftOut = true, k.takenOver
		k.keepBase(nil)
		k.keepIdentity(identity)
	}
	return nil
}

// open makes c begin with the bundle that the page has added, and turns keeping on. The settings in c stay: the page has
// taken them from the bundle. The bundle stays with the host until begun, and so does an engine that ends before it begin
// with the bundle again; what such an engine has left is forgotten here.
//
// The errors are those of bundle.Read, core.Config.Open and giveFiles, and that there is no randomness; nothing has
// happened then.
func (k *keeping) open(c *core.Config, left []etcd.Entry) error {
	b, err := bundle.Read(bytes.NewReader(k.bundle), bundle.DefaultLimits())
	if err != nil {
		return err
	}
	identity, err := resume.NewIdentity()
	if err != nil {
		return err
	}
	with := *c
	opening, err := with.Open(b)
	if err == nil {
		err = giveFiles(b.Files)
	}
	if err != nil {
		return err
	}
	c.Resume.Identity, c.Resume.Base, c.Resume.OfOtherBuild = identity, with.Resume.Base, with.Resume.OfOtherBuild
	k.on.Store(true)
	k.forget(left)
	if opening.Exact {
		k.keepBase(c.Resume.Base)
	} else { // the engine writes them anew, and the tap sees it
		c.Resume.OnLeftOut = k.takenOver
		k.keepBase(nil)
	}
	k.opened = identity
	return nil
}

// forget has the host forget entries.
func (k *keeping) forget(entries []etcd.Entry) {
	for _, e := range entries {
		k.tap(etcd.Entry{Name: e.Name})
	}
}

// begun is called when an engine has been made of c: what it began with is kept from then on, and a bundle is forgotten.
func (k *keeping) begun() {
	if k.opened != nil {
		k.keepIdentity(k.opened)
		k.opened = nil
	}
	k.forgetBundle()
}

func (k *keeping) forgetBundle() {
	if k.bundle != nil && k.on.Load() {
		k.tap(etcd.Entry{Name: bundleName})
		k.bundle = nil
	}
}

// first gives c the identity of a new cluster, and turns keeping on. It returns an error when there is no randomness.
func (k *keeping) first(c *core.Config) error {
	identity, err := resume.NewIdentity()
	if err != nil {
		return err
	}
	c.Resume.Identity = identity
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
	takeFiles()
	c.Resume.Identity, c.Resume.Base, c.Resume.Entries, c.Resume.OfOtherBuild, k.opened = nil, nil, nil, false, nil
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

// goOn makes a resumed engine the cluster that the host has kept or added as a bundle, or a new cluster if there is
// nothing. From then on changes are kept. If what there is cannot be used, it tells the host why and makes a new cluster,
// as without does. It returns the errors of Point.Base and Point.Renew.
func (k *keeping) goOn(ctx context.Context, point *resume.Point) error {
	identity, base, entries := k.take()
	k.on.Store(k.host.CanKeep())
	if identity != nil || base != nil || len(entries) > 0 || k.bundle != nil {
		err := error(nil)
		if k.bundle != nil && identity == nil {
			err = k.openResumed(ctx, point, entries)
		} else {
			err = k.become(ctx, point, identity, base, entries)
		}
		if err == nil {
			k.forgetBundle()
			return nil
		}
		k.host.NotKept(err.Error())
		k.on.Store(k.ofOther)
	}
	if k.on.Load() {
		before, err := point.Base()
		if err != nil {
			return err
		}
		k.keepBase(before)
	}
	identity, err := point.Renew(ctx)
	if err != nil {
		return err
	}
	k.keepIdentity(identity)
	return nil
}

// openResumed is open for a resumed engine. The errors are also those of Point.Become and Point.TakeOver; the engine
// and its clock are unchanged then.
func (k *keeping) openResumed(ctx context.Context, point *resume.Point, left []etcd.Entry) error {
	b, err := bundle.Read(bytes.NewReader(k.bundle), bundle.DefaultLimits())
	if err != nil {
		return err
	}
	opening, err := cluster.Check(b)
	if err != nil {
		return err
	}
	identity, err := resume.NewIdentity()
	if err != nil {
		return err
	}
	var own []etcd.Entry
	if !opening.Exact {
		if own, err = point.Base(); err != nil {
			return err
		}
	}
	if err := giveFiles(b.Files); err != nil {
		return err
	}
	k.forget(left)
	if opening.Exact {
		own = opening.Entries
		err = k.put(ctx, point, identity, own, nil)
	} else {
		var leftOut []etcd.LeftOut
		if leftOut, err = point.TakeOver(ctx, identity, nil, opening.Entries); err == nil {
			defer k.takenOver(leftOut)
		}
	}
	if err != nil {
		takeFiles()
		return err
	}
	cluster.SetClock(k.clock, b.Clock)
	k.keepBase(own)
	k.keepIdentity(identity)
	return nil
}

// become makes a resumed engine the cluster that the host has kept. It returns an error when the identity is missing,
// when the base cannot be read, and the errors of Point.Base, Point.Restore, Point.Become and Point.TakeOver; the
// engine is unchanged then.
func (k *keeping) become(ctx context.Context, point *resume.Point, identity, base []byte, entries []etcd.Entry) error {
	if identity == nil {
		return fmt.Errorf("%d entries without an identity", len(entries))
	}
	theirs, err := etcd.Unpack(base)
	if err != nil {
		return err
	}
	if !k.ofOther {
		if goesOnFromNothing(theirs) {
			return k.put(ctx, point, identity, theirs, entries)
		}
		return point.Restore(ctx, identity, entries)
	}
	own, err := point.Base()
	if err != nil {
		return err
	}
	left, err := point.TakeOver(ctx, identity, theirs, entries)
	if err != nil {
		return err
	}
	k.keepBase(own)
	k.keepIdentity(identity)
	k.takenOver(left)
	return nil
}

// put is Point.Become. Upstream warns of each of some sixty watch caches that its watches end, and here they all do.
func (k *keeping) put(ctx context.Context, point *resume.Point, identity []byte, base, entries []etcd.Entry) error {
	return errorsOnly(k.verbosity, func() error { return point.Become(ctx, identity, base, entries) })
}

// goesOnFromNothing reports whether a base is not that of the snapshot, which is never empty and has all of its history.
func goesOnFromNothing(base []etcd.Entry) bool {
	return len(base) == 0 || slices.ContainsFunc(base, etcd.Entry.Begins)
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
