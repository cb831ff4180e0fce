package lifecycle

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/kubelet/clustertrustbundle"

	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/network"
)

// Cluster is what all Pods of a cluster share. All fields are required, and none
// changes once a Pod takes a step. Functions are called from any goroutine, with locks
// of a Pod held, so they call nothing of a Pod, make no request to the API server, and
// do not block.
type Cluster struct {
	// Client reaches the API server as the kubelets.
	Client  clientset.Interface
	Clock   *clock.Clock
	Disk    *container.Disk // of all files
	Network *network.Network

	ConfigMaps corelisters.ConfigMapLister
	Secrets    corelisters.SecretLister
	Services   corelisters.ServiceLister
	Claims     corelisters.PersistentVolumeClaimLister

	PersistentVolumes corelisters.PersistentVolumeLister
	// Trust has the ClusterTrustBundles.
	Trust clustertrustbundle.Manager

	// Restarts is the back-off of containers that crash, Pulls that of images: see
	// NewBackOff.
	Restarts, Pulls *flowcontrol.Backoff

	// Volume returns what a PersistentVolume holds. It outlives the Pods.
	Volume func(name string) *container.File
	// Event takes an event of the kubelet on a node of the name host, to be written
	// later, with annotations, which may be nil.
	Event func(ref *v1.ObjectReference, annotations map[string]string, kind, reason, message, host string)
	// Queue has the Pods for which Pod.Sync is to be called.
	Queue workqueue.TypedInterface[types.UID]
	// Context ends when all Pods are to end. Everything that Pods start runs in it.
	Context context.Context
	// Go runs f in a goroutine that is waited for when all Pods have ended.
	Go func(f func())
}

// Node is a node as its Pods see it. All fields are required, and none changes once
// there are Pods.
type Node struct {
	Cluster  *Cluster
	Kubelet  Kubelet
	Name, IP string
	Capacity v1.ResourceList
	HostPath *container.File // the node's own file system
}

// Kubelet has what the Pods of a node share and take from each other. It is safe for
// concurrent use. All methods but Release and Leave are called with Pod.mu held, so they
// call nothing of a Pod, make no request to the API server, and do not block.
type Kubelet interface {
	// Admit reports whether a Pod may run on the node, and why not. It takes the
	// Pod's requests and host ports from the node until Release.
	Admit(pod *v1.Pod) (reason, message string, ok bool)
	// Resize changes the requests that a Pod was admitted with.
	Resize(uid types.UID, requests v1.ResourceList)
	// Release gives back what a Pod was admitted with. It may be called again, and for
	// a Pod that was not admitted.
	Release(uid types.UID)

	// Pressed returns how a Pod is evicted because the node is low on a resource. The
	// state and the storage are the Pod's.
	Pressed(pod *v1.Pod, state State, storage Storage, low v1.ResourceName) Eviction
	// Evicted counts an eviction by its signal.
	Evicted(signal string)

	// Join makes a Pod known in the network by an address of the node. It fails if
	// there is none left.
	Join(p *Pod) (ip string, err error)
	// Leave gives back the address that a Pod has joined the network with. It may be
	// called again.
	Leave(p *Pod, ip string)

	// HasImage reports whether an image is on the node; KeepImage notes that one has
	// been pulled.
	HasImage(name string) bool
	KeepImage(name string)
}
