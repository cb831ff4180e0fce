package core

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetab/kubetab/core/internal/records"
)

// ownWritesPatience: an informer that hears nothing for so long has other troubles.
const ownWritesPatience = 5 * time.Second

// ownWrites is the transport of controllers that share an informer: an object
// that one of them has written is answered when the informer has it. So none of
// them works with a state that is older than its own last write.
//
// Here controllers, scheduler and kubelets want the same processor as an informer,
// and a write takes microseconds: a kube-apiserver's informers are seldom as late.
//
// Upstream's controllers of CRDs need it. The finalizer is the first to ask
// for a custom resource that nobody has used: the watch cache is made for it,
// and refuses lists until it is filled. The finalizer writes the refusal into
// the condition Terminating and tries again 5 ms later. When its informer has
// not heard of that write by then, the next write is a conflict, after which
// it waits to be called again; and a change of Terminating alone does not call
// it (crd_finalizer.go). The CRD then stays until the informer's resync, five
// minutes later.
//
// The allocator of cluster IPs needs it, too. It creates an IPAddress and then has
// the Service stored. When the repair controller (ipallocator/controller/repairip.go)
// hears of the Service first, it warns in an event that the address is not allocated.
type ownWrites struct {
	http.RoundTripper
	done   <-chan struct{}          // closed when nobody needs to wait any more
	awaits func(*http.Request) bool // which writes

	mu      sync.Mutex
	store   cache.Store   // the informer's; nil before follow
	changed chan struct{} // closed with the next change of the store; nil when nobody waits for it
}

// follow sets the informer; until then nothing waits. The error is AddEventHandler's.
func (o *ownWrites) follow(informer cache.SharedIndexInformer) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { o.change() },
		UpdateFunc: func(any, any) { o.change() },
		DeleteFunc: func(any) { o.change() },
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.store = informer.GetStore()
	return err
}

// change wakes those that wait. An informer tells of a change after its store has it.
func (o *ownWrites) change() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// next returns the informer's store, and what is closed when it changes after the call.
func (o *ownWrites) next() (store cache.Store, changed <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return o.store, o.changed
}

// RoundTrip returns what the transport below does. It waits for the informer
// for at most ownWritesPatience, and not longer than the request's context.
func (o *ownWrites) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.RoundTripper.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated || !o.awaits(r) {
		return response, err
	}
	if store, _ := o.next(); store == nil {
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if written, ok := storedObject(body); ok {
		o.wait(r.Context(), written, r.Method == http.MethodPost)
	}
	return response, nil
}

// changes are the requests that change an object.
func changes(r *http.Request) bool {
	return r.Method == http.MethodPut || r.Method == http.MethodPatch
}

// allocates is the request that an allocator of cluster IPs makes.
func allocates(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/apis/networking.k8s.io/v1/ipaddresses"
}

// wait returns when the informer has written or what came after it.
func (o *ownWrites) wait(ctx context.Context, written metav1.Object, isNew bool) {
	patience := time.NewTimer(ownWritesPatience)
	defer patience.Stop()
	for {
		store, changed := o.next()
		if heard(store, written, isNew) {
			return
		}
		select {
		case <-changed:
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		case <-o.done:
			return
		}
	}
}

// heard reports whether store has what was written or something newer. An object
// that is not in the store is new or has been deleted since, because controllers
// change what they have found there.
func heard(store cache.Store, written metav1.Object, isNew bool) bool {
	item, ok, err := store.GetByKey(cache.MetaObjectToName(written).String())
	if err != nil || !ok {
		return err != nil || !isNew
	}
	known, ok := item.(metav1.Object)
	if !ok || known.GetUID() != written.GetUID() {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(known.GetResourceVersion(), written.GetResourceVersion())
	return err != nil || order >= 0
}

// storedObject reads the metadata of an object in protobuf. All kinds have it in
// the same field.
func storedObject(record []byte) (metav1.Object, bool) {
	wire, ok := bytes.CutPrefix(record, records.Protobuf)
	if !ok {
		return nil, false
	}
	var unknown runtime.Unknown
	var object metav1.PartialObjectMetadata
	if unknown.Unmarshal(wire) != nil || object.Unmarshal(unknown.Raw) != nil {
		return nil, false
	}
	return &object, object.ResourceVersion != ""
}
