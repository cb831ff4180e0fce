// Package cluster is for what is done with a cluster as a whole: save it as a bundle,
// open a bundle, write what people made in it as manifests, count what an engine keeps
// and does not serve. package bundle has the format of the files, which knows no
// Kubernetes; here upstream's codecs read the records.
package cluster

import (
	"fmt"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
)

// Engine is what a Cluster needs of the engine that serves it.
type Engine struct {
	// Dial returns a client of the store, which the caller closes.
	Dial func() (*kubernetes.Client, error)
	// Stopped reports whether the store answers nobody, as after a PUT to core.EtcdPath.
	Stopped func() bool
	// Client reaches the API server as system:masters.
	Client *rest.Config
	// Settings are those that the engine was started with.
	Settings bundle.Settings
	// Clock is the cluster's. Nil means the real time.
	Clock *clock.Clock
	// Workspace is that of core.Config. It may be nil.
	Workspace func() ([]bundle.File, error)
}

// Cluster is the cluster of an engine. Its methods may be called from several goroutines
// at once.
type Cluster struct{ of Engine }

// New returns the cluster of an engine. core.Engine.Cluster is for callers.
func New(of Engine) *Cluster { return &Cluster{of} }

// dial returns a client of the store, which the caller closes.
func (c *Cluster) dial() (*kubernetes.Client, error) {
	store, err := c.of.Dial()
	if err != nil {
		return nil, fmt.Errorf("reach the store: %w", err)
	}
	return store, nil
}
