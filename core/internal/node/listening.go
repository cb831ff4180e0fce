package node

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

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
	for _, p := range n.at(address) {
		if n.isExpected(p.Latest(), port.Number) {
			if l, ok := expecting(p)(port); ok {
				return l, true
			}
		}
	}
	return container.Listener{}, false
}

// expecting returns what listens in a Pod for who takes for granted that something does, such as who forwards to a port.
func expecting(p *lifecycle.Pod) func(container.Port) (container.Listener, bool) {
	return func(port container.Port) (container.Listener, bool) {
		l, ok := p.Listening(port)
		if !ok && !port.UDP && p.Open(port.Number) {
			l, ok = p.Listening(port)
		}
		return l, ok
	}
}

// isExpected reports whether somebody has said that a Pod listens at a port: a probe of one of its containers, or a Service that
// selects it.
func (n hosts) isExpected(obj *v1.Pod, port int) bool {
	for _, c := range obj.Spec.Containers {
		for _, probe := range []*v1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
			switch {
			case probe == nil:
			case probe.HTTPGet != nil && probe.HTTPGet.Port.IntValue() == port, probe.TCPSocket != nil && probe.TCPSocket.Port.IntValue() == port:
				return true
			}
		}
	}
	services, err := n.cluster.Services.Services(obj.Namespace).List(labels.Everything())
	return err == nil && slices.ContainsFunc(services, func(s *v1.Service) bool {
		return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(obj.Labels)) &&
			slices.ContainsFunc(s.Spec.Ports, func(p v1.ServicePort) bool { return p.TargetPort.IntValue() == port })
	})
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
