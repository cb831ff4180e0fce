package network

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// peer is an end of a connection as NetworkPolicies see it: an address, and the Pod that has it.
type peer struct {
	address string
	pod     *v1.Pod // nil for what is no Pod, or shares its node's network
}

// allowed reports whether NetworkPolicies let a connection through: those for egress of the Pod that it comes from, and
// those for ingress of the Pod that it leads to. No policy is for a connection of a Pod to itself, or between a node and its
// own Pods.
func (n *Network) allowed(from, to peer, port container.Port) bool {
	if from.pod != nil && to.pod != nil && from.pod.UID == to.pod.UID || isNodeOf(from, to) || isNodeOf(to, from) {
		return true
	}
	return n.permits(networkingv1.PolicyTypeEgress, from, to, to, port) && n.permits(networkingv1.PolicyTypeIngress, to, from, to, port)
}

// isNodeOf reports whether a has the address of the node that b runs on.
func isNodeOf(a, b peer) bool { return b.pod != nil && b.pod.Status.HostIP == a.address }

// permits reports whether the policies of one direction that select a Pod let it talk to other. The port is one of server.
func (n *Network) permits(direction networkingv1.PolicyType, of, other, server peer, port container.Port) bool {
	if of.pod == nil || of.pod.Spec.HostNetwork {
		return true
	}
	policies, err := n.Policies.NetworkPolicies(of.pod.Namespace).List(everything)
	if err != nil {
		return true
	}
	isolated := false
	for _, p := range policies {
		if !slices.Contains(p.Spec.PolicyTypes, direction) || !selects(&p.Spec.PodSelector, of.pod.Labels) {
			continue
		}
		isolated = true
		for _, r := range rulesOf(p, direction) {
			if r.onPort(server, port) && n.among(p.Namespace, r.peers, other) {
				return true
			}
		}
	}
	return !isolated
}

// rule is one of ingress or egress.
type rule struct {
	ports []networkingv1.NetworkPolicyPort
	peers []networkingv1.NetworkPolicyPeer
}

func rulesOf(p *networkingv1.NetworkPolicy, direction networkingv1.PolicyType) []rule {
	var all []rule
	if direction == networkingv1.PolicyTypeIngress {
		for _, r := range p.Spec.Ingress {
			all = append(all, rule{r.Ports, r.From})
		}
		return all
	}
	for _, r := range p.Spec.Egress {
		all = append(all, rule{r.Ports, r.To})
	}
	return all
}

// onPort reports whether a rule is for a port of server. Without ports it is for all.
func (r rule) onPort(server peer, port container.Port) bool {
	return len(r.ports) == 0 || slices.ContainsFunc(r.ports, func(p networkingv1.NetworkPolicyPort) bool {
		protocol := v1.ProtocolTCP
		if p.Protocol != nil {
			protocol = *p.Protocol
		}
		switch {
		case port == icmp:
			return false
		case protocol != v1.ProtocolTCP && protocol != v1.ProtocolUDP || port.UDP != (protocol == v1.ProtocolUDP):
			return false
		case p.Port == nil:
			return true
		case p.Port.Type == intstr.String:
			return hasPort(server.pod, p.Port.StrVal, protocol, port.Number)
		case p.EndPort != nil:
			return int(p.Port.IntVal) <= port.Number && port.Number <= int(*p.EndPort)
		}
		return int(p.Port.IntVal) == port.Number
	})
}

// hasPort reports whether a container of the Pod calls its port so.
func hasPort(p *v1.Pod, name string, protocol v1.Protocol, number int) bool {
	if p == nil {
		return false
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, port := range c.Ports {
			if port.Name == name && port.Protocol == protocol && int(port.ContainerPort) == number {
				return true
			}
		}
	}
	return false
}

// among reports whether p is one of the peers of a rule in a namespace. Without peers it is for all.
func (n *Network) among(namespace string, peers []networkingv1.NetworkPolicyPeer, p peer) bool {
	return len(peers) == 0 || slices.ContainsFunc(peers, func(of networkingv1.NetworkPolicyPeer) bool {
		if block := of.IPBlock; block != nil {
			return contains(block.CIDR, p.address) && !slices.ContainsFunc(block.Except, func(r string) bool { return contains(r, p.address) })
		}
		if p.pod == nil || p.pod.Spec.HostNetwork {
			return false
		}
		if of.NamespaceSelector == nil && p.pod.Namespace != namespace {
			return false
		}
		if of.NamespaceSelector != nil && !selects(of.NamespaceSelector, n.labelsOf(p.pod.Namespace)) {
			return false
		}
		return of.PodSelector == nil || selects(of.PodSelector, p.pod.Labels)
	})
}

// labelsOf returns those of a namespace.
func (n *Network) labelsOf(namespace string) map[string]string {
	obj, err := n.Namespaces.Get(namespace)
	if err != nil {
		return map[string]string{v1.LabelMetadataName: namespace} // the API server gives it to all
	}
	return obj.Labels
}

func selects(s *metav1.LabelSelector, of map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(of))
}
