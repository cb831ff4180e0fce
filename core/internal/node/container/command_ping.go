package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/kubetab/kubetab/core/internal/node/dns"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

const (
	pingEvery = time.Second
	pingLeast = 2 * time.Millisecond // between packets
	pingWait  = 10 * time.Second     // for the answer to the last packet
	pingTook  = "0.100"              // milliseconds of every answer: no packet is sent
	pingBytes = 56
	icmpBytes = 8
	ipBytes   = 20
)

// pinging is a run of ping: busybox', or in images of Debian that of iputils.
type pinging struct {
	*call
	iputils, quiet           bool
	name, address, shown     string // as it is given, and as answers show where they come from
	count, size              int    // count 0: until it is interrupted
	interval, wait, deadline time.Duration
	began                    time.Time
	sent, received           int
}

func ping(k *call) int {
	p := &pinging{call: k, iputils: k.Userland == coreutils.GNU, size: pingBytes, interval: pingEvery, wait: pingWait}
	f := k.Flags("cWwistIp")
	if len(f.Rest) == 0 {
		if p.iputils {
			return k.Fail("usage error: Destination address required")
		}
		return k.Fail("missing host")
	}
	p.name, p.quiet = f.Rest[len(f.Rest)-1], f.On['q']
	if code := p.set(f); code != 0 {
		return code
	}
	addresses, full, err := k.session.c.cfg.Network.Lookup(k, p.name)
	switch {
	case err != nil && p.iputils:
		k.Fail("%s: Name or service not known", p.name)
		return 2
	case err != nil:
		return k.Fail("bad address '%s'", p.name)
	}
	p.address = addresses[0]
	p.shown = p.address
	if p.iputils {
		if net.ParseIP(p.name) == nil {
			p.name = full
			p.shown = p.source()
		}
		fmt.Fprintf(k.Stdout, "PING %s (%s) %d(%d) bytes of data.\n", p.name, p.address, p.size, p.size+icmpBytes+ipBytes)
	} else {
		fmt.Fprintf(k.Stdout, "PING %s (%s): %d data bytes\n", p.name, p.address, p.size)
	}
	return p.run()
}

// set reads the options. It prints what is wrong with them, and returns the exit code for that.
func (p *pinging) set(f coreutils.Flags) (code int) {
	for option, number := range map[byte]*int{'c': &p.count, 's': &p.size} {
		if !f.On[option] {
			continue
		}
		n, err := strconv.Atoi(f.Value[option])
		if err != nil || n < 0 || option == 'c' && n == 0 && p.iputils {
			return p.invalid(f.Value[option])
		}
		*number = n
	}
	for option, d := range map[byte]*time.Duration{'i': &p.interval, 'W': &p.wait, 'w': &p.deadline} {
		if !f.On[option] {
			continue
		}
		seconds, err := strconv.ParseFloat(f.Value[option], 64)
		if err != nil || seconds < 0 {
			return p.invalid(f.Value[option])
		}
		*d = time.Duration(seconds * float64(time.Second))
	}
	p.interval = max(p.interval, pingLeast)
	return 0
}

func (p *pinging) invalid(value string) int {
	if p.iputils {
		return p.Fail("invalid argument: '%s'", value)
	}
	return p.Fail("invalid number '%s'", value)
}

// source is how iputils shows where answers come from, with the name that the address has itself.
func (p *pinging) source() string {
	if p.name == "localhost" {
		return fmt.Sprintf("%s (%s)", p.name, p.address)
	}
	if reversed, ok := dns.ReverseName(p.address); ok {
		if records, _, err := p.ask(question{name: reversed, kind: "PTR"}, false); err == nil && len(records) > 0 {
			return fmt.Sprintf("%s (%s)", strings.TrimSuffix(records[0].Data, "."), p.address)
		}
	}
	return p.address
}

// run sends packets until there have been enough, and returns the exit code.
func (p *pinging) run() int {
	p.began = p.session.Clock().Now()
	for {
		p.send()
		pause, last := p.interval, p.sent == p.count
		if last && p.received == p.sent {
			return p.end()
		}
		if last {
			if pause = p.wait; p.received > 0 {
				pause = min(pause, pingEvery)
			}
		}
		if p.deadline > 0 && (p.iputils || !last) { // busybox looks at it before it sends
			left := p.deadline - p.session.Clock().Since(p.began)
			last, pause = last || left <= pause, min(pause, left)
		}
		if code := p.session.Pause(p.Call, pause); code != 0 {
			if isInterrupted(p) {
				return p.end()
			}
			return code
		}
		if last {
			return p.end()
		}
	}
}

// isInterrupted reports whether a program is ended by SIGINT, which some have a last word at.
func isInterrupted(ctx context.Context) bool {
	by, _ := killed(ctx)
	return by == int(trapped("INT")) || errors.Is(context.Cause(ctx), errInterrupted)
}

// send sends a packet, and prints the answer if there is one.
func (p *pinging) send() {
	p.sent++
	if !p.session.c.cfg.Network.Answers(p.address) {
		return
	}
	p.received++
	ttl := 63
	if ip := net.ParseIP(p.address); ip.IsLoopback() || p.address == p.session.c.cfg.IP {
		ttl = 64
	}
	switch {
	case p.quiet:
	case p.iputils:
		fmt.Fprintf(p.Stdout, "%d bytes from %s: icmp_seq=%d ttl=%d time=%s ms\n", p.size+icmpBytes, p.shown, p.sent, ttl, pingTook)
	default:
		fmt.Fprintf(p.Stdout, "%d bytes from %s: seq=%d ttl=%d time=%s ms\n", p.size+icmpBytes, p.shown, p.sent-1, ttl, pingTook)
	}
}

// end prints the statistics, and returns the exit code.
func (p *pinging) end() int {
	if !errors.Is(context.Cause(p), errInterrupted) { // the terminal ends the line itself that it shows ^C on
		fmt.Fprintln(p.Stdout)
	}
	fmt.Fprintf(p.Stdout, "--- %s ping statistics ---\n%d packets transmitted, %d ", p.name, p.sent, p.received)
	times := strings.Repeat("/"+pingTook, 3)[1:]
	if lost := (p.sent - p.received) * 100; p.iputils {
		fmt.Fprintf(p.Stdout, "received, %g%% packet loss, time %dms\n", float64(lost)/float64(p.sent), (time.Duration(p.sent-1) * p.interval).Milliseconds())
		if p.received > 0 {
			fmt.Fprintf(p.Stdout, "rtt min/avg/max/mdev = %s/0.000 ms", times)
		}
		fmt.Fprintln(p.Stdout)
	} else {
		fmt.Fprintf(p.Stdout, "packets received, %d%% packet loss\n", lost/p.sent)
		if p.received > 0 {
			fmt.Fprintf(p.Stdout, "round-trip min/avg/max = %s ms\n", times)
		}
	}
	if p.received == 0 || p.deadline > 0 && p.received < p.count {
		return 1
	}
	return 0
}
