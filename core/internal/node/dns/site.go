package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/caddy/caddyfile"
)

// site is a server block of a Corefile for one zone, as its plugins make it.
type site struct {
	d      *CoreDNS
	zone   string // without a dot at its end
	port   int
	reload time.Duration // 0: not at all
	loop   bool
	errors bool

	requests   map[int]string // the paths of HTTP, by port
	lameduck   time.Duration
	logs       []logRule
	rewrites   []rewrite
	hosts      *hosts
	kubernetes *kubernetes
	forwards   []forward
}

// setups are what plugins do with their part of a server block.
var setups = map[string]func(*site, *caddyfile.Dispenser) error{
	"errors":     func(s *site, _ *caddyfile.Dispenser) error { s.errors = true; return nil },
	"loop":       func(s *site, _ *caddyfile.Dispenser) error { s.loop = true; return nil },
	"reload":     (*site).setupReload,
	"ready":      func(s *site, c *caddyfile.Dispenser) error { return s.listen(c, 8181, "/ready") },
	"prometheus": func(s *site, c *caddyfile.Dispenser) error { return s.listen(c, 9153, "/metrics") },
	"health":     (*site).setupHealth,
	"log":        (*site).setupLog,
	"rewrite":    (*site).setupRewrite,
	"hosts":      (*site).setupHosts,
	"kubernetes": (*site).setupKubernetes,
	"forward":    (*site).setupForward,
}

// tacit are plugins without an effect that anybody would miss in a simulated network.
var tacit = []string{
	"root", "metadata", "cancel", "timeouts", "multisocket", "nsid", "bufsize", "bind", "debug", "trace", "pprof", "dnstap", "loadbalance",
	"cache", "minimal",
}

// setup makes the sites of a Corefile: one for each zone and port.
func (d *CoreDNS) setup(blocks []caddyfile.ServerBlock) ([]*site, error) {
	var all []*site
	for _, b := range blocks {
		for _, key := range b.Keys {
			s := &site{d: d, requests: map[int]string{}}
			var err error
			if s.zone, s.port, err = address(key); err != nil {
				return nil, err
			}
			for _, have := range all {
				if have.zone == s.zone && have.port == s.port {
					return nil, fmt.Errorf("cannot serve dns://%s.:%d - it is already defined", s.zone, s.port)
				}
			}
			for _, plugin := range plugins {
				tokens, ok := b.Tokens[plugin]
				if !ok {
					continue
				}
				if setups[plugin] == nil {
					if !slices.Contains(tacit, plugin) {
						d.printf("[WARNING] plugin/%s: not simulated, it has no effect here", plugin)
					}
					continue
				}
				c := caddyfile.NewDispenserTokens(d.cfg.File, tokens)
				if err := setups[plugin](s, &c); err != nil {
					return nil, fmt.Errorf("plugin/%s: %w", plugin, err)
				}
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// address takes a key of a server block apart, such as dns://example.org:1053.
func address(key string) (zone string, port int, err error) {
	text := strings.ToLower(strings.TrimPrefix(key, "dns://"))
	port = 53
	if zone, number, ok := strings.Cut(text, ":"); ok {
		if port, err = strconv.Atoi(number); err != nil || port < 1 || port > 65535 {
			return "", 0, fmt.Errorf("invalid port in %q", key)
		}
		text = zone
	}
	return zoneOf(text), port, nil
}

// zoneOf is the zone of a name, or of a range of addresses such as 10.0.0.0/24: the one that has it all.
func zoneOf(text string) string {
	_, network, err := net.ParseCIDR(text)
	if err != nil || network.IP.To4() == nil {
		return strings.ToLower(strings.TrimSuffix(text, "."))
	}
	ones, _ := network.Mask.Size()
	parts := strings.Split(network.IP.String(), ".")[:ones/8]
	slices.Reverse(parts)
	return strings.Join(append(parts, "in-addr.arpa"), ".")
}

// zones are those of a plugin: its arguments, or the site's.
func (s *site) zones(args []string) []string {
	if len(args) == 0 {
		return []string{s.zone}
	}
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = zoneOf(a)
	}
	return all
}

func among(name string, zones []string) bool {
	return slices.ContainsFunc(zones, func(z string) bool { return Within(name, z) })
}

// fallthroughTo reads fallthrough [ZONES...]: those for which a plugin asks the next.
func fallthroughTo(c *caddyfile.Dispenser) []string {
	args := c.RemainingArgs()
	if len(args) == 0 {
		return []string{""}
	}
	for i := range args {
		args[i] = zoneOf(args[i])
	}
	return args
}

// listen has a path answered at the port of an address, such as :8080, that a plugin may be given.
func (s *site) listen(c *caddyfile.Dispenser, port int, path string) error {
	for c.Next() {
		if err := s.listenAt(c, port, path); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) listenAt(c *caddyfile.Dispenser, port int, path string) error {
	switch args := c.RemainingArgs(); len(args) {
	case 0:
	case 1:
		_, text, err := net.SplitHostPort(args[0])
		if err != nil {
			return err
		}
		if port, err = strconv.Atoi(text); err != nil {
			return c.Errf("invalid port in '%s'", args[0])
		}
	default:
		return c.ArgErr()
	}
	s.requests[port] = path
	return nil
}

func (s *site) setupHealth(c *caddyfile.Dispenser) error {
	for c.Next() {
		if err := s.listenAt(c, 8080, "/health"); err != nil {
			return err
		}
		for c.NextBlock() {
			if c.Val() != "lameduck" {
				return c.ArgErr()
			}
			args := c.RemainingArgs()
			if len(args) != 1 {
				return c.ArgErr()
			}
			var err error
			if s.lameduck, err = time.ParseDuration(args[0]); err != nil {
				return fmt.Errorf("unable to parse lameduck duration value: '%v' : %w", args[0], err)
			}
		}
	}
	return nil
}

func (s *site) setupReload(c *caddyfile.Dispenser) error {
	s.reload = 30 * time.Second
	for c.Next() {
		args := c.RemainingArgs()
		if len(args) > 2 {
			return c.ArgErr()
		}
		if len(args) > 0 {
			var err error
			if s.reload, err = time.ParseDuration(args[0]); err != nil {
				return err
			}
			if s.reload == 0 {
				continue
			}
			if s.reload < 2*time.Second {
				return errors.New("interval value must be greater or equal to 2s")
			}
		}
	}
	return nil
}

// answer asks one plugin after the other. The error is what the plugin errors tells.
func (s *site) answer(ctx context.Context, q Question) (Answer, error) {
	asked, undo := s.rewritten(q)
	a, err := s.resolve(ctx, asked)
	if a.Code == "" {
		a.Code = Success
	}
	return undo(a), err
}

func (s *site) resolve(ctx context.Context, q Question) (Answer, error) {
	if s.hosts != nil {
		if a, ok := s.hosts.answer(q); ok {
			return a, nil
		}
	}
	if s.kubernetes != nil {
		if a, ok := s.kubernetes.answer(s.d.cfg.Cluster, q); ok {
			return a, nil
		}
	}
	for _, f := range s.forwards {
		if Within(q.Name, f.from) && !among(q.Name, f.except) {
			return f.answer(ctx, s.d.cfg, q)
		}
	}
	if s.hosts == nil && s.kubernetes == nil && len(s.forwards) == 0 {
		return Answer{Code: Refused}, nil
	}
	return Answer{Code: ServerFailure}, errors.New("plugin/loadbalance: no next plugin found")
}
