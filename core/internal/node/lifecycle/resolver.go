package lifecycle

import (
	"context"
	"net"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	eventrecord "k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/network/dns"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/network"
)

// configurer is the kubelet's. It says nothing of limits that are exceeded.
var configurer = dns.NewConfigurer(&eventrecord.FakeRecorder{}, nil, nil, []net.IP{net.ParseIP(network.DNS)}, "cluster.local", "")

// resolver returns what the Pod's /etc/resolv.conf says, by its dnsPolicy and dnsConfig.
func resolver(obj *v1.Pod) container.Resolver {
	config, err := configurer.GetPodDNS(context.Background(), obj)
	if err != nil { // a policy that the API server does not admit
		return container.Resolver{}
	}
	r := container.Resolver{Servers: config.Servers, Searches: config.Searches, Options: config.Options}
	// Without a file of the node's own, upstream has a server at 127.0.0.1 and the search path ".".
	if len(r.Servers) > 0 && r.Servers[0] == "127.0.0.1" {
		r.Servers[0] = network.ControlPlane().String()
	}
	if len(r.Searches) > 0 && r.Searches[0] == "." {
		r.Searches = r.Searches[1:]
	}
	if given := obj.Spec.DNSConfig; given != nil { // upstream's order is that of a map
		slices.SortStableFunc(r.Options, func(a, b string) int { return place(given, a) - place(given, b) })
	}
	return r
}

// place is where an option is among those that a Pod gives, -1 for one that it does not.
func place(given *v1.PodDNSConfig, option string) int {
	name, _, _ := strings.Cut(option, ":")
	return slices.IndexFunc(given.Options, func(o v1.PodDNSConfigOption) bool { return o.Name == name })
}
