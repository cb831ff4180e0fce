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
	"k8s.io/client-go/tools/cache"
)

// Held is a view of a factory through which handlers hear nothing until
// Release. Upstream's constructors add handlers to informers which they expect
// not to run yet, and set fields that those handlers use afterwards; with
// informers that do run, a handler may be called in the middle of that.
type Held struct {
	Groups
	factory informers.SharedInformerFactory
	gate    gate
	once    sync.Once
}

var _ informers.SharedInformerFactory = (*Held)(nil)

// gate is open when released is closed. When ended is closed instead, what
// waits goes away.
type gate struct {
	released chan struct{}
	ended    <-chan struct{}
}

func (g gate) pass() bool {
	select {
	case <-g.released:
		return true
	default:
	}
	select {
	case <-g.released:
		return true
	case <-g.ended:
		return false
	}
}

// Hold returns a view of factory. Handlers that still wait when ctx ends are
// never called.
func Hold(ctx context.Context, factory informers.SharedInformerFactory) *Held {
	h := &Held{factory: factory, gate: gate{make(chan struct{}), ctx.Done()}}
	h.Groups = Groups{Factory: h}
	return h
}

// Release lets events through: those that have been waiting, and all others.
func (h *Held) Release() { h.once.Do(func() { close(h.gate.released) }) }

// InformerFor returns the factory's informer for obj's type.
func (h *Held) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return heldInformer{h.factory.InformerFor(obj, newFunc), h.gate}
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
	gate gate
}

func (g heldGeneric) Informer() cache.SharedIndexInformer {
	return heldInformer{g.GenericInformer.Informer(), g.gate}
}

type heldInformer struct {
	cache.SharedIndexInformer
	gate gate
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
	gate    gate
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
