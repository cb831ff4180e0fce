package lifecycle

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet/events"
)

const (
	sandboxTime = 200 * time.Millisecond // until a Pod has its network
	mountTryMin = 500 * time.Millisecond
	mountTryMax = 2*time.Minute + 2*time.Second
	// seenTime passes until the kubelet sees that a command runs, and goneTime at least until it sees that a
	// container has ended: upstream asks the container runtime each second. When a Pod is reported as
	// running, its first output is already in its log, and as long as it is reported so, clients can attach
	// to it: see lateAttach of package kubeletapi for slower clients.
	seenTime = 500 * time.Millisecond
	goneTime = time.Second
)

// start brings a Pod that is to run as far as it goes: volumes, network, init
// containers one after the other, then all others. Containers that have ended
// are started again, probed ones are probed.
func (p *Pod) start(obj *v1.Pod, now time.Time, in inboxed) {
	if p.mounts == nil && !p.mount(obj, now, in) {
		return
	}
	if !p.sandbox {
		if p.sandboxAt.IsZero() {
			p.sandboxAt = now.Add(sandboxTime)
		}
		if now.Before(p.sandboxAt) {
			p.at(p.sandboxAt)
			return
		}
		if !p.join(obj) {
			p.at(now.Add(retryAfter))
			return
		}
	}
	for _, r := range p.order {
		if r.running() && r.kind != ephemeral {
			r.changed(obj, now)
			r.probe(obj, now, in)
		}
	}
	if len(in.exits) > 0 {
		p.at(now) // that it has ended is reported before what follows from it
		return
	}
	if p.restartsAll() {
		p.restartAll(obj)
	}
	if p.restartingAll() {
		return // until the last one has ended
	}
	initialized := p.initialize(obj, now)
	if p.ending != nil || p.finished {
		return
	}
	for _, r := range p.order {
		if r.kind == ephemeral && p.sandbox && r.now == nil {
			r.start(obj, now)
		}
	}
	if !initialized {
		return
	}
	// One after the other: a container whose image is being pulled, or whose hook runs, holds up those behind it.
	active, busy := 0, false
	for _, r := range p.order {
		switch {
		case r.kind != mainContainer:
			continue
		case !r.running() && !r.restartable(obj):
			r.waiting = nil
			continue
		case !busy:
			r.start(obj, now)
			busy = r.pulls() || r.hooked()
		}
		active++
	}
	// A container that was just started has its first probe coming.
	for _, r := range p.order {
		if r.running() {
			r.probe(obj, now, inboxed{})
		}
	}
	if active == 0 { // the Pod is done: sidecars end, and then it is finished
		p.end(obj, now, "", nil)
	}
}

// initialize runs the init containers. It reports whether the others may run.
func (p *Pod) initialize(obj *v1.Pod, now time.Time) bool {
	// Once a main container has run, the Pod stays initialized; sidecars that
	// have ended are started again all the same.
	begun := false
	for _, r := range p.order {
		begun = begun || r.kind == mainContainer && r.begun()
	}
	for _, r := range p.order {
		switch {
		case r.kind == sidecar:
			if !r.running() && !r.start(obj, now) && !begun {
				return false
			}
			if !begun && (r.hooked() || !r.probes.started(r)) {
				r.probe(obj, now, inboxed{})
				return false
			}
		case r.kind == initContainer && !begun:
			if code, ended := r.exitCode(); ended && code == 0 {
				continue
			} else if ended && !r.restartable(obj) {
				p.end(obj, now, "", nil)
				return false
			}
			r.start(obj, now)
			return false
		}
	}
	return true
}

// unseen reports whether a container runs that the kubelet has not seen yet, and reports nothing of. It is looked at again when
// the kubelet does. What it has started it sees when it has started those behind, too: upstream's SyncPod returns then.
func (p *Pod) unseen(obj *v1.Pod, now time.Time) bool {
	if p.ending != nil {
		return false
	}
	starts := slices.ContainsFunc(p.order, func(r *record) bool { return r.hooked() || r.kind == mainContainer && r.pulls() })
	for _, r := range p.order {
		if seen := r.seenAt(); now.Before(seen) {
			p.at(seen)
			return true
		}
		if r.running() && (r.hooked() || starts && r.kind == mainContainer) {
			said, ok := podutil.GetContainerStatus(slices.Concat(obj.Status.InitContainerStatuses, obj.Status.ContainerStatuses), r.spec.Name)
			if !ok || said.ContainerID != "containerd://"+r.now.id {
				return true
			}
		}
	}
	return false
}

// mount makes the Pod's volumes, which fails while something that they take
// their files from is missing.
func (p *Pod) mount(obj *v1.Pod, now time.Time, in inboxed) bool {
	if now.Before(p.mountAt) && !in.sources {
		p.at(p.mountAt)
		return false
	}
	v, failed := p.prepare(obj)
	if failed == nil {
		p.mounts = v
		p.mountTry = 0
		return true
	}
	if p.mountTry == 0 || !in.sources {
		for _, f := range failed {
			p.event(obj, nil, v1.EventTypeWarning, events.FailedMountVolume, f)
		}
	}
	p.mountTry = min(max(2*p.mountTry, mountTryMin), mountTryMax)
	p.mountAt = now.Add(p.mountTry)
	p.at(p.mountAt)
	return false
}

// join gives the Pod its address in the network.
func (p *Pod) join(obj *v1.Pod) bool {
	if obj.Spec.HostNetwork {
		p.ip, p.sandbox = p.Node.IP, true
		return true
	}
	ip, err := p.Node.Kubelet.Join(p)
	if err != nil {
		p.event(obj, nil, v1.EventTypeWarning, events.FailedCreatePodSandBox, fmt.Sprintf("Failed to create pod sandbox: plugin type=\"simulated\" failed (add): %v", err))
		return false
	}
	p.ip, p.sandbox = ip, true
	return true
}

// hostname is what a Pod calls itself.
func (p *Pod) hostname(obj *v1.Pod) string {
	if obj.Spec.HostNetwork {
		return p.Node.Name
	}
	name := obj.Name
	if obj.Spec.Hostname != "" {
		name = obj.Spec.Hostname
	}
	if obj.Spec.HostnameOverride != nil {
		name = *obj.Spec.HostnameOverride
	}
	if len(name) > 63 {
		name = name[:63]
	}
	return name
}

// kernelName is what the kernel says that the Pod's host is called: upstream's GetNodenameForKernel.
func (p *Pod) kernelName(obj *v1.Pod) string {
	name := p.hostname(obj)
	if optional(obj.Spec.SetHostnameAsFQDN) && obj.Spec.Subdomain != "" {
		name += "." + obj.Spec.Subdomain + "." + obj.Namespace + ".svc.cluster.local"
	}
	return name
}
