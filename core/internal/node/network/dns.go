package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/dns"
)

const (
	clusterZone = "cluster.local"
	serviceZone = "svc." + clusterZone
	reverseZone = ".in-addr.arpa"
	recordTTL   = 30 // seconds, as in kubeadm's configuration of CoreDNS

	// lookupLimit is how long clients wait for a DNS server that does not answer.
	lookupLimit = 10 * time.Second
)

// dnsServer is a Pod of the cluster's DNS as NetworkPolicies see it: no Pod is there.
var (
	dnsPort   = container.Port{Number: 53, UDP: true}
	dnsServer = peer{DNS, &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "coredns", Namespace: metav1.NamespaceSystem, UID: "coredns", Labels: map[string]string{"k8s-app": "kube-dns"}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "coredns", Ports: []v1.ContainerPort{{Name: "dns", ContainerPort: 53, Protocol: v1.ProtocolUDP}}}}},
	}}
)

// Resolver returns what the Pod's /etc/resolv.conf says.
func (v View) Resolver() container.Resolver { return v.pod.Resolver }

// Lookup returns the addresses of a name, as a program of the Pod gets them: from /etc/hosts, and from the DNS with the
// Pod's search path. It fails with a net.DNSError.
func (v View) Lookup(ctx context.Context, name string) ([]string, string, error) {
	if net.ParseIP(name) != nil {
		return []string{name}, name, nil
	}
	if v.outside {
		if _, address := v.network.Hosts.Node(name); address != "" {
			return []string{address}, name, nil
		}
		return nil, name, dns.NotFound(name)
	}
	if name == "localhost" {
		return []string{"127.0.0.1"}, name, nil
	}
	if name == v.pod.Hostname {
		return []string{v.pod.IP}, name, nil
	}
	for _, alias := range v.pod.Spec.HostAliases {
		if slices.Contains(alias.Hostnames, name) {
			return []string{alias.IP}, name, nil
		}
	}
	for _, full := range v.pod.Resolver.Candidates(name) {
		records, err := v.addresses(ctx, strings.ToLower(strings.TrimSuffix(full, ".")))
		if err != nil && !dns.IsNotFound(err) {
			if failed := (*net.DNSError)(nil); errors.As(err, &failed) {
				failed.Name = name // programs say the name that they were given
			}
			return nil, name, err
		}
		var addresses []string
		for _, r := range records {
			if r.Type == "A" {
				addresses = append(addresses, r.Data)
				full = r.Name
			}
		}
		if len(addresses) > 0 {
			return addresses, strings.TrimSuffix(full, "."), nil
		}
	}
	return nil, strings.TrimSuffix(name, "."), dns.NotFound(name)
}

// addresses asks the Pod's server for the IPv4 addresses of a name in full.
func (v View) addresses(ctx context.Context, full string) ([]dns.Record, error) {
	q := dns.Question{Name: full, Type: "A"}
	answer, err := v.Ask(ctx, "", q)
	if err != nil {
		return nil, err
	}
	return answer.Result(q, "")
}

// Ask asks a DNS server, an address or host:port, or for "" that of the Pod. That of the cluster are the Pods behind the Service at its address; without
// one, the network answers itself. It fails with a net.DNSError where nobody answers.
func (v View) Ask(ctx context.Context, server string, q dns.Question) (dns.Answer, error) {
	if server == "" && len(v.pod.Resolver.Servers) > 0 {
		server = v.pod.Resolver.Servers[0]
	}
	switch {
	case server == ControlPlane().String(): // the nodes' own, which knows nothing of the cluster
		return ofWeb(q), nil
	case server != DNS || v.network.hasDNS():
		return v.askServer(ctx, server, q)
	case !v.allowed(dnsServer, dnsPort):
		return dns.Answer{}, v.wait(ctx, lookupLimit, unanswered(server, q))
	}
	if records, ok := v.Cluster(q); ok {
		return dns.Answer{Code: dns.Success, Records: records, Authoritative: true}, nil
	}
	return ofWeb(q), nil
}

// unanswered is the error of a server that says nothing.
func unanswered(server string, q dns.Question) error {
	return &net.DNSError{Err: "i/o timeout", Name: q.Name, Server: server, IsTimeout: true}
}

// ofWeb is what servers outside of the cluster answer.
func ofWeb(q dns.Question) dns.Answer {
	site, ok := web[q.Name]
	if !ok {
		return dns.Answer{Code: dns.NameError}
	}
	return dns.Answer{Code: dns.Success, Records: ofKind(q.Type, address(q.Name, site.address))}
}

// hasDNS reports whether a Service has the address of the cluster's DNS.
func (n *Network) hasDNS() bool {
	services, err := n.Services.List(everything)
	return err == nil && ofServices(services, DNS)
}

// askServer asks what listens at an address, or at host:port.
func (v View) askServer(ctx context.Context, server string, q dns.Question) (dns.Answer, error) {
	host, port := server, dnsPort
	if name, text, err := net.SplitHostPort(server); err == nil {
		host = name
		if port.Number, err = strconv.Atoi(text); err != nil {
			return dns.Answer{}, unanswered(server, q)
		}
	}
	end, err := v.find(ctx, host, port)
	switch {
	case errors.Is(err, ErrRefused):
		return dns.Answer{}, &net.DNSError{Err: err.Error(), Name: q.Name, Server: server, UnwrapErr: ErrRefused}
	case err != nil || end.DNS == nil:
		return dns.Answer{}, v.wait(ctx, lookupLimit, unanswered(server, q))
	}
	return end.DNS(ctx, end.from, q), nil
}

// Cluster returns the records that the cluster's DNS has for the names of its Services, endpoints and Pods and for their
// addresses, by the specification of github.com/kubernetes/dns; false for a name without any.
func (v View) Cluster(q dns.Question) ([]dns.Record, bool) { return v.network.records(q.Name, q.Type) }

// records answers as the cluster's DNS, by the specification of github.com/kubernetes/dns.
// The second result is false for a name that has no records of any kind.
func (n *Network) records(name, kind string) ([]dns.Record, bool) {
	if strings.HasSuffix(name, reverseZone) {
		return n.reverse(name, kind)
	}
	inside, ok := strings.CutSuffix(name, "."+clusterZone)
	if !ok {
		return nil, false
	}
	parts := strings.Split(inside, ".")
	switch zone := parts[len(parts)-1]; {
	case zone == "pod" && len(parts) == 3:
		ip := net.ParseIP(strings.ReplaceAll(parts[0], "-", "."))
		if _, err := n.Namespaces.Get(parts[1]); err != nil || ip == nil {
			return nil, false
		}
		return ofKind(kind, dns.Record{Name: name + ".", Type: "A", Data: ip.String()}), true
	case zone == "svc" && len(parts) > 2:
		return n.ofService(name, parts[:len(parts)-1], kind)
	case zone == "svc" && len(parts) == 2:
		_, err := n.Namespaces.Get(parts[0])
		return nil, err == nil
	}
	return nil, false
}

// ofKind returns the records of a kind, with the time that they live.
func ofKind(kind string, all ...dns.Record) []dns.Record {
	all = slices.DeleteFunc(all, func(r dns.Record) bool { return r.Type != kind && kind != "ANY" })
	for i := range all {
		all[i].TTL = recordTTL
	}
	return all
}

// ofService returns the records of a name in the domain of a Service, whose parts end with its name and namespace.
func (n *Network) ofService(name string, parts []string, kind string) ([]dns.Record, bool) {
	service, namespace := parts[len(parts)-2], parts[len(parts)-1]
	s, err := n.Services.Services(namespace).Get(service)
	if err != nil {
		return nil, false
	}
	of := service + "." + namespace + "." + serviceZone
	hosts := n.named(s, of)
	switch before := parts[:len(parts)-2]; {
	case s.Spec.Type == v1.ServiceTypeExternalName && len(before) == 0:
		target := strings.TrimSuffix(s.Spec.ExternalName, ".")
		all := []dns.Record{{Name: name + ".", Type: "CNAME", TTL: recordTTL, Data: target + "."}}
		if kind != "CNAME" && target != name && !n.isExternalName(target) {
			more, inside := n.records(target, kind)
			if !inside {
				more = ofWeb(dns.Question{Name: target, Type: kind}).Records
			}
			all = append(all, more...)
		}
		return all, true
	case len(before) == 0 && kind == "SRV":
		return n.services(name, s, hosts, func(v1.ServicePort) bool { return true }), true
	case len(before) == 0 && s.Spec.ClusterIP != v1.ClusterIPNone:
		var all []dns.Record
		for _, ip := range s.Spec.ClusterIPs {
			all = append(all, address(name, ip))
		}
		return ofKind(kind, all...), true
	case len(before) == 0:
		var all []dns.Record
		for _, h := range hosts {
			all = append(all, address(name, h.address))
		}
		return ofKind(kind, all...), len(all) > 0
	case len(before) == 1 && s.Spec.ClusterIP == v1.ClusterIPNone:
		var all []dns.Record
		for _, h := range hosts {
			if h.name == name {
				all = append(all, address(name, h.address))
			}
		}
		return ofKind(kind, all...), len(all) > 0
	case len(before) == 2 && strings.HasPrefix(before[0], "_") && strings.HasPrefix(before[1], "_"):
		all := n.services(name, s, hosts, func(p v1.ServicePort) bool {
			return "_"+p.Name == before[0] && strings.EqualFold("_"+string(p.Protocol), before[1])
		})
		return ofKind(kind, all...), len(all) > 0
	}
	return nil, false
}

// isExternalName reports whether a name is that of a Service that only stands for another name: such names may lead in circles.
func (n *Network) isExternalName(name string) bool {
	parts := strings.Split(strings.TrimSuffix(name, "."+serviceZone), ".")
	if len(parts) != 2 {
		return false
	}
	s, err := n.Services.Services(parts[1]).Get(parts[0])
	return err == nil && s.Spec.Type == v1.ServiceTypeExternalName
}

func address(name, ip string) dns.Record {
	kind := "A"
	if strings.Contains(ip, ":") {
		kind = "AAAA"
	}
	return dns.Record{Name: name + ".", Type: kind, Data: ip}
}

// dnsHost is an endpoint with its name.
type dnsHost struct{ name, address string }

// named returns the endpoints of a Service that take traffic, with their names in its domain.
func (n *Network) named(s *v1.Service, domain string) []dnsHost {
	var all []dnsHost
	for _, slice := range n.slices(s) {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			for _, a := range e.Addresses {
				host := strings.NewReplacer(".", "-", ":", "-").Replace(a)
				if e.Hostname != nil && *e.Hostname != "" {
					host = *e.Hostname
				}
				all = append(all, dnsHost{host + "." + domain, a})
			}
		}
	}
	slices.SortFunc(all, func(a, b dnsHost) int { return strings.Compare(a.name, b.name) })
	return all
}

// services returns the records of the type SRV for ports of a Service.
func (n *Network) services(name string, s *v1.Service, hosts []dnsHost, of func(v1.ServicePort) bool) []dns.Record {
	var all []dns.Record
	for _, p := range s.Spec.Ports {
		switch {
		case !of(p):
		case s.Spec.ClusterIP != v1.ClusterIPNone:
			all = append(all, dns.Record{Name: name + ".", Type: "SRV", Data: fmt.Sprintf("0 100 %d %s.%s.%s.", p.Port, s.Name, s.Namespace, serviceZone)})
		default:
			for _, h := range hosts {
				all = append(all, dns.Record{Name: name + ".", Type: "SRV", Data: fmt.Sprintf("0 %d %d %s.", 100/len(hosts), targetOf(p), h.name)})
			}
		}
	}
	return ofKind("SRV", all...)
}

// targetOf is the port of a headless Service's endpoints: names of ports are resolved by endpoints, and rare here.
func targetOf(p v1.ServicePort) int32 {
	if n := p.TargetPort.IntVal; n > 0 {
		return n
	}
	return p.Port
}

// reverse returns the names of an address.
func (n *Network) reverse(name, kind string) ([]dns.Record, bool) {
	parts := strings.Split(strings.TrimSuffix(name, reverseZone), ".")
	slices.Reverse(parts)
	ip := strings.Join(parts, ".")
	var all []dns.Record
	services, err := n.Services.List(everything)
	if err != nil || net.ParseIP(ip) == nil {
		return nil, false
	}
	for _, s := range services {
		domain := s.Name + "." + s.Namespace + "." + serviceZone
		if slices.Contains(s.Spec.ClusterIPs, ip) {
			return ofKind(kind, dns.Record{Name: name + ".", Type: "PTR", Data: domain + "."}), true
		}
		for _, h := range n.named(s, domain) {
			if h.address == ip {
				all = append(all, dns.Record{Name: name + ".", Type: "PTR", Data: h.name + "."})
			}
		}
	}
	return ofKind(kind, all...), len(all) > 0
}
