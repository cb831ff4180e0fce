package container

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// chosen returns the sockets of the protocols that -t and -u ask for; both without either.
func (k *call) chosen(tcp, udp bool) []socket {
	return slices.DeleteFunc(k.sockets(), func(s socket) bool { return tcp != udp && s.UDP != udp })
}

// netstat lists sockets that listen or, with -r, routes. No connection lasts: none is listed.
func netstat(k *call) int {
	f := k.Flags("")
	_, listening := f.Long["listening"]
	_, all := f.Long["all"]
	if f.On['r'] {
		return routes(k)
	}
	all, listening = all || f.On['a'], listening || f.On['l']
	kind := map[bool]string{true: "only servers", false: "w/o servers"}[listening]
	if all {
		kind = "servers and established"
	}
	program := ""
	if f.On['p'] {
		program = "PID/Program name"
	}
	fmt.Fprintf(k.Stdout, "Active Internet connections (%s)\nProto Recv-Q Send-Q Local Address           Foreign Address         State       %s\n", kind, program)
	if !all && !listening {
		return 0
	}
	for _, s := range k.chosen(f.On['t'], f.On['u']) {
		state := "LISTEN"
		if s.UDP {
			state = ""
		}
		program := s.program
		if program == "" {
			program = "-"
		}
		if !f.On['p'] {
			program = ""
		}
		fmt.Fprintf(k.Stdout, "%-5s %6d %6d %-23s %-23s %-11s %s\n", s.protocol(), 0, 0, fmt.Sprintf("0.0.0.0:%d", s.Number), "0.0.0.0:*", state, program)
	}
	return 0
}

// ss lists sockets, as iproute2's does.
func ss(k *call) int {
	f := k.Flags("")
	_, listening := f.Long["listening"]
	_, all := f.Long["all"]
	all = all || f.On['a']
	listening = listening || f.On['l']
	sockets := k.chosen(f.On['t'], f.On['u'])
	if !all && !listening {
		sockets = nil
	}
	netid := f.On['t'] == f.On['u']
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
