package node

import (
	"github.com/kubetab/kubetab/core/node/container"
	"github.com/kubetab/kubetab/core/node/network"
)

// seen is the cluster's network as the Pod sees it.
func (p *pod) seen() network.View {
	return p.cluster.network.From(network.Pod{Namespace: p.namespace, Hostname: hostname(p.latest()), IP: p.ip, Listening: p.listening})
}

// listening returns what listens at a Pod's or node's address.
func (n *Nodes) listening(address string, port int) (container.Listener, bool) {
	n.mu.Lock()
	candidates := []*pod{}
	if p := n.byIP[address]; p != nil {
		candidates = append(candidates, p)
	} else {
		for _, p := range n.byUID {
			if p.kubelet.ip == address && p.latest().Spec.HostNetwork {
				candidates = append(candidates, p)
			}
		}
	}
	n.mu.Unlock()
	for _, p := range candidates {
		if l, ok := p.listening(port); ok {
			return l, true
		}
	}
	return container.Listener{}, false
}

// listening returns what listens on a port in any of the Pod's containers.
func (p *pod) listening(port int) (container.Listener, bool) {
	for _, c := range p.live() {
		if l, ok := c.Listening(port); ok {
			return l, true
		}
	}
	return container.Listener{}, false
}

// live returns the Pod's containers that run. It needs no lock of sync's: the
// list is replaced, never changed.
func (p *pod) live() []*container.Container {
	list := p.alive.Load()
	if list == nil {
		return nil
	}
	return *list
}
