package controllers

import (
	"context"
	"crypto"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/cert"
	controllersmetrics "k8s.io/component-base/metrics/prometheus/controllers"
	controllerapp "k8s.io/controller-manager/app"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	componentconfig "k8s.io/kubernetes/pkg/controller/apis/config"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam"

	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/internal/informerset"
)

// mapperPeriod is how often the REST mapper forgets what it has discovered, as
// in kube-controller-manager.
const mapperPeriod = 30 * time.Second

// Config says which controllers run and what they need from the server that
// they work on.
type Config struct {
	// Loopback reaches the server as a member of system:masters: it must be
	// allowed to impersonate. Its UserAgent begins with the field manager that
	// the controllers write as, and should be kube-controller-manager's.
	Loopback *rest.Config

	// Enabled turns controllers on and off by name or alias as
	// --controllers does: "*" is all that are on by default, "foo" turns foo
	// on, "-foo" turns it off. Empty means "*".
	Enabled []string

	// Identity is what no other cluster has.
	Identity
	// AwaitIdentity says that Identity is not there yet: the controllers that
	// need it start with StartIdentified.
	AwaitIdentity bool
	// ClusterCIDR is the range that Nodes get their podCIDR from, such as
	// 10.244.0.0/16. Empty means that Nodes get none.
	ClusterCIDR string
	// Clock is what jobs, cron jobs, what follows them and evictions for taints
	// are timed by. Nil means the real time, as for all others.
	Clock *clock.Clock
}

// Identity are the keys and certificates of a cluster.
type Identity struct {
	// RootCA is the PEM certificate that clients inside the cluster trust.
	// Empty means that none is published.
	RootCA []byte
	// ServiceAccountKey signs the tokens of Secrets of the type
	// kubernetes.io/service-account-token. The server must verify it for the
	// issuer kubernetes/serviceaccount. Nil means that no such tokens are made.
	ServiceAccountKey crypto.Signer
	// CA signs certificate signing requests that have been approved. Nil means
	// that approved requests stay unsigned.
	CA *Authority
}

// Controllers are those of kube-controller-manager that Config asks for. Build
// them with New, run them with Start, and wait for their end with Wait.
type Controllers struct {
	Config
	enabled   map[string]bool // by canonical name
	clients   identities
	root      clientset.Interface
	component componentconfig.KubeControllerManagerConfiguration

	informers *informerset.Set // set by Start, before the controllers that need it
	views     []*informerset.Held
	running   sync.WaitGroup
}

// New checks cfg and returns the controllers, none of which is built yet. It
// fails on a name in Enabled that kube-controller-manager does not have, on one
// that is asked for and not available here, with the reason, on a root CA that
// is no certificate, and on a Loopback that no client can be made of.
func New(cfg Config) (*Controllers, error) {
	enabled, err := enabledControllers(cfg.Enabled)
	if err != nil {
		return nil, err
	}
	if err := cfg.Identity.check(); err != nil {
		return nil, err
	}
	c := &Controllers{Config: cfg, enabled: enabled, clients: identities{loopback: cfg.Loopback, rootCA: cfg.RootCA}}
	if c.root, err = clientset.NewForConfig(cfg.Loopback); err != nil {
		return nil, fmt.Errorf("controllers: %w", err)
	}
	if c.component, err = options.NewDefaultComponentConfig(); err != nil {
		return nil, fmt.Errorf("controllers: upstream's default settings: %w", err)
	}
	// Only upstream's flags have the defaults of these settings. With a rate of 0, only the first lost node was tainted
	// with NoExecute.
	lifecycle := &c.component.NodeLifecycleController
	lifecycle.NodeEvictionRate, lifecycle.SecondaryNodeEvictionRate = 0.1, 0.01
	lifecycle.LargeClusterSizeThreshold, lifecycle.UnhealthyZoneThreshold = 50, 0.55
	c.component.KubeCloudShared.AllocateNodeCIDRs = cfg.ClusterCIDR != ""
	c.component.KubeCloudShared.ClusterCIDR = cfg.ClusterCIDR
	c.component.KubeCloudShared.CIDRAllocatorType = string(ipam.RangeAllocatorType)
	return c, nil
}

func (i Identity) check() error {
	if len(i.RootCA) > 0 {
		if _, err := cert.ParseCertsPEM(i.RootCA); err != nil {
			return fmt.Errorf("root CA: %w", err)
		}
	}
	return nil
}

// enabledControllers says which rows of the table run.
func enabledControllers(choices []string) (map[string]bool, error) {
	if len(choices) == 0 {
		choices = []string{"*"}
	}
	canonical := map[string]string{"*": "*"}
	offByDefault := sets.NewString()
	for _, row := range table {
		canonical[row.name] = row.name
		if row.absent != "" {
			offByDefault.Insert(row.name)
		}
		for _, alias := range row.aliases {
			canonical[alias] = row.name
		}
		if row.descriptor == nil {
			continue
		}
		d := row.descriptor()
		for _, alias := range d.GetAliases() {
			canonical[alias] = row.name
		}
		if d.IsDisabledByDefault() {
			offByDefault.Insert(row.name)
		}
	}

	var resolved []string
	for _, choice := range choices {
		name, off := strings.CutPrefix(choice, "-")
		known, ok := canonical[name]
		if !ok {
			return nil, fmt.Errorf("controllers: %q is not in the list of known controllers", name)
		}
		if off {
			known = "-" + known
		}
		resolved = append(resolved, known)
	}
	enabled := map[string]bool{}
	for _, row := range table {
		on := controllerapp.IsControllerEnabled(row.name, offByDefault, resolved)
		if on && row.absent != "" {
			return nil, fmt.Errorf("controllers: %q does not run here: %s", row.name, row.absent)
		}
		enabled[row.name] = on
	}
	if !enabled[names.GarbageCollectorController] {
		enabled[names.StorageVersionMigratorController] = false // it works on the collector's graph
	}
	return enabled, nil
}

// Informers returns the factory that the controllers share, for what else
// watches the same server. It is nil until waitReady, given to Start, has
// returned.
func (c *Controllers) Informers() informers.SharedInformerFactory {
	if c.informers == nil {
		return nil
	}
	return c.informers
}

// Views are what the controllers hear through. They are all there when Start has
// returned.
func (c *Controllers) Views() []*informerset.Held { return c.views }

// Start builds and runs the controllers until ctx ends; Wait waits for them.
// Those that a server is hardly usable without start at once, on own, the API
// server's informers, which are started until serving ends; own may be nil, and
// then they make all informers that they need. The others follow when
// waitReady returns: some ask for discovery while they are built, and upstream
// ends the process when the server does not answer. Start returns when all
// have been started, with waitReady's error or that of the first controller
// that could not be built; what runs by then goes on until ctx ends.
func (c *Controllers) Start(ctx context.Context, own informers.SharedInformerFactory, serving <-chan struct{}, waitReady func(context.Context) error) error {
	controllersmetrics.Register()
	if own != nil {
		clients := c.clients
		clients.privileged = true
		held := informerset.Hold(ctx, own)
		early := app.ControllerContext{ClientBuilder: clients, InformerFactory: held, ComponentConfig: c.component, ResyncPeriod: c.resync}
		if err := c.launch(ctx, early, held, func(row controller) bool { return row.early && c.identified(row) }); err != nil {
			return err
		}
		own.Start(serving)
	}
	if err := waitReady(ctx); err != nil {
		return err
	}

	c.informers = informerset.New(c.root, c.resync(), own)
	held := informerset.Hold(ctx, c.informers)
	shared, err := c.context(ctx, held)
	if err != nil {
		return err
	}
	return c.launch(ctx, shared, held, func(row controller) bool { return (!row.early || own == nil) && c.identified(row) })
}

// identified says whether what the controller needs of Identity is there.
func (c *Controllers) identified(row controller) bool { return !row.identity || !c.AwaitIdentity }

// StartIdentified starts the controllers that Config.AwaitIdentity held back.
// It must be called once, after Start has returned, and returns when they have
// been started. It fails on a root CA that is no certificate and when one of
// them cannot be built; ctx is Start's.
func (c *Controllers) StartIdentified(ctx context.Context, identity Identity) error {
	if err := identity.check(); err != nil {
		return err
	}
	c.Identity, c.clients.rootCA = identity, identity.RootCA
	held := informerset.Hold(ctx, c.informers)
	shared := app.ControllerContext{ClientBuilder: c.clients, InformerFactory: held, ComponentConfig: c.component, ResyncPeriod: c.resync}
	if err := c.launch(ctx, shared, held, func(row controller) bool { return row.identity }); err != nil {
		return err
	}
	c.informers.Start(ctx.Done())
	return nil
}

// launch builds the enabled controllers among those chosen over held, which it
// releases, starts their informers, and runs them.
func (c *Controllers) launch(ctx context.Context, shared app.ControllerContext, held *informerset.Held, chosen func(controller) bool) error {
	c.views = append(c.views, held)
	var built []app.Controller
	for _, row := range table {
		if !chosen(row) || !c.enabled[row.name] {
			continue
		}
		logger := klog.LoggerWithName(klog.FromContext(ctx), row.name)
		one, err := c.build(klog.NewContext(ctx, logger), shared, row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		if one != nil { // nil: off by a feature gate, or for want of what Config leaves out
			built = append(built, one)
		}
	}
	held.Release()
	if shared.ObjectOrMetadataInformerFactory != nil {
		shared.ObjectOrMetadataInformerFactory.Start(ctx.Done())
		close(shared.InformersStarted)
	}
	for _, one := range built {
		c.running.Go(func() {
			one.Run(klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), one.Name())))
		})
	}
	return nil
}

func (c *Controllers) build(ctx context.Context, shared app.ControllerContext, row controller) (app.Controller, error) {
	switch {
	case row.build != nil:
		return row.build(c)(ctx, shared, row.name)
	case row.timed != nil && c.Clock != nil:
		return row.timed(c)(ctx, shared, row.name)
	}
	return row.descriptor().BuildController(ctx, shared)
}

// Wait returns when everything that Start has started has ended, which it does
// when Start's context has.
func (c *Controllers) Wait() { c.running.Wait() }

// resync is kube-controller-manager's: 12 hours and up to as much again, so
// that informers do not go over everything at the same time.
func (c *Controllers) resync() time.Duration {
	least := c.component.Generic.MinResyncPeriod.Duration
	return least + time.Duration(rand.Int64N(int64(least)))
}

// context is what app.CreateControllerContext makes, over informers that are
// shared with the API server.
func (c *Controllers) context(ctx context.Context, held *informerset.Held) (app.ControllerContext, error) {
	metadataClient, err := metadata.NewForConfig(c.Loopback)
	if err != nil {
		return app.ControllerContext{}, fmt.Errorf("controllers: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.root.Discovery()))
	c.running.Go(func() { wait.UntilWithContext(ctx, func(context.Context) { mapper.Reset() }, mapperPeriod) })

	everything := informerset.NewAnyResource(c.informers, held, metadataClient, c.resync())
	c.running.Go(func() {
		<-ctx.Done()
		everything.Shutdown()
	})
	started := make(chan struct{})
	controllers := app.ControllerContext{
		ClientBuilder:                   c.clients,
		InformerFactory:                 held,
		ObjectOrMetadataInformerFactory: everything,
		ComponentConfig:                 c.component,
		RESTMapper:                      mapper,
		InformersStarted:                started,
		ResyncPeriod:                    c.resync,
		ControllerManagerMetrics:        controllersmetrics.NewControllerManagerMetrics("kube-controller-manager"),
	}
	if c.enabled[names.GarbageCollectorController] {
		controllers.GraphBuilder = garbagecollector.NewDependencyGraphBuilder(ctx, metadataClient, mapper, garbagecollector.DefaultIgnoredResources(), everything, started)
	}
	return controllers, nil
}

// Names returns every controller that kube-controller-manager has.
func Names() []string {
	var all []string
	for _, row := range table {
		if !row.cloud {
			all = append(all, row.name)
		}
	}
	return all
}
