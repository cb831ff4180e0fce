package kubectl

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"unsafe"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi"
	cachedopenapi "k8s.io/client-go/openapi/cached"
	"k8s.io/client-go/rest"
)

// lend makes flags, those of a command such as "kubectl get", use the shared cache. Upstream has the
// field for a client that is kept, and no way to set it: its own would be read
// from files that each command decodes anew. The configuration is read when the
// command needs discovery: completion parses its flags late.
func (d *Discovery) lend(ctx context.Context, flags *genericclioptions.ConfigFlags, command string) error {
	field := reflect.ValueOf(flags).Elem().FieldByName("discoveryClient")
	if !field.IsValid() || field.Type() != reflect.TypeFor[discovery.CachedDiscoveryInterface]() {
		return fmt.Errorf("genericclioptions.ConfigFlags has no field discoveryClient any more")
	}
	lent := &lentDiscovery{of: d}
	lent.own = sync.OnceValues(func() (*discovery.DiscoveryClient, error) {
		config, err := flags.ToRESTConfig()
		if err != nil {
			return nil, err
		}
		lent.ours = d.cluster.serves(config.Host)
		lent.asker = d.cluster.transport
		if config.WrapTransport != nil {
			lent.asker = config.WrapTransport(lent.asker)
		}
		return discovery.NewDiscoveryClientForConfig(config)
	})
	lent.shared = sync.OnceValues(func() (discovery.CachedDiscoveryInterface, error) {
		own, err := lent.own()
		if err != nil {
			return nil, err
		}
		if !lent.ours {
			return memory.NewMemCacheClient(own), nil
		}
		return d.current(ctx, command)
	})
	*(*discovery.CachedDiscoveryInterface)(unsafe.Pointer(field.UnsafeAddr())) = lent
	return nil
}

// lentDiscovery is the shared cache as one command sees it. It is looked at when
// the command first needs it. What the command has not asked for itself is not
// fresh, so that a type which is not there is looked for once more.
type lentDiscovery struct {
	of     *Discovery
	own    func() (*discovery.DiscoveryClient, error)
	shared func() (discovery.CachedDiscoveryInterface, error)
	// Set by own: whether the configuration is for our cluster, and what the
	// command's requests go through.
	ours  bool
	asker http.RoundTripper

	mu      sync.Mutex
	fresh   bool
	openapi openapi.Client
}

func (l *lentDiscovery) Fresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh
}

func (l *lentDiscovery) Invalidate() {
	if shared, err := l.shared(); err == nil {
		l.ask(shared.Invalidate)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh, l.openapi = true, nil
}

// RESTClient is nil where the configuration is wrong.
func (l *lentDiscovery) RESTClient() rest.Interface {
	own, err := l.own()
	if err != nil {
		return nil
	}
	return own.RESTClient()
}

// WithLegacy returns a client that asks for each group on its own.
func (l *lentDiscovery) WithLegacy() discovery.DiscoveryInterface {
	own, err := l.own()
	if err != nil {
		return l
	}
	return own.WithLegacy()
}

func (l *lentDiscovery) ServerVersion() (*version.Info, error) {
	own, err := l.own()
	if err != nil {
		return nil, err
	}
	return own.ServerVersion()
}

func (l *lentDiscovery) OpenAPISchema() (*openapi_v2.Document, error) {
	own, err := l.own()
	if err != nil {
		return nil, err
	}
	return own.OpenAPISchema()
}

// OpenAPIV3 asks for the index in each command, since the documents of a CRD
// come some time after the CRD, and finds most documents in what is kept.
func (l *lentDiscovery) OpenAPIV3() openapi.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.openapi == nil {
		own, err := l.own()
		if err != nil {
			return noOpenAPI{err}
		}
		l.openapi = cachedopenapi.NewClient(own.OpenAPIV3())
	}
	return l.openapi
}

// noOpenAPI tells why there is none.
type noOpenAPI struct{ error }

func (n noOpenAPI) Paths() (map[string]openapi.GroupVersion, error) { return nil, n.error }

// asked runs f with the shared cache, for this command. The error is that of the
// configuration, or f's.
func (l *lentDiscovery) asked(f func(discovery.CachedDiscoveryInterface) error) error {
	shared, err := l.shared()
	if err != nil {
		return err
	}
	l.ask(func() { err = f(shared) })
	return err
}

func (l *lentDiscovery) ask(f func()) {
	if l.ours {
		l.of.ask(l.asker, f)
	} else {
		f() // nobody shares it
	}
}

func (l *lentDiscovery) ServerGroups() (groups *metav1.APIGroupList, err error) {
	err = l.asked(func(shared discovery.CachedDiscoveryInterface) error {
		groups, err = shared.ServerGroups()
		return err
	})
	return groups, err
}

func (l *lentDiscovery) ServerResourcesForGroupVersion(groupVersion string) (list *metav1.APIResourceList, err error) {
	err = l.asked(func(shared discovery.CachedDiscoveryInterface) error {
		list, err = shared.ServerResourcesForGroupVersion(groupVersion)
		return err
	})
	return list, err
}

func (l *lentDiscovery) ServerGroupsAndResources() (groups []*metav1.APIGroup, lists []*metav1.APIResourceList, err error) {
	err = l.asked(func(shared discovery.CachedDiscoveryInterface) error {
		groups, lists, err = shared.ServerGroupsAndResources()
		return err
	})
	return groups, lists, err
}

func (l *lentDiscovery) ServerPreferredResources() (lists []*metav1.APIResourceList, err error) {
	err = l.asked(func(shared discovery.CachedDiscoveryInterface) error {
		lists, err = shared.ServerPreferredResources()
		return err
	})
	return lists, err
}

func (l *lentDiscovery) ServerPreferredNamespacedResources() (lists []*metav1.APIResourceList, err error) {
	err = l.asked(func(shared discovery.CachedDiscoveryInterface) error {
		lists, err = shared.ServerPreferredNamespacedResources()
		return err
	})
	return lists, err
}

// GroupsAndMaybeResources makes this a discovery.AggregatedDiscoveryInterface.
func (l *lentDiscovery) GroupsAndMaybeResources() (groups *metav1.APIGroupList, resources map[schema.GroupVersion]*metav1.APIResourceList, failed map[schema.GroupVersion]error, err error) {
	err = l.asked(func(shared discovery.CachedDiscoveryInterface) error {
		groups, resources, failed, err = shared.(discovery.AggregatedDiscoveryInterface).GroupsAndMaybeResources()
		return err
	})
	return groups, resources, failed, err
}
