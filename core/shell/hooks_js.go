package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/moby/term"
	"k8s.io/kubectl/pkg/cmd/portforward"
	"k8s.io/kubectl/pkg/cmd/proxy"
	"k8s.io/kubectl/pkg/cmd/util/editor"
	"k8s.io/utils/exec"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// hook gives upstream what there is in place of terminals, editors and
// programs, through variables that wasm/patch has made for it. There is one set
// per process: with two shells the last one has it.
func (s *Shell) hook() {
	term.Devices = func(fd uintptr) term.Device {
		if t := tty.Device(fd); t != nil {
			return t
		}
		return nil // not a nil *TTY
	}
	editor.LaunchHook = s.LaunchEditor
	portforward.Context, proxy.Context = kubectl.Context, kubectl.Context
	exec.Programs = processes{s.disk()}
	http.DefaultTransport.(*http.Transport).DialContext = dial
	http.DefaultClient.Transport = outOfTab{s} // of kubectl apply -f https://...
}

// outOfTab sends the requests of http.DefaultClient, by which kubectl reads -f https://...: to other sites by the page of the
// command's terminal, and otherwise as ever.
type outOfTab struct{ shell *Shell }

func (o outOfTab) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := kubectl.Context()
	id, _ := ctx.Value(terminalKey{}).(string)
	if response, err := o.shell.web(ctx, r, id); response != nil || err != nil {
		return response, err
	}
	return http.DefaultTransport.RoundTrip(r)
}

// processes runs diff, the one program that kubectl starts.
type processes struct{ files files }

var errNoProcess = errors.New("there are no processes in a tab")

func (p processes) Command(name string, args ...string) exec.Cmd {
	return &process{files: p.files, name: name, args: args}
}

func (p processes) CommandContext(_ context.Context, name string, args ...string) exec.Cmd {
	return p.Command(name, args...)
}

func (processes) LookPath(string) (string, error) { return "", exec.ErrExecutableNotFound }

type process struct {
	files          files
	name           string
	args           []string
	dir            string
	stdout, stderr io.Writer
}

func (p *process) Run() error {
	if p.name != "diff" {
		return fmt.Errorf("%s: %w", p.name, exec.ErrExecutableNotFound)
	}
	if p.dir == "" {
		p.dir, _ = os.Getwd() // empty is as good as any
	}
	code := diff(nil, &coreutils.Call{Context: context.Background(), Files: p.files, Name: p.name, Args: p.args, Dir: p.dir, Stdout: p.stdout, Stderr: p.stderr})
	if code != 0 {
		return exec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
	}
	return nil
}

func (p *process) SetDir(dir string)       { p.dir = dir }
func (p *process) SetStdin(io.Reader)      {}
func (p *process) SetStdout(out io.Writer) { p.stdout = out }
func (p *process) SetStderr(out io.Writer) { p.stderr = out }
func (p *process) SetEnv([]string)         {}

func (p *process) CombinedOutput() ([]byte, error)    { return nil, errNoProcess }
func (p *process) Output() ([]byte, error)            { return nil, errNoProcess }
func (p *process) StdoutPipe() (io.ReadCloser, error) { return nil, errNoProcess }
func (p *process) StderrPipe() (io.ReadCloser, error) { return nil, errNoProcess }
func (p *process) Start() error                       { return errNoProcess }
func (p *process) Wait() error                        { return errNoProcess }
func (p *process) Stop()                              {}
