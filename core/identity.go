package core

import (
	"fmt"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/internal/identity"
	"github.com/kubetab/kubetab/core/resume"
)

// newIdentity takes what cfg gives and makes the rest: with AwaitIdentity only a
// key, because nothing is built without one. It fails when there is no
// randomness, and with resume.ErrKept.
func newIdentity(cfg Config) (controllers.Identity, error) {
	if cfg.Resume.Identity != nil {
		id, err := identity.Unmarshal(cfg.Resume.Identity)
		if err != nil {
			return controllers.Identity{}, fmt.Errorf("the identity: %w: %w", resume.ErrKept, err)
		}
		return id, nil
	}
	id := controllers.Identity{ServiceAccountKey: cfg.Keys.ServiceAccount, CA: cfg.Keys.CA, RootCA: cfg.Keys.RootCA}
	if !cfg.Resume.AwaitIdentity {
		return identity.Complete(id)
	}
	key, err := id.ServiceAccountKey, error(nil)
	if key == nil {
		key, err = identity.NewKey()
	}
	return controllers.Identity{ServiceAccountKey: key}, err
}
