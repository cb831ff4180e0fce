package network

import (
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

const (
	// connectLimit is how long Linux tries to connect to what does not answer.
	connectLimit = 127 * time.Second
	clientPort   = "40000" // of all clients
	apiPort      = 6443    // of the control plane
)

// hop is where a packet goes next, and whose address it then bears.
type hop struct {
	address string
	port    container.Port
	from    string
}

// route is what kube-proxy and the runtime of containers do with an address: that of a Service leads to one of its
// endpoints, and a hostPort of a node to a container. It fails with what wraps ErrRefused, and with what wraps
// os.ErrDeadlineExceeded where nobody answers.
func (v View) route(address string, port container.Port) (hop, error) {
	straight := hop{address, port, v.pod.IP}
	services, err := v.network.Services.List(everything)
	if err != nil {
		return hop{}, err
	}
	node, nodeAddress := v.network.Hosts.Node(address)
	for _, s := range services {
		for _, sp := range s.Spec.Ports {
			if sp.Protocol == v1.ProtocolSCTP || port.UDP != (sp.Protocol == v1.ProtocolUDP) {
				continue
			}
			if way := wayTo(s, sp, address, node, port.Number); way != noWay {
				return v.through(s, sp, way, straight, node)
			}
		}
	}
	if pod, to, ok := v.network.Hosts.HostPort(nodeAddress, port); ok {
		return hop{pod, to, v.pod.IP}, nil
	}
	if ofServices(services, address) {
		return hop{}, refused(address, port)
	}
	return straight, nil
}

// way is how an address is one of a Service.
type way int

const (
	noWay way = iota
	byClusterIP
	byExternalIP
	byLoadBalancer
	byNodePort
)

// wayTo says how a Service's port has an address, which is that of node if that is not empty.
func wayTo(s *v1.Service, sp v1.ServicePort, address, node string, port int) way {
	switch {
	case s.Spec.Type == v1.ServiceTypeExternalName:
	case node != "" && port == int(sp.NodePort):
		return byNodePort
	case port != int(sp.Port):
	case slices.Contains(s.Spec.ClusterIPs, address) || s.Spec.ClusterIP == address:
		return byClusterIP
	case slices.Contains(s.Spec.ExternalIPs, address):
		return byExternalIP
	case balances(s, address):
		return byLoadBalancer
	}
	return noWay
}

// balances reports whether a load balancer of the Service has the address, and its packets come with it to the nodes.
func balances(s *v1.Service, address string) bool {
	return slices.ContainsFunc(s.Status.LoadBalancer.Ingress, func(i v1.LoadBalancerIngress) bool { return i.IP == address })
}

// ofServices reports whether an address is that of a Service, whatever the port.
func ofServices(all []*v1.Service, address string) bool {
	return slices.ContainsFunc(all, func(s *v1.Service) bool {
		return s.Spec.ClusterIP == address || slices.Contains(s.Spec.ClusterIPs, address) || balances(s, address)
	})
}

// through leads to an endpoint of a Service's port, as its policies say.
func (v View) through(s *v1.Service, sp v1.ServicePort, way way, to hop, node string) (hop, error) {
	if way == byLoadBalancer && !v.isSource(s.Spec.LoadBalancerSourceRanges) {
		return hop{}, timedOut(to.address, to.port)
	}
	own, _ := v.network.Hosts.Node(v.pod.Node)
	local := ""
	switch {
	case way == byClusterIP && s.Spec.InternalTrafficPolicy != nil && *s.Spec.InternalTrafficPolicy == v1.ServiceInternalTrafficPolicyLocal:
		local = own
	case way == byNodePort && s.Spec.ExternalTrafficPolicy == v1.ServiceExternalTrafficPolicyLocal && (v.outside || node != own):
		local = node // Pods that are on the node themselves are led on
	}
	all := v.network.endpoints(s, sp.Name)
	chosen := all
	if local != "" {
		chosen = slices.DeleteFunc(slices.Clone(all), func(e endpoint) bool { return e.node != local })
	}
	switch {
	case len(all) == 0:
		return hop{}, refused(to.address, to.port)
	case len(chosen) == 0:
		return hop{}, timedOut(to.address, to.port)
	}
	e := chosen[v.network.turn.Add(1)%uint64(len(chosen))]
	if s.Spec.SessionAffinity == v1.ServiceAffinityClientIP {
		e = kept(chosen, v.pod.IP)
	}
	to.address, to.port.Number = e.address, e.port
	if v.outside && s.Spec.ExternalTrafficPolicy != v1.ServiceExternalTrafficPolicyLocal {
		to.from = v.network.gate(node)
	}
	return to, nil
}

// gate is the address that a packet bears which a node has led to another node.
func (n *Network) gate(node string) string {
	if _, address := n.Hosts.Node(node); address != "" {
		return address
	}
	return NodeIP(0) // the node that answers for load balancers
}

// isSource reports whether the client is in one of the ranges, or there are none.
func (v View) isSource(ranges []string) bool {
	return len(ranges) == 0 || slices.ContainsFunc(ranges, func(r string) bool { return contains(r, v.pod.IP) })
}

// contains reports whether an address is in the range, such as 10.0.0.0/8.
func contains(cidr, address string) bool {
	_, network, err := net.ParseCIDR(cidr)
	return err == nil && network.Contains(net.ParseIP(address))
}

// endpoint is one of a Service's port.
type endpoint struct {
	address string
	port    int
	node    string
}

// kept returns the endpoint that a client keeps as long as it is there.
func kept(all []endpoint, client string) endpoint {
	return slices.MaxFunc(all, func(a, b endpoint) int {
		weigh := func(e endpoint) uint64 {
			h := fnv.New64a()
			_, _ = fmt.Fprint(h, e.address, e.port, client)
			return h.Sum64()
		}
		if weigh(a) < weigh(b) {
			return -1
		}
		return 1
	})
}

// endpoints returns those of a Service's port that take connections: the ready ones, or without any those that still
// serve while they end.
func (n *Network) endpoints(s *v1.Service, port string) []endpoint {
	var ready, ending []endpoint
	for _, slice := range n.slices(s) {
		for _, ep := range slice.Ports {
			if ep.Port == nil || ep.Name != nil && *ep.Name != port {
				continue
			}
			for _, e := range slice.Endpoints {
				for _, a := range e.Addresses {
					one := endpoint{address: a, port: int(*ep.Port)}
					if e.NodeName != nil {
						one.node = *e.NodeName
					}
					switch c := e.Conditions; {
					case c.Ready == nil || *c.Ready:
						ready = append(ready, one)
					case c.Serving != nil && *c.Serving && c.Terminating != nil && *c.Terminating:
						ending = append(ending, one)
					}
				}
			}
		}
	}
	if len(ready) == 0 {
		return ending
	}
	return ready
}

// slices returns the EndpointSlices of a Service.
func (n *Network) slices(s *v1.Service) []*discoveryv1.EndpointSlice {
	all, err := n.Slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return nil
	}
	return all
}

// isAPI reports whether the API server listens at an address: it is behind a
// Service without a Pod.
func (v View) isAPI(address string, port container.Port) bool {
	if v.network.API == nil || port.UDP {
		return false
	}
	s, err := v.network.Services.Services(metav1.NamespaceDefault).Get("kubernetes")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(s.Spec.Ports, func(p v1.ServicePort) bool {
		return address == s.Spec.ClusterIP && port.Number == int(p.Port) ||
			address == ControlPlane().String() && port.Number == p.TargetPort.IntValue()
	})
}

// Resolve returns where a connection to the address of a Service leads that the API server makes: to an endpoint. All
// other addresses stay what they are.
func (n *Network) Resolve(address string, port container.Port) (string, container.Port, error) {
	// The API server is on a node as others are, and no NetworkPolicy is for it.
	to, err := View{network: n, pod: Pod{IP: ControlPlane().String(), Node: ControlPlane().String()}}.route(address, port)
	return to.address, to.port, err
}

// outsideReaches fails with an InsideError for an address that only the cluster's own network knows.
func (n *Network) outsideReaches(address string, port container.Port) error {
	services, err := n.Services.List(everything)
	if err != nil {
		return err
	}
	for _, s := range services {
		if slices.Contains(s.Spec.ClusterIPs, address) {
			return InsideError{address, port.Number, "svc/" + s.Name, s.Namespace}
		}
	}
	if p := n.Hosts.Pod(address); p != nil {
		return InsideError{address, port.Number, "pod/" + p.Name, p.Namespace}
	}
	return nil
}

// InsideError says that an address can be reached in the cluster alone.
type InsideError struct {
	Address         string
	Port            int
	What, Namespace string // as kubectl port-forward takes them
}

func (e InsideError) Error() string {
	return "connect: no route to host " + e.Address + ": it is inside of the cluster"
}

// Advice says what to do instead.
func (e InsideError) Advice() string {
	return fmt.Sprintf(`%s is an address inside of the cluster, and this terminal is outside. Either bring its port here:
  kubectl port-forward -n %s %s 8080:%d
or ask from a Pod:
  kubectl run try -it --rm --restart=Never --image=busybox -- wget -qO- http://%s:%d`, e.Address, e.Namespace, e.What, e.Port, e.Address, e.Port)
}
