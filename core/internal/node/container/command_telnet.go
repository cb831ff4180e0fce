package container

import (
	"fmt"
	"net"
	"strconv"
)

// telnet connects to a port, for people who want to see whether something is there.
func telnet(k *call) int {
	f := k.Flags("leb")
	if len(f.Rest) == 0 {
		return k.Fail("missing host")
	}
	host, number := f.Rest[0], 23
	if len(f.Rest) > 1 {
		var err error
		if number, err = strconv.Atoi(f.Rest[1]); err != nil {
			return k.Fail("bad port '%s'", f.Rest[1])
		}
	}
	addresses, _, err := k.session.c.cfg.Network.Lookup(k, host)
	if err != nil {
		return k.Fail("bad address '%s'", host)
	}
	gnu := k.session.c.cfg.Image.Bash // inetutils', in images of Debian
	if gnu {
		fmt.Fprintf(k.Stdout, "Trying %s...\n", addresses[0])
	}
	l, err := k.session.c.cfg.Network.Connect(k, host, Port{Number: number})
	switch {
	case err != nil && isTimeout(err):
		return k.Fail("can't connect to remote host (%s): Connection timed out", addresses[0])
	case err != nil && isUnreachable(err):
		return k.Fail("can't connect to remote host (%s): No route to host", addresses[0])
	case err != nil:
		return k.Fail("can't connect to remote host (%s): Connection refused", addresses[0])
	}
	fmt.Fprintf(k.Stdout, "Connected to %s\n", host)
	if gnu {
		fmt.Fprintln(k.Stdout, "Escape character is '^]'.")
	}
	code := k.talk(k, l, net.JoinHostPort(host, strconv.Itoa(number)))
	fmt.Fprintln(k.Stdout, "Connection closed by foreign host")
	return code
}
