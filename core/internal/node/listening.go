package node

import (
	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

// listening returns what listens at a Pod's or node's address.
func (n *Nodes) listening(address string, port int) (container.Listener, bool) {
	n.mu.Lock()
	candidates := []*lifecycle.Pod{}
	if p := n.byIP[address]; p != nil {
		candidates = append(candidates, p)
	} else {
		for _, p := range n.byUID {
			if p.Node.IP == address && p.Latest().Spec.HostNetwork {
				candidates = append(candidates, p)
			}
		}
	}
	n.mu.Unlock()
	for _, p := range candidates {
		if l, ok := p.Listening(port); ok {
			return l, true
		}
	}
	return container.Listener{}, false
}
