package lifecycle

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	v1qos "k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/status"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/utils/ptr"
)

// status is the Pod's status as the kubelet sees it now. Conditions are made by
// upstream's functions; what belongs to others is kept.
func (p *Pod) status(obj *v1.Pod) v1.PodStatus {
	old := obj.Status
	s := *old.DeepCopy()
	s.ObservedGeneration = obj.Generation
	if p.failed != nil && !p.admitted && p.finished { // rejected: nothing else is known
		return v1.PodStatus{Phase: p.failed.Phase, Reason: p.failed.Reason, Message: p.failed.Message, QOSClass: v1qos.GetPodQOS(obj),
			ObservedGeneration: obj.Generation, StartTime: &p.started, Conditions: old.Conditions}
	}
	if terminal(obj) && p.finished && !p.touched() {
		return old // it ended before this kubelet began
	}
	s.StartTime = &p.started
	s.QOSClass = v1qos.GetPodQOS(obj)
	s.HostIP, s.HostIPs = p.Node.IP, []v1.HostIP{{IP: p.Node.IP}}
	if p.ip != "" {
		s.PodIP, s.PodIPs = p.ip, []v1.PodIP{{IP: p.ip}}
	}
	if s.Resources = p.podResources().DeepCopy(); s.Resources != nil {
		s.AllocatedResources = s.Resources.Requests
	}
	s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses = nil, nil, nil
	begun := false
	for _, r := range p.order {
		c := p.containerStatus(obj, r)
		switch r.kind {
		case mainContainer:
			s.ContainerStatuses = append(s.ContainerStatuses, c)
			begun = begun || r.begun()
		case ephemeral:
			s.EphemeralContainerStatuses = append(s.EphemeralContainerStatuses, c)
		default:
			s.InitContainerStatuses = append(s.InitContainerStatuses, c)
		}
	}
	all := append(append([]v1.ContainerStatus(nil), s.InitContainerStatuses...), s.ContainerStatuses...)
	s.Phase = phase(obj, all, p.finished, begun)
	if s.Phase != old.Phase {
		s.Reason, s.Message = "", ""
	}
	if p.failed != nil {
		// Why a Pod fails is known before its containers have stopped.
		s.Phase, s.Reason, s.Message = p.failed.Phase, p.failed.Reason, p.failed.Message
	}
	if terminal(obj) {
		s.Phase = old.Phase // phases that are final are never left
	}

	s.Conditions = nil
	for _, c := range old.Conditions {
		if !kubetypes.PodConditionByKubelet(c.Type) && c.Type != v1.DisruptionTarget {
			s.Conditions = append(s.Conditions, c)
		}
	}
	if _, c := podutil.GetPodConditionFromList(old.Conditions, v1.DisruptionTarget); c != nil {
		s.Conditions = append(s.Conditions, *c)
	} else if p.failed != nil {
		s.Conditions = append(s.Conditions, p.failed.Conditions...)
	}
	s.Conditions = append(s.Conditions,
		status.GeneratePodReadyToStartContainersCondition(obj, &old, p.sandboxStatus(obj)),
		status.GeneratePodInitializedCondition(obj, &old, all, s.Phase),
		status.GeneratePodReadyCondition(obj, &old, s.Conditions, all, s.Phase),
		status.GenerateContainersReadyCondition(obj, &old, all, s.Phase),
		v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue, ObservedGeneration: podutil.CalculatePodConditionObservedGeneration(&old, obj.Generation, v1.PodScheduled)},
	)
	p.stamp(&s, &old)
	if p.failed != nil && p.anyRunning() {
		// A phase that is final is reported once nothing runs any more; that
		// the Pod is not ready is reported at once.
		s.Phase, s.Reason, s.Message = old.Phase, old.Reason, old.Message
	}
	return s
}

// touched reports whether anything of the Pod has run here.
func (p *Pod) touched() bool { return p.mounts != nil || p.failed != nil || p.ending != nil }

// stamp keeps the time of conditions that have not changed, as upstream's
// status manager does.
func (p *Pod) stamp(s, old *v1.PodStatus) {
	now := metav1.NewTime(p.cluster.Clock.Now())
	for i := range s.Conditions {
		c := &s.Conditions[i]
		_, was := podutil.GetPodConditionFromList(old.Conditions, c.Type)
		if was == nil {
			if c.LastTransitionTime.IsZero() {
				c.LastTransitionTime = now
			}
			continue
		}
		c.LastProbeTime = was.LastProbeTime
		c.LastTransitionTime = was.LastTransitionTime
		if was.Status != c.Status {
			c.LastTransitionTime = now
		}
	}
}

// sandboxStatus says whether the Pod has its network, in a container runtime's
// words, which is where upstream takes it from.
func (p *Pod) sandboxStatus(obj *v1.Pod) *kubecontainer.PodStatus {
	s := &kubecontainer.PodStatus{}
	if p.sandbox {
		network := runtimeapi.NamespaceMode_POD
		if obj.Spec.HostNetwork {
			network = runtimeapi.NamespaceMode_NODE
		}
		s.SandboxStatuses = []*runtimeapi.PodSandboxStatus{{
			Metadata: &runtimeapi.PodSandboxMetadata{}, State: runtimeapi.PodSandboxState_SANDBOX_READY,
			Network: &runtimeapi.PodSandboxNetworkStatus{Ip: p.ip},
			Linux:   &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: &runtimeapi.NamespaceOption{Network: network}}},
		}}
	} else if p.ip != "" {
		s.SandboxStatuses = []*runtimeapi.PodSandboxStatus{{Metadata: &runtimeapi.PodSandboxMetadata{}, State: runtimeapi.PodSandboxState_SANDBOX_NOTREADY}}
	}
	return s
}

func (p *Pod) containerStatus(obj *v1.Pod, r *record) v1.ContainerStatus {
	if r.redefined() { // nothing is said until it runs again
		if c, ok := podutil.GetContainerStatus(slices.Concat(obj.Status.InitContainerStatuses, obj.Status.ContainerStatuses), r.spec.Name); ok {
			return c
		}
	}
	c := v1.ContainerStatus{Name: r.spec.Name, Image: r.spec.Image, RestartCount: r.restarts, Started: ptr.To(false)}
	if r.kind == ephemeral {
		c.Started = nil
	}
	for _, m := range r.spec.VolumeMounts {
		vs := v1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			mode := v1.RecursiveReadOnlyDisabled
			if m.RecursiveReadOnly != nil && *m.RecursiveReadOnly != v1.RecursiveReadOnlyDisabled {
				mode = v1.RecursiveReadOnlyEnabled
			}
			vs.RecursiveReadOnly = &mode
		}
		c.VolumeMounts = append(c.VolumeMounts, vs)
	}
	if r.last != nil {
		c.LastTerminationState.Terminated = r.last
	}
	i := r.now
	if i == nil {
		c.State.Waiting = unstarted(obj)
		if r.waiting != nil {
			c.State.Waiting = r.waiting
		}
		return c
	}
	if i.id != "" && r.doneBy == nil {
		c.ContainerID = "containerd://" + i.id
	} else {
		c.ContainerID = i.id
	}
	c.Image, c.ImageID = r.image.Name, r.image.ID
	switch {
	case i.ended == nil:
		c.State.Running = &v1.ContainerStateRunning{StartedAt: metav1.NewTime(i.startedAt)}
		started := r.probes.started(r)
		c.Started = &started
		if r.kind == ephemeral {
			c.Started = nil
		}
		c.Ready = r.kind != initContainer && r.kind != ephemeral && started && r.probes.ready(r)
		resources := i.resources.DeepCopy()
		c.Resources = resources
		c.AllocatedResources = resources.Requests
		c.User = &v1.ContainerUser{Linux: user(obj, r)}
	case r.waiting != nil && p.ending == nil:
		c.State.Waiting = r.waiting
		c.LastTerminationState.Terminated = i.ended
	default:
		c.State.Terminated = i.ended
		c.Ready = r.kind == initContainer && i.ended.ExitCode == 0
		if r.kind == initContainer {
			c.Started = ptr.To(false)
		}
	}
	return c
}

// unstarted is the state of a container that has not been begun with.
func unstarted(obj *v1.Pod) *v1.ContainerStateWaiting {
	if len(obj.Spec.InitContainers) > 0 {
		return &v1.ContainerStateWaiting{Reason: "PodInitializing"}
	}
	return &v1.ContainerStateWaiting{Reason: "ContainerCreating"}
}

func user(obj *v1.Pod, r *record) *v1.LinuxContainerUser {
	u := userOf(obj, r.spec, r.image)
	return &v1.LinuxContainerUser{UID: u.UID, GID: u.GID, SupplementalGroups: u.AllGroups()}
}

// phase follows upstream's getPhase, which is not exported: the phase of a Pod
// whose containers have these statuses. done says that nothing will run again,
// begun that a main container has run. It is long because upstream's is, with which
// it is compared line by line.
func phase(obj *v1.Pod, info []v1.ContainerStatus, done, begun bool) v1.PodPhase {
	spec := &obj.Spec
	restarts := func(c v1.Container, t *v1.ContainerStateTerminated) bool {
		return podutil.ContainerShouldRestart(c, *spec, t.ExitCode)
	}
	pendingInit, pendingSidecars, failedForGood := 0, 0, 0
	unknown, running, waiting, stopped, forGood, succeeded := 0, 0, 0, 0, 0, 0
	for _, c := range spec.InitContainers {
		s, known := podutil.GetContainerStatus(info, c.Name)
		ended := s.State.Terminated
		if s.State.Waiting != nil {
			ended = s.LastTerminationState.Terminated
		}
		if podutil.IsRestartableInitContainer(&c) {
			switch {
			case !known:
				unknown++
			case s.State.Running != nil:
				if s.Started == nil || !*s.Started {
					pendingSidecars++
				}
				running++
			case ended != nil:
			case s.State.Waiting != nil:
				pendingSidecars++
				waiting++
			default:
				pendingSidecars++
				unknown++
			}
			continue
		}
		switch {
		case ended == nil:
			pendingInit++
		case ended.ExitCode != 0 && !restarts(c, ended):
			failedForGood++
		}
	}
	for _, c := range spec.Containers {
		s, known := podutil.GetContainerStatus(info, c.Name)
		ended := s.State.Terminated
		if s.State.Waiting != nil {
			ended = s.LastTerminationState.Terminated
		}
		switch {
		case !known:
			unknown++
		case s.State.Running != nil:
			running++
		case ended != nil:
			stopped++
			if !restarts(c, ended) {
				forGood++
			}
			if ended.ExitCode == 0 && s.State.Terminated != nil {
				succeeded++
			}
		case s.State.Waiting != nil:
			waiting++
		default:
			unknown++
		}
	}
	switch {
	case failedForGood > 0:
		return v1.PodFailed
	case pendingInit > 0, pendingSidecars > 0 && !begun, waiting > 0:
		if done { // deleted before it ran
			return v1.PodFailed
		}
		return v1.PodPending
	case running > 0 && unknown == 0:
		return v1.PodRunning
	case running == 0 && stopped > 0 && unknown == 0:
		switch {
		case !done && stopped != forGood:
			return v1.PodRunning // at least one is about to be restarted
		case stopped == succeeded:
			return v1.PodSucceeded
		}
		return v1.PodFailed
	}
	return v1.PodPending
}
