package node

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

// statistics are a kubelet's, in the shape that upstream's collectors ask for
// (pkg/kubelet/server/stats, SummaryProvider).
type statistics struct{ kubelet *kubelet }

// Get returns what GetCPUAndMemoryStats does, and what is known of file systems: what
// files and logs take, see lifecycle.Storage, on a disk of the size that the Node
// reports. Whatever is asked for, it is up to date. It fails when the Node does not exist.
func (s statistics) Get(context.Context, bool) (*statsapi.Summary, error) {
	return s.summary(true)
}

// GetCPUAndMemoryStats returns the usage of the node and of the containers that
// run on it. It is made up, see PodUsage; the CPU time is as if it had been so since
// the start. It fails when the Node does not exist.
func (s statistics) GetCPUAndMemoryStats(context.Context) (*statsapi.Summary, error) {
	return s.summary(false)
}

// ListPodStats returns those of Get.
func (s statistics) ListPodStats(ctx context.Context) ([]statsapi.PodStats, error) {
	all, err := s.Get(ctx, false)
	if err != nil {
		return nil, err
	}
	return all.Pods, nil
}

func (s statistics) summary(storage bool) (*statsapi.Summary, error) {
	node, err := s.kubelet.cluster.nodes.Get(s.kubelet.name)
	if err != nil {
		return nil, err
	}
	now := metav1.NewTime(s.kubelet.cluster.clock.Now())
	used, _ := s.kubelet.cluster.NodeUsage(node)
	all := &statsapi.Summary{Node: statsapi.NodeStats{
		NodeName: s.kubelet.name, StartTime: node.CreationTimestamp,
		CPU: cpuStats(now, used.Usage, node.CreationTimestamp), Memory: memoryStats(now, used.Usage),
	}, Pods: []statsapi.PodStats{}}
	if storage {
		disk := s.kubelet.disk(now)
		images := disk
		images.UsedBytes = ptr.To(s.kubelet.imageBytes())
		all.Node.Fs, all.Node.Runtime = &disk, &statsapi.RuntimeStats{ImageFs: &images, ContainerFs: &images}
	}
	for _, p := range s.kubelet.here() {
		stats, ok := podStats(p.Latest(), p.State(), now)
		if !ok {
			continue
		}
		if storage {
			addStorage(&stats, p.Storage(), s.kubelet.disk(now))
		}
		all.Pods = append(all.Pods, stats)
	}
	return all, nil
}

// bytesPerInode is how large a part of a disk has one inode, if mkfs.ext4 is not told.
const bytesPerInode = 16 << 10

// disk is the node's disk. That its system has a thirty-second of the inodes is made up.
func (k *kubelet) disk(now metav1.Time) statsapi.FsStats {
	space := k.cluster.cluster.Disk.Space(k.capacity.StorageEphemeral().Value())
	inodes := uint64(space.Size / bytesPerInode)
	return statsapi.FsStats{
		Time: now, CapacityBytes: ptr.To(uint64(space.Size)), UsedBytes: ptr.To(uint64(space.Used)), AvailableBytes: ptr.To(uint64(space.Available)),
		Inodes: ptr.To(inodes), InodesUsed: ptr.To(inodes / 32), InodesFree: ptr.To(inodes - inodes/32),
	}
}

// imageBytes is what the images on the node take.
func (k *kubelet) imageBytes() uint64 {
	k.state.Lock()
	defer k.state.Unlock()
	sum := int64(0)
	for name := range k.images {
		if image, err := container.Resolve(name); err == nil {
			sum += image.Size
		}
	}
	return uint64(sum)
}

// addStorage fills in what a Pod takes of its node's disk, as upstream's kubelet does
// (pkg/kubelet/stats, makePodStorageStats, and pkg/kubelet/server/stats, volumeStatCalculator).
// Volumes that show what the API has are left out: they are made when somebody looks.
func addStorage(stats *statsapi.PodStats, s lifecycle.Storage, disk statsapi.FsStats) {
	taken := func(bytes int64) *statsapi.FsStats {
		of := disk
		of.UsedBytes, of.InodesUsed = ptr.To(uint64(bytes)), nil
		return &of
	}
	for i := range stats.Containers {
		c := &stats.Containers[i]
		c.Rootfs, c.Logs = taken(s.Rootfs[c.Name]), taken(s.Logs[c.Name])
	}
	for _, v := range s.Volumes {
		of := statsapi.VolumeStats{Name: v.Name, FsStats: *taken(v.Bytes)}
		of.InodesUsed = ptr.To(uint64(v.Files))
		if v.Claim != "" {
			of.PVCRef = &statsapi.PVCReference{Name: v.Claim, Namespace: stats.PodRef.Namespace}
		}
		if v.Size > 0 {
			of.CapacityBytes, of.AvailableBytes = ptr.To(uint64(v.Size)), ptr.To(uint64(max(v.Size-v.Bytes, 0)))
			inodes := max(v.Size/bytesPerInode, v.Files)
			of.Inodes, of.InodesFree = ptr.To(uint64(inodes)), ptr.To(uint64(inodes-v.Files))
		}
		stats.VolumeStats = append(stats.VolumeStats, of)
	}
	stats.EphemeralStorage = taken(s.Ephemeral)
}

// podStats returns the statistics of a Pod, and false if nothing of it runs.
func podStats(obj *v1.Pod, state lifecycle.State, now metav1.Time) (statsapi.PodStats, bool) {
	stats := statsapi.PodStats{PodRef: statsapi.PodReference{Name: obj.Name, Namespace: obj.Namespace, UID: string(obj.UID)}, StartTime: state.Started}
	cpu, total, memory := uint64(0), uint64(0), uint64(0)
	for _, r := range state.Running {
		used, started := usage(obj, r), metav1.NewTime(r.StartedAt)
		c := statsapi.ContainerStats{Name: r.Name, StartTime: started, CPU: cpuStats(now, used, started), Memory: memoryStats(now, used)}
		cpu, total, memory = cpu+*c.CPU.UsageNanoCores, total+*c.CPU.UsageCoreNanoSeconds, memory+*c.Memory.WorkingSetBytes
		stats.Containers = append(stats.Containers, c)
	}
	stats.CPU = &statsapi.CPUStats{Time: now, UsageNanoCores: &cpu, UsageCoreNanoSeconds: &total}
	stats.Memory = &statsapi.MemoryStats{Time: now, WorkingSetBytes: &memory}
	return stats, len(stats.Containers) > 0
}

func cpuStats(now metav1.Time, used v1.ResourceList, since metav1.Time) *statsapi.CPUStats {
	milli := used.Cpu().MilliValue()
	lived := max(now.Sub(since.Time), 0)
	return &statsapi.CPUStats{Time: now, UsageNanoCores: ptr.To(uint64(milli) * 1e6), UsageCoreNanoSeconds: ptr.To(uint64(milli) * uint64(lived/time.Microsecond))}
}

func memoryStats(now metav1.Time, used v1.ResourceList) *statsapi.MemoryStats {
	return &statsapi.MemoryStats{Time: now, WorkingSetBytes: ptr.To(uint64(used.Memory().Value()))}
}

// summary answers /stats/summary, as upstream's handleSummary does (pkg/kubelet/server/stats).
func (k *kubelet) summary(w http.ResponseWriter, r *http.Request) {
	all, err := statistics{k}.summary(r.FormValue("only_cpu_and_memory") != "true")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(all) // the client is gone: nobody to tell
}
