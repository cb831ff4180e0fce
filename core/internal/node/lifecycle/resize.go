package lifecycle

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// changed acts on what can be changed in the spec of a container that runs: its
// image, for which it is started anew, and its resources, which are given to it
// at once unless its resize policy wants a restart.
func (r *record) changed(obj *v1.Pod, now time.Time) {
	i := r.now
	if i.killed != "" {
		return
	}
	grace := 30 * time.Second
	if s := obj.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	if i.asked != r.spec.Image {
		r.retry, i.outdated = time.Time{}, true
		r.stop(obj, now, now, grace, fmt.Sprintf("Container %s definition changed, will be restarted", r.spec.Name))
		return
	}
	if equality.Semantic.DeepEqual(i.resources, r.spec.Resources) && equality.Semantic.DeepEqual(i.podResources, obj.Spec.Resources) {
		return
	}
	requests := resourcehelper.PodRequests(obj, resourcehelper.PodResourcesOptions{})
	p := r.pod
	for name, q := range requests {
		if limit, ok := p.Node.Capacity[name]; ok && q.Cmp(limit) > 0 {
			return // it can never be given; the Pod keeps what it has
		}
	}
	p.Node.Kubelet.Resize(p.UID, requests)
	for _, policy := range r.spec.ResizePolicy {
		if policy.RestartPolicy == v1.RestartContainer && (resized(policy.ResourceName, &i.resources, &r.spec.Resources) || resized(policy.ResourceName, i.podResources, obj.Spec.Resources)) {
			i.outdated = true
			r.stop(obj, now, now, grace, fmt.Sprintf("Container %s resize requires restart, will be restarted", r.spec.Name))
			return
		}
	}
	i.resources, i.podResources = *r.spec.Resources.DeepCopy(), obj.Spec.Resources.DeepCopy()
	i.give()
}

// resized reports whether a request or limit of a resource has changed. Both may be nil.
func resized(name v1.ResourceName, was, is *v1.ResourceRequirements) bool {
	if was == nil || is == nil {
		return was != is
	}
	return !was.Requests[name].Equal(is.Requests[name]) || !was.Limits[name].Equal(is.Limits[name])
}

// podResources returns what the Pod as a whole has been given, nil for one that says nothing of that.
func (p *Pod) podResources() *v1.ResourceRequirements {
	for _, r := range p.order {
		if r.running() {
			return r.now.podResources
		}
	}
	return nil
}

// give tells the container what it is given: where it has no limit of its own, that is the Pod's, as in upstream's getCPULimit and
// getMemoryLimit of kuberuntime.
func (i *instance) give() {
	limit := func(name v1.ResourceName) resource.Quantity {
		if own, ok := i.resources.Limits[name]; ok || i.podResources == nil {
			return own
		}
		return i.podResources.Limits[name]
	}
	cpu, memory := limit(v1.ResourceCPU), limit(v1.ResourceMemory)
	i.given.Store(&container.Resources{CPURequest: i.resources.Requests.Cpu().MilliValue(), CPULimit: cpu.MilliValue(), Memory: memory.Value()})
}
