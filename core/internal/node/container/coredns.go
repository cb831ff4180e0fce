package container

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/kubetab/kubetab/core/internal/node/dns"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// coreDNS is the server of the cluster's DNS: coredns [-conf FILE].
func (c *Container) coreDNS(args, env []string) *Server {
	file := "Corefile"
	for i, a := range args {
		if (a == "-conf" || a == "--conf") && i+1 < len(args) {
			file = args[i+1]
		}
	}
	out := c.Log.Writer(Stdout)
	d, err := dns.New(dns.Config{
		Version: c.cfg.Image.version(), Clock: c.cfg.Clock, Files: corefiles{c}, File: coreutils.Absolute(c.dir(), file),
		Env: func(name string) string { return lookupEnv(env, name) }, Log: out,
		Cluster: c.cfg.Network.Cluster, Ask: c.cfg.Network.Ask,
		Servers: func() []string { return c.cfg.Network.Resolver().Servers },
		Looped:  func() { c.exit(1) },
	})
	if err != nil {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{err.Error()}}
	}
	s := &Server{ending: func() time.Duration {
		_, _ = io.WriteString(out, "[INFO] SIGTERM: Shutting down servers then terminating\n") // the log takes all
		lameduck := d.Lameduck()
		if lameduck > 0 {
			_, _ = io.WriteString(out, "[INFO] plugin/health: Going into lameduck mode for "+lameduck.String()+"\n")
		}
		return lameduck
	}}
	s.Ports, s.Datagrams = c.answering(s, d)
	return s
}

// answering are the ports of a CoreDNS. Whoever comes has it read its Corefile again when that is due: a probe does every ten
// seconds.
func (c *Container) answering(s *Server, d *dns.CoreDNS) (tcp, udp map[int]Listener) {
	tcp, udp = map[int]Listener{}, map[int]Listener{}
	refresh := func() {
		if !d.Refresh() {
			return
		}
		ports, datagrams := c.answering(s, d)
		c.mu.Lock()
		defer c.mu.Unlock()
		s.Ports, s.Datagrams = ports, datagrams
	}
	questions, requests := d.Ports()
	for _, port := range questions {
		l := Listener{DNS: func(ctx context.Context, from string, q dns.Question) dns.Answer {
			refresh()
			return d.Answer(ctx, port, from, q)
		}}
		tcp[port], udp[port] = l, l
	}
	for port, paths := range requests {
		mux := http.NewServeMux()
		for _, path := range paths {
			mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
				refresh()
				switch {
				case path == "/metrics":
					w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
					_, _ = io.WriteString(w, d.Metrics())
				case path == "/ready" && s.Ending.Load():
					http.Error(w, "Shutting down", http.StatusServiceUnavailable)
				default:
					_, _ = io.WriteString(w, "OK")
				}
			})
		}
		tcp[port] = Listener{HTTP: mux}
	}
	return tcp, udp
}

// corefiles are the files of a container as CoreDNS reads them.
type corefiles struct{ c *Container }

// ReadFile implements dns.Files.
func (f corefiles) ReadFile(name string) ([]byte, error) { return f.c.tree().ReadFile(name) }

// Names implements dns.Files.
func (f corefiles) Names(folder string) []string {
	entries, err := f.c.tree().ReadDir(folder)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// kubeProxy is a node's kube-proxy. The network does what it would do.
func (c *Container) kubeProxy() *Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("/proxyMode", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "iptables") })
	health := http.NewServeMux()
	health.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	at := c.cfg.Clock.Now().UTC().Format("I0102 15:04:05.000000       1 ")
	return &Server{Errors: true, Ports: map[int]Listener{10249: {HTTP: mux}, 10256: {HTTP: health}}, Lines: []string{
		at + "server_linux.go:63] \"Using iptables proxy\"",
		at + "shared_informer.go:349] \"Waiting for caches to sync\" controller=\"service config\"",
		at + "shared_informer.go:356] \"Caches are synced\" controller=\"service config\"",
		at + "shared_informer.go:356] \"Caches are synced\" controller=\"endpoint slice config\"",
	}}
}
