package core

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	namespacecontroller "k8s.io/kubernetes/pkg/controller/namespace"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
)

// Settings that kube-controller-manager has by default.
const (
	namespaceResync    = 5 * time.Minute
	namespaceWorkers   = 10
	gcWorkers          = 20
	gcDiscoveryPeriod  = 30 * time.Second
	aggregationWorkers = 5
)

// controllers are those of kube-controller-manager without which an API server
// alone is not usable: namespaces would never finish terminating, owners would
// not cascade, Pods would be refused for want of a service account, and the
// roles admin, edit and view would be empty. Those of CRDs run inside the
// apiextensions server.
type controllers struct {
	run     []func(context.Context)
	running sync.WaitGroup

	informers       informers.SharedInformerFactory
	metadata        metadatainformer.SharedInformerFactory
	informersActive chan struct{} // closed when the informers have been started
}

// newControllers builds them on the engine's own informers. rootCA may be
// empty, and then no ConfigMap kube-root-ca.crt is published.
func newControllers(ctx context.Context, config *rest.Config, inf informers.SharedInformerFactory, rootCA []byte) (*controllers, error) {
	c := &controllers{informers: inf, informersActive: make(chan struct{})}
	client := func(name string) (*rest.Config, clientset.Interface, error) {
		cfg := rest.AddUserAgent(rest.CopyConfig(config), name)
		cs, err := clientset.NewForConfig(cfg)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		return cfg, cs, nil
	}

	cfg, cs, err := client("namespace-controller")
	if err != nil {
		return nil, err
	}
	md, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("namespace-controller: %w", err)
	}
	namespaces := namespacecontroller.NewNamespaceController(ctx, cs, md, cs.Discovery().ServerPreferredNamespacedResources,
		inf.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	c.add(func(ctx context.Context) { namespaces.Run(ctx, namespaceWorkers) })

	_, cs, err = client("service-account-controller")
	if err != nil {
		return nil, err
	}
	accounts, err := serviceaccountcontroller.NewServiceAccountsController(klog.FromContext(ctx),
		inf.Core().V1().ServiceAccounts(), inf.Core().V1().Namespaces(), cs, serviceaccountcontroller.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, fmt.Errorf("service-account-controller: %w", err)
	}
	c.add(func(ctx context.Context) { accounts.Run(ctx, 1) })

	if len(rootCA) > 0 {
		_, cs, err = client("root-ca-cert-publisher")
		if err != nil {
			return nil, err
		}
		publisher, err := rootcacertpublisher.NewPublisher(inf.Core().V1().ConfigMaps(), inf.Core().V1().Namespaces(), cs, rootCA)
		if err != nil {
			return nil, fmt.Errorf("root-ca-cert-publisher: %w", err)
		}
		c.add(func(ctx context.Context) { publisher.Run(ctx, 1) })
	}

	_, cs, err = client("clusterrole-aggregation-controller")
	if err != nil {
		return nil, err
	}
	aggregation := clusterroleaggregation.NewClusterRoleAggregation(inf.Rbac().V1().ClusterRoles(), cs.RbacV1())
	c.add(func(ctx context.Context) { aggregation.Run(ctx, aggregationWorkers) })

	return c, c.addGarbageCollector(ctx, client)
}

// addGarbageCollector adds the one controller that looks at every kind there
// is, CRDs included, through metadata-only informers that discovery tells it
// to start.
func (c *controllers) addGarbageCollector(ctx context.Context, client func(string) (*rest.Config, clientset.Interface, error)) error {
	cfg, cs, err := client("generic-garbage-collector")
	if err != nil {
		return err
	}
	md, err := metadata.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("generic-garbage-collector: %w", err)
	}
	c.metadata = metadatainformer.NewSharedInformerFactory(md, 0)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(cs.Discovery()))
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, md, mapper, garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(c.informers, c.metadata), c.informersActive)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, cs, md, mapper, graph)
	if err != nil {
		return fmt.Errorf("generic-garbage-collector: %w", err)
	}
	c.add(func(ctx context.Context) { gc.Run(ctx, gcWorkers, gcDiscoveryPeriod) })
	c.add(func(ctx context.Context) { gc.Sync(ctx, cs.Discovery(), gcDiscoveryPeriod) })
	return nil
}

func (c *controllers) add(run func(context.Context)) { c.run = append(c.run, run) }

// start starts the informers and every controller; they end with ctx.
func (c *controllers) start(ctx context.Context) {
	c.informers.Start(ctx.Done())
	c.metadata.Start(ctx.Done())
	close(c.informersActive)
	for _, run := range c.run {
		c.running.Go(func() { run(ctx) })
	}
}

// wait returns when every controller and informer has ended.
func (c *controllers) wait() {
	c.running.Wait()
	c.informers.Shutdown()
	c.metadata.Shutdown()
}
