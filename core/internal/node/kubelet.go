package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/version"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/inplacepodresize"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/restartallcontainers"
	declared "k8s.io/component-helpers/nodedeclaredfeatures/types"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/kubelet/events"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
	"github.com/kubetab/kubetab/core/internal/node/locks"
	"github.com/kubetab/kubetab/core/internal/node/network"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// kubelet is one node and the state of its kubelet.
type kubelet struct {
	cluster  *Nodes
	index    int
	name     string
	ip       string
	capacity v1.ResourceList
	host     *lifecycle.Node       // as its Pods see it
	lease    *coordinationv1.Lease // as last written; nil when it must be read

	state     locks.Mutex[locks.Part]
	node      *v1.Node                         // as last registered or written
	images    map[string]bool                  // that are on the node
	order     []string                         // of images, for the node's status
	ips       map[int]bool                     // host parts that Pods have
	nextIP    int                              //
	began     time.Time                        // when the kubelet has registered
	lowAt     time.Time                        // when the node's disk was last nearly full, because of its Pods
	evictions map[string]int                   // by signal
	admitted  map[types.UID]v1.ResourceList    // requests of the Pods that run here
	ports     map[types.UID][]v1.ContainerPort // host ports of the Pods that run here
}

func newKubelet(n *Nodes, i int, given v1.ResourceList) *kubelet {
	k := &kubelet{
		cluster: n, index: i, name: fmt.Sprintf("node-%d", i+1), ip: network.NodeIP(i), capacity: capacity(given),
		images: map[string]bool{}, ips: map[int]bool{}, nextIP: 2, admitted: map[types.UID]v1.ResourceList{}, ports: map[types.UID][]v1.ContainerPort{},
	}
	k.host = &lifecycle.Node{Cluster: &n.cluster, Kubelet: k, Name: k.name, IP: k.ip, Capacity: k.capacity, HostPath: nodeFiles(n.cluster.Disk, k.name, k.ip)}
	return k
}

// nodeFiles is a node's file system: what documentation looks at.
func nodeFiles(disk *container.Disk, name, ip string) *container.File {
	t := container.Image{Bash: true}.Tree(disk)
	for file, text := range map[string]string{
		"/etc/hostname":   name + "\n",
		"/etc/machine-id": fmt.Sprintf("%032x\n", hash(name)),
		"/etc/hosts":      "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n" + ip + "\t" + name + "\n",
	} {
		_ = t.WriteFile(file, []byte(text), 0o644) // a new tree is writable
	}
	for _, dir := range []string{"/etc/kubernetes/manifests", "/var/lib/kubelet", "/var/log/pods", "/var/log/containers", "/mnt", "/srv"} {
		_ = t.MkdirAll(dir, 0o755)
	}
	return t.Root()
}

// register creates the Node, or takes over the one that is there, as a kubelet
// that starts does.
func (k *kubelet) register(ctx context.Context) error {
	now := metav1.NewTime(k.cluster.clock.Now())
	fresh := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: k.name,
			Labels: map[string]string{
				v1.LabelHostname: k.name, v1.LabelOSStable: "linux", v1.LabelArchStable: "amd64",
				"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64",
			},
			Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		},
		Spec: v1.NodeSpec{PodCIDR: network.PodCIDR(k.index), PodCIDRs: []string{network.PodCIDR(k.index)}},
	}
	k.setStatus(fresh, now)
	node, err := k.cluster.config.Client.CoreV1().Nodes().Create(ctx, fresh, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
			if node, err = k.cluster.config.Client.CoreV1().Nodes().Get(ctx, k.name, metav1.GetOptions{}); err != nil {
				return err
			}
			k.setStatus(node, now)
			node, err = k.cluster.config.Client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
			return err
		})
	}
	if err != nil {
		return err
	}
	k.state.Lock()
	k.node, k.began = node, now.Time
	k.state.Unlock()
	if err := k.renew(ctx); err != nil {
		return err
	}
	k.cluster.events.add(k.ref(), nil, v1.EventTypeNormal, events.StartingKubelet, "Starting kubelet.", k.name)
	for _, reason := range []string{"NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID", events.NodeReady} {
		k.cluster.events.add(k.ref(), nil, v1.EventTypeNormal, reason, fmt.Sprintf("Node %s status is now: %s", k.name, reason), k.name)
	}
	return nil
}

func (k *kubelet) ref() *v1.ObjectReference {
	k.state.Lock()
	defer k.state.Unlock()
	ref := &v1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: k.name}
	if k.node != nil {
		ref.UID = k.node.UID
	}
	return ref
}

// declaredFeatures are those that a kubelet declares of what these kubelets do, in the order of their names.
func declaredFeatures() []string {
	var names []string
	for _, f := range []declared.Feature{inplacepodresize.PodLevelResourcesResizeFeature, restartallcontainers.Feature} {
		if f.Discover(&declared.NodeConfiguration{FeatureGates: gates{}}) {
			names = append(names, f.Name())
		}
	}
	return names
}

// gates are Kubernetes' feature gates.
type gates struct{}

// Enabled implements declared.FeatureGate.
func (gates) Enabled(name string) bool {
	return utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(name))
}

// setStatus fills in what the kubelet reports of its node.
func (k *kubelet) setStatus(node *v1.Node, now metav1.Time) {
	s := &node.Status
	capacity := k.capacity.DeepCopy()
	for name, q := range s.Capacity { // what somebody has advertised on the node stays
		if v1helper.IsExtendedResourceName(name) {
			capacity[name] = q
		}
	}
	s.Capacity, s.Allocatable = capacity, capacity.DeepCopy()
	s.Addresses = []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: k.ip}, {Type: v1.NodeHostName, Address: k.name}}
	s.DaemonEndpoints.KubeletEndpoint.Port = kubeletPort
	id := fmt.Sprintf("%032x", hash(k.name))
	s.NodeInfo = v1.NodeSystemInfo{
		MachineID: id, SystemUUID: id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:], BootID: "00000000-0000-4000-8000-" + id[20:],
		KernelVersion: coreutils.KernelVersion, OSImage: "Kubetab (simulated)", ContainerRuntimeVersion: "kubetab://simulated",
		KubeletVersion: cmp.Or(version.Get().GitVersion, "v0.0.0"), OperatingSystem: "linux", Architecture: "amd64",
	}
	s.DeclaredFeatures = declaredFeatures()
	s.RuntimeHandlers = []v1.NodeRuntimeHandler{{Name: ""}}
	s.Images = nil
	for _, name := range k.order {
		if image, err := container.Resolve(name); err == nil {
			s.Images = append(s.Images, v1.ContainerImage{Names: []string{image.ID, image.Name}, SizeBytes: image.Size})
		}
	}
	pressure := node.Annotations[AnnotationPressure]
	set := func(kind v1.NodeConditionType, on bool, yes, no, yesText, noText string) {
		c := v1.NodeCondition{Type: kind, Status: v1.ConditionFalse, Reason: no, Message: noText, LastHeartbeatTime: now, LastTransitionTime: now}
		if on {
			c.Status, c.Reason, c.Message = v1.ConditionTrue, yes, yesText
		}
		for i, have := range s.Conditions {
			if have.Type == kind {
				if have.Status == c.Status {
					c.LastTransitionTime = have.LastTransitionTime
				}
				s.Conditions[i] = c
				return
			}
		}
		s.Conditions = append(s.Conditions, c)
	}
	set(v1.NodeMemoryPressure, pressure == "memory", "KubeletHasInsufficientMemory", "KubeletHasSufficientMemory", "kubelet has insufficient memory available", "kubelet has sufficient memory available")
	set(v1.NodeDiskPressure, pressure == "disk" || k.diskPressureLocked(), "KubeletHasDiskPressure", "KubeletHasNoDiskPressure", "kubelet has disk pressure", "kubelet has no disk pressure")
	set(v1.NodePIDPressure, pressure == "pid", "KubeletHasInsufficientPID", "KubeletHasSufficientPID", "kubelet has insufficient PID available", "kubelet has sufficient PID available")
	set(v1.NodeReady, true, "KubeletReady", "", "kubelet is posting ready status", "")
	s.VolumesInUse, s.VolumesAttached = nil, nil
}

// stopped reports whether somebody has asked for the kubelet to be down.
func (k *kubelet) stopped() bool {
	node, err := k.cluster.nodes.Get(k.name)
	return err == nil && node.Annotations[AnnotationKubelet] == "stopped"
}

// writeStatus reports the node's state if it has changed, or in any case when
// it is due.
func (k *kubelet) writeStatus(ctx context.Context, due bool) error {
	cached, err := k.cluster.nodes.Get(k.name)
	if err != nil {
		return err
	}
	node := cached.DeepCopy()
	k.state.Lock()
	k.setStatus(node, metav1.NewTime(k.cluster.clock.Now()))
	k.state.Unlock()
	if !due && !conditionsDiffer(cached.Status.Conditions, node.Status.Conditions) && equality.Semantic.DeepEqual(cached.Status.Allocatable, node.Status.Allocatable) {
		return nil
	}
	written, err := k.cluster.config.Client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	k.state.Lock()
	k.node = written
	k.state.Unlock()
	k.recordPressure(cached.Status.Conditions, node.Status.Conditions)
	return nil
}

// recordPressure records what has changed of the conditions of pressure, as upstream's setters do (pkg/kubelet/nodestatus).
func (k *kubelet) recordPressure(was, is []v1.NodeCondition) {
	for i := range is {
		reasons, ok := map[v1.NodeConditionType][2]string{
			v1.NodeMemoryPressure: {"NodeHasSufficientMemory", "NodeHasInsufficientMemory"},
			v1.NodeDiskPressure:   {"NodeHasNoDiskPressure", "NodeHasDiskPressure"},
			v1.NodePIDPressure:    {"NodeHasSufficientPID", "NodeHasInsufficientPID"},
		}[is[i].Type]
		if !ok || slices.ContainsFunc(was, func(c v1.NodeCondition) bool { return c.Type == is[i].Type && c.Status == is[i].Status }) {
			continue
		}
		reason := reasons[0]
		if is[i].Status == v1.ConditionTrue {
			reason = reasons[1]
		}
		k.cluster.events.add(k.ref(), nil, v1.EventTypeNormal, reason, fmt.Sprintf("Node %s status is now: %s", k.name, reason), k.name)
	}
}

func conditionsDiffer(a, b []v1.NodeCondition) bool {
	return !slices.EqualFunc(a, b, func(x, y v1.NodeCondition) bool {
		return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason
	})
}

// HasImage reports whether an image is on the node.
func (k *kubelet) HasImage(name string) bool {
	k.state.Lock()
	defer k.state.Unlock()
	return k.images[name]
}

// KeepImage notes that an image has been pulled. A node's status lists fifty.
func (k *kubelet) KeepImage(name string) {
	k.state.Lock()
	defer k.state.Unlock()
	if k.images[name] {
		return
	}
	k.images[name] = true
	if k.order = append(k.order, name); len(k.order) > 50 {
		k.order = k.order[1:]
	}
}

// Join makes a Pod known in the network by an address of the node. It fails if
// there is none left.
func (k *kubelet) Join(p *lifecycle.Pod) (ip string, err error) {
	ip, ok := k.takeIP()
	if !ok {
		return "", fmt.Errorf("no IP addresses available in range set: %s", network.PodCIDR(k.index))
	}
	k.cluster.mu.Lock()
	k.cluster.byIP[ip] = p
	k.cluster.mu.Unlock()
	return ip, nil
}

// Leave gives back the address that a Pod has joined the network with, unless
// that has been done.
func (k *kubelet) Leave(p *lifecycle.Pod, ip string) {
	k.cluster.mu.Lock()
	mine := k.cluster.byIP[ip] == p
	if mine {
		delete(k.cluster.byIP, ip)
	}
	k.cluster.mu.Unlock()
	if mine {
		k.releaseIP(ip)
	}
}

// takeIP returns an address for a Pod, and false if there is none left. They
// are given out in turn, so that one is not used again at once.
func (k *kubelet) takeIP() (string, bool) {
	k.state.Lock()
	defer k.state.Unlock()
	for range 253 {
		host := k.nextIP
		if k.nextIP++; k.nextIP > 254 {
			k.nextIP = 2
		}
		if !k.ips[host] {
			k.ips[host] = true
			return network.PodIP(k.index, host), true
		}
	}
	return "", false
}

func (k *kubelet) releaseIP(ip string) {
	k.state.Lock()
	defer k.state.Unlock()
	for host := range k.ips {
		if network.PodIP(k.index, host) == ip {
			delete(k.ips, host)
		}
	}
}

const (
	leaseSeconds  = 40
	leasePeriod   = 10 * time.Second
	statusPeriod  = 5 * time.Minute
	leaseInterval = 100 * time.Millisecond // of real time, however fast the clock runs
)
