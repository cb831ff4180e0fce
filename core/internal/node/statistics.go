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

	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

// statistics are a kubelet's, in the shape that upstream's collectors ask for
// (pkg/kubelet/server/stats, SummaryProvider).
type statistics struct{ kubelet *kubelet }

// Get returns what GetCPUAndMemoryStats does: nothing else is known.
func (s statistics) Get(ctx context.Context, _ bool) (*statsapi.Summary, error) {
	return s.GetCPUAndMemoryStats(ctx)
}

// GetCPUAndMemoryStats returns the usage of the node and of the containers that
// run on it. It is made up, see PodUsage; the CPU time is as if it had been so since
// the start. It fails when the Node does not exist.
func (s statistics) GetCPUAndMemoryStats(context.Context) (*statsapi.Summary, error) {
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
	for _, p := range s.kubelet.here() {
		if stats, ok := podStats(p, now); ok {
			all.Pods = append(all.Pods, stats)
		}
	}
	return all, nil
}

// podStats returns the statistics of a Pod, and false if nothing of it runs.
func podStats(p *lifecycle.Pod, now metav1.Time) (statsapi.PodStats, bool) {
	obj, state := p.Latest(), p.State()
	stats := statsapi.PodStats{PodRef: statsapi.PodReference{Name: p.Name, Namespace: p.Namespace, UID: string(p.UID)}, StartTime: state.Started}
	cpu, total, memory := uint64(0), uint64(0), uint64(0)
	for _, r := range state.Running {
		used, started := usage(obj, r), metav1.NewTime(r.StartedAt)
		c := statsapi.ContainerStats{Name: r.Name, StartTime: started, CPU: cpuStats(now, used, started), Memory: memoryStats(now, used),
			Logs: &statsapi.FsStats{Time: now, UsedBytes: ptr.To(uint64(r.Container.Log.Size()))}}
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

// summary answers /stats/summary.
func (k *kubelet) summary(w http.ResponseWriter, r *http.Request) {
	all, err := statistics{k}.GetCPUAndMemoryStats(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(all) // the client is gone: nobody to tell
}
