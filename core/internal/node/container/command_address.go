package container

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// podPrefix is how many bits of a Pod's address its node's Pods share.
const podPrefix = 24

// ip tells of addresses and routes, as busybox' does: every container of a Pod shows the same.
func ip(k *call) int {
	var objects []string
	for _, arg := range k.Args {
		if !strings.HasPrefix(arg, "-") {
			objects = append(objects, arg)
		}
	}
	if len(objects) == 0 {
		return k.Fail("usage: ip address|route")
	}
	address, err := netip.ParseAddr(k.session.c.cfg.IP)
	if err != nil {
		return k.Fail("there is no address")
	}
	network := netip.PrefixFrom(address, podPrefix).Masked()
	switch object := objects[0]; {
	case strings.HasPrefix("address", object):
		fmt.Fprintf(k.Stdout, `1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: eth0@if7: <BROADCAST,MULTICAST,UP,LOWER_UP,M-DOWN> mtu 1500 qdisc noqueue
    link/ether %s brd ff:ff:ff:ff:ff:ff
    inet %s/%d brd %s scope global eth0
       valid_lft forever preferred_lft forever
`, hardwareOf(address), address, podPrefix, last(network))
	case strings.HasPrefix("route", object):
		gateway := network.Addr().Next()
		fmt.Fprintf(k.Stdout, "default via %s dev eth0 \n%s dev eth0 scope link  src %s \n", gateway, network, address)
	default:
		return k.Fail("%s is not simulated: address and route are", object)
	}
	return 0
}

// ifconfig tells of addresses in the old way.
func ifconfig(k *call) int {
	address, err := netip.ParseAddr(k.session.c.cfg.IP)
	if err != nil {
		return k.Fail("there is no address")
	}
	fmt.Fprintf(k.Stdout, `eth0      Link encap:Ethernet  HWaddr %s
          inet addr:%s  Bcast:%s  Mask:255.255.255.0
          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1

lo        Link encap:Local Loopback
          inet addr:127.0.0.1  Mask:255.0.0.0
          UP LOOPBACK RUNNING  MTU:65536  Metric:1

`, strings.ToUpper(hardwareOf(address)), address, last(netip.PrefixFrom(address, podPrefix).Masked()))
	return 0
}

// hardwareOf is the hardware address that container runtimes derive from an IPv4 address.
func hardwareOf(address netip.Addr) string {
	b := address.Unmap().AsSlice()
	b = b[len(b)-4:]
	return fmt.Sprintf("02:42:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
}

// last is the broadcast address of a network.
func last(network netip.Prefix) netip.Addr {
	b := network.Addr().AsSlice()
	for i := network.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	address, _ := netip.AddrFromSlice(b)
	return address
}

// routes prints the Pod's, as route and netstat -r do.
func routes(k *call) int {
	address, err := netip.ParseAddr(k.session.c.cfg.IP)
	if err != nil {
		return k.Fail("there is no address")
	}
	network := netip.PrefixFrom(address, podPrefix).Masked()
	fmt.Fprint(k.Stdout, "Kernel IP routing table\nDestination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n")
	row := func(destination, gateway, mask, flags string) {
		fmt.Fprintf(k.Stdout, "%-15s %-15s %-15s %-7s %3d %-6d %5d eth0\n", destination, gateway, mask, flags, 0, 0, 0)
	}
	row("0.0.0.0", network.Addr().Next().String(), "0.0.0.0", "UG")
	row(network.Addr().String(), "0.0.0.0", net.IP(net.CIDRMask(podPrefix, 32)).String(), "U")
	return 0
}
