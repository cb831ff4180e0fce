package core

import (
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/internal/settings"
)

// Open has New begin with the cluster in b: its objects, with their UIDs, times and,
// if Opening.Exact, resource versions; its settings, in place of those in c, but for Nodes
// where b does not say how many; its clock, if c has one; and its files, unless c has a
// Workspace. A Store must be empty. Keys and CA are those of c. What is left out is told to
// Resume.OnLeftOut, too.
//
// It fails as cluster.Check does; c is as it was then.
func (c *Config) Open(b *bundle.Bundle) (cluster.Opening, error) {
	o, err := cluster.Check(b)
	if err != nil {
		return cluster.Opening{}, err
	}
	if c.Clock != nil {
		cluster.SetClock(c.Clock, b.Clock)
	}
	if files := b.Files; c.Workspace == nil {
		c.Workspace = func() ([]bundle.File, error) { return files, nil }
	}
	c.set(b.Settings)
	c.Resume.Base, c.Resume.Entries, c.Resume.OfOtherBuild = o.Entries, nil, !o.Exact
	return o, nil
}

// Check fails as New does on an emulated version, feature gates, a runtime-config
// and controllers that cannot be, without starting anything.
func (c Config) Check() error { return settings.Check(c.settings()) }

func (c *Config) set(s bundle.Settings) {
	c.EmulatedVersion = s.EmulatedVersion
	c.RuntimeConfig = s.RuntimeConfig
	c.FeatureGates = s.FeatureGates
	if s.Nodes != nil {
		c.Nodes = *s.Nodes
	}
	c.Controllers = s.Controllers
	c.NoScheduler = s.NoScheduler
}

func (c Config) settings() bundle.Settings {
	return bundle.Settings{
		EmulatedVersion: c.EmulatedVersion,
		RuntimeConfig:   c.RuntimeConfig,
		FeatureGates:    c.FeatureGates,
		Nodes:           &c.Nodes,
		Controllers:     c.Controllers,
		NoScheduler:     c.NoScheduler,
	}
}
