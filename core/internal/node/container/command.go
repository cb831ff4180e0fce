package container

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/clock"
	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// call is one run of a command in a container.
type call struct {
	*coreutils.Call
	session *session
	process *process // as which it runs
}

// commands are the programs that images with a shell have besides those of
// package coreutils, by name.
var commands map[string]func(*call) int

func init() {
	// Assigned here because commands run commands.
	commands = map[string]func(*call) int{}
	for _, some := range []map[string]func(*call) int{systemCommands, netCommands, processCommands} {
		for name, f := range some {
			commands[name] = f
		}
	}
}

func isTool(name string) bool {
	return bash.Programs[name] || commands[name] != nil || coreutils.Lookup(name) != nil
}

// toolNames returns the names of all tools, each once.
func toolNames() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(commands)), coreutils.Names())
	all = slices.AppendSeq(all, maps.Keys(bash.Programs))
	slices.Sort(all)
	return slices.Compact(all)
}

// files are a container's as commands want them.
type files struct {
	*Tree
	self  *call           // whose process /proc/self is; nil: the first one's
	shell *session        // that opens files for redirections; nil: none does
	ctx   context.Context // of the program that opens files; nil: none's
}

// own returns p with /proc/self as the process that looks.
func (f files) own(p string) string {
	if rest, ok := strings.CutPrefix(p, "/proc/self/fd"); ok && (f.self != nil || f.shell != nil) && (rest == "" || rest[0] == '/') {
		return "/dev/fd" + rest
	}
	if rest, ok := strings.CutPrefix(p, "/proc/self"); ok && f.self != nil && (rest == "" || rest[0] == '/') {
		return "/proc/" + strconv.Itoa(f.self.session.c.number(f.self.process)) + rest
	}
	if f.self != nil && f.self.session.c.namespace() != nil && strings.HasPrefix(p, "/proc/") {
		for _, m := range f.self.session.c.root().all() {
			m.tree() // it may be looked at by way of /proc/NUMBER/root
		}
	}
	return p
}

func (f files) Stat(p string, follow bool) (fs.FileInfo, error) { return f.Tree.Stat(f.own(p), follow) }
func (f files) ReadDir(p string) ([]fs.DirEntry, error)         { return f.Tree.ReadDir(f.own(p)) }

func (f files) ReadFile(p string) ([]byte, error) {
	h, err := f.Tree.Open(f.own(p), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if from := f.streams().stream(h.file.device); from != nil {
		h.Close()
		return coreutils.ReadAll(from)
	}
	return h.all()
}

func (f files) Open(p string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	h, err := f.Tree.Open(f.own(p), flag, perm)
	if err != nil {
		return nil, err // not a nil *Handle
	}
	if to := f.streams().stream(h.file.device); to != nil {
		return to, h.Close()
	}
	if f.ctx == nil {
		return h, nil
	}
	return coreutils.FileUntil(f.ctx, h), nil
}

// Clock is that of the node.
func (s *session) Clock() clock.WithTickerAndDelayedExecution { return s.c.cfg.Clock }

// Go runs f in a goroutine of the node.
func (s *session) Go(f func()) { s.c.cfg.Go(f) }

// RoundTrip sends a request into the cluster's network.
func (s *session) RoundTrip(r *http.Request) (*http.Response, error) {
	return s.c.cfg.Network.RoundTrip(r)
}

// Find says that every program is in /bin or, in images of Debian, /usr/bin, but for those of the image's server.
func (s *session) Find(_ expand.Environ, _, name string) string {
	image := s.c.cfg.Image
	switch {
	case image.holds(name) && !isTool(name):
		return image.where(name)
	case !isTool(name) && !image.hasShell(name):
		return ""
	}
	if image.Bash {
		return "/usr/bin/" + name
	}
	return "/bin/" + name
}

// Run runs a command line with the call's streams and other variables.
func (s *session) Run(k *coreutils.Call, env, argv []string) int {
	child := s.child(k, env)
	child.c.cfg.Dir = k.Dir
	ctx, end := child.enter(k, argv)
	defer end()
	code := child.guarded(ctx, argv) // ^C ends the caller, and this with it
	if by, ok := killed(ctx); ok {
		return by
	}
	return code
}

// Pause waits on the clock, or until the call ends.
func (s *session) Pause(k *coreutils.Call, d time.Duration) int {
	timer := s.Clock().NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return 0
	case <-k.Done():
		return 143
	}
}
