// Package informerset lets components share the informers that exist: a Set is
// an informers.SharedInformerFactory that hands out the API server's informer
// of a type where it has one, and makes its own where it has not. A second
// cache of a type would cost memory and a watch for nothing. An informer of the
// Set is not added to the API server's own factory, because /readyz waits for
// every informer of that factory.
package informerset

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// Set is a SharedInformerFactory over another one that runs already. Starting
// and shutting it down concerns its own informers only. It is safe for
// concurrent use.
type Set struct {
	Groups

	own     informers.SharedInformerFactory
	running informers.SharedInformerFactory
	theirs  map[reflect.Type]bool // what running has

	mu      sync.Mutex
	started <-chan struct{}                      // what Start was given; nil before
	typed   map[schema.GroupVersionResource]bool // what either has
}

var _ informers.SharedInformerFactory = (*Set)(nil)

// New returns a Set whose own informers use client and resync after resync.
// running must have been started with all that it will ever have; nil means
// that there is none.
func New(client clientset.Interface, resync time.Duration, running informers.SharedInformerFactory) *Set {
	s := &Set{
		own:     informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithTransform(DropManagedFields)),
		running: running,
		typed:   map[schema.GroupVersionResource]bool{},
	}
	s.Groups = Groups{Factory: s}
	if running != nil {
		// With a channel that is closed this waits for nothing, and the keys of
		// the answer are the only list of its types that a factory gives.
		closed := make(chan struct{})
		close(closed)
		s.theirs = map[reflect.Type]bool{}
		for t := range running.WaitForCacheSync(closed) {
			s.theirs[t] = true
			if obj, ok := reflect.New(t.Elem()).Interface().(runtime.Object); ok {
				s.note(obj)
			}
		}
	}
	return s
}

// InformerFor returns the informer for obj's type. newFunc makes it if neither
// factory has one.
func (s *Set) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	if s.theirs[reflect.TypeOf(obj)] {
		return s.running.InformerFor(obj, newFunc)
	}
	s.note(obj)
	return s.own.InformerFor(obj, newFunc)
}

// ForResource returns the informer for resource, which is started at once if the
// Set has been: a quota on the number of some kind asks for that kind's
// informer when the first such quota appears. It fails on a resource that
// client-go has no type for.
func (s *Set) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	// A factory's ForResource asks itself and not the Set around it.
	for t := range s.theirs {
		if obj, ok := reflect.New(t.Elem()).Interface().(runtime.Object); ok && resources(obj)[resource] {
			return s.running.ForResource(resource)
		}
	}
	informer, err := s.own.ForResource(resource)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.typed[resource] = true
		if s.started != nil {
			s.own.Start(s.started)
		}
	}
	return informer, err
}

// Start starts what has not been started yet, until stop is closed.
func (s *Set) Start(stop <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = stop
	s.own.Start(stop)
}

// StartWithContext starts what has not been started yet, until ctx ends.
func (s *Set) StartWithContext(ctx context.Context) { s.Start(ctx.Done()) }

// Shutdown waits for the informers to end, which they do when what they were
// started with has ended.
func (s *Set) Shutdown() { s.own.Shutdown() }

// WaitForCacheSync waits for the informers that have been started, or for stop,
// and returns which have been filled.
func (s *Set) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	return s.own.WaitForCacheSync(stop)
}

// WaitForCacheSyncWithContext is WaitForCacheSync until ctx ends.
func (s *Set) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	return s.own.WaitForCacheSyncWithContext(ctx)
}

// InformerName returns nil: a name is registered once per process, for metrics
// of informers, and two engines would fight for it.
func (s *Set) InformerName() *cache.InformerName { return nil }

// Has reports whether there is an informer with whole objects of resource.
func (s *Set) Has(resource schema.GroupVersionResource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.typed[resource]
}

func (s *Set) note(obj runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for resource := range resources(obj) {
		s.typed[resource] = true
	}
}

// resources are those whose objects have obj's type.
func resources(obj runtime.Object) map[schema.GroupVersionResource]bool {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return nil // no type of client-go's: nobody can ask for it by resource
	}
	found := map[schema.GroupVersionResource]bool{}
	for _, kind := range kinds {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		found[plural] = true
	}
	return found
}

// DropManagedFields is a cache.TransformFunc that keeps the copies of informers small, as
// those of kube-apiserver, kube-controller-manager and kube-scheduler do. It changes obj
// and returns it, and never fails.
func DropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

// AnyResource is what the garbage collector and the quota controller look at
// every kind through: the Set's informer where there is one, and one that holds
// metadata only for all the others. kube-controller-manager gives them typed
// informers for every built-in kind, which would hold every object whole.
type AnyResource struct {
	set      *Set
	typed    informers.SharedInformerFactory
	metadata metadatainformer.SharedInformerFactory
}

// NewAnyResource returns an informerfactory.InformerFactory over set, whose
// informers it hands out through view.
func NewAnyResource(set *Set, view *Held, client metadata.Interface, resync time.Duration) *AnyResource {
	return &AnyResource{set, view, metadatainformer.NewSharedInformerFactoryWithOptions(client, resync, metadatainformer.WithTransform(DropManagedFields))}
}

// ForResource never fails; the error is the interface's.
func (a *AnyResource) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	if a.set.Has(resource) {
		return a.typed.ForResource(resource)
	}
	return a.metadata.ForResource(resource), nil
}

// Start starts what has not been started yet, until stop is closed.
func (a *AnyResource) Start(stop <-chan struct{}) {
	a.set.Start(stop)
	a.metadata.Start(stop)
}

// Shutdown waits for the informers to end, which they do when the channel given
// to Start is closed. Those of the Set that are the API server's go on.
func (a *AnyResource) Shutdown() {
	a.metadata.Shutdown()
	a.set.Shutdown()
}
