package lifecycle

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	resourcehelper "k8s.io/component-helpers/resource"
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
		r.retry = time.Time{}
		r.stop(obj, now, now, grace, fmt.Sprintf("Container %s definition changed", r.spec.Name))
		return
	}
	if equality.Semantic.DeepEqual(i.resources, r.spec.Resources) {
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
		name := policy.ResourceName
		was, is := i.resources, r.spec.Resources
		if policy.RestartPolicy == v1.RestartContainer && (!was.Requests[name].Equal(is.Requests[name]) || !was.Limits[name].Equal(is.Limits[name])) {
			r.stop(obj, now, now, grace, fmt.Sprintf("Container %s resize requires restart", r.spec.Name))
			return
		}
	}
	i.resources = *r.spec.Resources.DeepCopy()
}
