package shell

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/core/shell/kubectl"
)

// Config says what a Shell works with.
type Config struct {
	// API is the engine's handler.
	API http.Handler
	// Tokens are those of people.All, by name.
	Tokens map[string]string
	// Home is the folder of the learner's files, and Temp that of temporary
	// ones. Both are made when they are first needed.
	Home, Temp string
	// OwnsFiles says that all files are the shell's, as in a tab: the folders of the PATH are made, too, for what the
	// learner installs there. Elsewhere those that are not below Home and Temp have the machine's programs.
	OwnsFiles bool
	// Listener is where kubectl and curl find the API. Its address stands in the
	// kubeconfig.
	Listener net.Listener
	// Outside brings requests to what the cluster shows outside of itself: core.Engine.Outside. Nil means that
	// nothing does.
	Outside http.RoundTripper
	// Node runs node and returns its exit code, 130 when ctx has ended. Nil has
	// the page of the terminal run the file.
	Node func(ctx context.Context, c NodeCommand) int
}

// Shell serves terminals. Its methods may be called at once.
type Shell struct {
	config  Config
	cluster *kubectl.Cluster
	server  *http.Server
	served  chan struct{}

	files   watchedFiles
	writing sync.RWMutex    // see files.writing
	ctx     context.Context // ends with the shell
	cancel  context.CancelFunc

	changing sync.Mutex // held from when the kubeconfig is read until it is written; before mu

	mu        sync.Mutex
	last      int                  // number of the last terminal, or of what a command waits for
	terminals map[string]*terminal // by id
	edits     map[string]*edit     // by token
	scripts   map[string]*script   // by token
	downloads map[string]*download // by token
	sessions  map[string]*named    // by name
	lines     int                  // that named sessions were asked for so far
}

// disk returns the files for the shell's commands.
func (s *Shell) disk() files { return files{&s.writing} }

// New serves the API on config's listener, which Close closes. Errors: an
// address that makes no URL.
func New(config Config) (*Shell, error) {
	cluster, err := kubectl.NewCluster("https://"+config.Listener.Addr().String(), config.Tokens[people.All[0].Name], dial)
	if err != nil {
		return nil, err
	}
	s := &Shell{
		config: config, cluster: cluster, served: make(chan struct{}),
		server:    &http.Server{Handler: cluster.Serve(config.API), ErrorLog: log.New(discard{}, "", 0)},
		terminals: map[string]*terminal{}, edits: map[string]*edit{}, scripts: map[string]*script{}, downloads: map[string]*download{}, sessions: map[string]*named{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.server.BaseContext = func(net.Listener) context.Context { return s.ctx }
	s.hook()
	go func() {
		defer close(s.served)
		if err := s.server.Serve(config.Listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("shell: serve the API: %v", err)
		}
	}()
	return s, nil
}

// dial connects to an address of the process, whose network has no name but one.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return nil, err
	case host == "localhost":
		address = net.JoinHostPort("127.0.0.1", port)
	case net.ParseIP(host) == nil:
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host" + nothingElse, Name: host, IsNotFound: true}}
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil && strings.HasSuffix(err.Error(), syscall.ECONNREFUSED.Error()) {
		// On js this is a text alone, and in other words. kubectl looks for these, and asks then whether the address is right.
		err = &net.OpError{Op: "dial", Net: network, Err: refused{}}
	}
	return conn, err
}

// refused is ECONNREFUSED in the words that Linux has for it.
type refused struct{}

func (refused) Error() string        { return "connect: connection refused" }
func (refused) Is(target error) bool { return target == syscall.ECONNREFUSED }

// nothingElse says why documentation's `kubectl apply -f https://...` finds nothing, and what does.
const nothingElse = ": only the cluster can be reached from here. Paste the text of the file: kubectl apply -f - <<'EOF'"

// discard is where net/http complains of connections that were cut: that is how
// a watch ends here.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// Close ends all terminals, what runs in them, and the listener.
func (s *Shell) Close() error {
	s.cancel()
	s.mu.Lock()
	all := make([]*terminal, 0, len(s.terminals))
	for _, t := range s.terminals {
		all = append(all, t)
	}
	s.mu.Unlock()
	for _, t := range all {
		t.close()
	}
	err := s.server.Close()
	<-s.served
	s.cluster.Close()
	return err
}

// prepare makes the folders and the kubeconfig that are not there: the files of
// a tab are gone when its engine is restarted, and those who were here before
// may have removed some.
func (s *Shell) prepare() error {
	folders := []string{s.config.Home, s.config.Temp, filepath.Dir(s.kubeconfig())}
	if s.config.OwnsFiles {
		folders = append(folders, filepath.SplitList(systemPath)...)
	}
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("prepare the files of the terminal: %w", err)
		}
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	if _, err := os.Stat(s.kubeconfig()); err == nil {
		return nil
	}
	if err := s.writeKubeconfig(s.newKubeconfig()); err != nil {
		return fmt.Errorf("prepare the kubeconfig of the terminal: %w", err)
	}
	return nil
}
