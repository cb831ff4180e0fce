package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/coredns/caddy/caddyfile"
)

// forward is the plugin of that name.
type forward struct {
	from    string
	servers []string // their addresses, with the port where it is not 53
	except  []string
}

func (s *site) setupForward(c *caddyfile.Dispenser) error {
	for c.Next() {
		var f forward
		if !c.Args(&f.from) {
			return c.ArgErr()
		}
		f.from = zoneOf(f.from)
		to := c.RemainingArgs()
		if len(to) == 0 {
			return c.ArgErr()
		}
		for _, server := range to {
			address := strings.TrimSuffix(strings.TrimPrefix(server, "dns://"), ":53")
			host := address
			if name, _, err := net.SplitHostPort(address); err == nil {
				host = name
			}
			switch {
			case strings.HasPrefix(host, "/"):
				f.servers = append(f.servers, s.d.cfg.Servers()...)
			case net.ParseIP(host) != nil:
				f.servers = append(f.servers, address)
			default:
				return fmt.Errorf("not an IP address or file: %q", server)
			}
		}
		for c.NextBlock() {
			switch c.Val() {
			case "except":
				for _, a := range c.RemainingArgs() {
					f.except = append(f.except, zoneOf(a))
				}
			case "max_fails", "expire", "max_age", "max_idle_conns", "force_tcp", "prefer_udp", "policy", "health_check", "max_concurrent", "next", "failfast_all_unhealthy_upstreams", "failover", "tls", "tls_servername", "max_connect_attempts":
				c.RemainingArgs()
			default:
				return c.Errf("unknown property '%s'", c.Val())
			}
		}
		s.forwards = append(s.forwards, f)
	}
	return nil
}

func (f forward) answer(ctx context.Context, cfg Config, q Question) (Answer, error) {
	err := errors.New("no healthy proxies")
	for _, server := range f.servers {
		var a Answer
		if a, err = cfg.Ask(ctx, server, q); err == nil {
			return a, nil
		}
		reason := "i/o timeout"
		if !IsTimeout(err) {
			reason = "read: connection refused"
		}
		if net.ParseIP(server) != nil {
			server = net.JoinHostPort(server, "53")
		}
		err = fmt.Errorf("read udp %s: %s", server, reason)
	}
	return Answer{Code: ServerFailure}, err
}
