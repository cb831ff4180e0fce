package core

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
)

// Settings that kube-controller-manager has by default.
const (
	namespaceResync    = 5 * time.Minute
	namespaceWorkers   = 10
	gcWorkers          = 20
	gcDiscoveryPeriod  = 30 * time.Second
	aggregationWorkers = 5
)

// controllers runs those of kube-controller-manager without which an API server
// alone is not usable: namespaces would never finish terminating, owners would
// not cascade, Pods would be refused for want of a service account, volumes and
// claims would keep the finalizer that admission gives them, and the roles
// admin, edit and view would be empty. Those of CRDs run inside the
// apiextensions server.
type controllers struct {
	loopback  *rest.Config
	informers informers.SharedInformerFactory // the API server's own
	rootCA    []byte                          // empty: no ConfigMap kube-root-ca.crt is published
	serving   <-chan struct{}                 // closed when the server ends, and with it the informers
	running   sync.WaitGroup
}

// controller is one controller's run function and the name it has upstream.
// run returns when its context ends.
type controller struct {
	name string
	run  func(context.Context)
}

// start builds and starts the controllers, which end with ctx; running waits
// for them. It calls waitReady before it builds those that ask for discovery
// while they are being built: upstream ends the process when it does not
// answer. The informers live as long as the server.
func (c *controllers) start(ctx context.Context, waitReady func(context.Context) error) error {
	for _, build := range []func(context.Context) (controller, error){c.serviceAccounts, c.rootCAPublisher, c.roleAggregation, c.claimProtection, c.volumeProtection} {
		if err := c.launch(ctx, build); err != nil {
			return err
		}
	}
	c.informers.Start(c.serving)

	if err := waitReady(ctx); err != nil {
		return err
	}
	for _, build := range []func(context.Context) (controller, error){c.namespaces, c.garbageCollector} {
		if err := c.launch(ctx, build); err != nil {
			return err
		}
	}
	c.informers.Start(c.serving)
	return nil
}

func (c *controllers) launch(ctx context.Context, build func(context.Context) (controller, error)) error {
	one, err := build(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", one.name, err)
	}
	if one.run != nil {
		c.running.Go(func() { one.run(ctx) })
	}
	return nil
}

func (c *controllers) client(name string) (*rest.Config, clientset.Interface, error) {
	config := rest.CopyConfig(c.loopback)
	config.UserAgent = userAgent("kube-controller-manager") + "/" + name
	client, err := clientset.NewForConfig(config)
	return config, client, err
}

func (c *controllers) serviceAccounts(ctx context.Context) (controller, error) {
	const name = "serviceaccount-controller"
	_, client, err := c.client(name)
	if err != nil {
		return controller{name: name}, err
	}
	accounts, err := serviceaccountcontroller.NewServiceAccountsController(klog.FromContext(ctx),
		c.informers.Core().V1().ServiceAccounts(), c.informers.Core().V1().Namespaces(), client,
		serviceaccountcontroller.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return controller{name: name}, err
	}
	return controller{name, func(ctx context.Context) { accounts.Run(ctx, 1) }}, nil
}

func (c *controllers) rootCAPublisher(context.Context) (controller, error) {
	const name = "root-ca-certificate-publisher-controller"
	if len(c.rootCA) == 0 {
		return controller{name: name}, nil
	}
	_, client, err := c.client(name)
	if err != nil {
		return controller{name: name}, err
	}
	publisher, err := rootcacertpublisher.NewPublisher(c.informers.Core().V1().ConfigMaps(), c.informers.Core().V1().Namespaces(), client, c.rootCA)
	if err != nil {
		return controller{name: name}, err
	}
	return controller{name, func(ctx context.Context) { publisher.Run(ctx, 1) }}, nil
}

func (c *controllers) roleAggregation(context.Context) (controller, error) {
	const name = "clusterrole-aggregation-controller"
	_, client, err := c.client(name)
	if err != nil {
		return controller{name: name}, err
	}
	aggregation := clusterroleaggregation.NewClusterRoleAggregation(c.informers.Rbac().V1().ClusterRoles(), client.RbacV1())
	return controller{name, func(ctx context.Context) { aggregation.Run(ctx, aggregationWorkers) }}, nil
}

func (c *controllers) claimProtection(ctx context.Context) (controller, error) {
	const name = "persistentvolumeclaim-protection-controller"
	_, client, err := c.client(name)
	if err != nil {
		return controller{name: name}, err
	}
	protection, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx),
		c.informers.Core().V1().PersistentVolumeClaims(), c.informers.Core().V1().Pods(), client)
	if err != nil {
		return controller{name: name}, err
	}
	return controller{name, func(ctx context.Context) { protection.Run(ctx, 1) }}, nil
}

func (c *controllers) volumeProtection(ctx context.Context) (controller, error) {
	const name = "persistentvolume-protection-controller"
	_, client, err := c.client(name)
	if err != nil {
		return controller{name: name}, err
	}
	protection, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), c.informers.Core().V1().PersistentVolumes(), client)
	if err != nil {
		return controller{name: name}, err
	}
	return controller{name, func(ctx context.Context) { protection.Run(ctx, 1) }}, nil
}

func (c *controllers) namespaces(ctx context.Context) (controller, error) {
	const name = "namespace-controller"
	config, client, err := c.client(name)
	if err != nil {
		return controller{name: name}, err
	}
	md, err := metadata.NewForConfig(config)
	if err != nil {
		return controller{name: name}, err
	}
	namespaces := namespacecontroller.NewNamespaceController(ctx, client, md, client.Discovery().ServerPreferredNamespacedResources,
		c.informers.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)
	return controller{name, func(ctx context.Context) { namespaces.Run(ctx, namespaceWorkers) }}, nil
}

// garbageCollector looks at every kind there is, CRDs included, through
// metadata-only informers that discovery tells it to start.
func (c *controllers) garbageCollector(ctx context.Context) (controller, error) {
	const name = "garbage-collector-controller"
	config, client, err := c.client(name)
	if err != nil {
		return controller{name: name}, err
	}
	md, err := metadata.NewForConfig(config)
	if err != nil {
		return controller{name: name}, err
	}
	metadataInformers := metadatainformer.NewSharedInformerFactory(md, 0)
	informersStarted := make(chan struct{})
	close(informersStarted) // the factory below starts its own as they are asked for
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, md, mapper, garbagecollector.DefaultIgnoredResources(),
		metadataOnly{metadataInformers}, informersStarted)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, client, md, mapper, graph)
	if err != nil {
		return controller{name: name}, err
	}
	return controller{name, func(ctx context.Context) {
		var both sync.WaitGroup
		both.Go(func() { gc.Run(ctx, gcWorkers, gcDiscoveryPeriod) })
		both.Go(func() { gc.Sync(ctx, client.Discovery(), gcDiscoveryPeriod) })
		both.Wait()
		metadataInformers.Shutdown()
	}}, nil
}

// metadataOnly gives the garbage collector metadata informers for every kind,
// where kube-controller-manager shares its typed ones. Typed informers of all
// kinds would hold every object once more, and the server's own readiness
// waits for each informer that is added to its factory.
type metadataOnly struct {
	metadatainformer.SharedInformerFactory
}

var _ informerfactory.InformerFactory = metadataOnly{}

// ForResource never fails; the error is the interface's.
func (m metadataOnly) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	return m.SharedInformerFactory.ForResource(resource), nil
}
