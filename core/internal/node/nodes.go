package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/kubelet/clustertrustbundle"

	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
	"github.com/kubetab/kubetab/core/internal/node/locks"
	"github.com/kubetab/kubetab/core/internal/node/network"
)

const (
	defaultNodes  = 2
	maxNodes      = 2048 // networks of 256 addresses from 10.244.0.0 on
	workers       = 8    // Pods that take a step at the same time
	kubeletPort   = 10250
	eventsWaiting = 4096 // events that wait for the API server before more are dropped
)

// Config says which nodes there are. Client and Informers are required.
type Config struct {
	// Client reaches the API server as the kubelets. Its user must be allowed
	// what system:node is.
	Client clientset.Interface
	// Informers are shared with whoever else watches; Run starts those that it
	// needs. Objects may lack managed fields.
	Informers informers.SharedInformerFactory
	// Clock is the cluster's. Nil means the real time.
	Clock *clock.Clock
	// Count is how many nodes there are. Zero means two.
	Count int
	// Capacity is that of each node. What it does not name is 4 CPUs, 8Gi of
	// memory, 100Gi of ephemeral storage and 110 Pods.
	Capacity v1.ResourceList
	// Storage is how many bytes the files of all nodes may take together, whatever
	// Capacity says: they are in the memory of this process. Writes beyond it fail
	// with ENOSPC, and nodes evict when a tenth is left. Zero means 1 GiB.
	Storage int64
	// Dialer is how the API server reaches the kubelets and Pods. Nil means
	// that it does not.
	Dialer *Dialer
	// API answers containers that ask for https://kubernetes.default.svc, as whoever their credentials
	// say. Nil means that nothing does.
	API http.RoundTripper
}

// Nodes are the nodes of one cluster.
type Nodes struct {
	config Config
	clock  *clock.Clock

	pods     corelisters.PodLister
	nodes    corelisters.NodeLister
	synced   []cache.InformerSynced
	handlers []registration

	queue   workqueue.TypedInterface[types.UID]
	events  *eventSink
	cluster lifecycle.Cluster // what Pods need of it; its context is that of Run
	running sync.WaitGroup

	registered chan struct{} // closed by Run

	stepping atomic.Int32 // Pods that take a step at this moment

	kubelets []*kubelet // in order of their names
	byName   map[string]*kubelet

	mu      locks.Mutex[locks.Part]
	byUID   map[types.UID]*lifecycle.Pod
	byIP    map[string]*lifecycle.Pod  // Pods that have a network of their own
	volumes map[string]*container.File // contents of persistent volumes, by claim
}

// trustBundles is how many sets of ClusterTrustBundles are kept for Pods that ask for them again.
const trustBundles = 64

type registration struct {
	informer cache.SharedIndexInformer
	handle   cache.ResourceEventHandlerRegistration
}

// defaultStorage is Config.Storage, if that is zero.
const defaultStorage = 1 << 30

// New returns the nodes of a cluster, which exist once Run has been called. It
// adds its informers to the factory. It fails if Count is too large or negative
// or if a part of Config that is required is missing.
func New(c Config) (*Nodes, error) {
	switch {
	case c.Client == nil || c.Informers == nil:
		return nil, errors.New("nodes need a client and informers")
	case c.Count < 0 || c.Count > maxNodes:
		return nil, fmt.Errorf("cannot simulate %d nodes: between 1 and %d are possible", c.Count, maxNodes)
	case c.Count == 0:
		c.Count = defaultNodes
	}
	n := &Nodes{
		config: c, clock: c.Clock,
		queue: workqueue.NewTyped[types.UID](), registered: make(chan struct{}),
		byName: map[string]*kubelet{}, byUID: map[types.UID]*lifecycle.Pod{}, byIP: map[string]*lifecycle.Pod{},
		volumes: map[string]*container.File{},
	}
	if n.clock == nil {
		n.clock = clock.New(nil)
	}
	n.events = newEventSink(c.Client, n.clock)

	core := c.Informers.Core().V1()
	n.pods, n.nodes = core.Pods().Lister(), core.Nodes().Lister()
	n.cluster = lifecycle.Cluster{
		Client: c.Client, Clock: n.clock, Disk: container.NewDisk(n.clock, cmp.Or(c.Storage, defaultStorage)),
		ConfigMaps: core.ConfigMaps().Lister(), Secrets: core.Secrets().Lister(), Services: core.Services().Lister(), Claims: core.PersistentVolumeClaims().Lister(), PersistentVolumes: core.PersistentVolumes().Lister(),
		Restarts: lifecycle.NewBackOff(n.clock), Pulls: lifecycle.NewBackOff(n.clock),
		Volume: n.persistent, Event: n.events.add, Queue: n.queue, Go: n.goWait,
	}
	n.cluster.Network = &network.Network{
		Services: n.cluster.Services, Slices: c.Informers.Discovery().V1().EndpointSlices().Lister(), ConfigMaps: n.cluster.ConfigMaps,
		Namespaces: core.Namespaces().Lister(), Policies: c.Informers.Networking().V1().NetworkPolicies().Lister(),
		API: c.API, Hosts: hosts{n}, Clock: n.clock,
	}
	for _, informer := range []cache.SharedIndexInformer{core.Pods().Informer(), core.Nodes().Informer(), core.ConfigMaps().Informer(), core.Secrets().Informer(),
		core.Services().Informer(), core.PersistentVolumeClaims().Informer(), core.PersistentVolumes().Informer(), c.Informers.Discovery().V1().EndpointSlices().Informer(), core.Namespaces().Informer()} { // and NetworkPolicies: nodes work where their API is turned off
		n.synced = append(n.synced, informer.HasSynced)
	}
	for i := range c.Count {
		k := newKubelet(n, i, c.Capacity)
		n.kubelets = append(n.kubelets, k)
		n.byName[k.name] = k
	}
	if err := n.watch(core.Pods().Informer(), core.Nodes().Informer(), core.ConfigMaps().Informer(), core.Secrets().Informer(), core.PersistentVolumeClaims().Informer()); err != nil {
		return nil, err
	}
	return n, nil
}

// Run registers the nodes and runs their kubelets until ctx ends. It returns
// when everything it started has ended, with nil, or the error for which the
// nodes could not be registered.
func (n *Nodes) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		n.queue.ShutDown()
		n.stopPods()
		n.running.Wait()
		for _, r := range n.handlers {
			_ = r.informer.RemoveEventHandler(r.handle) // the factory may already be shut down
		}
	}()
	n.cluster.Context = ctx
	n.cluster.Trust = clustertrustbundle.NewLazyInformerManager(ctx, n.config.Client, trustBundles)
	n.config.Informers.Start(ctx.Done())
	n.running.Go(func() { n.events.run(ctx) })
	if n.config.Dialer != nil {
		defer n.serve(ctx)()
	}
	for _, k := range n.kubelets {
		if err := k.register(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("register node %s: %w", k.name, err)
		}
	}
	close(n.registered)
	if !cache.WaitForCacheSync(ctx.Done(), n.synced...) {
		return nil
	}
	for range workers {
		n.running.Go(n.work)
	}
	n.heartbeats(ctx)
	return nil
}

// Registered is closed when the API server knows all nodes, which it never is
// when Run ends before.
func (n *Nodes) Registered() <-chan struct{} { return n.registered }

// Names returns the names of the nodes.
func (n *Nodes) Names() []string {
	var names []string
	for _, k := range n.kubelets {
		names = append(names, k.name)
	}
	return names
}

// persistent returns what a PersistentVolume holds. It outlives its Pods.
func (n *Nodes) persistent(name string) *container.File {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.volumes[name] == nil {
		n.volumes[name] = n.cluster.Disk.NewDir(0o777)
	}
	return n.volumes[name]
}

// capacity fills in what a cluster does not say.
func capacity(given v1.ResourceList) v1.ResourceList {
	all := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi"),
		v1.ResourceEphemeralStorage: resource.MustParse("100Gi"), v1.ResourcePods: resource.MustParse("110"),
	}
	for name, q := range given {
		all[name] = q
	}
	return all
}
