package container

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/python"
)

// What the programs of servers do besides serving: they tell what they are, look at
// their configuration, and send signals to the server that runs.

// control returns what a command line does in a folder that starts no server, and nil for
// one that does or that the image has no program for.
func (c *Container) control(argv []string, dir string) func(*call) int {
	image := c.cfg.Image
	argv = image.started(argv)
	if len(argv) == 0 {
		return nil
	}
	name, args := path.Base(argv[0]), argv[1:]
	if !image.holds(name) {
		return nil
	}
	switch name {
	case "nginx":
		if slices.ContainsFunc(args, func(arg string) bool {
			return slices.Contains([]string{"-t", "-T", "-v", "-V", "-s", "-h", "-?", "-q"}, arg) || strings.HasPrefix(arg, "-s")
		}) {
			return nginxControl
		}
	case "httpd", "apachectl":
		if httpdAction(name, args) != "start" {
			return httpdControl
		}
	case "redis-server", "postgres", "mysqld", "mariadbd":
		if slices.ContainsFunc(args, func(arg string) bool {
			return arg == "--version" || arg == "-V" || arg == "-v" && name == "redis-server"
		}) {
			return serverVersion
		}
	}
	if name == "python" || name == "python3" {
		file := func(name string) ([]byte, error) { return c.tree().ReadFile(name) } // there may be no tree yet, and no need of one
		if command, ok := python.Prepare(args, dir, file); ok {
			return func(k *call) int { return command.Run(k.Call) }
		}
		return nil
	}
	if name == "ncat" && slices.ContainsFunc(args, func(arg string) bool { return arg == "--listen" || arg == "-l" }) {
		return nil
	}
	return clients[name]
}

// nginxTime is how nginx writes the time in its log.
const nginxTime = "2006/01/02 15:04:05"

// staysInForeground reports whether nginx is told not to become a daemon.
func (c *Container) staysInForeground(args []string) bool {
	if slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "daemon off") }) {
		return true
	}
	text, err := c.tree().ReadFile("/etc/nginx/nginx.conf")
	return err == nil && strings.Contains(string(text), "daemon off;")
}

// nginxControl is nginx with the options that start no server.
func nginxControl(k *call) int {
	c := k.session.c.root()
	software, conf, signal := "nginx/"+c.cfg.Image.version(), "/etc/nginx/nginx.conf", ""
	test, dump, quiet, said := false, false, false, false
	for i := 0; i < len(k.Args); i++ {
		value := func(arg string) string {
			if len(arg) > 2 || i+1 == len(k.Args) {
				return arg[2:]
			}
			i++
			return k.Args[i]
		}
		switch arg := k.Args[i]; {
		case strings.HasPrefix(arg, "-s"):
			signal = value(arg)
		case strings.HasPrefix(arg, "-c"):
			conf = k.Path(value(arg))
		case arg == "-t":
			test = true
		case arg == "-T":
			test, dump = true, true
		case arg == "-q":
			quiet = true
		case arg == "-v", arg == "-V", arg == "-h", arg == "-?":
			fmt.Fprintln(k.Stderr, "nginx version: "+software)
			if arg == "-V" {
				fmt.Fprintln(k.Stderr, "built by gcc 14.2.0 (Debian 14.2.0-19) \nbuilt with OpenSSL 3.5.4 30 Sep 2025\nTLS SNI support enabled\nconfigure arguments: --prefix=/etc/nginx --sbin-path=/usr/sbin/nginx --conf-path=/etc/nginx/nginx.conf --user=nginx --group=nginx")
			}
			said = true
		case strings.HasPrefix(arg, "-g"), strings.HasPrefix(arg, "-p"), strings.HasPrefix(arg, "-e"):
			value(arg)
		}
	}
	switch {
	case test:
		return nginxTest(k, conf, dump, quiet)
	case signal != "":
		return nginxSignal(k, conf, signal)
	case said:
		return 0
	}
	return 0
}

// nginxTest looks at the configuration.
func nginxTest(k *call, conf string, dump, quiet bool) int {
	text, err := k.Files.ReadFile(conf)
	if err == nil {
		if err = k.session.c.root().newNginx(nil).test(); err != nil {
			fmt.Fprintf(k.Stderr, "nginx: [emerg] %v\n", err)
		}
	} else {
		fmt.Fprintf(k.Stderr, "nginx: [emerg] open() \"%s\" failed (2: No such file or directory)\n", conf)
	}
	if err != nil {
		fmt.Fprintf(k.Stderr, "nginx: configuration file %s test failed\n", conf)
		return 1
	}
	if !quiet {
		fmt.Fprintf(k.Stderr, "nginx: the configuration file %s syntax is ok\nnginx: configuration file %s test is successful\n", conf, conf)
	}
	if !dump {
		return 0
	}
	names := []string{conf}
	if strings.Contains(string(text), "/etc/nginx/conf.d/*.conf") {
		entries, _ := k.Files.ReadDir("/etc/nginx/conf.d") // none if it is not there
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".conf") {
				names = append(names, "/etc/nginx/conf.d/"+e.Name())
			}
		}
	}
	for _, name := range names {
		text, err := k.Files.ReadFile(name)
		if err == nil {
			fmt.Fprintf(k.Stdout, "# configuration file %s:\n%s\n", name, text)
		}
	}
	return 0
}

// nginxSignal sends a signal to the nginx that runs.
func nginxSignal(k *call, conf, name string) int {
	signal, ok := map[string]string{"quit": "QUIT", "stop": "TERM", "reload": "HUP", "reopen": "USR1"}[name]
	if !ok {
		fmt.Fprintf(k.Stderr, "nginx: invalid option: \"-s %s\"\n", name)
		return 1
	}
	c := k.session.c.root()
	at := fmt.Sprintf("%s [notice] %d#%d: signal process started\n", c.stamp(nginxTime), c.number(k.process), c.number(k.process))
	if signal == "HUP" {
		if err := c.newNginx(nil).test(); err != nil {
			return nginxTest(k, conf, false, true)
		}
	}
	fmt.Fprint(k.Stderr, at)
	if c.signalNamed(k.process, "nginx", signal) == 0 {
		fmt.Fprintf(k.Stderr, "nginx: [error] open() \"/run/nginx.pid\" failed (2: No such file or directory)\n")
		return 1
	}
	return 0
}

// nginxes are the servers of that name that run.
func (c *Container) nginxes() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.servers), func(s *Server) bool { return s.nginx == nil })
}

// reload has the server listen and log as its configuration says by now. One that is wrong changes nothing.
func (c *Container) reload(s *Server) {
	if ports, err := s.nginx.configure(); err == nil {
		c.mu.Lock()
		s.Ports = ports
		c.mu.Unlock()
	}
}

// tellSignal has nginx do what a signal asks for, and write to its log what it says of it.
func (c *Container) tellSignal(name string) {
	lines := map[string][]string{
		"HUP":  {"signal 1 (SIGHUP) received, reconfiguring", "reconfiguring", "start worker processes"},
		"QUIT": {"signal 3 (SIGQUIT) received, shutting down", "exit"},
		"TERM": {"signal 15 (SIGTERM) received, exiting", "exit"},
		"INT":  {"signal 2 (SIGINT) received, exiting", "exit"},
		"USR1": {"signal 10 (SIGUSR1) received, reopening logs", "reopening logs"},
	}[name]
	for _, s := range c.root().nginxes() {
		switch name {
		case "HUP":
			c.root().reload(s)
		case "USR1":
			s.nginx.logs.reopen()
		}
		for _, line := range lines {
			s.nginx.note("notice", line)
		}
	}
}

// httpdAction is what httpd and apachectl are asked for.
func httpdAction(name string, args []string) string {
	for i, arg := range args {
		switch arg {
		case "-v", "-V", "-t", "-S", "-M", "-l":
			return arg
		case "-k":
			if i+1 < len(args) {
				return args[i+1]
			}
		case "configtest":
			return "-t"
		case "start", "stop", "restart", "graceful", "graceful-stop", "status":
			if name == "apachectl" {
				return arg
			}
		}
	}
	return "start"
}

// httpdControl is httpd with the options that start no server.
func httpdControl(k *call) int {
	c := k.session.c.root()
	version := c.cfg.Image.version()
	signal := ""
	switch action := httpdAction(k.Name, k.Args); action {
	case "-v", "-V":
		fmt.Fprintf(k.Stdout, "Server version: Apache/%s (Unix)\nServer built:   Dec  9 2025 02:02:52\n", version)
		return 0
	case "-t":
		fmt.Fprintln(k.Stderr, "Syntax OK")
		return 0
	case "-S":
		fmt.Fprintln(k.Stdout, "VirtualHost configuration:\nServerRoot: \"/usr/local/apache2\"\nMain DocumentRoot: \"/usr/local/apache2/htdocs\"")
		return 0
	case "-M", "-l":
		fmt.Fprintln(k.Stdout, "Loaded Modules:\n core_module (static)\n so_module (static)\n http_module (static)\n mpm_event_module (shared)")
		return 0
	case "stop":
		signal = "TERM"
	case "graceful-stop":
		signal = "WINCH"
	case "restart":
		signal = "HUP"
	case "graceful":
		signal = "USR1"
	default:
		return k.Fail("invalid -k argument %q", action)
	}
	return httpdSignal(k, c, signal)
}

func httpdSignal(k *call, c *Container, signal string) int {
	ends := signal == "TERM" || signal == "WINCH"
	if ends {
		signal = "TERM"
	}
	sent := c.signalNamed(k.process, "httpd", signal) + c.signalNamed(k.process, "httpd-foreground", signal)
	if sent == 0 {
		fmt.Fprintln(k.Stderr, "httpd (no pid file) not running")
	}
	return 0
}

// serverVersion tells which version a server is of.
func serverVersion(k *call) int {
	version := k.session.c.cfg.Image.version()
	switch k.Name {
	case "redis-server":
		fmt.Fprintf(k.Stdout, "Redis server v=%s sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=0\n", version)
	case "postgres":
		fmt.Fprintf(k.Stdout, "postgres (PostgreSQL) %s\n", version)
	case "mariadbd":
		fmt.Fprintf(k.Stdout, "mariadbd  Ver %s-MariaDB for Linux on x86_64 (MariaDB Server)\n", version)
	default:
		fmt.Fprintf(k.Stdout, "/usr/sbin/%s  Ver %s for Linux on x86_64 (MySQL Community Server - GPL)\n", k.Name, version)
	}
	return 0
}

// serve runs a server until the call ends, or has it run on if it is a daemon. It
// fails where something listens at one of its ports already.
func (k *call) serve(server *Server) int {
	root := k.session.c.root()
	out := k.Stdout
	if server.Errors {
		out = k.Stderr
	}
	for port := range server.Ports {
		if _, taken := root.Listening(Port{Number: port}); taken && (!k.session.own || !root.cfg.Image.unknown) {
			if k.Name == "nginx" {
				fmt.Fprintf(k.Stderr, "nginx: [emerg] bind() to 0.0.0.0:%d failed (98: Address already in use)\nnginx: [emerg] still could not bind()\n", port)
				return 1
			}
			return k.Fail("bind: address already in use (0.0.0.0:%d)", port)
		}
	}
	if server.ExitsAtOnce {
		for _, l := range server.Lines {
			fmt.Fprintln(out, l)
		}
		return server.ExitCode
	}
	stop := root.serve(server)
	if server.Daemon {
		p := &process{session: newSession(root, io.Discard, io.Discard), argv: append([]string{k.Name}, k.Args...), began: root.cfg.Clock.Now()}
		remove := root.table.add(p)
		p.end = func(error) { stop(); remove() }
		return 0
	}
	defer stop()
	for _, l := range server.Lines {
		fmt.Fprintln(out, l)
	}
	<-k.Done()
	if by, ok := killed(k); ok && slices.Contains([]int{3, 15}, by-128) {
		return server.ExitCode // it has a handler for these
	}
	return 143
}
