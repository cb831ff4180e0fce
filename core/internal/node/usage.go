package node

import (
	"hash/fnv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

// usageWindow is the window over which metrics say that they measured.
const usageWindow = 15 * time.Second

// PodUsage returns what metrics.k8s.io reports of a Pod, and false if nothing of
// it runs here. The figures are made up and steady: next to nothing of a processor, as of a server
// that nobody asks, and somewhat less than half of the memory that a container requests, give or take a
// little that depends on its name, or what programs use that are there for that, such as stress, and loops
// that wait for nothing, with files in memory, or what the annotation kubetab.dev/usage says.
func (n *Nodes) PodUsage(obj *v1.Pod) (metrics.PodMetrics, bool) {
	n.mu.Lock()
	p := n.byUID[obj.UID]
	n.mu.Unlock()
	if p == nil {
		return metrics.PodMetrics{}, false
	}
	m := metrics.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{Name: obj.Name, Namespace: obj.Namespace, Labels: obj.Labels, CreationTimestamp: metav1.NewTime(n.clock.Now())},
		Timestamp:  metav1.NewTime(n.clock.Now()), Window: metav1.Duration{Duration: usageWindow},
	}
	for _, r := range p.State().Running {
		m.Containers = append(m.Containers, metrics.ContainerMetrics{Name: r.Name, Usage: usage(obj, r)})
	}
	return m, len(m.Containers) > 0
}

// NodeUsage returns what metrics.k8s.io reports of a node, and false if there
// is no such node: a little for the system, and what its Pods use.
func (n *Nodes) NodeUsage(node *v1.Node) (metrics.NodeMetrics, bool) {
	k := n.byName[node.Name]
	if k == nil {
		return metrics.NodeMetrics{}, false
	}
	cpu, memory := resource.NewMilliQuantity(80+int64(hash(node.Name)%40), resource.DecimalSI), resource.NewQuantity(600<<20, resource.BinarySI)
	for _, p := range k.here() {
		if m, ok := n.PodUsage(p.Latest()); ok {
			for _, c := range m.Containers {
				cpu.Add(*c.Usage.Cpu())
				memory.Add(*c.Usage.Memory())
			}
		}
	}
	return metrics.NodeMetrics{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels, CreationTimestamp: metav1.NewTime(n.clock.Now())},
		Timestamp:  metav1.NewTime(n.clock.Now()), Window: metav1.Duration{Duration: usageWindow},
		Usage: v1.ResourceList{v1.ResourceCPU: *cpu, v1.ResourceMemory: *memory},
	}, true
}

func hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
	}
	return h.Sum64()
}

// usage is what a container of a Pod uses.
func usage(obj *v1.Pod, c lifecycle.Run) v1.ResourceList {
	u := v1.ResourceList{}
	jitter := int64(hash(string(obj.UID), c.Name) % 11)
	cpu, memory := int64(0), int64(4<<20)
	if len(c.Container.Listens()) > 0 { // a server wakes up now and then
		cpu = 1 + jitter/8
	}
	if q, ok := c.Resources.Requests[v1.ResourceMemory]; ok {
		memory = max(q.Value()*(40+jitter)/100, 1<<20)
	}
	if load := c.Container.Load(); load.CPU > 0 {
		cpu = load.CPU
	}
	if load := c.Container.Load(); load.Memory > 0 {
		memory = load.Memory + 1<<20
	}
	memory += c.Container.Tmpfs()
	u[v1.ResourceCPU], u[v1.ResourceMemory] = *resource.NewMilliQuantity(cpu, resource.DecimalSI), *resource.NewQuantity(memory, resource.BinarySI)
	for _, part := range strings.Split(lifecycle.Annotation(obj, lifecycle.AnnotationUsage, c.Name), ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(part), "=")
		if q, err := resource.ParseQuantity(text); ok && err == nil {
			u[v1.ResourceName(name)] = q
		}
	}
	return u
}
