package network

import "net"

// Addresses of the nodes are in 172.18.0.0/16, those of Pods in a /24 for each
// node from 10.244.0.0 on. The cluster's Services are in 10.0.0.0/24.

// networks are those of the nodes, and of the Pods on as many nodes as a cluster can have.
var networks = []string{"172.18.0.0/16", "10.244.0.0/14", "10.248.0.0/14"}

// DNS is the address of the cluster's DNS, which answers without a Pod.
const DNS = "10.0.0.10"

// ControlPlane is the address of the API server in the cluster's network: the
// endpoint of the Service "kubernetes".
func ControlPlane() net.IP { return net.IPv4(172, 18, 0, 1) }

// NodeIP returns the address of a node, of which the first has the index 0.
func NodeIP(i int) string { return net.IPv4(172, 18, byte((i+2)/250), byte((i+2)%250)).String() }

// PodIP returns an address of the Pods on a node; host is from 1 to 254.
func PodIP(i, host int) string {
	return net.IPv4(10, byte(244+i/256), byte(i%256), byte(host)).String()
}

// PodCIDR returns the range of the addresses of the Pods on a node.
func PodCIDR(i int) string { return PodIP(i, 0) + "/24" }
