package lifecycle

import (
	v1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet/events"
)

// restartsAll reports whether a container has ended with an exit code for which a rule
// of its spec wants all containers of the Pod to be started anew, init containers first.
func (p *Pod) restartsAll() bool {
	for _, r := range p.order {
		code, ended := r.exitCode()
		if !ended || r.doneBy != nil {
			continue
		}
		rule, found := podutil.FindMatchingContainerRestartRule(*r.spec, code)
		if found && rule.Action == v1.ContainerRestartRuleActionRestartAllContainers {
			return true
		}
	}
	return false
}

// restartAll ends what runs, at once, as upstream does: without hooks, and without the
// time that a container has to end. What follows is a Pod that begins, in the same
// sandbox, with the volumes as they are.
func (p *Pod) restartAll(obj *v1.Pod) {
	for _, r := range p.order {
		if r.now == nil || r.kind == ephemeral {
			continue
		}
		r.now.void = true
		if r.running() {
			p.event(obj, r.spec, v1.EventTypeNormal, events.KillingContainer, "Stopping container "+r.spec.Name)
			r.now.killed = "RestartAllContainers"
			r.now.c.Kill()
		}
	}
}

// restartingAll reports whether a container still runs that restartAll has ended.
func (p *Pod) restartingAll() bool {
	for _, r := range p.order {
		if r.running() && r.now.void {
			return true
		}
	}
	return false
}
