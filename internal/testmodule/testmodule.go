// Package testmodule runs the WebAssembly module under Node for tests (wasm/host/serve.mjs). Only tests may import it.
package testmodule

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// startLimit is how long a module may take to be compiled and to start, on a machine that is busy with other things.
	startLimit = 5 * time.Minute
	// stopLimit is how long it may take to end.
	stopLimit = 2 * time.Minute
	// shown is how many lines of the log a failed test shows.
	shown = 40
)

// Options say what to run.
type Options struct {
	// WASM is the path of the module.
	WASM string
	// Snapshot is the path of the snapshot to go on from. Empty: the module boots.
	Snapshot string
	// Config is JSON of wasm/settings.go. Empty: the defaults.
	Config string
}

// Module is a module that is ready.
type Module struct {
	// URL is where it answers, without a slash at its end.
	URL string

	cmd   *exec.Cmd
	log   string
	ended chan struct{} // closed when the process has ended; err is set then
	err   error
}

// folder is where the test began: kubectl changes the folder of a process.
var folder, _ = os.Getwd() // whose error is that of the first file that is not found

// Start runs the module until the test ends, and returns when it is ready. It fails the test when the module does not
// start, or boots although there is a snapshot. When the test has failed, the end of the module's log is shown.
func Start(t *testing.T, o Options) *Module {
	t.Helper()
	args := []string{host(t), "--wasm", o.WASM}
	if o.Snapshot != "" {
		args = append(args, "--snapshot", o.Snapshot)
	}
	if o.Config != "" {
		args = append(args, "--config", o.Config)
	}
	m := &Module{cmd: exec.Command("node", args...), log: filepath.Join(t.TempDir(), "module.log"), ended: make(chan struct{})}
	m.cmd.Dir = folder
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also when the test is killed
	log, err := os.Create(m.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the process has its own
	m.cmd.Stderr = log
	stdout, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n') // no line: see below
		started <- line
		m.err = m.cmd.Wait()
		close(m.ended)
	}()
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill() // it may have ended
		<-m.ended
		if t.Failed() {
			t.Logf("the module's log ends with\n%s", m.tail())
		}
	})
	limit := time.AfterFunc(startLimit, func() { _ = m.cmd.Process.Kill() })
	line := <-started
	limit.Stop()
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if !ok {
		t.Fatalf("the module does not start: %q", line)
	}
	if strings.Contains(m.Log(), "without its snapshot") {
		t.Fatalf("the module does not go on from %s", o.Snapshot)
	}
	m.URL = url
	return m
}

// Log returns what the module has written to its log so far.
func (m *Module) Log() string {
	text, _ := os.ReadFile(m.log) // Start has made it
	return string(text)
}

// Stop ends the module as a user would, with SIGTERM, and fails the test when it does not end with 0.
func (m *Module) Stop(t *testing.T) {
	t.Helper()
	_ = m.cmd.Process.Signal(syscall.SIGTERM) // it may have ended, which m.err tells of
	select {
	case <-m.ended:
		if m.err != nil {
			t.Errorf("after SIGTERM: %v", m.err)
		}
	case <-time.After(stopLimit):
		t.Errorf("the module has not ended %v after SIGTERM", stopLimit)
	}
}

func (m *Module) tail() string {
	lines := strings.Split(strings.TrimRight(m.Log(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-shown):], "\n")
}

// host is the path of wasm/host/serve.mjs in the repository that folder is in.
func host(t *testing.T) string {
	t.Helper()
	for dir := folder; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "wasm", "host", "serve.mjs")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			t.Fatalf("there is no wasm/host/serve.mjs above %s", folder)
		}
	}
}
