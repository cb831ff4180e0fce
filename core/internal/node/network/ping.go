package network

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// neighbourLimit is how long Linux asks a network who has an address before it gives up.
const neighbourLimit = 3 * time.Second

// icmp is what has no port: only rules of NetworkPolicies that are for all ports allow it.
var icmp container.Port

// errNoRoute says that nobody has an address that the cluster's own networks could have.
var errNoRoute = errors.New("connect: no route to host")

// unreachable is what becomes of a connection to such an address.
func unreachable(address string, port container.Port) error {
	return fmt.Errorf("dial %s %s: %w%w", protocol(port), at(address, port), errNoRoute, quietly{syscall.EHOSTUNREACH})
}

// Answers reports whether an address answers to ping: those of Pods, nodes and the sites outside do, those of Services do
// not, as kube-proxy knows ports alone.
func (v View) Answers(address string) bool {
	if v.isOwn(address) {
		return true
	}
	return v.network.isThere(address) && v.allowed(peer{address, v.network.Hosts.Pod(address)}, icmp)
}

// isThere reports whether a machine or a Pod has the address.
func (n *Network) isThere(address string) bool {
	if address == ControlPlane().String() || n.Hosts.Pod(address) != nil {
		return true
	}
	if _, node := n.Hosts.Node(address); node != "" {
		return true
	}
	for _, site := range web {
		if site.address == address {
			return true
		}
	}
	return false
}

// absent is what becomes of a connection to an address that nobody has. In the networks of the nodes and the Pods, where
// somebody could have it, the last router says that it is not there; elsewhere nobody answers. The machine outside has no
// way to elsewhere, and knows that at once.
func (v View) absent(address string, port container.Port) error {
	switch {
	case slices.ContainsFunc(networks, func(cidr string) bool { return contains(cidr, address) }):
		return unreachable(address, port)
	case v.outside:
		return refused(address, port)
	}
	return timedOut(address, port)
}

// isLoopback reports whether an address is one of the machine that asks, whichever that is.
func isLoopback(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback()
}
