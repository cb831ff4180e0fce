package dns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
				if !ok || setups[plugin] == nil {
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

// kubernetes is the plugin of that name.
type kubernetes struct {
	zones, next []string
	ttl         int
	pods        bool
	namespaces  []string // empty: all
}

func (s *site) setupKubernetes(c *caddyfile.Dispenser) error {
	k := &kubernetes{ttl: 5}
	for c.Next() {
		k.zones = s.zones(c.RemainingArgs())
		for c.NextBlock() {
			switch c.Val() {
			case "pods":
				args := c.RemainingArgs()
				if len(args) != 1 {
					return c.ArgErr()
				}
				switch args[0] {
				case "insecure", "verified":
					k.pods = true
				case "disabled":
				default:
					return c.Errf("wrong value for pods: %s,  must be one of: disabled, verified, insecure", args[0])
				}
			case "ttl":
				args := c.RemainingArgs()
				if len(args) != 1 {
					return c.ArgErr()
				}
				n, err := strconv.Atoi(args[0])
				if err != nil {
					return err
				}
				if n < 0 || n > 3600 {
					return c.Errf("ttl must be in range [0, 3600]: %d", n)
				}
				k.ttl = n
			case "namespaces":
				k.namespaces = append(k.namespaces, c.RemainingArgs()...)
			case "fallthrough":
				k.next = fallthroughTo(c)
			case "endpoint_pod_names", "noendpoints", "ignore", "namespace_labels", "labels", "transfer", "endpoint", "tls", "kubeconfig", "startup_timeout", "apiserver_qps", "apiserver_burst", "apiserver_max_inflight", "multicluster":
				c.RemainingArgs()
			default:
				return c.Errf("unknown property '%s'", c.Val())
			}
		}
	}
	s.kubernetes = k
	return nil
}

// answer returns false for what the next plugin answers.
func (k *kubernetes) answer(cluster func(Question) ([]Record, bool), q Question) (Answer, bool) {
	if !among(q.Name, k.zones) {
		return Answer{}, false
	}
	labels := strings.Split(q.Name, ".")
	at := slices.IndexFunc(labels, func(l string) bool { return l == "svc" || l == "pod" })
	hidden := at > 0 && (labels[at] == "pod" && !k.pods || len(k.namespaces) > 0 && !slices.Contains(k.namespaces, labels[at-1]))
	records, ok := cluster(q)
	switch {
	case ok && !hidden || slices.Contains(k.zones, q.Name):
		for i := range records {
			records[i].TTL = k.ttl
		}
		return Answer{Records: records, Authoritative: true}, true
	case among(q.Name, k.next):
		return Answer{}, false
	}
	return Answer{Code: NameError, Authoritative: true}, true
}

// forward is the plugin of that name.
type forward struct {
	from    string
	servers []string // none: those of /etc/resolv.conf
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
			host := strings.TrimPrefix(server, "dns://")
			if name, port, err := net.SplitHostPort(host); err == nil && port == "53" {
				host = name
			}
			switch {
			case strings.HasPrefix(host, "/"):
				f.servers = append(f.servers, s.d.cfg.Servers()...)
			case net.ParseIP(host) != nil:
				f.servers = append(f.servers, host)
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
		err = fmt.Errorf("read udp %s: %s", net.JoinHostPort(server, "53"), reason)
	}
	return Answer{Code: ServerFailure}, err
}

// IsTimeout reports whether a server has not answered.
func IsTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// logRule is a line of the plugin log.
type logRule struct {
	zone    string
	format  string
	classes []string // success, denial, error; empty: all
}

const commonLog = `{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" {rcode} {>rflags} {rsize} {duration}`

func (s *site) setupLog(c *caddyfile.Dispenser) error {
	for c.Next() {
		args := c.RemainingArgs()
		format := commonLog
		if n := len(args); n > 1 && strings.Contains(args[n-1], "{") {
			format = strings.NewReplacer("{common}", commonLog, "{combined}", commonLog+` "{>opcode}"`).Replace(args[n-1])
			args = args[:n-1]
		}
		if len(args) == 0 {
			args = []string{"."}
		}
		var classes []string
		for c.NextBlock() {
			if c.Val() != "class" {
				return c.Errf("unknown property '%s'", c.Val())
			}
			more := c.RemainingArgs()
			if len(more) == 0 {
				return c.ArgErr()
			}
			for _, class := range more {
				if !slices.Contains([]string{"all", "success", "denial", "error"}, class) {
					return fmt.Errorf("invalid Class: %s", class)
				}
			}
			classes = append(classes, more...)
		}
		if slices.Contains(classes, "all") {
			classes = nil
		}
		for _, zone := range args {
			s.logs = append(s.logs, logRule{zoneOf(zone), format, classes})
		}
	}
	return nil
}

// log writes the line of the first rule that is for a question.
func (s *site) log(d *CoreDNS, from string, q Question, a Answer, took time.Duration) {
	class := "error"
	switch {
	case a.Code == NameError || a.Code == Success && len(a.Records) == 0:
		class = "denial"
	case a.Code == Success:
		class = "success"
	}
	for _, rule := range s.logs {
		if !Within(q.Name, rule.zone) || len(rule.classes) > 0 && !slices.Contains(rule.classes, class) {
			continue
		}
		flags := "qr,rd"
		switch {
		case a.Authoritative:
			flags = "qr,aa,rd"
		case a.Code != ServerFailure && a.Code != Refused:
			flags = "qr,rd,ra"
		}
		size := 12 + len(q.Name) + 2 + 4
		answered := size
		for _, r := range a.Records {
			answered += len(r.Name) + 1 + 10 + dataSize(r)
		}
		if a.Authoritative && class == "denial" { // the zone's SOA
			answered += len("cluster.local") + 2 + 10 + len("ns.dns.cluster.local") + 2 + len("hostmaster.cluster.local") + 2 + 20
		}
		d.printf("[INFO] %s", strings.NewReplacer(
			"{remote}", from, "{port}", strconv.Itoa(32768+rand.IntN(28232)), "{>id}", strconv.Itoa(rand.IntN(1<<16)), "{type}", q.Type, "{class}", "IN",
			"{name}", q.Name+".", "{proto}", "udp", "{size}", strconv.Itoa(size), "{>do}", "false", "{>bufsize}", "512", "{>opcode}", "0",
			"{rcode}", string(a.Code), "{>rflags}", flags, "{rsize}", strconv.Itoa(answered), "{duration}", strconv.FormatFloat(took.Seconds(), 'f', -1, 64)+"s",
		).Replace(rule.format))
		return
	}
}

// dataSize is how many bytes the data of a record take on the line.
func dataSize(r Record) int {
	switch r.Type {
	case "A":
		return 4
	case "AAAA":
		return 16
	case "SRV":
		return 6 + len(r.Data[strings.LastIndexByte(r.Data, ' ')+1:]) + 1
	}
	return len(r.Data) + 1
}
