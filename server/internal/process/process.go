// Package process runs bin/kubetab as a user does: as a process with flags, of which only the output, the kubeconfig
// and the exit code are known. Tests and bench use it, so that neither links the engine.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubetab/kubetab/internal/locked"
)

// Binary returns the path of bin/<name> in the repository that the working directory is in. Error: it is not built.
func Binary(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not inside the repository of kubetab")
		}
		dir = parent
	}
	path := filepath.Join(dir, "bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("bin/%s is missing: run make build", name)
	}
	return path, nil
}

// Process is one `kubetab serve` that was ready. Its methods are safe for concurrent use.
type Process struct {
	API        string // URL
	Page       string // URL; "" without a page
	Kubeconfig string // path
	Greeting   string // what it printed, all of it

	cmd    *exec.Cmd
	stderr locked.Buffer
	ended  chan struct{} // closed when the process has ended; cmd.ProcessState is set then
}

// ExitError is returned by Start when the process ended before it was ready.
type ExitError struct {
	Code   int
	Stderr string
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("kubetab serve ended with code %d: %s", e.Code, strings.TrimSpace(e.Stderr))
}

// Start runs `kubetab serve` on a free port with a kubeconfig in dir, without the page, and waits until it says that it
// is ready. Flags in args count over these. Errors: *ExitError, the binary is missing, or ctx ended; in the last two
// cases no process is left behind.
func Start(ctx context.Context, dir string, args ...string) (*Process, error) {
	return StartCommand(ctx, dir, []string{"serve"}, args...)
}

// StartCommand is Start of another command that serves, with its arguments.
func StartCommand(ctx context.Context, dir string, command []string, args ...string) (*Process, error) {
	binary, err := Binary("kubetab")
	if err != nil {
		return nil, err
	}
	defaults := []string{"--listen", "127.0.0.1:0", "--http", "", "--kubeconfig", filepath.Join(dir, "kubeconfig")}
	p := &Process{cmd: exec.Command(binary, slices.Concat(command, defaults, args)...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	p.cmd.Dir = dir
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	greeted := make(chan bool, 1)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if p.greet(lines.Text()) {
				greeted <- true
				break
			}
		}
		for lines.Scan() { // an audit log, perhaps: nobody wants it, and a full pipe would stop the server
		}
		_ = p.cmd.Wait() // the code is in ProcessState
		close(greeted)
	}()
	select {
	case ok := <-greeted:
		if !ok {
			return nil, &ExitError{Code: p.cmd.ProcessState.ExitCode(), Stderr: p.stderr.String()}
		}
		return p, nil
	case <-ctx.Done():
		p.Kill()
		return nil, fmt.Errorf("kubetab serve is not ready: %w: %s%s", ctx.Err(), p.Greeting, p.stderr.String())
	}
}

// greet takes a line of the greeting and reports whether it is the last.
func (p *Process) greet(line string) bool {
	p.Greeting += line + "\n"
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return false
	}
	switch fields[0] {
	case "API":
		p.API = fields[1]
	case "page":
		if strings.HasPrefix(fields[1], "http") {
			p.Page = fields[1]
		}
	case "kubeconfig":
		p.Kubeconfig = fields[1]
	}
	return fields[0] == "export"
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends s to the process. A process that has ended is no error.
func (p *Process) Signal(s os.Signal) {
	_ = p.cmd.Process.Signal(s)
}

// Kill is kill -9, and waits for the end.
func (p *Process) Kill() {
	p.Signal(os.Kill)
	<-p.ended
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Wait waits until the process has ended and returns its exit code, -1 when a signal ended it, and what it wrote to
// standard error. After limit it is killed and the code is -1.
func (p *Process) Wait(limit time.Duration) (code int, stderr string) {
	select {
	case <-p.ended:
	case <-time.After(limit):
		p.Kill()
	}
	return p.cmd.ProcessState.ExitCode(), p.stderr.String()
}
