// Package resume is for a host that copies the memory of an engine and goes on from the copy, and that keeps a cluster from
// one program to the next. A page does both. Programs that start engines in the usual way do not need this package.
//
//	             Freeze              Renew, Restore, TakeOver, Become
//	running ───────────────▶ frozen ──────────────────────────────────▶ running
//	                         (copied)
//
// A Point has these states. While an engine is frozen, its Point holds the store, and nothing else can write. Each copy
// goes on from there once: as a new cluster (Renew), as what an earlier copy of the same original has become (Restore), or
// with what another engine's store has held (TakeOver, Become). Closing the engine ends every state.
//
// Package core imports this one: Config is a field of core.Config, and core.Engine.ResumePoint returns the engine's Point.
// docs/module.md in the repository has the picture of a visit.
package resume

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/identity"
	"github.com/kubetab/kubetab/core/internal/records"
)

// Config says what an engine goes on from, and who is told of its records. The zero
// value is for a new cluster without a Tap.
type Config struct {
	// Tap, if set, is told of what is recorded in the store that core.New opens: see
	// etcd.Options.Tap. Restore takes it in another copy, and Entries in a program that
	// starts without one.
	Tap func(etcd.Entry)
	// Identity is what NewIdentity or Renew has returned, for an engine that has the
	// keys and the CA of an earlier one. It takes the place of ServiceAccount, CA and
	// RootCA of core.Config's Keys.
	Identity []byte
	// Base and Entries are what happened in another engine's store, from its beginning:
	// Base as Point.Base or cluster.Opening returned it, and then Entries as Tap was told of
	// them. Whoever is told by this engine's Tap goes on from Base, too. The store that
	// core.New opens, or a Store that is empty, then has the same content: the engine is
	// like a server that is started again, perhaps with other settings, on the same etcd.
	Base, Entries []etcd.Entry
	// OfOtherBuild says that Base and Entries are of another build's store. Objects that this build
	// cannot read, because it lacks their API or cannot decode them, are left out.
	OfOtherBuild bool
	// OnLeftOut, if set, is called once with the objects that OfOtherBuild left out, which
	// may be none, and with the reason of each. core.New calls it before anything reads
	// the store, in the caller's goroutine, and does not keep the slice.
	OnLeftOut func([]etcd.LeftOut)
	// AwaitIdentity leaves all keys and certificates to Renew: for an engine whose
	// memory will be copied, so that no two copies share one. Until then controllers
	// that need one do not run, and tokens are signed by a key that is thrown away.
	AwaitIdentity bool
}

var (
	// ErrKept is in what core.New returns when Config.Identity, Config.Base or
	// Config.Entries cannot be used. Without them it may succeed.
	ErrKept = errors.New("what was kept of an earlier engine cannot be used")
	// ErrNotFrozen is returned by methods that need a frozen engine.
	ErrNotFrozen = errors.New("the engine was not frozen")
)

// NewIdentity makes the keys and the CA of a cluster, for Config.Identity and for
// Restore. They are secrets. It fails when there is no randomness.
func NewIdentity() ([]byte, error) {
	id, err := identity.Complete(controllers.Identity{})
	if err != nil {
		return nil, err
	}
	return identity.Marshal(id)
}

// Begin makes an empty store what c.Base and c.Entries say. It is for core.New, and fails with
// ErrKept.
func (c Config) Begin(store *etcd.DB) error {
	if len(c.Base)+len(c.Entries) == 0 && !c.OfOtherBuild {
		return nil
	}
	hold := store.Hold()
	defer hold.Release()
	err := error(nil)
	if c.OfOtherBuild {
		var left []etcd.LeftOut
		if left, err = hold.Adopt(c.Base, c.Entries, adoption); err == nil && c.OnLeftOut != nil {
			c.OnLeftOut(left)
		}
	} else {
		err = hold.Replay(c.Base, c.Entries)
	}
	if err != nil {
		return fmt.Errorf("the objects: %w: %w", ErrKept, err)
	}
	return nil
}

// adoption is how an engine takes over what another build's has stored.
var adoption = etcd.Adoption{Renewed: isRenewed, Check: records.Unreadable}

// renewed are the resources that upstream brings up to date when it starts: roles,
// priority classes, flow control and the APIs themselves.
var renewed = []string{
	"clusterroles/", "clusterrolebindings/", "roles/", "rolebindings/", "priorityclasses/", "flowschemas/", "prioritylevelconfigurations/",
	"apiregistration.k8s.io/apiservices/",
}

func isRenewed(key string) bool {
	rest, ok := strings.CutPrefix(key, records.Prefix+"/")
	if !ok {
		return true // notes of the API server to itself
	}
	for _, resource := range renewed {
		if strings.HasPrefix(rest, resource) {
			return true
		}
	}
	return false
}
