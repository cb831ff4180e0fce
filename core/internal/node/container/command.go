package container

import (
	"io"
	"io/fs"
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// call is one run of a command in a container.
type call struct {
	*coreutils.Call
	session *session
}

// commands are the programs that images with a shell have besides those of
// package coreutils, by name.
var commands map[string]func(*call) int

// builtins are what the interpreter itself runs and what exists as a program,
// too, so that it can be a container's command.
var builtins = map[string]bool{"echo": true, "printf": true, "true": true, "false": true, "test": true, "[": true, "pwd": true, "kill": true, "exit": true}

func init() {
	// Assigned here because commands run commands.
	commands = map[string]func(*call) int{}
	for _, some := range []map[string]func(*call) int{systemCommands, netCommands} {
		for name, f := range some {
			commands[name] = f
		}
	}
}

func isTool(name string) bool {
	return builtins[name] || commands[name] != nil || coreutils.Lookup(name) != nil
}

// files are a container's as commands want them.
type files struct{ *Tree }

func (f files) Open(p string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	h, err := f.Tree.Open(p, flag, perm)
	if err != nil {
		return nil, err // not a nil *Handle
	}
	return h, nil
}

// Clock is that of the node.
func (s *session) Clock() clock.WithTickerAndDelayedExecution { return s.c.cfg.Clock }

// Go runs f in a goroutine of the node.
func (s *session) Go(f func()) { s.c.cfg.Go(f) }

// RoundTrip sends a request into the cluster's network.
func (s *session) RoundTrip(r *http.Request) (*http.Response, error) {
	return s.c.cfg.Network.RoundTrip(r)
}

// Find says that every program is in /bin.
func (s *session) Find(name string) string {
	if !isTool(name) && !s.c.cfg.Image.hasShell(name) {
		return ""
	}
	return "/bin/" + name
}

// Run runs a command line with the call's streams and other variables.
func (s *session) Run(k *coreutils.Call, env, argv []string) int {
	child := s.child(k, env)
	child.c.cfg.Dir = k.Dir
	return child.guarded(k, argv) // ^C ends the caller, and this with it
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
