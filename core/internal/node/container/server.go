package container

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Server is a program that needs no goroutine: it answers on ports until it is
// told to end.
type Server struct {
	Ports       map[int]Listener
	Lines       []string // what it prints when it starts
	Errors      bool     // print them to stderr
	ExitCode    int      // when it ends
	ExitsAtOnce bool
	EndsAfter   time.Duration // by itself; 0 means never
}

func (s *Server) stream() Stream {
	if s.Errors {
		return Stderr
	}
	return Stdout
}

func listen(h http.Handler, ports ...int) map[int]Listener {
	m := map[int]Listener{}
	for _, p := range ports {
		m[p] = Listener{HTTP: h}
	}
	return m
}

// runtimes are programs of images that nothing is known of, and interpreters of
// languages that are not interpreted here: they run, print nothing and answer
// on the ports that the container declares.
var runtimes = []string{"python", "python2", "python3", "node", "npm", "yarn", "java", "ruby", "php", "php-fpm", "go", "dotnet", "gunicorn", "uvicorn", "flask", "rails", "apache2ctl", "haproxy", "traefik", "envoy", "caddy"}

// program returns the server that a command line starts, if it does start one.
func (c *Container) program(argv, env []string) (*Server, bool) {
	c = c.root()
	image := c.cfg.Image
	argv = image.started(argv)
	if len(argv) == 0 {
		return nil, false
	}
	name := path.Base(argv[0])
	args := argv[1:]
	ports := image.Ports
	if len(ports) == 0 {
		for _, p := range c.cfg.Ports {
			ports = append(ports, int(p))
		}
	}
	switch name {
	case "nginx":
		if slices.Contains(args, "-v") || slices.Contains(args, "-V") || slices.Contains(args, "-t") {
			return &Server{ExitsAtOnce: true, Errors: true, Lines: []string{"nginx version: nginx/1.29.4"}}, true
		}
		if len(ports) == 0 {
			ports = []int{80}
		}
		lines := []string{"/docker-entrypoint.sh: Configuration complete; ready for start up",
			c.stamp("2006/01/02 15:04:05") + " [notice] 1#1: nginx/1.29.4", c.stamp("2006/01/02 15:04:05") + " [notice] 1#1: start worker processes"}
		return &Server{Lines: lines, Errors: true, Ports: listen(c.site("/usr/share/nginx/html", "nginx/1.29.4"), ports...)}, true
	case "httpd-foreground", "httpd", "apache2-foreground":
		if image.kind == "hpa-example" {
			return &Server{Ports: listen(text("OK!"), ports...)}, true
		}
		return &Server{Errors: true, Lines: []string{"[" + c.stamp("Mon Jan 02 15:04:05.000000 2006") + "] [mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4.66 (Unix) configured -- resuming normal operations"},
			Ports: listen(c.site("/usr/local/apache2/htdocs", "Apache/2.4.66 (Unix)"), ports...)}, true
	case "redis-server":
		at := c.stamp("02 Jan 2006 15:04:05.000")
		return &Server{Lines: []string{"1:C " + at + " * Redis version=8.4.0, bits=64, commit=00000000, modified=0, pid=1, just started", "1:M " + at + " * Running mode=standalone, port=6379.", "1:M " + at + " * Ready to accept connections tcp"},
			Ports: listen(newRedis(), 6379)}, true
	case "postgres", "mysqld", "mariadbd":
		return c.database(name, env, ports), true
	case "pause":
		return &Server{}, true
	case "hello":
		return &Server{ExitsAtOnce: true, Lines: []string{"", "Hello from Docker!", "This message shows that your installation appears to be working correctly.", ""}}, true
	case "http-echo":
		return c.httpEcho(args), true
	case "whoami", "podinfo", "hello-app", "server.js":
		return &Server{Ports: listen(c.whoami(), ports...)}, true
	case "agnhost":
		return c.agnhost(args)
	case "etcd", "coredns", "memcached", "mongod", "rabbitmq-server", "fluentd":
		m := map[int]Listener{}
		for _, p := range ports {
			m[p] = Listener{GRPC: func(string) (bool, bool) { return true, true }}
			if p == 8080 || p == 8181 || p == 9153 || p == 2379 || p == 15672 {
				m[p] = Listener{HTTP: text("OK\n"), GRPC: m[p].GRPC}
			}
		}
		return &Server{Ports: m}, true
	}
	switch image.kind {
	case "hello-app", "bootcamp", "whoami", "hpa-example":
		if slices.Equal(argv, image.Argv) {
			return &Server{Ports: listen(c.whoami(), ports...)}, true
		}
	}
	if !isTool(name) && !shells[name] && (image.unknown || slices.Contains(runtimes, name)) {
		if info, err := c.tree().Stat(coreutils.Absolute("/", argv[0]), true); strings.Contains(argv[0], "/") && err == nil && !info.IsDir() {
			return nil, false // a script that is really there, on a volume
		}
		return &Server{Ports: listen(c.whoami(), ports...)}, true
	}
	return nil, false
}

func (c *Container) stamp(layout string) string { return c.cfg.Clock.Now().UTC().Format(layout) }

// text answers every request with the same text.
func text(s string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
}

// site serves files of the container as a web server does, with its log.
func (c *Container) site(root, software string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", software)
		p := path.Join(root, path.Clean("/"+r.URL.Path))
		t := c.tree()
		info, err := t.Stat(p, true)
		if err == nil && info.IsDir() {
			p = path.Join(p, "index.html")
			if info, err = t.Stat(p, true); err != nil {
				err = os.ErrPermission // a folder without an index is forbidden
			}
		}
		var body []byte
		if err == nil {
			body, err = t.ReadFile(p)
		}
		status := http.StatusOK
		switch {
		case os.IsPermission(err):
			status = http.StatusForbidden
		case err != nil:
			status = http.StatusNotFound
		}
		kind := mime.TypeByExtension(path.Ext(p))
		if status != http.StatusOK {
			title := strconv.Itoa(status) + " " + http.StatusText(status)
			body, kind = []byte("<html>\r\n<head><title>"+title+"</title></head>\r\n<body>\r\n<center><h1>"+title+"</h1></center>\r\n<hr><center>"+software+"</center>\r\n</body>\r\n</html>\r\n"), "text/html"
		}
		if kind == "" {
			kind = "application/octet-stream"
		}
		w.Header().Set("Content-Type", strings.TrimSuffix(kind, "; charset=utf-8"))
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		if status == http.StatusOK {
			w.Header().Set("Last-Modified", info.ModTime().UTC().Format(http.TimeFormat))
			w.Header().Set("Accept-Ranges", "bytes")
		}
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(body)
		}
		from, _, _ := strings.Cut(r.RemoteAddr, ":")
		fmt.Fprintf(c.Log.Writer(Stdout), "%s - - [%s] %q %d %d %q %q %q\n", from, c.stamp("02/Jan/2006:15:04:05 +0000"),
			r.Method+" "+r.URL.RequestURI()+" HTTP/1.1", status, len(body), "-", r.UserAgent(), "-")
	})
}

// whoami answers with who it is and what it was asked.
func (c *Container) whoami() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch c.cfg.Image.kind {
		case "hello-app":
			version := "1.0.0"
			if strings.HasSuffix(c.cfg.Image.Name, ":2.0") {
				version = "2.0.0"
			}
			fmt.Fprintf(w, "Hello, world!\nVersion: %s\nHostname: %s\n", version, c.cfg.Hostname)
			return
		case "bootcamp":
			version := "1"
			if strings.HasSuffix(c.cfg.Image.Name, ":v2") {
				version = "2"
			}
			fmt.Fprintf(w, "Hello Kubernetes bootcamp! | Running on: %s | v=%s\n", c.cfg.Hostname, version)
			return
		}
		fmt.Fprintf(w, "Hostname: %s\nIP: %s\nRemoteAddr: %s\n%s %s HTTP/1.1\nHost: %s\n", c.cfg.Hostname, c.cfg.IP, r.RemoteAddr, r.Method, r.URL.RequestURI(), r.Host)
		_ = r.Header.Write(w)
	})
}

// database refuses to start without a password, as these images do.
func (c *Container) database(name string, env []string, ports []int) *Server {
	at := c.stamp("2006-01-02 15:04:05.000 UTC")
	if name == "postgres" {
		if lookupEnv(env, "POSTGRES_PASSWORD") == "" && lookupEnv(env, "POSTGRES_PASSWORD_FILE") == "" && lookupEnv(env, "POSTGRES_HOST_AUTH_METHOD") != "trust" {
			return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{"Error: Database is uninitialized and superuser password is not specified.", "       You must specify POSTGRES_PASSWORD to a non-empty value for the", "       superuser. For example, \"-e POSTGRES_PASSWORD=password\" on \"docker run\"."}}
		}
		return &Server{Errors: true, Lines: []string{at + " [1] LOG:  starting PostgreSQL 18.1 on x86_64-pc-linux-gnu", at + " [1] LOG:  database system is ready to accept connections"}, Ports: map[int]Listener{5432: {}}}
	}
	prefix := "MYSQL"
	ok := lookupEnv(env, prefix+"_ROOT_PASSWORD") + lookupEnv(env, prefix+"_ALLOW_EMPTY_PASSWORD") + lookupEnv(env, prefix+"_RANDOM_ROOT_PASSWORD") +
		lookupEnv(env, "MARIADB_ROOT_PASSWORD") + lookupEnv(env, "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD") + lookupEnv(env, "MARIADB_RANDOM_ROOT_PASSWORD") + lookupEnv(env, prefix+"_ROOT_PASSWORD_FILE")
	if ok == "" {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{c.stamp("2006-01-02 15:04:05+00:00") + " [ERROR] [Entrypoint]: Database is uninitialized and password option is not specified", "    You need to specify one of the following as an environment variable:", "    - MYSQL_ROOT_PASSWORD", "    - MYSQL_ALLOW_EMPTY_PASSWORD", "    - MYSQL_RANDOM_ROOT_PASSWORD"}}
	}
	m := map[int]Listener{3306: {}}
	for _, p := range ports {
		m[p] = Listener{}
	}
	return &Server{Errors: true, Ports: m, Lines: []string{at + " 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. port: 3306"}}
}

func (c *Container) httpEcho(args []string) *Server {
	message, port := "hello-world", 5678
	for i, arg := range args {
		name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "text":
			message = value
		case "listen":
			if n, err := strconv.Atoi(value[strings.LastIndexByte(value, ':')+1:]); err == nil {
				port = n
			}
		}
	}
	return &Server{Ports: listen(text(message+"\n"), port), Lines: []string{c.stamp("2006/01/02 15:04:05") + " [INFO] server is listening on :" + strconv.Itoa(port)}}
}

// agnhost is the program of the Kubernetes end-to-end tests: the commands that
// documentation uses.
func (c *Container) agnhost(args []string) (*Server, bool) {
	if len(args) == 0 {
		return &Server{}, true
	}
	option := func(name string, otherwise int) int {
		for i, arg := range args {
			value, ok := strings.CutPrefix(arg, "--"+name+"=")
			if !ok && arg == "--"+name && i+1 < len(args) {
				value, ok = args[i+1], true
			}
			if n, err := strconv.Atoi(value); ok && err == nil {
				return n
			}
		}
		return otherwise
	}
	switch args[0] {
	case "pause":
		return &Server{Lines: []string{"Paused"}}, true
	case "serve-hostname":
		return &Server{Ports: listen(text(c.cfg.Hostname), option("port", 9376))}, true
	case "netexec", "test-webserver":
		port := option("http-port", 8080)
		if args[0] == "test-webserver" {
			port = option("port", 80)
		}
		return &Server{Ports: listen(c.netexec(), port), Lines: []string{"Started HTTP server on port " + strconv.Itoa(port)}}, true
	case "liveness":
		// Healthy for ten seconds, and then no longer.
		started := c.cfg.Clock.Now()
		return &Server{Ports: listen(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if age := c.cfg.Clock.Since(started); age > 10*time.Second {
				w.WriteHeader(http.StatusInternalServerError)
				fmt.Fprintf(w, "error: %v", age.Seconds())
				return
			}
			_, _ = io.WriteString(w, "ok")
		}), 8080)}, true
	case "grpc-health-checking":
		var mu sync.Mutex
		serving := true
		health := func(string) (bool, bool) { mu.Lock(); defer mu.Unlock(); return serving, true }
		set := func(to bool) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { mu.Lock(); defer mu.Unlock(); serving = to }
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/make-not-serving", set(false))
		mux.HandleFunc("/make-serving", set(true))
		return &Server{Ports: map[int]Listener{option("port", 5000): {GRPC: health}, option("http-port", 8080): {HTTP: mux}}}, true
	case "entrypoint-tester":
		return &Server{ExitsAtOnce: true, Lines: []string{fmt.Sprint(args)}}, true
	}
	return &Server{Ports: listen(c.whoami(), option("port", 80), option("http-port", 8080))}, true
}

func (c *Container) netexec() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "NOW: %s", c.cfg.Clock.Now().UTC()) })
	mux.Handle("/hostname", text(c.cfg.Hostname))
	mux.HandleFunc("/hostName", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.cfg.Hostname) })
	mux.HandleFunc("/clientip", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Query().Get("msg")) })
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("/header", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get(r.URL.Query().Get("key")))
	})
	mux.HandleFunc("/exit", func(_ http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.URL.Query().Get("code"))
		c.cfg.Go(func() { c.exit(code) })
	})
	return mux
}

// redisHeader marks the request with which redis-cli carries a command: the
// network between containers speaks HTTP only.
const redisHeader = "X-Redis-Command"

// newRedis answers the commands of first steps.
func newRedis() http.Handler {
	var mu sync.Mutex
	data := map[string]string{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(redisHeader) == "" {
			http.Error(w, "-ERR wrong protocol", http.StatusBadRequest)
			return
		}
		var args []string
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil || len(args) == 0 {
			http.Error(w, "-ERR", http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch verb := strings.ToUpper(args[0]); {
		case verb == "PING":
			fmt.Fprintln(w, "PONG")
		case verb == "SET" && len(args) > 2:
			data[args[1]] = args[2]
			fmt.Fprintln(w, "OK")
		case verb == "GET" && len(args) > 1:
			value, ok := data[args[1]]
			if ok {
				fmt.Fprintf(w, "%s\n", value)
			} else {
				fmt.Fprintln(w)
			}
		case verb == "INCR" && len(args) > 1:
			n, _ := strconv.Atoi(data[args[1]])
			data[args[1]] = strconv.Itoa(n + 1)
			fmt.Fprintln(w, n+1)
		case verb == "DEL" && len(args) > 1:
			n := len(data)
			delete(data, args[1])
			fmt.Fprintln(w, n-len(data))
		case verb == "KEYS":
			var keys []string
			for key := range data {
				keys = append(keys, key)
			}
			sort.Strings(keys)
			fmt.Fprintln(w, strings.Join(keys, "\n"))
		case verb == "CONFIG" && len(args) > 2 && strings.EqualFold(args[1], "GET"):
			fmt.Fprintf(w, "%s\n\n", args[2])
		default:
			fmt.Fprintf(w, "ERR unknown command '%s'\n", args[0])
		}
	})
}
