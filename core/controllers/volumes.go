package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	csitrans "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/pkg/controller/volume/expand"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/csimigration"
)

// What the simulated storage is called.
const (
	// StorageClass is the default class of claims that name none.
	StorageClass = "standard"
	// Provisioner makes the volumes of StorageClass, and is the name of the CSI
	// driver in them.
	Provisioner = "simulated.kubetab.dev"
)

// volumeBinder is upstream's persistentvolume-binder with one volume plugin:
// the provisioner below. Upstream's plugins mount, and the one for hostPath
// deletes directories of the machine that it runs on.
func (c *Controllers) volumeBinder() app.ControllerConstructor {
	return func(ctx context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		client, err := shared.NewClient("persistent-volume-binder")
		if err != nil {
			return nil, err
		}
		settings := shared.ComponentConfig.PersistentVolumeBinderController
		core := shared.InformerFactory.Core().V1()
		binder, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
			KubeClient:                client,
			SyncPeriod:                settings.PVClaimBinderSyncPeriod.Duration,
			VolumePlugins:             []volume.VolumePlugin{provisioner{}, minikubes{}},
			VolumeInformer:            core.PersistentVolumes(),
			ClaimInformer:             core.PersistentVolumeClaims(),
			ClassInformer:             shared.InformerFactory.Storage().V1().StorageClasses(),
			PodInformer:               core.Pods(),
			NodeInformer:              core.Nodes(),
			EnableDynamicProvisioning: settings.VolumeConfiguration.EnableDynamicProvisioning,
		})
		if err != nil {
			return nil, err
		}
		if err := c.ensureStorage(ctx); err != nil {
			return nil, err
		}
		protects, err := newDeletionProtection(client, core.PersistentVolumes())
		if err != nil {
			return nil, err
		}
		return loop{name, func(ctx context.Context) {
			var both wait.Group
			both.StartWithContext(ctx, protects.run)
			binder.Run(ctx)
			both.Wait()
		}}, nil
	}
}

// volumeExpander is upstream's persistentvolume-expander with the plugin of the simulated storage: newPersistentVolumeExpanderController
// in kube-controller-manager. It begins with the first claim that has grown, since its workers are a part of what every visitor of
// the page downloads.
func (c *Controllers) volumeExpander() app.ControllerConstructor {
	return func(_ context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		client, err := shared.NewClient("expand-controller")
		if err != nil {
			return nil, err
		}
		claims := shared.InformerFactory.Core().V1().PersistentVolumeClaims()
		grown := make(chan struct{})
		tell := sync.OnceFunc(func() { close(grown) })
		seen, err := claims.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: hasGrown,
			Handler:    cache.ResourceEventHandlerFuncs{AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }},
		})
		if err != nil {
			return nil, err
		}
		return loop{name, func(ctx context.Context) {
			select {
			case <-grown:
			case <-ctx.Done():
				return
			}
			translator := csitrans.New()
			expander, err := expand.NewExpandController(ctx, client, claims, []volume.VolumePlugin{provisioner{}}, translator, csimigration.NewPluginManager(translator))
			if err != nil { // of an informer that has stopped
				klog.FromContext(ctx).Error(err, "No claim is expanded")
				return
			}
			_ = claims.Informer().RemoveEventHandler(seen) // it has told what there is to tell
			expander.Run(ctx)
		}}, nil
	}
}

// hasGrown reports whether a claim asks for more than it has.
func hasGrown(obj any) bool {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok || claim.Status.Phase != corev1.ClaimBound {
		return false
	}
	has := claim.Status.Capacity[corev1.ResourceStorage]
	return claim.Spec.Resources.Requests.Storage().Cmp(has) > 0
}

// ensureStorage creates the default class and its CSI driver where they are
// missing, as the add-ons of a distribution do.
func (c *Controllers) ensureStorage(ctx context.Context) error {
	wait, reclaim := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete
	_, err := c.root.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        StorageClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: Provisioner, ReclaimPolicy: &reclaim, VolumeBindingMode: &wait,
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the StorageClass %s: %w", StorageClass, err)
	}
	attach := false
	_, err = c.root.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: Provisioner},
		Spec: storagev1.CSIDriverSpec{
			AttachRequired:       &attach, // there is nothing to attach
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent},
		},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the CSIDriver %s: %w", Provisioner, err)
	}
	return nil
}

// provisioner is a volume plugin that makes volumes which exist in name: CSI
// volumes that every node can reach. What they hold is the simulated nodes'
// business; they know a volume by its handle, which is the PersistentVolume's
// name. All else - which claim gets which volume, waiting for the first
// consumer, protection, reclaiming, retries and events - is upstream's.
type provisioner struct{}

var (
	_ volume.ProvisionableVolumePlugin = provisioner{}
	_ volume.DeletableVolumePlugin     = provisioner{}
	_ volume.PersistentVolumePlugin    = provisioner{}
	_ volume.ExpandableVolumePlugin    = provisioner{}
)

// errNoMount is the answer to what only a kubelet asks of a volume plugin.
var errNoMount = errors.New("simulated volumes are mounted by simulated nodes")

// Init has nothing to prepare.
func (provisioner) Init(volume.VolumeHost) error { return nil }

// GetPluginName is the provisioner of a StorageClass.
func (provisioner) GetPluginName() string { return Provisioner }

// GetVolumeName returns the handle; it fails for a volume that is not ours.
func (p provisioner) GetVolumeName(spec *volume.Spec) (string, error) {
	if !p.CanSupport(spec) {
		return "", fmt.Errorf("%s is no volume of %s", spec.Name(), Provisioner)
	}
	return spec.PersistentVolume.Spec.CSI.VolumeHandle, nil
}

// CanSupport says whether the volume is ours.
func (provisioner) CanSupport(spec *volume.Spec) bool {
	return spec.PersistentVolume != nil && spec.PersistentVolume.Spec.CSI != nil && spec.PersistentVolume.Spec.CSI.Driver == Provisioner
}

func (provisioner) RequiresRemount(*volume.Spec) bool                      { return false }
func (provisioner) SupportsMountOption() bool                              { return true }
func (provisioner) SupportsSELinuxContextMount(*volume.Spec) (bool, error) { return false, nil }
func (provisioner) NewMounter(*volume.Spec, *corev1.Pod) (volume.Mounter, error) {
	return nil, errNoMount
}
func (provisioner) NewUnmounter(string, types.UID) (volume.Unmounter, error) { return nil, errNoMount }
func (provisioner) ConstructVolumeSpec(string, string) (volume.ReconstructedVolume, error) {
	return volume.ReconstructedVolume{}, errNoMount
}

// ExpandVolumeDevice grants what is asked for: volumes have no size of their own.
func (provisioner) ExpandVolumeDevice(_ *volume.Spec, size, _ resource.Quantity) (resource.Quantity, error) {
	return size, nil
}

// RequiresFSResize says that a node has nothing to do about it.
func (provisioner) RequiresFSResize() bool { return false }

// GetAccessModes lists all: the same bytes can be anywhere at once.
func (provisioner) GetAccessModes() []corev1.PersistentVolumeAccessMode {
	return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod}
}

// NewProvisioner returns what makes one volume.
func (provisioner) NewProvisioner(_ klog.Logger, options volume.VolumeOptions) (volume.Provisioner, error) {
	return provision{options}, nil
}

// minikubes is the provisioner under the name that StorageClasses of Kubernetes' documentation have, which is minikube's.
type minikubes struct{ provisioner }

// GetPluginName is the provisioner of a StorageClass.
func (minikubes) GetPluginName() string { return "k8s.io/minikube-hostpath" }

// CanSupport says that no volume is its: those that it makes are the other's.
func (minikubes) CanSupport(*volume.Spec) bool { return false }

type provision struct{ volume.VolumeOptions }

// Provision returns the volume that the claim asks for. It fails on a claim
// with a selector, as provisioners of CSI drivers do, and when it is asked for
// topologies, of which there are none.
func (p provision) Provision(_ *corev1.Node, topologies []corev1.TopologySelectorTerm) (*corev1.PersistentVolume, error) {
	if p.PVC.Spec.Selector != nil {
		return nil, errors.New("claim.Spec.Selector is not supported")
	}
	if len(topologies) > 0 {
		return nil, errors.New("allowedTopologies is not supported")
	}
	mode := p.PVC.Spec.VolumeMode
	fsType := "ext4"
	if mode != nil && *mode == corev1.PersistentVolumeBlock {
		fsType = ""
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: p.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: p.PersistentVolumeReclaimPolicy,
			AccessModes:                   p.PVC.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: p.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			VolumeMode:                    mode,
			MountOptions:                  p.MountOptions,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Provisioner, VolumeHandle: p.PVName, FSType: fsType},
			},
		},
	}, nil
}

// NewDeleter returns what deletes one volume: what is not stored needs nothing.
func (provisioner) NewDeleter(_ klog.Logger, spec *volume.Spec) (volume.Deleter, error) {
	return &deleter{}, nil
}

type deleter struct{ volume.MetricsNil }

func (*deleter) GetPath() string { return "" }
func (*deleter) Delete() error   { return nil }
