package lifecycle

import (
	"fmt"
	"slices"
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

// What an eviction says, and by which signals upstream counts them (pkg/kubelet/eviction,
// helpers.go and eviction_manager.go, where most of these are not exported).
const (
	evictedReason           = "Evicted"
	emptyDirMessage         = "Usage of EmptyDir volume %q exceeds the limit %q. "
	podStorageMessage       = "Pod ephemeral local storage usage exceeds the total limit of containers %s. "
	containerStorageMessage = "Container %s exceeded its local ephemeral storage limit %q. "
	emptyDirSignal          = "emptydirfs.limit"
	podStorageSignal        = "ephemeralpodfs.limit"
	containerStorageSignal  = "ephemeralcontainerfs.limit"
)

// storageLimit is the limit of a Pod's ephemeral storage, or 0 if it has none.
func storageLimit(obj *v1.Pod) int64 {
	limit := resourcehelper.PodLimits(obj, resourcehelper.PodResourcesOptions{})[v1.ResourceEphemeralStorage]
	return limit.Value()
}

// counted returns what counts a container's writable layer and its logs, in all of its
// runs, with the rest of the Pod's ephemeral storage.
func (v *volumes) counted(r *record) *container.Quota {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.countedLocked(r)
}

func (v *volumes) countedLocked(r *record) *container.Quota {
	if v.containers[r] == nil {
		v.containers[r] = v.pod.cluster.Disk.NewQuota(v.storage, 0, r.spec.Resources.Limits.StorageEphemeral().Value(), v.pod.overStorage)
	}
	return v.containers[r]
}

// inMemory returns what counts the memory that a container takes by writing to volumes in
// memory, in all of its runs, as they are the Pod's; nil if the Pod has no such volume.
func (v *volumes) inMemory(obj *v1.Pod, r *record) *container.Quota {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.memory[r] == nil && slices.ContainsFunc(obj.Spec.Volumes, func(vol v1.Volume) bool {
		return vol.EmptyDir != nil && vol.EmptyDir.Medium == v1.StorageMediumMemory
	}) {
		v.memory[r] = v.pod.cluster.Disk.NewQuota(nil, 0, 0, nil)
	}
	return v.memory[r]
}

// own makes a volume of the type emptyDir count. One in memory is a tmpfs.
func (v *volumes) own(obj *v1.Pod, name string, source *v1.EmptyDirVolumeSource, dir *container.File) {
	disk := v.pod.cluster.Disk
	if source.Medium == v1.StorageMediumMemory {
		disk.Own(dir, disk.NewTmpfs(v.tmpfsSize(obj, source)))
		return
	}
	limit := int64(0)
	if source.SizeLimit != nil {
		limit = max(source.SizeLimit.Value(), 0)
	}
	v.empty[name] = disk.NewQuota(v.storage, 0, limit, v.pod.overStorage)
	disk.Own(dir, v.empty[name])
}

// tmpfsSize is how many bytes an emptyDir in memory holds: the smallest of the volume's
// limit, the Pod's memory limit and the node's memory (pkg/volume/emptydir,
// calculateEmptyDirMemorySize).
func (v *volumes) tmpfsSize(obj *v1.Pod, source *v1.EmptyDirVolumeSource) int64 {
	size := v.pod.Node.Capacity.Memory().Value()
	if memory := resourcehelper.PodLimits(obj, resourcehelper.PodResourcesOptions{})[v1.ResourceMemory]; memory.Value() > 0 {
		size = min(size, memory.Value())
	}
	if source.SizeLimit != nil && source.SizeLimit.Sign() > 0 {
		size = min(size, source.SizeLimit.Value())
	}
	return size
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
	p.cluster.Clock.AfterFunc(evictionPeriod, func() {
		p.inbox.Lock()
		p.overgrown = true
		p.inbox.Unlock()
		p.cluster.Queue.Add(p.UID)
	})
}

// outgrown ends a Pod that takes more ephemeral storage than it may, as upstream's
// eviction manager does in localStorageEviction.
func (p *Pod) outgrown(obj *v1.Pod, now time.Time, in inboxed) {
	due := !p.storageAt.IsZero() && !now.Before(p.storageAt)
	if p.mounts == nil || kubelettypes.IsCriticalPod(obj) || !in.grown && !due {
		if !p.storageAt.IsZero() && !due {
			p.at(p.storageAt)
		}
		return
	}
	p.storageAt = time.Time{}
	e, over := p.mounts.outgrown(obj)
	if e.Message == "" {
		if over {
			p.storageAt = now.Add(evictionPeriod) // overStorage does not come again
			p.at(p.storageAt)
		}
		return
	}
	p.evict(obj, now, e)
}

// usedLocked is how much ephemeral storage the Pod takes, as upstream's calcEphemeralStorage
// has it (pkg/kubelet/stats): that of containers that do not run does not count.
func (v *volumes) usedLocked() int64 {
	used := int64(0)
	for r, counted := range v.containers {
		if r.running() {
			used += counted.Used()
		}
	}
	for _, volume := range v.empty {
		used += volume.Used()
	}
	return used
}

// outgrown says which limit the Pod's files and logs exceed, if any; over, that they would
// if containers that do not run counted.
func (v *volumes) outgrown(obj *v1.Pod) (e Eviction, over bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range obj.Spec.Volumes {
		vol := &obj.Spec.Volumes[i]
		used := v.empty[vol.Name]
		if used == nil || vol.EmptyDir == nil || vol.EmptyDir.SizeLimit == nil || vol.EmptyDir.SizeLimit.Sign() <= 0 {
			continue
		}
		if used.Used() > vol.EmptyDir.SizeLimit.Value() {
			return Eviction{Signal: emptyDirSignal, Message: fmt.Sprintf(emptyDirMessage, vol.Name, vol.EmptyDir.SizeLimit.String())}, true
		}
	}
	limits := resourcehelper.PodLimits(obj, resourcehelper.PodResourcesOptions{})
	if limit, ok := limits[v1.ResourceEphemeralStorage]; ok && v.storage.Used() > limit.Value() {
		if v.usedLocked() > limit.Value() {
			return Eviction{Signal: podStorageSignal, Message: fmt.Sprintf(podStorageMessage, limit.String())}, true
		}
		over = true
	}
	for _, r := range v.pod.order {
		counted, limit := v.containers[r], r.spec.Resources.Limits.StorageEphemeral()
		if counted == nil || limit.IsZero() || r.kind != mainContainer && r.kind != sidecar || counted.Used() <= limit.Value() {
			continue
		}
		if r.running() {
			return Eviction{Signal: containerStorageSignal, Message: fmt.Sprintf(containerStorageMessage, r.spec.Name, limit.String())}, true
		}
		over = true
	}
	return Eviction{}, over
}
