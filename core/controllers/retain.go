package controllers

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
)

// deletionProtection keeps the finalizer of a provisioned volume in step with its
// reclaim policy: a volume that is retained can be deleted. Upstream's binder does so for
// provisioners in its tree alone, and for others their external-provisioner does, with a
// finalizer of its own.
type deletionProtection struct {
	client  clientset.Interface
	volumes corelisters.PersistentVolumeLister
	queue   workqueue.TypedRateLimitingInterface[string]
}

// newDeletionProtection fails when the informer has been stopped.
func newDeletionProtection(client clientset.Interface, volumes coreinformers.PersistentVolumeInformer) (*deletionProtection, error) {
	d := &deletionProtection{client: client, volumes: volumes.Lister(), queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())}
	seen := func(obj any) {
		if pv, ok := obj.(*corev1.PersistentVolume); ok && protection(pv) != nil {
			d.queue.Add(pv.Name)
		}
	}
	_, err := volumes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, obj any) { seen(obj) }})
	return d, err
}

// run works until ctx ends.
func (d *deletionProtection) run(ctx context.Context) {
	defer context.AfterFunc(ctx, d.queue.ShutDown)()
	for d.next(ctx) {
	}
}

func (d *deletionProtection) next(ctx context.Context) bool {
	name, shutdown := d.queue.Get()
	if shutdown {
		return false
	}
	defer d.queue.Done(name)
	if err := d.sync(ctx, name); err != nil {
		klog.FromContext(ctx).V(2).Info("The finalizer of a volume could not be written", "volume", name, "err", err)
		d.queue.AddRateLimited(name)
		return true
	}
	d.queue.Forget(name)
	return true
}

func (d *deletionProtection) sync(ctx context.Context, name string) error {
	pv, err := d.volumes.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	changed := protection(pv)
	if changed == nil {
		return nil
	}
	_, err = d.client.CoreV1().PersistentVolumes().Update(ctx, changed, metav1.UpdateOptions{})
	return err
}

// protection returns the volume with the finalizer that its reclaim policy asks for, or nil
// if it is as it should be.
func protection(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	const finalizer = storagehelpers.PVDeletionInTreeProtectionFinalizer
	if pv.Annotations[storagehelpers.AnnDynamicallyProvisioned] != Provisioner {
		return nil
	}
	has, deletes := slices.Contains(pv.Finalizers, finalizer), pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
	if has == deletes || deletes && pv.DeletionTimestamp != nil {
		return nil
	}
	pv = pv.DeepCopy()
	if deletes {
		pv.Finalizers = append(pv.Finalizers, finalizer)
	} else {
		pv.Finalizers = slices.DeleteFunc(pv.Finalizers, func(f string) bool { return f == finalizer })
	}
	return pv
}
