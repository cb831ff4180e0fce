package node

import (
	"fmt"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/kube-scheduler/framework"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// Admit reports whether a Pod may run on the node, and why not: what a
// kubelet checks although the scheduler has, because a Pod can be bound by
// others. It takes the Pod's requests and host ports from the node.
func (k *kubelet) Admit(obj *v1.Pod) (reason, message string, ok bool) {
	if message := forbiddenSysctl(obj); message != "" {
		return "SysctlForbidden", message, false
	}
	node, err := k.cluster.nodes.Get(k.name)
	if err == nil {
		if match, err := nodeaffinity.GetRequiredNodeAffinity(obj).Match(node); err == nil && !match {
			return "NodeAffinity", "Predicate NodeAffinity failed", false
		}
	}
	requests := resourcehelper.PodRequests(obj, resourcehelper.PodResourcesOptions{})
	ports := util.GetHostPorts(obj)
	k.state.Lock()
	defer k.state.Unlock()
	if limit := k.capacity[v1.ResourcePods]; int64(len(k.admitted)) >= limit.Value() {
		return "OutOfpods", fmt.Sprintf("Node didn't have enough resource: pods, requested: 1, used: %d, capacity: %d", len(k.admitted), limit.Value()), false
	}
	var names []string
	for name := range requests {
		names = append(names, string(name))
	}
	sort.Strings(names)
	for _, n := range names {
		name := v1.ResourceName(n)
		requested := requests[name]
		if requested.IsZero() {
			continue
		}
		used := requested.DeepCopy()
		used.Sub(requested)
		for _, have := range k.admitted {
			if q, ok := have[name]; ok {
				used.Add(q)
			}
		}
		total := used.DeepCopy()
		total.Add(requested)
		limit, own := k.capacity[name]
		if !own && node != nil {
			advertised, ok := node.Status.Allocatable[name] // by somebody else
			if !ok && v1helper.IsExtendedResourceName(name) {
				continue // as upstream's removeMissingExtendedResources: it may be the cluster's, or news that have not come yet
			}
			limit = advertised
		}
		if total.Cmp(limit) > 0 {
			value := func(q interface{ Value() int64 }, milli int64) int64 {
				if name == v1.ResourceCPU {
					return milli
				}
				return q.Value()
			}
			return "OutOf" + n, fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d",
				n, value(&requested, requested.MilliValue()), value(&used, used.MilliValue()), value(&limit, limit.MilliValue())), false
		}
	}
	used := framework.HostPortInfo{}
	for _, have := range k.ports {
		for _, port := range have {
			used.Add(port.HostIP, string(port.Protocol), port.HostPort)
		}
	}
	for _, port := range ports {
		if used.CheckConflict(port.HostIP, string(port.Protocol), port.HostPort) {
			return "NodePorts", "Predicate NodePorts failed", false
		}
	}
	k.admitted[obj.UID] = requests
	if len(ports) > 0 {
		k.ports[obj.UID] = ports
	}
	return "", "", true
}

// Resize changes the requests that a Pod was admitted with.
func (k *kubelet) Resize(uid types.UID, requests v1.ResourceList) {
	k.state.Lock()
	k.admitted[uid] = requests
	k.state.Unlock()
}

// Release gives back what a Pod was admitted with.
func (k *kubelet) Release(uid types.UID) {
	k.state.Lock()
	delete(k.admitted, uid)
	delete(k.ports, uid)
	k.state.Unlock()
}
