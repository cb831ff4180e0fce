package node

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	resourcehelper "k8s.io/component-helpers/resource"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/kubernetes/pkg/features"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"

	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

// What an eviction says. Upstream's package pkg/kubelet/eviction has these, the thresholds and evictionMessage; most
// of them are not exported, and the package is too large for the module (core/controllers does without it as well).
const (
	nodeLowMessageFmt           = "The node was low on resource: %v. "
	thresholdMetMessageFmt      = "Threshold quantity: %v, available: %v. "
	containerMessageFmt         = "Container %s was using %s, request is %s, has larger consumption of %v. "
	podMessageFmt               = "Pod %s was using %s, request is %s, has larger consumption of %v. "
	offendingContainersKey      = "offending_containers"
	offendingContainersUsageKey = "offending_containers_usage"
	offendingPodKey             = "offending_pod"
	offendingPodUsageKey        = "offending_pod_usage"
	starvedResourceKey          = "starved_resource"
	resourceInodes              = v1.ResourceName("inodes")
	evictionThresholdMet        = "EvictionThresholdMet"
)

// thresholds are upstream's DefaultEvictionHard for Linux, by the resource that each is for.
var thresholds = map[v1.ResourceName]evictionapi.Threshold{
	v1.ResourceMemory:           {Signal: evictionapi.SignalMemoryAvailable, Value: evictionapi.ThresholdValue{Quantity: resource.NewQuantity(100<<20, resource.BinarySI)}},
	v1.ResourceEphemeralStorage: {Signal: evictionapi.SignalNodeFsAvailable, Value: evictionapi.ThresholdValue{Percentage: 0.1}},
	resourceInodes:              {Signal: evictionapi.SignalNodeFsInodesFree, Value: evictionapi.ThresholdValue{Percentage: 0.05}},
}

// observe returns how much of a resource there must be on the node so that nothing is evicted, and how much there is,
// which is less. Both are nil for a resource that has no threshold.
func (k *kubelet) observe(name v1.ResourceName) (quantity, available *resource.Quantity) {
	threshold, ok := thresholds[name]
	if !ok {
		return nil, nil
	}
	space := k.cluster.cluster.Disk.Space(k.capacity.StorageEphemeral().Value())
	capacity := resource.NewQuantity(space.Size, resource.BinarySI)
	if name == resourceInodes {
		capacity.Set(space.Size / bytesPerInode)
	}
	quantity = evictionapi.GetThresholdQuantity(threshold.Value, capacity)
	if name == v1.ResourceEphemeralStorage && space.Low {
		return quantity, resource.NewQuantity(space.Available, resource.BinarySI)
	}
	// Made up, as somebody wants the node to be low: a little less, rounded as a kernel counts.
	return quantity, resource.NewQuantity(quantity.Value()/100*97>>10<<10, resource.BinarySI)
}

// Pressed returns how the kubelet evicts a Pod because the node is low on a resource, and records that it does, as
// upstream's eviction manager in synchronize. A resource that a kubelet does not watch has no figures.
func (k *kubelet) Pressed(obj *v1.Pod, state lifecycle.State, storage lifecycle.Storage, low v1.ResourceName) lifecycle.Eviction {
	now := metav1.NewTime(k.cluster.clock.Now())
	stats, ok := podStats(obj, state, now)
	if ok {
		addStorage(&stats, storage, k.disk(now))
	}
	k.attempt(low)
	return k.pressed(obj, stats, ok, low)
}

// attempt records that the kubelet is about to evict.
func (k *kubelet) attempt(low v1.ResourceName) {
	k.cluster.events.add(k.ref(), nil, v1.EventTypeWarning, evictionThresholdMet, fmt.Sprintf("Attempting to reclaim %s", low), k.name)
}

// pressed returns what evictionMessage says, with the figures of the node.
func (k *kubelet) pressed(obj *v1.Pod, stats statsapi.PodStats, found bool, low v1.ResourceName) lifecycle.Eviction {
	e := lifecycle.Eviction{Signal: string(thresholds[low].Signal)}
	quantity, available := k.observe(low)
	e.Message, e.Annotations = evictionMessage(low, obj, stats, found, quantity, available)
	return e
}

// evictionMessage is upstream's (pkg/kubelet/eviction/helpers.go). found says that there are statistics of the Pod, and
// quantity and available may be nil.
func evictionMessage(low v1.ResourceName, pod *v1.Pod, stats statsapi.PodStats, found bool, quantity, available *resource.Quantity) (message string, annotations map[string]string) {
	annotations = map[string]string{}
	message = fmt.Sprintf(nodeLowMessageFmt, low)
	if quantity != nil && available != nil {
		message += fmt.Sprintf(thresholdMetMessageFmt, quantity, available)
	}
	if !found {
		return message, annotations
	}
	if low == v1.ResourceMemory && utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources) && resourcehelper.IsPodLevelResourcesSet(pod) {
		if request, ok := pod.Spec.Resources.Requests[low]; ok && stats.Memory != nil {
			used := resource.NewQuantity(int64(*stats.Memory.WorkingSetBytes), resource.BinarySI)
			message += fmt.Sprintf(podMessageFmt, pod.Name, used, request.String(), low)
			annotations[offendingPodKey], annotations[offendingPodUsageKey] = pod.Name, used.String()
		}
	}
	var offending, usages []string
	for _, c := range stats.Containers {
		spec := containerSpec(pod, c.Name)
		if spec == nil {
			continue // an ephemeral one, which has no requests
		}
		request := spec.Resources.Requests[low]
		var used *resource.Quantity
		switch low {
		case v1.ResourceEphemeralStorage:
			used = resource.NewQuantity(int64(*c.Rootfs.UsedBytes+*c.Logs.UsedBytes), resource.BinarySI)
		case v1.ResourceMemory:
			used = resource.NewQuantity(int64(*c.Memory.WorkingSetBytes), resource.BinarySI)
		}
		if used != nil && used.Cmp(request) > 0 {
			message += fmt.Sprintf(containerMessageFmt, c.Name, used, request.String(), low)
			offending, usages = append(offending, c.Name), append(usages, used.String())
		}
	}
	annotations[offendingContainersKey], annotations[offendingContainersUsageKey] = strings.Join(offending, ","), strings.Join(usages, ",")
	annotations[starvedResourceKey] = string(low)
	return message, annotations
}

// containerSpec returns a container or init container of a Pod, or nil.
func containerSpec(pod *v1.Pod, name string) *v1.Container {
	for _, list := range [][]v1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// Evicted counts an eviction for kubelet_evictions, by the signal that upstream names.
func (k *kubelet) Evicted(signal string) {
	if signal == "" {
		return
	}
	k.state.Lock()
	defer k.state.Unlock()
	if k.evictions == nil {
		k.evictions = map[string]int{}
	}
	k.evictions[signal]++
}
