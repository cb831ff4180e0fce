package lifecycle

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

const (
	// evictionPeriod is how often upstream's eviction manager looks
	// (pkg/kubelet, evictionMonitoringPeriod).
	evictionPeriod = 10 * time.Second
	// evictionGrace is upstream's immediateEvictionGracePeriodSeconds.
	evictionGrace = time.Second
)

// What an eviction says (pkg/kubelet/eviction/helpers.go, where these are not
// exported).
const (
	evictedReason           = "Evicted"
	emptyDirMessage         = "Usage of EmptyDir volume %q exceeds the limit %q. "
	podStorageMessage       = "Pod ephemeral local storage usage exceeds the total limit of containers %s. "
	containerStorageMessage = "Container %s exceeded its local ephemeral storage limit %q. "
)

// storageLimit is the limit of a Pod's ephemeral storage, or 0 if it has none.
func storageLimit(obj *v1.Pod) int64 {
	limit := resourcehelper.PodLimits(obj, resourcehelper.PodResourcesOptions{})[v1.ResourceEphemeralStorage]
	return limit.Value()
}

// own makes a volume of the type emptyDir count. One in memory is a tmpfs: its
// size is the smallest of the volume's limit, the Pod's memory limit and the
// node's memory (pkg/volume/emptydir, calculateEmptyDirMemorySize).
func (v *volumes) own(obj *v1.Pod, name string, source *v1.EmptyDirVolumeSource, dir *container.File) {
	disk, limit := v.pod.cluster.Disk, int64(0)
	if source.SizeLimit != nil {
		limit = max(source.SizeLimit.Value(), 0)
	}
	if source.Medium != v1.StorageMediumMemory {
		v.empty[name] = disk.NewQuota(v.storage, 0, limit, v.pod.overStorage)
		disk.Own(dir, v.empty[name])
		return
	}
	size := v.pod.Node.Capacity.Memory().Value()
	if memory := resourcehelper.PodLimits(obj, resourcehelper.PodResourcesOptions{})[v1.ResourceMemory]; memory.Value() > 0 {
		size = min(size, memory.Value())
	}
	if limit > 0 {
		size = min(size, limit)
	}
	disk.Own(dir, disk.NewQuota(nil, size, 0, nil))
}

// discard frees what the Pod's own files take: not those of persistent volumes and
// of the node.
func (v *volumes) discard() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, t := range v.trees {
		t.Discard()
	}
	for _, root := range v.roots {
		v.pod.cluster.Disk.Discard(root)
	}
}

// overStorage is called when something of the Pod's has outgrown its limit. It
// must not block.
func (p *Pod) overStorage() {
	p.cluster.Clock.AfterFunc(evictionPeriod, func() { p.cluster.Queue.Add(p.UID) })
}

// outgrown ends a Pod that takes more ephemeral storage than it may, as upstream's
// eviction manager does in localStorageEviction.
func (p *Pod) outgrown(obj *v1.Pod, now time.Time) {
	if p.mounts == nil || kubelettypes.IsCriticalPod(obj) {
		return
	}
	message := p.mounts.outgrown(obj)
	if message == "" {
		return
	}
	p.event(obj, nil, v1.EventTypeWarning, evictedReason, message)
	p.end(obj, now, "", &v1.PodStatus{Phase: v1.PodFailed, Reason: evictedReason, Message: message})
	p.ending.grace = evictionGrace
}

// outgrown says which limit the Pod's files exceed, if any.
func (v *volumes) outgrown(obj *v1.Pod) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range obj.Spec.Volumes {
		vol := &obj.Spec.Volumes[i]
		used := v.empty[vol.Name]
		if used == nil || vol.EmptyDir == nil || vol.EmptyDir.SizeLimit == nil || vol.EmptyDir.SizeLimit.Sign() <= 0 {
			continue
		}
		if used.Used() > vol.EmptyDir.SizeLimit.Value() {
			return fmt.Sprintf(emptyDirMessage, vol.Name, vol.EmptyDir.SizeLimit.String())
		}
	}
	limits := resourcehelper.PodLimits(obj, resourcehelper.PodResourcesOptions{})
	if limit, ok := limits[v1.ResourceEphemeralStorage]; ok && v.storage.Used() > limit.Value() {
		return fmt.Sprintf(podStorageMessage, limit.String())
	}
	for _, r := range v.pod.order {
		layer, limit := v.layers[r], r.spec.Resources.Limits.StorageEphemeral()
		if layer == nil || limit.IsZero() || r.kind != mainContainer && r.kind != sidecar {
			continue
		}
		if layer.Used() > limit.Value() {
			return fmt.Sprintf(containerStorageMessage, r.spec.Name, limit.String())
		}
	}
	return ""
}
