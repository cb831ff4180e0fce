package container

import (
	"fmt"
	"net"
	"strconv"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
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

// watch runs a command again and again, on a clear screen.
func watch(k *call) int {
	f := k.Flags("n")
	every, text := "2", f.Value['n']
	if text != "" {
		every = text
	}
	pause, ok := coreutils.ParseDuration(every)
	switch {
	case !ok:
		return k.Fail("invalid number '%s'", every)
	case len(f.Rest) == 0:
		return k.Fail("missing command")
	}
	line := ""
	for i, word := range f.Rest {
		if i > 0 {
			line += " "
		}
		line += word
	}
	for {
		if _, err := fmt.Fprint(k.Stdout, "\x1b[H\x1b[J"); err != nil {
			return 1
		}
		if !f.On['t'] {
			fmt.Fprintf(k.Stdout, "Every %ss: %s\n\n", every, line)
		}
		k.session.Run(k.Call, k.Environ(), []string{"sh", "-c", line})
		if code := k.session.Pause(k.Call, pause); code != 0 {
			return code
		}
	}
}
