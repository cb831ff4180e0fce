package node

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

// watch lets what happens in the cluster put Pods into the queue.
func (n *Nodes) watch(pods, nodes, configMaps, secrets, claims cache.SharedIndexInformer) error {
	add := func(informer cache.SharedIndexInformer, h cache.ResourceEventHandler) error {
		handle, err := informer.AddEventHandler(h)
		if err != nil {
			return err
		}
		n.handlers = append(n.handlers, registration{informer, handle})
		return nil
	}
	seen := func(obj any) {
		if p, ok := obj.(*v1.Pod); ok && p.Spec.NodeName != "" {
			n.observe(p)
		}
	}
	if err := add(pods, cache.ResourceEventHandlerFuncs{
		AddFunc:    seen,
		UpdateFunc: func(_, now any) { seen(now) },
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if p, ok := obj.(*v1.Pod); ok {
				n.removed(p.UID)
			}
		},
	}); err != nil {
		return err
	}
	if err := add(nodes, cache.ResourceEventHandlerFuncs{UpdateFunc: func(was, now any) {
		a, b := was.(*v1.Node), now.(*v1.Node)
		if a.Annotations[AnnotationKubelet] != b.Annotations[AnnotationKubelet] {
			n.enqueueNode(b.Name)
		}
	}}); err != nil {
		return err
	}
	changed := func(visit func(*v1.Pod, podutil.Visitor) bool) cache.ResourceEventHandlerFuncs {
		each := func(obj any) {
			if object, ok := obj.(interface {
				GetNamespace() string
				GetName() string
			}); ok {
				n.sourceChanged(object.GetNamespace(), object.GetName(), visit)
			}
		}
		return cache.ResourceEventHandlerFuncs{AddFunc: each, UpdateFunc: func(was, now any) {
			if was.(interface{ GetResourceVersion() string }).GetResourceVersion() != now.(interface{ GetResourceVersion() string }).GetResourceVersion() {
				each(now)
			}
		}}
	}
	if err := add(configMaps, changed(podutil.VisitPodConfigmapNames)); err != nil {
		return err
	}
	if err := add(secrets, changed(podutil.VisitPodSecretNames)); err != nil {
		return err
	}
	return add(claims, changed(func(p *v1.Pod, visit podutil.Visitor) bool {
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				visit(v.PersistentVolumeClaim.ClaimName)
			}
			if v.Ephemeral != nil {
				visit(p.Name + "-" + v.Name)
			}
		}
		return true
	}))
}

// observe takes in a Pod of a node of ours.
func (n *Nodes) observe(obj *v1.Pod) {
	n.mu.Lock()
	p := n.byUID[obj.UID]
	if p == nil {
		k := n.byName[obj.Spec.NodeName]
		if k == nil {
			n.mu.Unlock()
			return
		}
		p = lifecycle.New(k.host, obj)
		n.byUID[obj.UID] = p
	}
	n.mu.Unlock()
	if p.See(obj) {
		n.queue.Add(obj.UID)
	}
}

// removed says that a Pod is gone from the API: what is left of it ends at once.
func (n *Nodes) removed(uid types.UID) {
	n.mu.Lock()
	p := n.byUID[uid]
	n.mu.Unlock()
	if p != nil {
		p.Gone()
		n.queue.Add(uid)
	}
}

func (n *Nodes) enqueueNode(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for uid, p := range n.byUID {
		if p.Node.Name == name {
			n.queue.Add(uid)
		}
	}
}

// sourceChanged wakes Pods that wait for a ConfigMap, Secret or claim, and
// brings the volumes of running ones up to date.
func (n *Nodes) sourceChanged(namespace, name string, visit func(*v1.Pod, podutil.Visitor) bool) {
	n.mu.Lock()
	var users []*lifecycle.Pod
	for _, p := range n.byUID {
		if p.Namespace == namespace {
			users = append(users, p)
		}
	}
	n.mu.Unlock()
	for _, p := range users {
		obj := p.Latest()
		uses := false
		visit(obj, func(have string) bool {
			uses = uses || have == name
			return !uses
		})
		if uses {
			p.SourcesChanged()
			n.queue.Add(p.UID)
		}
	}
}

// work takes Pods from the queue until it is shut down.
func (n *Nodes) work() {
	for {
		uid, quit := n.queue.Get()
		if quit {
			return
		}
		n.stepping.Add(1)
		n.step(uid)
		n.queue.Done(uid)
		n.stepping.Add(-1)
	}
}

func (n *Nodes) step(uid types.UID) {
	n.mu.Lock()
	p := n.byUID[uid]
	n.mu.Unlock()
	ctx := n.cluster.Context
	if p == nil || ctx.Err() != nil || n.byName[p.Node.Name].stopped() {
		return
	}
	gone, err := p.Sync(ctx)
	if gone {
		n.forget(uid)
	}
	if err != nil && ctx.Err() == nil {
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			klog.FromContext(ctx).Error(err, "Failed to sync the Pod, will try again", "pod", klog.KRef(p.Namespace, p.Name))
		}
		p.Retry()
	}
}

// stopPods ends every container, when the engine ends. Nothing is reported.
func (n *Nodes) stopPods() {
	n.mu.Lock()
	var all []*lifecycle.Pod
	for _, p := range n.byUID {
		all = append(all, p)
	}
	n.mu.Unlock()
	var each sync.WaitGroup
	for _, p := range all {
		each.Go(p.Abandon)
	}
	each.Wait()
}

// forget is called when nothing of a Pod is left.
func (n *Nodes) forget(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byUID, uid)
}

// goWait runs f in a goroutine that Run waits for.
func (n *Nodes) goWait(f func()) { n.running.Go(f) }
