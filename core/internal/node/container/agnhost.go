package container

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
)

// agnhost is the program of Kubernetes' end-to-end tests, which documentation
// uses as well: a server for each of its commands but those in agnhostCommands.
// What it prints and answers is that of k8s.io/kubernetes/test/images/agnhost.
func (c *Container) agnhost(args, env []string) (*Server, bool) {
	if len(args) == 0 {
		return &Server{}, true
	}
	a := agnhost{c: c, env: env, flags: pflag.NewFlagSet(args[0], pflag.ContinueOnError)}
	a.flags.SetOutput(io.Discard)
	a.flags.ParseErrorsAllowlist.UnknownFlags = true
	serve, ok := map[string]func([]string) (*Server, error){
		"pause": a.pause, "serve-hostname": a.serveHostname, "netexec": a.netexec, "test-webserver": a.testWebserver,
		"liveness": a.liveness, "grpc-health-checking": a.grpcHealthChecking, "porter": a.porter,
		"webhook": a.webhook, "crd-conversion-webhook": a.conversionWebhook, "guestbook": a.guestbook,
	}[args[0]]
	if !ok {
		serve = a.other
	}
	s, err := serve(args[1:])
	if err != nil {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{"Error: " + err.Error()}}, true
	}
	return s, true
}

// agnhost is one of its servers.
type agnhost struct {
	c     *Container
	env   []string
	flags *pflag.FlagSet
}

func (a agnhost) pause(args []string) (*Server, error) {
	return &Server{Lines: []string{"Paused"}}, a.flags.Parse(args)
}

func (a agnhost) serveHostname(args []string) (*Server, error) {
	port := a.flags.Int("port", 9376, "")
	doTCP, doUDP, doHTTP := a.flags.Bool("tcp", false, ""), a.flags.Bool("udp", false, ""), a.flags.Bool("http", true, "")
	err := a.flags.Parse(args)
	name := a.c.cfg.Hostname
	s := &Server{Lines: []string{a.line("Serving on port %d.", *port)}}
	if *doUDP {
		s.Datagrams = map[int]Listener{*port: {Datagram: func(string, []byte) []byte { return []byte(name) }}}
	}
	switch {
	case *doTCP:
		s.Ports = map[int]Listener{*port: {Stream: func(_ context.Context, _ io.Reader, out io.Writer) { _, _ = io.WriteString(out, name) }}}
	case *doHTTP:
		s.Ports = listen(text(name), *port)
	}
	return s, err
}

// line is one of Go's package log.
func (a agnhost) line(format string, args ...any) string {
	return a.c.stamp("2006/01/02 15:04:05 ") + fmt.Sprintf(format, args...)
}

func (a agnhost) log(format string, args ...any) {
	fmt.Fprintln(a.c.Log.Writer(Stderr), a.line(format, args...))
}

// netexec answers at paths that try what a server can do.
func (a agnhost) netexec(args []string) (*Server, error) {
	port, udpPort := a.flags.Int("http-port", 8080, ""), a.flags.Int("udp-port", 8081, "")
	override := a.flags.String("http-override", "", "")
	delay := a.flags.Int("delay-shutdown", 0, "")
	own, err := a.secured(args)
	if err != nil {
		return nil, err
	}
	s := &Server{Lines: []string{a.line("Started HTTP server on port %d", *port)}, Errors: true, Lingers: time.Duration(*delay) * time.Second}
	h := a.paths(*port, &s.Ending)
	if routes := h; *override != "" {
		h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			instead, err := http.NewRequestWithContext(r.Context(), http.MethodGet, *override, nil)
			if err != nil {
				http.Error(w, "override request failed: "+err.Error(), http.StatusInternalServerError)
				return
			}
			routes.ServeHTTP(w, instead)
		})
	}
	s.Ports = secured(listen(h, *port), own)
	if *udpPort != -1 {
		s.Lines = append(s.Lines, a.line("Started UDP server on port %d", *udpPort))
		s.Datagrams = map[int]Listener{*udpPort: {Datagram: a.datagram}}
	}
	return s, nil
}

// secured reads the flags, and returns the certificate that they name, nil if they name
// none. It fails for flags that are wrong, and as Container.certificate does.
func (a agnhost) secured(args []string) (*tls.Certificate, error) {
	certificate, key := a.flags.String("tls-cert-file", "", ""), a.flags.String("tls-private-key-file", "", "")
	if err := a.flags.Parse(args); err != nil || *certificate == "" {
		return nil, err
	}
	return a.c.certificate(*certificate, *key)
}

// datagram answers netexec's commands over UDP.
func (a agnhost) datagram(from string, b []byte) []byte {
	command := strings.ToLower(strings.TrimSpace(string(b)))
	switch text, isEcho := strings.CutPrefix(command, "echo "); {
	case command == "hostname":
		return []byte(a.c.cfg.Hostname)
	case isEcho:
		return []byte(text)
	case command == "clientip":
		return []byte(from)
	case command != "":
		a.log("Unknown udp command received: %s", command)
	}
	return nil
}

func (a agnhost) paths(port int, ending *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	handle := func(path string, h func(w http.ResponseWriter, r *http.Request)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			line := r.Method + " " + path
			if r.URL.RawQuery != "" {
				line += "?" + r.URL.RawQuery
			}
			a.log("%s", line)
			h(w, r)
		})
	}
	print := func(text func(r *http.Request) string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, text(r)) }
	}
	handle("/", print(func(*http.Request) string { return "NOW: " + a.c.cfg.Clock.Now().UTC().String() }))
	handle("/hostname", print(func(*http.Request) string { return a.c.cfg.Hostname }))
	handle("/hostName", print(func(*http.Request) string { return a.c.cfg.Hostname }))
	handle("/clientip", print(func(r *http.Request) string { return r.RemoteAddr }))
	handle("/serverport", print(func(*http.Request) string { return strconv.Itoa(port) }))
	handle("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	handle("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if ending.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "shutting down")
			return
		}
		_, _ = io.WriteString(w, "ok")
	})
	handle("/header", print(func(r *http.Request) string {
		if key := r.FormValue("key"); key != "" {
			return r.Header.Get(key)
		}
		all, err := json.Marshal(r.Header)
		if err != nil {
			return "error marshalling header, err: " + err.Error()
		}
		return string(all)
	}))
	handle("/echo", func(w http.ResponseWriter, r *http.Request) {
		if code := r.FormValue("code"); code != "" {
			n, err := strconv.Atoi(code)
			if err != nil || n < 100 || n > 999 {
				fmt.Fprintf(w, "argument 'code' must be an integer or empty, got %q\n", code)
				return
			}
			w.WriteHeader(n)
		}
		_, _ = io.WriteString(w, r.FormValue("msg"))
	})
	handle("/envvar", func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("var")
		switch {
		case name == "":
			http.Error(w, "'var' query parameter is required", http.StatusBadRequest)
		case !hasEnv(a.env, name):
			http.Error(w, fmt.Sprintf("env var %q is not set", name), http.StatusInternalServerError)
		default:
			_, _ = io.WriteString(w, lookupEnv(a.env, name))
		}
	})
	handle("/redirect", func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusFound
		if text := r.FormValue("code"); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 100 || n > 999 {
				fmt.Fprintf(w, "argument 'code' must be an integer or empty, got %q\n", text)
				return
			}
			code = n
		}
		http.Redirect(w, r, r.FormValue("location"), code)
	})
	handle("/dial", a.dial)
	handle("/shell", a.shell)
	handle("/exit", a.exit)
	handle("/shutdown", func(http.ResponseWriter, *http.Request) { a.end(0, 0) })
	return mux
}

// dial sends requests to another server, and answers with what came back.
func (a agnhost) dial(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	request, protocol, tries := query.Get("request"), strings.ToLower(query.Get("protocol")), 1
	var err error
	if text := query.Get("tries"); text != "" {
		tries, err = strconv.Atoi(text)
	}
	switch {
	case err != nil:
		http.Error(w, fmt.Sprintf("tries parameter is invalid. %v", err), http.StatusBadRequest)
		return
	case request == "":
		http.Error(w, "request parameter not specified. <nil>", http.StatusBadRequest)
		return
	case protocol != "" && protocol != "http" && protocol != "udp":
		http.Error(w, "unsupported protocol. "+protocol, http.StatusBadRequest)
		return
	}
	var answers struct {
		Responses []string `json:"responses,omitempty"`
		Errors    []string `json:"errors,omitempty"`
	}
	ask := a.get
	if protocol == "udp" {
		ask = a.send
	}
	for range min(tries, mostTries) {
		if body, err := ask(r.Context(), net.JoinHostPort(query.Get("host"), query.Get("port")), request); err != nil {
			answers.Errors = append(answers.Errors, err.Error())
		} else {
			answers.Responses = append(answers.Responses, body)
		}
	}
	_ = json.NewEncoder(w).Encode(answers) // fails when the client is gone
}

// mostTries is how often one request of dial asks.
const mostTries = 1000

func (a agnhost) get(ctx context.Context, at, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/"+path, nil)
	if err != nil {
		return "", err
	}
	response, err := a.c.cfg.Network.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// send sends a datagram, and returns what it is answered with.
func (a agnhost) send(ctx context.Context, at, text string) (string, error) {
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return "", err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return "", err
	}
	l, err := a.c.cfg.Network.Connect(ctx, host, Port{Number: number, UDP: true})
	if err != nil {
		return "", err
	}
	if l.Datagram == nil {
		return "", fmt.Errorf("read udp %s: i/o timeout", at)
	}
	return string(l.Datagram(net.JoinHostPort(a.c.cfg.IP, "40000"), []byte(text))), nil
}

// shell runs a command, and answers with what it prints.
func (a agnhost) shell(w http.ResponseWriter, r *http.Request) {
	command := r.FormValue("shellCommand")
	if command == "" {
		command = r.FormValue("cmd")
	}
	var printed bytes.Buffer
	var answer struct {
		Error  string `json:"error,omitempty"`
		Output string `json:"output,omitempty"`
	}
	code, err := a.c.Exec(r.Context(), []string{shellEntry, "-c", command}, nil, &printed, &printed, nil)
	switch {
	case err != nil:
		answer.Error = err.Error()
	case code != 0:
		answer.Error = fmt.Sprintf("exit status %d", code)
	}
	answer.Output = printed.String()
	_ = json.NewEncoder(w).Encode(answer) // fails when the client is gone
}

func (a agnhost) exit(w http.ResponseWriter, r *http.Request) {
	var wait time.Duration
	var code int
	var err error
	if text := r.FormValue("wait"); text != "" {
		if wait, err = time.ParseDuration(text); err != nil {
			fmt.Fprintf(w, "argument 'wait' must be a valid golang duration or empty, got %q\n", text)
			return
		}
	}
	if text := r.FormValue("code"); text != "" {
		if code, err = strconv.Atoi(text); err != nil {
			fmt.Fprintf(w, "argument 'code' must be an integer [0-127] or empty, got %q\n", text)
			return
		}
	}
	a.end(wait, code)
}

// end ends the container after a time.
func (a agnhost) end(after time.Duration, code int) {
	timer := a.c.cfg.Clock.AfterFunc(after, func() { a.c.cfg.Go(func() { a.c.exit(code) }) })
	context.AfterFunc(a.c.ctx, func() { timer.Stop() })
}

// testWebserver serves all files of the container.
func (a agnhost) testWebserver(args []string) (*Server, error) {
	port := a.flags.Int("port", 80, "")
	err := a.flags.Parse(args)
	return &Server{Ports: listen(a.c.site("/", "", a.c.access), *port)}, err
}

// liveness is healthy for ten seconds, and then no longer.
func (a agnhost) liveness(args []string) (*Server, error) {
	if err := a.flags.Parse(args); err != nil {
		return nil, err
	}
	started := a.c.cfg.Clock.Now()
	mux := http.NewServeMux()
	mux.HandleFunc("/started", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, a.c.cfg.Clock.Since(started)) })
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if age := a.c.cfg.Clock.Since(started); age > 10*time.Second {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, "error: %v", age.Seconds())
			return
		}
		_, _ = io.WriteString(w, "ok")
	})
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("loc"), http.StatusFound)
	})
	return &Server{Ports: listen(mux, 8080)}, nil
}

func (a agnhost) grpcHealthChecking(args []string) (*Server, error) {
	port, httpPort := a.flags.Int("port", 5000, ""), a.flags.Int("http-port", 8080, "")
	if err := a.flags.Parse(args); err != nil {
		return nil, err
	}
	var stopped atomic.Bool
	health := func(string) (bool, bool) { return !stopped.Load(), true }
	set := func(to bool) http.HandlerFunc {
		return func(http.ResponseWriter, *http.Request) { stopped.Store(to) }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/make-not-serving", set(true))
	mux.HandleFunc("/make-serving", set(false))
	return &Server{Ports: map[int]Listener{*port: {GRPC: health}, *httpPort: {HTTP: mux}}}, nil
}

// porter answers with what variables say: SERVE_PORT_N or SERVE_TCP_PORT_N on port N.
func (a agnhost) porter(args []string) (*Server, error) {
	asJSON := a.flags.Bool("json-response", false, "")
	if err := a.flags.Parse(args); err != nil {
		return nil, err
	}
	s := &Server{Ports: map[int]Listener{}}
	for _, variable := range a.env {
		name, value, _ := strings.Cut(variable, "=")
		number, ok := strings.CutPrefix(name, "SERVE_PORT_")
		if !ok {
			number, ok = strings.CutPrefix(name, "SERVE_TCP_PORT_")
		}
		port, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		s.Ports[port] = Listener{HTTP: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if *asJSON {
				_ = json.NewEncoder(w).Encode(struct{ Method, Body string }{r.Method, value}) // fails when the client is gone
				return
			}
			_, _ = io.WriteString(w, value)
		})}
	}
	return s, nil
}

// other is a command that nothing is known of but its options.
func (a agnhost) other(args []string) (*Server, error) {
	port, httpPort := a.flags.Int("port", 80, ""), a.flags.Int("http-port", 8080, "")
	err := a.flags.Parse(args)
	return &Server{Ports: listen(a.c.whoami(), *port, *httpPort)}, err
}
