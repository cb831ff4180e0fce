package dns

import (
	"context"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Config is what CoreDNS is started with.
type Config struct {
	Version string // such as 1.14.6
	Clock   clock.PassiveClock
	Files   Files
	File    string              // the Corefile
	Env     func(string) string // of the process
	Log     io.Writer
	// Cluster returns the records of a name in cluster.local or in a reverse zone, false for a name that has none.
	Cluster func(q Question) ([]Record, bool)
	// Ask asks another server, an address or host:port. It fails where none answers.
	Ask func(ctx context.Context, server string, q Question) (Answer, error)
	// Servers are those of /etc/resolv.conf.
	Servers func() []string
	// Looped is called when a question has come back that was sent on: CoreDNS ends.
	Looped func()
}

// CoreDNS is a process of it. The plugins kubernetes, hosts, rewrite, forward, log, errors, health, ready, prometheus, loop and
// reload do what https://coredns.io/plugins says; others are read and have no effect, and the log says so of those that one
// would miss. Its methods are safe for concurrent use.
type CoreDNS struct {
	cfg Config

	mu      sync.Mutex
	sites   []*site
	sum     [sha512.Size]byte
	checked time.Time // when the Corefile was read
	counts  map[string]int
}

// New reads the Corefile and prints what a start does. The error is in CoreDNS's words.
func New(cfg Config) (*CoreDNS, error) {
	d := &CoreDNS{cfg: cfg, counts: map[string]int{}}
	sites, sum, err := d.read()
	if err != nil {
		return nil, err
	}
	d.sites, d.sum, d.checked = sites, sum, cfg.Clock.Now()
	for _, s := range sites {
		d.printf("%s.:%d", s.zone, s.port)
	}
	d.running()
	d.printf("CoreDNS-%s\nlinux/amd64, %s, ", cfg.Version, runtime.Version())
	return d, nil
}

func (d *CoreDNS) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(d.cfg.Log, format+"\n", args...) // a log takes all
}

// running prints which configuration is in use.
func (d *CoreDNS) running() {
	if d.interval() > 0 {
		d.printf("[INFO] plugin/reload: Running configuration SHA512 = %x", d.sum)
	}
}

// interval is how often the plugin reload looks at the Corefile, 0 without it.
func (d *CoreDNS) interval() time.Duration {
	for _, s := range d.sites {
		if s.reload > 0 {
			return s.reload
		}
	}
	return 0
}

// read reads the Corefile. The sum is that of the plugin reload, or, for a file that is none, one of the error.
func (d *CoreDNS) read() ([]*site, [sha512.Size]byte, error) {
	blocks, err := corefile(d.cfg.Files, d.cfg.File, d.cfg.Env)
	if err != nil {
		return nil, sha512.Sum512([]byte(err.Error())), err
	}
	data, err := json.Marshal(blocks)
	if err != nil {
		return nil, sha512.Sum512([]byte(err.Error())), err
	}
	sites, err := d.setup(blocks)
	return sites, sha512.Sum512(data), err
}

// Refresh reads the Corefile again if the plugin reload would have by now, and reports whether something else is in it. One
// that is wrong changes nothing.
func (d *CoreDNS) Refresh() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, every := d.cfg.Clock.Now(), d.interval()
	if every == 0 || now.Sub(d.checked) < every {
		return false
	}
	d.checked = now
	sites, sum, err := d.read()
	if sum == d.sum {
		return false
	}
	d.sum = sum // what is wrong is told once
	d.printf("[INFO] Reloading")
	if err != nil {
		d.printf("[ERROR] Restart failed: %v\n[ERROR] plugin/reload: Corefile changed but reload failed: starting with listener file descriptors: %v", err, err)
		return false
	}
	d.sites = sites
	d.running()
	d.printf("[INFO] Reloading complete")
	return true
}

// Ports returns the ports at which questions are answered, and what answers requests of HTTP at which.
func (d *CoreDNS) Ports() (questions []int, requests map[int][]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	requests = map[int][]string{}
	for _, s := range d.sites {
		questions = append(questions, s.port)
		for port, path := range s.requests {
			if !slices.Contains(requests[port], path) { // of another site, as /metrics often is
				requests[port] = append(requests[port], path)
			}
		}
	}
	slices.Sort(questions)
	return slices.Compact(questions), requests
}

// Lameduck is how long the plugin health has it go on when it is told to end.
func (d *CoreDNS) Lameduck() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sites {
		if s.lameduck > 0 {
			return s.lameduck
		}
	}
	return 0
}

// site returns what answers a question at a port: that of the longest zone; nil if there is none.
func (d *CoreDNS) site(port int, name string) *site {
	d.mu.Lock()
	defer d.mu.Unlock()
	var best *site
	for _, s := range d.sites {
		if s.port == port && Within(name, s.zone) && (best == nil || len(s.zone) > len(best.zone)) {
			best = s
		}
	}
	return best
}

type passedKey struct{}

// Answer answers a question that came to a port, and writes to the log what the plugins log and errors do. From is the
// address of who asks.
func (d *CoreDNS) Answer(ctx context.Context, port int, from string, q Question) Answer {
	s := d.site(port, q.Name)
	if s == nil {
		return Answer{Code: Refused}
	}
	passed, _ := ctx.Value(passedKey{}).([]*CoreDNS)
	if slices.Contains(passed, d) {
		if s.loop {
			d.printf("[FATAL] plugin/loop: Loop (%s -> :%d) detected for zone %q, see https://coredns.io/plugins/loop#troubleshooting. Query: %q", from, port, s.zone+".", q.Type+" "+q.Name+".")
			d.cfg.Looped()
		}
		return Answer{Code: ServerFailure}
	}
	ctx = context.WithValue(ctx, passedKey{}, append(slices.Clip(passed), d))
	began := d.cfg.Clock.Now()
	a, err := s.answer(ctx, q)
	took := d.cfg.Clock.Since(began)
	if took == 0 {
		took = time.Duration(80_000+rand.IntN(400_000)) * time.Nanosecond
	}
	d.count(s, q, a)
	s.log(from, q, a, took)
	if err != nil && s.errors {
		d.printf("[ERROR] plugin/errors: 2 %s. %s: %v", q.Name, q.Type, err)
	}
	return a
}

// count counts for the plugin prometheus.
func (d *CoreDNS) count(s *site, q Question, a Answer) {
	if !slices.Contains(slices.Collect(maps.Values(s.requests)), "/metrics") {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	server := fmt.Sprintf(`server="dns://:%d",view="",zone="%s."`, s.port, s.zone)
	d.counts[fmt.Sprintf(`coredns_dns_requests_total{family="1",proto="udp",%s,type=%q}`, server, q.Type)]++
	d.counts[fmt.Sprintf(`coredns_dns_responses_total{plugin="",rcode=%q,%s}`, a.Code, server)]++
}

// Metrics is what the plugin prometheus answers.
func (d *CoreDNS) Metrics() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := []string{fmt.Sprintf("coredns_build_info{goversion=%q,revision=\"\",version=%q} 1", runtime.Version(), d.cfg.Version)}
	for name, n := range d.counts {
		lines = append(lines, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
