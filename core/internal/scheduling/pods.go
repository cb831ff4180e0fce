package scheduling

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"
)

// unfinished is an informer factory whose Pods are those that have not
// succeeded or failed, as in scheduler.NewInformerFactory: a Pod that has
// finished takes up no room on its node. Upstream asks the server for such Pods
// only, which would be a second copy of all of them here.
type unfinished struct {
	informers.SharedInformerFactory
}

// Core is here because an embedded factory's accessors ask the embedded one.
func (f unfinished) Core() core.Interface { return core.New(f, metav1.NamespaceAll, nil) }

// InformerFor returns the shared informer of obj's type, filtered if it is of
// Pods.
func (f unfinished) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	shared := f.SharedInformerFactory.InformerFor(obj, newFunc)
	if _, ok := obj.(*corev1.Pod); ok {
		return unfinishedPods{shared}
	}
	return shared
}

// unfinishedPods lets its handlers see a Pod until it finishes, and its
// finishing as a deletion. The store behind it holds finished Pods, too; the
// scheduler looks Pods up in it by name only.
type unfinishedPods struct {
	cache.SharedIndexInformer
}

func running(obj any) bool {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	return ok && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func filtered(handler cache.ResourceEventHandler) cache.ResourceEventHandler {
	return cache.FilteringResourceEventHandler{FilterFunc: running, Handler: handler}
}

// AddEventHandler fails when the informer has ended.
func (i unfinishedPods) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(filtered(handler))
}

// AddEventHandlerWithResyncPeriod fails when the informer has ended.
func (i unfinishedPods) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(filtered(handler), resync)
}

// AddEventHandlerWithOptions fails when the informer has ended.
func (i unfinishedPods) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(filtered(handler), options)
}
