package informerset

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// Held is a view of a factory through which handlers hear nothing until
// Release, and again between Pause and the next Release. Upstream's constructors add handlers to informers which they expect
// not to run yet, and set fields that those handlers use afterwards; with
// informers that do run, a handler may be called in the middle of that.
type Held struct {
	Groups
	factory informers.SharedInformerFactory
	gate    *gate

	mu    sync.Mutex
	given map[schema.GroupKind]cache.SharedIndexInformer // by InformerFor
}

var _ informers.SharedInformerFactory = (*Held)(nil)

// gate is open when released is closed. When ended is closed instead, what
// waits goes away.
type gate struct {
	ended <-chan struct{}

	mu       sync.Mutex
	released chan struct{}
	open     bool
}

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case open && !g.open:
		close(g.released)
	case !open && g.open:
		g.released = make(chan struct{})
	}
	g.open = open
}

func (g *gate) pass() bool {
	g.mu.Lock()
	open, released := g.open, g.released
	g.mu.Unlock()
	if open {
		return true
	}
	select {
	case <-released:
		return true
	case <-g.ended:
		return false
	}
}

// Hold returns a view of factory. Handlers that still wait when ctx ends are
// never called.
func Hold(ctx context.Context, factory informers.SharedInformerFactory) *Held {
	h := &Held{factory: factory, gate: &gate{ended: ctx.Done(), released: make(chan struct{})}, given: map[schema.GroupKind]cache.SharedIndexInformer{}}
	h.Groups = Groups{Factory: h}
	return h
}

// Release lets events through: those that have been waiting, and all others.
func (h *Held) Release() { h.gate.set(true) }

// Pause keeps back events from now on, while the informers' caches go on.
func (h *Held) Pause() { h.gate.set(false) }

// InformerFor returns the factory's informer for obj's type.
func (h *Held) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	informer := h.factory.InformerFor(obj, newFunc)
	if kinds, _, err := scheme.Scheme.ObjectKinds(obj); err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.given[kinds[0].GroupKind()] = informer
	}
	return heldInformer{informer, h.gate}
}

// ForResource returns the factory's informer for resource, or its error.
func (h *Held) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	informer, err := h.factory.ForResource(resource)
	if err != nil {
		return nil, err
	}
	return heldGeneric{informer, h.gate}, nil
}

// Start is the factory's.
func (h *Held) Start(stop <-chan struct{}) { h.factory.Start(stop) }

// StartWithContext is the factory's.
func (h *Held) StartWithContext(ctx context.Context) { h.factory.StartWithContext(ctx) }

// Shutdown is the factory's.
func (h *Held) Shutdown() { h.factory.Shutdown() }

// WaitForCacheSync is the factory's.
func (h *Held) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	return h.factory.WaitForCacheSync(stop)
}

// WaitForCacheSyncWithContext is the factory's.
func (h *Held) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	return h.factory.WaitForCacheSyncWithContext(ctx)
}

// InformerName is the factory's.
func (h *Held) InformerName() *cache.InformerName { return h.factory.InformerName() }

type heldGeneric struct {
	informers.GenericInformer
	gate *gate
}

func (g heldGeneric) Informer() cache.SharedIndexInformer {
	return heldInformer{g.GenericInformer.Informer(), g.gate}
}

type heldInformer struct {
	cache.SharedIndexInformer
	gate *gate
}

// AddEventHandler fails when the informer has ended.
func (i heldInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(heldHandler{handler, i.gate})
}

// AddEventHandlerWithResyncPeriod fails when the informer has ended.
func (i heldInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(heldHandler{handler, i.gate}, resync)
}

// AddEventHandlerWithOptions fails when the informer has ended.
func (i heldInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(heldHandler{handler, i.gate}, options)
}

// heldHandler waits in the goroutine that its informer has for it alone.
type heldHandler struct {
	handler cache.ResourceEventHandler
	gate    *gate
}

func (h heldHandler) OnAdd(obj any, initial bool) {
	if h.gate.pass() {
		h.handler.OnAdd(obj, initial)
	}
}

func (h heldHandler) OnUpdate(old, obj any) {
	if h.gate.pass() {
		h.handler.OnUpdate(old, obj)
	}
}

func (h heldHandler) OnDelete(obj any) {
	if h.gate.pass() {
		h.handler.OnDelete(obj)
	}
}
