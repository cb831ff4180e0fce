package container

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// socket is one at which something of the Pod listens.
type socket struct {
	Port
	program string // of the server, with its number; empty if it is in a container that the looking one does not see
}

func (s socket) protocol() string {
	if s.UDP {
		return "udp"
	}
	return "tcp"
}

// sockets returns those of the Pod, by their ports: all of its containers are in one network.
func (k *call) sockets() []socket {
	root := k.session.c.root()
	own, program := root.Listens(), ""
	if first, ok := root.process(root.first); ok {
		program = strconv.Itoa(first.number) + "/" + first.name()
	}
	var all []socket
	for _, port := range k.session.c.cfg.Network.Ports() {
		s := socket{Port: port}
		if slices.Contains(own, port) {
			s.program = program
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b socket) int {
		if a.UDP != b.UDP {
			return strings.Compare(a.protocol(), b.protocol())
		}
		return a.Number - b.Number
	})
	return slices.Compact(all)
}

func asksForTCP(f coreutils.Flags) bool { return f.On['t'] || f.Has("tcp") }
func asksForUDP(f coreutils.Flags) bool { return f.On['u'] || f.Has("udp") }

// chosen returns the sockets of the protocols that options ask for; both without one.
func (k *call) chosen(f coreutils.Flags) []socket {
	tcp, udp := asksForTCP(f), asksForUDP(f)
	return slices.DeleteFunc(k.sockets(), func(s socket) bool { return tcp != udp && s.UDP != udp })
}

// netstat lists sockets that listen or, with -r, routes. No connection lasts: none is listed.
func netstat(k *call) int {
	f := k.Flags("")
	if f.On['r'] || f.Has("route") {
		return routes(k)
	}
	all, listening := f.On['a'] || f.Has("all"), f.On['l'] || f.Has("listening")
	kind := map[bool]string{true: "only servers", false: "w/o servers"}[listening]
	if all {
		kind = "servers and established"
	}
	program := func(is string) string { // what -p adds
		if !f.On['p'] {
			return ""
		}
		return is
	}
	fmt.Fprintf(k.Stdout, "Active Internet connections (%s)\nProto Recv-Q Send-Q Local Address           Foreign Address         State       %s\n", kind, program("PID/Program name"))
	if !all && !listening {
		return 0
	}
	for _, s := range k.chosen(f) {
		state := "LISTEN"
		if s.UDP {
			state = ""
		}
		fmt.Fprintf(k.Stdout, "%-5s %6d %6d %-23s %-23s %-11s %s\n", s.protocol(), 0, 0, fmt.Sprintf("0.0.0.0:%d", s.Number), "0.0.0.0:*", state, program(cmp.Or(s.program, "-")))
	}
	return 0
}

// ss lists sockets, as iproute2's does.
func ss(k *call) int {
	f := k.Flags("")
	var sockets []socket
	if f.On['a'] || f.Has("all") || f.On['l'] || f.Has("listening") {
		sockets = k.chosen(f)
	}
	netid := asksForTCP(f) == asksForUDP(f)
	line := func(protocol, state, receives, sends, local, peer, process string) {
		if netid {
			fmt.Fprintf(k.Stdout, "%-5s ", protocol)
		}
		text := fmt.Sprintf("%-6s %-6s %-6s %18s %18s %s", state, receives, sends, local, peer, process)
		fmt.Fprintln(k.Stdout, strings.TrimRight(text, " "))
	}
	if !f.On['H'] {
		line("Netid", "State", "Recv-Q", "Send-Q", "Local Address:Port", "Peer Address:Port", "Process")
	}
	for _, s := range sockets {
		state, backlog, process := "LISTEN", "511", ""
		if s.UDP {
			state, backlog = "UNCONN", "0"
		}
		if number, name, ok := strings.Cut(s.program, "/"); ok && f.On['p'] {
			process = fmt.Sprintf(`users:((%q,pid=%s,fd=6))`, name, number)
		}
		line(s.protocol(), state, "0", backlog, fmt.Sprintf("0.0.0.0:%d", s.Number), "0.0.0.0:*", process)
	}
	return 0
}
