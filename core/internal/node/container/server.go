package container

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Server is a program that needs no goroutine: it answers on ports until it is
// told to end.
type Server struct {
	Ports       map[int]Listener // of TCP
	Datagrams   map[int]Listener // of UDP
	Lines       []string         // what it prints when it starts
	Errors      bool             // print them to stderr
	Daemon      bool             // it goes to the background: what has started it goes on
	ExitCode    int              // when it ends
	ExitsAtOnce bool
	EndsAfter   time.Duration        // by itself; 0 means never
	nginx       *nginx               // if it is one
	undeclared  func(port int)       // has it listen at a port; nil if it is known where it listens
	Ending      atomic.Bool          // it has been told to end
	Lingers     time.Duration        // between that and its end
	stopped     func()               // is called when it has ended; nil: nothing is
	ending      func() time.Duration // tells the log that it ends, and returns Lingers; nil: nothing is told
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

// program returns the server that a command line starts, if it does start one. It is long because there are many servers.
func (c *Container) program(argv, env []string) (*Server, bool) {
	c = c.root()
	image := c.cfg.Image
	given := len(argv)
	argv = image.started(argv)
	byEntrypoint := len(argv) < given
	if len(argv) == 0 || image.isAgnhost(argv) || c.control(argv, c.dir()) != nil {
		return nil, false
	}
	if server, ok := c.fileServer(argv, c.dir()); ok {
		return server, true
	}
	name := path.Base(argv[0])
	if !image.unknown && !image.holds(name) {
		return nil, false
	}
	args := argv[1:]
	ports := image.Ports
	if len(ports) == 0 {
		for _, p := range c.cfg.Ports {
			ports = append(ports, int(p))
		}
	}
	if image.interprets(name) && !serves(argv, ports) {
		return nil, false
	}
	switch name {
	case "nginx":
		switch image.kind {
		case "echoserver":
			return &Server{Ports: listen(c.echoed(), ports...)}, true
		case "multitool":
			return c.multitool(env), true
		}
		return c.startNginx(args, ports, byEntrypoint), true
	case "httpd-foreground", "httpd", "apachectl", "apache2-foreground":
		switch image.kind {
		case "hpa-example":
			return &Server{Ports: listen(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				c.spend(requestCost)
				_, _ = io.WriteString(w, "OK!")
			}), ports...)}, true
		case "gb-frontend":
			return &Server{Ports: listen(text(guestbookPage), ports...)}, true
		}
		software := "Apache/" + image.version() + " (Unix)"
		return &Server{Errors: true, Daemon: name != "httpd-foreground" && !slices.Contains(args, "-DFOREGROUND") && !slices.Contains(args, "FOREGROUND"),
			Lines: []string{"[" + c.stamp("Mon Jan 02 15:04:05.000000 2006") + "] [mpm_event:notice] [pid 1:tid 1] AH00489: " + software + " configured -- resuming normal operations"},
			Ports: listen(c.site("/usr/local/apache2/htdocs", software, c.access), ports...)}, true
	case "serve_hostname":
		return &Server{Ports: listen(text(c.cfg.Hostname), 9376)}, true
	case "start-zookeeper":
		return c.zookeeper(args), true
	case "ncat":
		return c.ncatServer(args), true
	case "cassandra":
		return c.cassandra(), true
	case "redis-server", "run.sh":
		if image.kind == "cassandra" {
			return c.cassandra(), true
		}
		conf := ""
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			text, err := c.tree().ReadFile(coreutils.Absolute(c.dir(), args[0]))
			if err != nil {
				return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{"*** FATAL CONFIG FILE ERROR (Redis " + image.version() + ") ***", "Can't open config file '" + args[0] + "': No such file or directory"}}, true
			}
			conf = string(text)
		}
		at := c.stamp("02 Jan 2006 15:04:05.000")
		return &Server{Lines: []string{"1:C " + at + " * Redis version=" + image.version() + ", bits=64, commit=00000000, modified=0, pid=1, just started", "1:M " + at + " * Running mode=standalone, port=6379.", "1:M " + at + " * Ready to accept connections tcp"},
			Ports: map[int]Listener{6379: newRedis(conf, args)}}, true
	case "postgres":
		return c.postgresServer(args, env), true
	case "mysqld", "mariadbd":
		return c.mysqlServer(args, env), true
	case "pause":
		return &Server{}, true
	case "hello":
		return &Server{ExitsAtOnce: true, Lines: []string{"", "Hello from Docker!", "This message shows that your installation appears to be working correctly.", ""}}, true
	case "http-echo":
		return c.httpEcho(args), true
	case "hello-go-gke":
		return &Server{Ports: listen(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"message":"Hello"}`+"\n")
		}), ports...)}, true
	case "whoami", "podinfo", "hello-app", "server.js":
		server := &Server{Ports: listen(c.whoami(), ports...)}
		if name == "hello-app" {
			server.Errors, server.Lines = true, []string{c.stamp("2006/01/02 15:04:05") + " Server listening on port 8080"}
		}
		return server, true
	case "agnhost", "agnhost-2":
		if image.hasAgnhost() {
			return c.agnhost(args, env)
		}
	case "coredns":
		return c.coreDNS(args, env), true
	case "kube-proxy":
		return c.kubeProxy(), true
	case "etcd", "memcached", "mongod", "rabbitmq-server", "fluentd":
		m := map[int]Listener{}
		for _, p := range ports {
			m[p] = Listener{GRPC: func(string) (bool, bool) { return true, true }}
			if p == 2379 || p == 15672 {
				m[p] = Listener{HTTP: text("OK\n"), GRPC: m[p].GRPC}
			}
		}
		return &Server{Ports: m}, true
	}
	switch image.kind {
	case "bootcamp":
		if slices.Equal(argv, image.Argv) {
			return c.bootcamp(ports), true
		}
	case "kubia", "kubia-unhealthy":
		if slices.Equal(argv, image.Argv) {
			return c.kubia(ports), true
		}
	case "kubia-pet":
		if slices.Equal(argv, image.Argv) {
			return c.kubiaPet(ports), true
		}
	case "hello-app", "whoami", "hpa-example":
		if slices.Equal(argv, image.Argv) {
			return &Server{Ports: listen(c.whoami(), ports...)}, true
		}
	}
	if !isTool(name) && !shells[name] {
		if info, err := c.tree().Stat(coreutils.Absolute("/", argv[0]), true); strings.Contains(argv[0], "/") && err == nil && !info.IsDir() {
			return nil, false // a script that is really there, on a volume
		}
		return c.unknown(env, ports), true
	}
	return nil, false
}

// dir is the folder that the container's processes start in.
func (c *Container) dir() string {
	for _, dir := range []string{c.cfg.Dir, c.cfg.Image.Dir} {
		if dir != "" {
			return dir
		}
	}
	return "/"
}

func (c *Container) stamp(layout string) string { return c.cfg.Clock.Now().UTC().Format(layout) }

// text answers every request with the same text.
func text(s string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) })
}

// served is what has become of a request for a file.
type served struct {
	file         string
	err          error // why it is refused
	status, size int
}

// site serves files of the container as a web server does, and has log write down what becomes of requests.
func (c *Container) site(root, software string, log func(*http.Request, served)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", software)
		p := path.Join(root, path.Clean("/"+r.URL.Path))
		asked := p
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
		log(r, served{asked, err, status, len(body)})
	})
}

// access writes a line of a web server's log.
func (c *Container) access(r *http.Request, of served) {
	from, _, _ := strings.Cut(r.RemoteAddr, ":")
	fmt.Fprintf(c.Log.Writer(Stdout), "%s - - [%s] %q %d %d %q %q %q\n", from, c.stamp("02/Jan/2006:15:04:05 +0000"),
		r.Method+" "+r.URL.RequestURI()+" HTTP/1.1", of.status, of.size, "-", r.UserAgent(), "-")
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
			if c.cfg.Image.own() == "hello-app" {
				fmt.Fprintf(c.Log.Writer(Stderr), "%s Serving request: %s\n", c.stamp("2006/01/02 15:04:05"), r.URL.Path)
			}
			fmt.Fprintf(w, "Hello, world!\nVersion: %s\nHostname: %s\n", version, c.cfg.Hostname)
			return
		}
		fmt.Fprintf(w, "Hostname: %s\nIP: %s\nRemoteAddr: %s\n%s %s HTTP/1.1\nHost: %s\n", c.cfg.Hostname, c.cfg.IP, r.RemoteAddr, r.Method, r.URL.RequestURI(), r.Host)
		_ = r.Header.Write(w)
	})
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
