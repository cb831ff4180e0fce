package node

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	cadvisor "github.com/google/cadvisor/lib/container"
	cadvisormetrics "github.com/google/cadvisor/lib/metrics"
	cadvisorapi "github.com/google/cadvisor/lib/model"
	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	compbasemetrics "k8s.io/component-base/metrics"
	resourcehelper "k8s.io/component-helpers/resource"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	kubeletmetrics "k8s.io/kubernetes/pkg/kubelet/metrics"
	"k8s.io/kubernetes/pkg/kubelet/metrics/collectors"
	serverstats "k8s.io/kubernetes/pkg/kubelet/server/stats"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// shows makes a handler of what one kubelet shows at a path. register fills a
// registry for each request and returns what is to be called after the answer.
func shows(register func(*kubelet, compbasemetrics.KubeRegistry) (release func())) func(*kubelet, http.ResponseWriter, *http.Request) {
	return func(k *kubelet, w http.ResponseWriter, r *http.Request) {
		registry := compbasemetrics.NewKubeRegistry()
		defer register(k, registry)()
		compbasemetrics.HandlerFor(registry, compbasemetrics.HandlerOpts{ErrorHandling: compbasemetrics.ContinueOnError}).ServeHTTP(w, r)
	}
}

// resourceMetrics fills /metrics/resource, with upstream's collector.
func resourceMetrics(k *kubelet, registry compbasemetrics.KubeRegistry) func() {
	registry.CustomMustRegister(collectors.NewResourceMetricsCollector(statistics{k}))
	return func() {}
}

// counting is held while upstream's gauges, which are variables of the process,
// show the figures of one kubelet.
var counting sync.Mutex

// volumeStats is the part of upstream's serverstats.Provider that its collector of volumes asks.
type volumeStats struct {
	serverstats.Provider // nil
	statistics           statistics
}

// ListPodStats returns those of statistics.
func (v volumeStats) ListPodStats(ctx context.Context) ([]statsapi.PodStats, error) {
	return v.statistics.ListPodStats(ctx)
}

// ownMetrics fills /metrics: upstream's gauges of a kubelet's Pods and containers, its evictions,
// the sizes of the containers' logs and of volumes of claims, and of the process what Go tells, which all
// kubelets share, and when the kubelet began, by the cluster's clock. Upstream's other metrics measure the work
// of a kubelet and of its container runtime, which do not exist here.
func ownMetrics(k *kubelet, registry compbasemetrics.KubeRegistry) func() {
	counting.Lock()
	compbasemetrics.RegisterBuildInfo(registry)
	registry.RawMustRegister(promcollectors.NewGoCollector(), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "process_start_time_seconds", Help: "Start time of the process since unix epoch in seconds.",
	}, func() float64 {
		k.state.Lock()
		defer k.state.Unlock()
		return float64(k.began.UnixMilli()) / 1000
	}))
	registry.MustRegister(kubeletmetrics.NodeName, kubeletmetrics.Evictions, kubeletmetrics.RunningPodCount, kubeletmetrics.RunningContainerCount, kubeletmetrics.DesiredPodCount, kubeletmetrics.ActivePodCount)
	registry.CustomMustRegister(collectors.NewLogMetricsCollector(statistics{k}.ListPodStats), collectors.NewVolumeStatsCollector(volumeStats{statistics: statistics{k}}))
	pods := k.here()
	active, sandboxes := 0, 0
	states := map[string]int{}
	for _, p := range pods {
		state := p.State()
		if !state.Finished {
			active++
		}
		if state.Sandbox && !state.Finished {
			sandboxes++
		}
		if running := len(state.Running); running > 0 {
			states["running"] += running
		}
		if state.Exited > 0 {
			states["exited"] += state.Exited
		}
	}
	kubeletmetrics.Evictions.Reset()
	k.state.Lock()
	for signal, count := range k.evictions {
		kubeletmetrics.Evictions.WithLabelValues(signal).Add(float64(count))
	}
	k.state.Unlock()
	kubeletmetrics.NodeName.Reset()
	kubeletmetrics.SetNodeName(types.NodeName(k.name))
	kubeletmetrics.RunningPodCount.Set(float64(sandboxes))
	kubeletmetrics.RunningContainerCount.Reset()
	for state, count := range states {
		kubeletmetrics.RunningContainerCount.WithLabelValues(state).Set(float64(count))
	}
	for isStatic, share := range map[string]float64{"": 1, "true": 0} { // upstream's label
		kubeletmetrics.DesiredPodCount.WithLabelValues(isStatic).Set(share * float64(len(pods)))
		kubeletmetrics.ActivePodCount.WithLabelValues(isStatic).Set(share * float64(active))
	}
	return counting.Unlock
}

// cadvisorMetrics fills /metrics/cadvisor, with upstream's collectors and what is
// known for them: limits, CPU time, memory, and the files of containers. The other sets of upstream's kubelet
// (pkg/kubelet/server, InstallAuthNotRequiredHandlers) need a kernel.
func cadvisorMetrics(k *kubelet, registry compbasemetrics.KubeRegistry) func() {
	sets := cadvisor.MetricSet{cadvisor.CpuUsageMetrics: {}, cadvisor.MemoryUsageMetrics: {}, cadvisor.DiskUsageMetrics: {}}
	registry.RawMustRegister(cadvisormetrics.NewPrometheusMachineCollector(machine{k}, sets))
	registry.RawMustRegister(cadvisormetrics.NewPrometheusCollector(machine{k}, containerLabels, sets, k.cluster.clock, cadvisorapi.RequestOptions{IdType: cadvisorapi.TypeName, Count: 1, Recursive: true}))
	return func() {}
}

// containerLabels are those of upstream's containerPrometheusLabelsFunc
// (pkg/kubelet/server). A Pod's cgroup has the labels of the Pod already.
func containerLabels(c *cadvisorapi.ContainerInfo) map[string]string {
	name := ""
	if len(c.Aliases) > 0 {
		name = c.Aliases[0]
	}
	return map[string]string{
		cadvisormetrics.LabelID: c.Name, cadvisormetrics.LabelName: name, cadvisormetrics.LabelImage: c.Spec.Image,
		"pod":       c.Spec.Labels[kubelettypes.KubernetesPodNameLabel],
		"namespace": c.Spec.Labels[kubelettypes.KubernetesPodNamespaceLabel],
		"container": c.Spec.Labels[kubelettypes.KubernetesContainerNameLabel],
	}
}

// machine is a node as cAdvisor's collectors see it.
type machine struct{ kubelet *kubelet }

// GetVersionInfo never fails.
func (m machine) GetVersionInfo() (*cadvisorapi.VersionInfo, error) {
	m.kubelet.state.Lock()
	defer m.kubelet.state.Unlock()
	info := &cadvisorapi.VersionInfo{KernelVersion: coreutils.KernelVersion}
	if m.kubelet.node != nil {
		info.ContainerOsVersion = m.kubelet.node.Status.NodeInfo.OSImage
	}
	return info, nil
}

// GetMachineInfo returns the capacity that the Node reports, and never fails.
func (m machine) GetMachineInfo() (*cadvisorapi.MachineInfo, error) {
	cores := int(m.kubelet.capacity.Cpu().Value())
	info := &cadvisorapi.MachineInfo{Timestamp: m.kubelet.cluster.clock.Now(), NumCores: cores, NumPhysicalCores: cores, NumSockets: 1, MemoryCapacity: uint64(m.kubelet.capacity.Memory().Value())}
	m.kubelet.state.Lock()
	defer m.kubelet.state.Unlock()
	if m.kubelet.node != nil {
		info.MachineID, info.SystemUUID, info.BootID = m.kubelet.node.Status.NodeInfo.MachineID, m.kubelet.node.Status.NodeInfo.SystemUUID, m.kubelet.node.Status.NodeInfo.BootID
	}
	return info, nil
}

// GetRequestedContainersInfo returns the cgroups of the node, of its Pods and of
// their containers that run, by their names with the systemd driver, whatever is
// asked for. It fails when the Node does not exist.
func (m machine) GetRequestedContainersInfo(string, cadvisorapi.RequestOptions) (map[string]*cadvisorapi.ContainerInfo, error) {
	node, err := m.kubelet.cluster.nodes.Get(m.kubelet.name)
	if err != nil {
		return nil, err
	}
	now := m.kubelet.cluster.clock.Now()
	all := map[string]*cadvisorapi.ContainerInfo{}
	disk := m.kubelet.disk(metav1.NewTime(now))
	fs := func(used uint64) []cadvisorapi.FsStats {
		return []cadvisorapi.FsStats{{Device: container.NodeDisk, Type: "vfs", Limit: *disk.CapacityBytes, Usage: used, Available: *disk.AvailableBytes, HasInodes: true, Inodes: *disk.Inodes, InodesFree: *disk.InodesFree}}
	}
	add := func(name string, spec cadvisorapi.ContainerSpec, cpu time.Duration, memory uint64, files []cadvisorapi.FsStats, aliases ...string) {
		stats := &cadvisorapi.ContainerStats{Timestamp: now, Cpu: &cadvisorapi.CpuStats{}, Memory: &cadvisorapi.MemoryStats{}, Filesystem: files}
		spec.HasFilesystem = files != nil
		stats.Cpu.Usage.Total, stats.Cpu.Usage.User = uint64(cpu), uint64(cpu)
		stats.Memory.Usage, stats.Memory.WorkingSet, stats.Memory.RSS, stats.Memory.MaxUsage = memory, memory, memory, memory
		all[name] = &cadvisorapi.ContainerInfo{ContainerReference: cadvisorapi.ContainerReference{Name: name, Aliases: aliases}, Spec: spec, Stats: []*cadvisorapi.ContainerStats{stats}}
	}
	cpuTime := func(used v1.ResourceList, since time.Time) time.Duration {
		return time.Duration(used.Cpu().MilliValue()) * max(now.Sub(since), 0) / 1000
	}
	created := node.CreationTimestamp.Time
	used, _ := m.kubelet.cluster.NodeUsage(node)
	add("/", cadvisorapi.ContainerSpec{CreationTime: created, StartTime: created, HasCpu: true, Cpu: cpuSpec(m.kubelet.capacity, nil), HasMemory: true, Memory: cadvisorapi.MemorySpec{Limit: uint64(m.kubelet.capacity.Memory().Value())}}, cpuTime(used.Usage, created), uint64(used.Usage.Memory().Value()), fs(*disk.UsedBytes))
	for _, p := range m.kubelet.here() {
		obj, state, storage := p.Latest(), p.State(), p.Storage()
		total, memory := time.Duration(0), uint64(0)
		labels := map[string]string{kubelettypes.KubernetesPodNameLabel: p.Name, kubelettypes.KubernetesPodNamespaceLabel: p.Namespace}
		for _, r := range state.Running {
			used := usage(obj, r)
			cpu, here := cpuTime(used, r.StartedAt), uint64(used.Memory().Value())
			total, memory = total+cpu, memory+here
			spec := spec(r.StartedAt, r.Resources, map[string]string{kubelettypes.KubernetesContainerNameLabel: r.Name})
			spec.Image = r.ImageID
			for key, value := range labels {
				spec.Labels[key] = value
			}
			add(cgroup(obj)+"/cri-containerd-"+r.ID+".scope", spec, cpu, here, fs(uint64(storage.Rootfs[r.Name])), r.ID)
		}
		if !state.Started.IsZero() && !state.Finished {
			add(cgroup(obj), spec(state.Started.Time, v1.ResourceRequirements{Requests: resourcehelper.PodRequests(obj, resourcehelper.PodResourcesOptions{}), Limits: resourcehelper.PodLimits(obj, resourcehelper.PodResourcesOptions{})}, labels), total, memory, nil)
		}
	}
	return all, nil
}

func spec(started time.Time, r v1.ResourceRequirements, labels map[string]string) cadvisorapi.ContainerSpec {
	return cadvisorapi.ContainerSpec{
		CreationTime: started, StartTime: started, Labels: labels,
		HasCpu: true, Cpu: cpuSpec(r.Requests, r.Limits), HasMemory: true, Memory: cadvisorapi.MemorySpec{Limit: uint64(r.Limits.Memory().Value())},
	}
}

// cpuSpec has shares and quota as upstream's kubelet sets them (pkg/kubelet/cm,
// MilliCPUToShares and MilliCPUToQuota).
func cpuSpec(requests, limits v1.ResourceList) cadvisorapi.CpuSpec {
	const period = 100_000 // µs
	return cadvisorapi.CpuSpec{
		Limit: uint64(max(requests.Cpu().MilliValue()*1024/1000, 2)), Period: period,
		Quota: uint64(limits.Cpu().MilliValue() * period / 1000),
	}
}

// cgroup is the name of a Pod's cgroup with the systemd driver.
func cgroup(obj *v1.Pod) string {
	parent, prefix := "/kubepods.slice", "kubepods"
	if class := strings.ToLower(string(v1qos.GetPodQOS(obj))); class != "guaranteed" {
		prefix += "-" + class
		parent += "/" + prefix + ".slice"
	}
	return parent + "/" + prefix + "-pod" + strings.ReplaceAll(string(obj.UID), "-", "_") + ".slice"
}
