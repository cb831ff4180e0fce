package container

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/core/internal/node/database"
	"github.com/kubetab/kubetab/core/internal/node/dns"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// rootsHome is where the files of root are, in images as on machines.
const rootsHome = "/root"

// Network is what a container sees of the others. Its methods are called from
// the container's own goroutines.
type Network interface {
	// RoundTrip sends a request to a Service, a Pod or the API server.
	RoundTrip(*http.Request) (*http.Response, error)
	// Lookup returns the addresses of a name as the cluster's DNS would, and
	// the name in full.
	Lookup(ctx context.Context, name string) (addresses []string, full string, err error)
	// Ask asks a DNS server, an address or host:port, or for "" that of the Pod. It fails with a net.DNSError where none answers.
	Ask(ctx context.Context, server string, q dns.Question) (dns.Answer, error)
	// Cluster returns the records that the DNS of a cluster has for its own names and addresses, false for a name
	// without any.
	Cluster(q dns.Question) ([]dns.Record, bool)
	// Resolver returns what /etc/resolv.conf says.
	Resolver() Resolver
	// Connect returns what listens at host:port, and fails as a connection does.
	Connect(ctx context.Context, host string, port Port) (Listener, error)
	// Answers reports whether an address answers to ping.
	Answers(address string) bool
	// Ports returns the ports at which something listens in the Pod, in no order.
	Ports() []Port
}

// Port is a port of TCP or of UDP.
type Port struct {
	Number int
	UDP    bool
}

// Config is what a container is started with.
type Config struct {
	Clock    clock.WithTickerAndDelayedExecution
	Image    Image
	Argv     []string          // the whole command line; empty means the image's
	Env      []string          // NAME=value
	Dir      string            // working directory; empty means the image's
	Hostname string            //
	IP       string            // of the Pod
	User     User              // as whom it runs
	Sysctls  map[string]string // parameters of the kernel that the Pod sets
	Files    func() *Tree      // called when a process first needs files
	Network  Network
	Ports    []int32        // that the container declares; servers of unknown images listen there
	Stdin    bool           // keep standard input open for clients that attach
	TTY      bool           // standard input and output are a terminal
	Go       func(f func()) // runs f in a goroutine that somebody waits for
	OnExit   func(code int) // called once, from any goroutine
	// OnOOM is called before OnExit if the container ends because it takes more memory
	// than it may. It may be nil.
	OnOOM func()
	// Resources returns what the container is given at the moment: it may be called
	// from any goroutine and must not wait for anybody. Nil is no limits.
	Resources func() Resources
	// Disk is how many bytes the node's disk has. Zero means 100 GiB.
	Disk int64
	// Storage counts what the container's log takes: see Quota.Count. It may be nil.
	Storage *Quota
	// Memory counts what the container writes to file systems in memory, which counts as its
	// memory. It has no parent, and stays for the next run. It may be nil.
	Memory *Quota
	// Processes is the namespace that the container shares with others; nil is one of its own.
	Processes *Namespace
	// Place is the container's among those of its Pod, from 1 on; 0 for init and ephemeral ones.
	Place        int
	Capabilities uint64 // of its processes, if they are root's: see Capabilities
}

// NewTerminal returns a terminal of the size that it has until a client tells that of its own.
func NewTerminal() *terminal.TTY { return terminal.New(80, 24) }

// NotFoundError says that a container's command does not exist in its image.
type NotFoundError struct{ Command string }

func (e NotFoundError) Error() string {
	if strings.Contains(e.Command, "/") {
		return fmt.Sprintf("exec: %q: stat %s: no such file or directory", e.Command, e.Command)
	}
	return fmt.Sprintf("exec: %q: executable file not found in $PATH", e.Command)
}

// ErrNotRunning is what Exec returns once the container has ended.
var ErrNotRunning = errors.New("container not running")

// Container is one started container. Its methods are safe for concurrent use.
type Container struct {
	Log     *Log
	Started time.Time

	cfg    Config
	tty    *terminal.TTY // of the first process, if cfg.TTY
	origin *Container    // set in what withEnv returns
	argv   []string
	env    []string
	brief  bool
	tree   func() *Tree
	made   atomic.Pointer[Tree] // what tree returns, once it has
	// processes are what its shells have in the background.
	processes *bash.Processes
	first     int                       // the number of its first process
	leave     func()                    // its namespace
	joined    atomic.Pointer[Namespace] // its own, once another container is in it
	ctx       context.Context           // ends when the container does
	cancel    context.CancelFunc

	table table
	loads loads

	mu      sync.Mutex
	exited  bool
	servers []*Server // that listen at the moment
	main    *session  // the script, if it is one
	stdin   *stdin    // if cfg.Stdin
}

// Start starts a container, which ends with ctx at the latest. The error is a
// NotFoundError. It is long because a server, a script and a program begin in ways of their own.
func Start(ctx context.Context, cfg Config) (*Container, error) {
	c := &Container{cfg: cfg, Log: NewLog(cfg.Clock), Started: cfg.Clock.Now(), argv: cfg.Argv, first: 1, leave: nothingMore}
	c.Log.counts = cfg.Storage
	if len(c.argv) == 0 {
		c.argv = cfg.Image.Argv
	}
	if cfg.Processes != nil {
		c.leave = cfg.Processes.join(c)
	} else {
		c.processes = bash.NewProcesses(shownProcess)
	}
	c.env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + cfg.Hostname}, cfg.Image.Env...)
	c.env = append(c.env, cfg.Env...)
	if !hasEnv(c.env, "HOME") {
		home := "/"
		if cfg.User.isRoot() {
			home = rootsHome
		}
		c.env = append(c.env, "HOME="+home)
	}
	c.tree = sync.OnceValue(func() *Tree {
		t := cfg.Files()
		t.user, t.lacks = cfg.User, allCapabilities&^cfg.Capabilities
		c.kernel(t)
		c.made.Store(t)
		t.stdout, t.stderr = c.Log.Writer(Stdout), c.Log.Writer(Stderr)
		t.memory, t.grown = cfg.Memory, c.weigh
		return t
	})
	c.ctx, c.cancel = context.WithCancel(ctx)
	if cfg.TTY {
		c.tty = NewTerminal()
		context.AfterFunc(c.ctx, c.tty.Close)
	}
	if cfg.Stdin {
		c.stdin = newStdin()
		context.AfterFunc(c.ctx, c.stdin.end)
	}

	server, isServer := c.program(c.argv, c.env)
	argv := cfg.Image.started(c.argv)
	if isServer && server.Daemon { // the container has no process any more when its first one has ended
		server.ExitsAtOnce, server.ExitCode = true, 0
	}
	c.brief = !isServer || server.ExitsAtOnce
	switch {
	case isServer:
		c.serve(server)
		// A context that ends takes the server with it; one that the engine
		// ends needs no exit.
		for _, l := range server.Lines {
			_, _ = io.WriteString(c.Log.Writer(server.stream()), l+"\n")
		}
		if server.ExitsAtOnce {
			cfg.Go(func() { c.exit(server.ExitCode) })
		} else if server.EndsAfter > 0 {
			timer := cfg.Clock.AfterFunc(server.EndsAfter, func() { c.exit(server.ExitCode) })
			context.AfterFunc(c.ctx, func() { timer.Stop() })
		}
	case !c.exists(argv):
		c.cancel()
		c.leave()
		c.Log.End()
		return nil, NotFoundError{firstWord(argv)}
	default:
		c.main = newSession(c, c.Log.Writer(Stdout), c.Log.Writer(Stderr))
		if c.stdin != nil {
			c.main.stdin = c.stdin
		}
		c.main.tty, c.main.own = c.tty, true
		ctx, end := c.main.enter(c.ctx, argv)
		cfg.Go(func() {
			defer end()
			leave := c.main.sit()
			code := c.main.run(ctx, argv)
			leave()
			if c.ctx.Err() == nil {
				c.exit(code)
			}
		})
	}
	return c, nil
}

// exists reports whether the command is something that a script session can run.
func (c *Container) exists(argv []string) bool {
	if len(argv) == 0 || argv[0] == "" {
		return false
	}
	name := path.Base(argv[0])
	switch {
	case c.cfg.Image.isAgnhost(argv), c.control(argv, c.dir()) != nil, c.cfg.Image.interprets(name):
		return true
	case shells[name]:
		return c.cfg.Image.hasShell(name)
	case !c.cfg.Image.Bare && isTool(name):
		return true
	case strings.Contains(argv[0], "/"):
		info, err := c.tree().Stat(argv[0], true)
		return err == nil && !info.IsDir()
	}
	return false
}

func firstWord(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return argv[0]
}

// exit ends the container with an exit code, once.
func (c *Container) exit(code int) {
	c.mu.Lock()
	if c.exited {
		c.mu.Unlock()
		return
	}
	c.exited = true
	c.servers = nil
	c.mu.Unlock()
	c.cancel()
	c.leave()
	c.Log.End()
	c.cfg.OnExit(code)
}

// Running reports whether the container has not ended.
func (c *Container) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.exited
}

// Brief reports whether the first process may end as soon as it has begun: it is a
// command, or a server that finds something missing.
func (c *Container) Brief() bool { return c.brief }

// Kill ends the container at once: exit code 137, as by SIGKILL.
func (c *Container) Kill() { c.exit(137) }

// Exit ends the container as if its first process had exited by itself.
func (c *Container) Exit(code int) { c.exit(code) }

// ending are the signals that servers have a handler for, and end by.
var ending = []string{"TERM", "INT", "QUIT"}

// Signal sends a signal such as TERM to the first process: a server ends, a
// script runs its trap, and without one nothing happens.
func (c *Container) Signal(name string) {
	c.mu.Lock()
	main := c.main
	var code, servers = 0, len(c.servers)
	var lingers time.Duration
	for _, s := range c.servers {
		s.Ending.Store(true)
		code, lingers = s.ExitCode, s.Lingers
		if s.ending != nil {
			lingers = s.ending()
		}
	}
	c.mu.Unlock()
	switch {
	case main == nil && servers > 0 && lingers > 0:
		timer := c.cfg.Clock.AfterFunc(lingers, func() { c.exit(code) })
		context.AfterFunc(c.ctx, func() { timer.Stop() })
	case main == nil && servers > 0:
		c.exit(code)
	case main != nil && !main.signal(name) && servers > 0 && slices.Contains(ending, name):
		c.exit(code) // a server that a script runs in the foreground
	}
}

// serve makes a server's handlers answer until the returned function is called
// or the container ends.
func (c *Container) serve(s *Server) (stop func()) {
	c = c.root()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers = append(c.servers, s)
	if s.stopped != nil {
		context.AfterFunc(c.ctx, s.stopped)
	}
	return func() {
		if s.stopped != nil {
			defer s.stopped()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for i, have := range c.servers {
			if have == s {
				c.servers = append(c.servers[:i:i], c.servers[i+1:]...)
				return
			}
		}
	}
}

// root is the container itself, also in what withEnv returns.
func (c *Container) root() *Container {
	if c.origin != nil {
		return c.origin
	}
	return c
}

// Listener is what answers on a port.
type Listener struct {
	HTTP http.Handler // nil: the port is open and speaks no HTTP
	GRPC func(service string) (serving, known bool)
	// Stream answers what a client sends without HTTP, until the client has sent everything or ctx ends.
	Stream func(ctx context.Context, in io.Reader, out io.Writer)
	// TLS is the certificate of a server that speaks TLS and nothing else.
	TLS *tls.Certificate
	// Any says that the server answers with and without TLS: nothing is known of what it is.
	Any bool
	// Datagram answers a datagram of a client at the address from, host:port, with another. Only listeners of UDP
	// have it; they answer with nil what they do not answer.
	Datagram func(from string, b []byte) []byte
	// Database is what clients of databases are connected to. Only servers of databases have it.
	Database *database.Server
	// DNS answers a question of a client at the address from. Only servers of the DNS have it.
	DNS func(ctx context.Context, from string, q dns.Question) dns.Answer
}

// Listening returns what answers on a port of the container, if anything does.
func (c *Container) Listening(port Port) (Listener, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		ports := s.Ports
		if port.UDP {
			ports = s.Datagrams
		}
		if l, ok := ports[port.Number]; ok {
			return l, true
		}
	}
	return Listener{}, false
}

// Listens returns the ports on which something answers, in no order.
func (c *Container) Listens() []Port {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ports []Port
	for _, s := range c.servers {
		for number := range s.Ports {
			ports = append(ports, Port{Number: number})
		}
		for number := range s.Datagrams {
			ports = append(ports, Port{Number: number, UDP: true})
		}
	}
	return ports
}

// Exec runs a command in the container and returns its exit code. The streams
// may be nil. At a tty, which Exec closes, stdin is what is typed and stdout the screen. The error is ErrNotRunning, a NotFoundError, or ctx's.
func (c *Container) Exec(ctx context.Context, argv []string, stdin io.Reader, stdout, stderr io.Writer, tty *terminal.TTY) (int, error) {
	if tty != nil {
		defer tty.Close()
	}
	c.mu.Lock()
	exited := c.exited
	c.mu.Unlock()
	if exited {
		return 0, ErrNotRunning
	}
	if !c.exists(argv) && !c.holds(argv) {
		return 0, NotFoundError{firstWord(argv)}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	s := newSession(c, orDiscard(stdout), orDiscard(stderr))
	s.tty = tty
	if stdin != nil {
		s.stdin = interruptible(ctx, c.cfg.Go, stdin)
	}
	within, end := s.enter(ctx, argv)
	defer end()
	leave := s.sit()
	code := s.run(within, argv)
	leave()
	if c.ctx.Err() != nil {
		return 137, nil
	}
	if by, ok := killed(within); ok {
		code = by
	}
	return code, ctx.Err()
}

// Resize sets the size of the first process's terminal, if it has one.
func (c *Container) Resize(columns, rows int) {
	if c.tty != nil {
		c.tty.Resize(columns, rows)
	}
}

// Attach connects a client to the first process until the container or ctx ends. Where it has ended, what it has said to nobody
// is the client's: kubectl debug attaches and reads no log, and does so when a short command is done.
func (c *Container) Attach(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	// The output first: what the process says to the first line of its input, and
	// it may end with that, is the client's.
	defer c.Log.Tap(stdout, stderr)()
	if c.Log.firstToHear() {
		for _, to := range []struct {
			client io.Writer
			stream Stream
		}{{stdout, Stdout}, {stderr, Stderr}} {
			if to.client == nil {
				continue
			}
			if err := c.Log.Read(ctx, to.client, ReadOptions{Tail: -1, Stream: to.stream}); err != nil {
				return err
			}
		}
	}
	if stdin != nil && c.stdin != nil {
		c.cfg.Go(func() { c.stdin.copyFrom(ctx, stdin) })
	}
	return c.Log.AwaitEnd(ctx)
}

// Files returns the container's file system.
func (c *Container) Files() *Tree { return c.tree() }

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

func hasEnv(env []string, name string) bool {
	for _, e := range env {
		if strings.HasPrefix(e, name+"=") {
			return true
		}
	}
	return false
}

// lookupEnv returns the last value of a name.
func lookupEnv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}
