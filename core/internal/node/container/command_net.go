package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// netCommands talk to other containers.
var netCommands = map[string]func(*call) int{
	"ip": ip, "ifconfig": ifconfig, "nslookup": nslookup, "dig": dig, "host": hostCommand, "nc": nc, "ping": ping, "redis-cli": redisCLI, "netstat": netstat, "route": routes, "ss": ss, "getent": getent, "telnet": telnet, "grpc_health_probe": nothing, "pg_isready": nothing, "mysqladmin": nothing,
}

func ping(k *call) int {
	f := k.Flags("cWwi")
	if len(f.Rest) == 0 {
		return k.Fail("missing host")
	}
	addresses, _, err := k.session.c.cfg.Network.Lookup(k, f.Rest[0])
	if err != nil {
		return k.Fail("bad address '%s'", f.Rest[0])
	}
	count := math32
	if n, err := strconv.Atoi(f.Value['c']); err == nil {
		count = n
	}
	fmt.Fprintf(k.Stdout, "PING %s (%s): 56 data bytes\n", f.Rest[0], addresses[0])
	for i := range count {
		fmt.Fprintf(k.Stdout, "64 bytes from %s: seq=%d ttl=63 time=0.1 ms\n", addresses[0], i)
		if i < count-1 && k.session.Pause(k.Call, time.Second) != 0 {
			return 143
		}
	}
	fmt.Fprintf(k.Stdout, "\n--- %s ping statistics ---\n%d packets transmitted, %d packets received, 0%% packet loss\n", f.Rest[0], count, count)
	return 0
}

const math32 = 1 << 30 // a count that is never reached

// within returns the context of what may take so long on the clock; zero is for ever.
func (k *call) within(limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(k)
	if limit <= 0 {
		return ctx, func() { cancel(nil) }
	}
	timer := k.session.Clock().AfterFunc(limit, func() { cancel(os.ErrDeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// isTimeout reports whether a connection has failed because nobody has answered.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
