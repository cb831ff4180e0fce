package node

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	v1resource "k8s.io/kubernetes/pkg/api/v1/resource"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

const (
	// evictionPeriod is how often upstream's eviction manager looks (pkg/kubelet, evictionMonitoringPeriod).
	evictionPeriod = 10 * time.Second
	// pressureTransition is how long a Node keeps a condition of pressure after it was last so: the default of a
	// kubelet's setting evictionPressureTransitionPeriod.
	pressureTransition = 5 * time.Minute
	// worthwhile is the part of the disk that an eviction is to free at least. Upstream evicts one Pod after the
	// other, but a disk that is full of what belongs to no Pod, such as persistent volumes, would cost them all here.
	worthwhile = 100
)

// candidate is a Pod that may be evicted.
type candidate struct {
	pod   *lifecycle.Pod
	obj   *v1.Pod
	stats statsapi.PodStats
	used  int64 // of the node's disk, as upstream ranks Pods: files and logs
	frees int64 // of the disk of all nodes: files that end with the Pod, those in memory too
}

// reclaim does what upstream's eviction manager does in one round when a node's disk is nearly full. All nodes have
// one disk, which is the memory of this process, so the node is low on it whose Pods take the most. That node gets
// the condition DiskPressure, and evicts one Pod. Only the goroutine of Run calls it.
func (n *Nodes) reclaim() {
	space := n.cluster.Disk.Space(0)
	if !space.Low {
		return
	}
	var low *kubelet
	var pods []candidate
	most := int64(-1)
	for _, k := range n.kubelets {
		if k.stopped() {
			continue
		}
		all, used := k.candidates()
		if used > most {
			low, pods, most = k, all, used
		}
	}
	if low == nil {
		return
	}
	low.state.Lock()
	low.lowAt = n.clock.Now()
	low.state.Unlock()
	low.attempt(v1.ResourceEphemeralStorage)
	slices.SortStableFunc(pods, rankDiskPressure)
	for _, c := range pods {
		if kubelettypes.IsCriticalPod(c.obj) || c.frees < space.Room/worthwhile {
			continue
		}
		c.pod.Evict(low.pressed(c.obj, c.stats, true, v1.ResourceEphemeralStorage))
		n.queue.Add(c.pod.UID)
		return
	}
}

// candidates returns the Pods of which something runs on the node, and what all of them take of the disk.
func (k *kubelet) candidates() (all []candidate, frees int64) {
	now := metav1.NewTime(k.cluster.clock.Now())
	for _, p := range k.here() {
		obj := p.Latest()
		stats, ok := podStats(obj, p.State(), now)
		if !ok {
			continue
		}
		storage := p.Storage()
		addStorage(&stats, storage, k.disk(now))
		c := candidate{pod: p, obj: obj, stats: stats, used: storage.Ephemeral}
		for _, rootfs := range storage.Rootfs {
			c.frees += rootfs
		}
		for _, v := range storage.Volumes {
			if v.Claim == "" {
				c.frees += v.Bytes
			}
		}
		all, frees = append(all, c), frees+c.frees
	}
	return all, frees
}

// rankDiskPressure is upstream's order of eviction (pkg/kubelet/eviction/helpers.go, rankDiskPressureFunc): first
// Pods that take more than they request, then those of lower priority, then those that take the most beyond it.
func rankDiskPressure(a, b candidate) int {
	beyond := func(c candidate) int64 {
		request := v1resource.GetResourceRequestQuantity(c.obj, v1.ResourceEphemeralStorage)
		return c.used - request.Value()
	}
	exceeds := func(c candidate) int {
		if beyond(c) > 0 {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(exceeds(a), exceeds(b)), cmp.Compare(corev1helpers.PodPriority(a.obj), corev1helpers.PodPriority(b.obj)), cmp.Compare(beyond(b), beyond(a)))
}

// diskPressureLocked reports whether the node has been low on disk lately.
func (k *kubelet) diskPressureLocked() bool {
	return !k.lowAt.IsZero() && k.cluster.clock.Since(k.lowAt) < pressureTransition
}
