package node

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
)

// hosts are the Pods and nodes as the network sees them: it implements network.Hosts.
type hosts struct{ *Nodes }

// Listening returns what listens at a Pod's or node's address.
func (n hosts) Listening(address string, port container.Port) (container.Listener, bool) {
	for _, p := range n.at(address) {
		if l, ok := p.Listening(port); ok {
			return l, true
		}
	}
	return container.Listener{}, false
}

// at returns the Pod that has an address, or those that share the address of their node.
func (n hosts) at(address string) []*lifecycle.Pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.byIP[address]; p != nil {
		return []*lifecycle.Pod{p}
	}
	var sharing []*lifecycle.Pod
	for _, p := range n.byUID {
		if p.Node.IP == address && p.Latest().Spec.HostNetwork {
			sharing = append(sharing, p)
		}
	}
	return sharing
}

// Pod returns the Pod that has the address for itself.
func (n hosts) Pod(address string) *v1.Pod {
	n.mu.Lock()
	p := n.byIP[address]
	n.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Latest()
}

// Node returns a node's name and address.
func (n hosts) Node(nameOrAddress string) (name, address string) {
	if k := n.kubeletAt(nameOrAddress); k != nil {
		return k.name, k.ip
	}
	return "", ""
}

// HostPort returns the Pod behind a port of the node.
func (n hosts) HostPort(node string, port container.Port) (string, container.Port, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for ip, p := range n.byIP {
		if p.Node.IP != node {
			continue
		}
		for _, c := range p.Latest().Spec.Containers {
			for _, asked := range c.Ports {
				if int(asked.HostPort) == port.Number && (asked.Protocol == v1.ProtocolUDP) == port.UDP && asked.Protocol != v1.ProtocolSCTP &&
					(asked.HostIP == "" || asked.HostIP == "0.0.0.0" || asked.HostIP == "::" || asked.HostIP == node) {
					return ip, container.Port{Number: int(asked.ContainerPort), UDP: port.UDP}, true
				}
			}
		}
	}
	return "", container.Port{}, false
}
