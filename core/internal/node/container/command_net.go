package container

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// netCommands talk to other containers.
var netCommands = map[string]func(*call) int{
	"ip": ip, "ifconfig": ifconfig, "nslookup": nslookup, "dig": dig, "host": hostCommand, "nc": nc, "ping": ping, "redis-cli": redisCLI, "netstat": netstat, "route": routes, "ss": ss, "getent": getent, "telnet": telnet, "grpc_health_probe": nothing, "pg_isready": nothing, "mysqladmin": nothing,
}

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

// isUnreachable reports whether a connection has failed because nobody has the address.
func isUnreachable(err error) bool { return errors.Is(err, syscall.EHOSTUNREACH) }
