package transcripts

import (
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubetab/kubetab/internal/testmodule"
)

// start runs "kubetab serve" with everything in memory on ports of its own, without nodes and scheduler as where the
// transcripts were recorded, and stops it when the test ends. served fails the test where the server has panicked.
func start(t *testing.T) (o Options, served func()) {
	t.Helper()
	if _, err := os.Stat(*program); err != nil {
		t.Fatalf("%v\nBuild it with \"make build\", name another with -kubetab, or a running server with -url.", err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	p := launch(t, *program, "serve", "--listen", "127.0.0.1:0", "--http", "", "--kubeconfig", kubeconfig, "--nodes", "0", "--scheduler=false")
	p.await(t, func() (ok bool) {
		o, ok = fromKubeconfig(kubeconfig)
		return ok
	})
	return o, func() { healthy(t, p.output()) }
}

// startWasm runs the module with the same settings, and stops it when the test ends.
func startWasm(t *testing.T) (o Options, served func()) {
	t.Helper()
	m := testmodule.Start(t, testmodule.Options{WASM: *wasm, Snapshot: *snapshot, Config: `{"nodes":0,"noScheduler":true}`})
	t.Cleanup(func() { m.Stop(t) })
	return Options{URL: m.URL}, func() { healthy(t, m.Log()) }
}

// process is a server that the test has started. What it prints is kept in a file.
type process struct {
	cmd   *exec.Cmd
	log   string
	ended chan error
}

func launch(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), log: filepath.Join(t.TempDir(), "output"), ended: make(chan error, 1)}
	output, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	p.cmd.Stdout, p.cmd.Stderr = output, output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-p.ended:
			if err != nil {
				t.Errorf("after SIGTERM: %v\n%s", err, tail(p.output()))
			}
		case <-time.After(2 * time.Minute):
			p.cmd.Process.Kill()
			t.Errorf("did not end within two minutes of SIGTERM\n%s", tail(p.output()))
		}
	})
	return p
}

func (p *process) output() string {
	data, _ := os.ReadFile(p.log)
	return string(data)
}

// await waits until ready is true, for five minutes at most.
func (p *process) await(t *testing.T, ready func() bool) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	for !ready() {
		select {
		case err := <-p.ended:
			p.ended <- err
			t.Fatalf("%s ended before it was ready: %v\n%s", p.cmd, err, tail(p.output()))
		case <-deadline:
			t.Fatalf("%s was not ready in time\n%s", p.cmd, tail(p.output()))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// panicked finds a line that tells of a panic: of Go's runtime, of upstream's handlers and loops, or of the bridge. A
// request that takes longer than the server allows is told as "panicked: false", or as the panic http.ErrAbortHandler.
var panicked = regexp.MustCompile(`(?m)^.*(panic: |panic'd|panicked: true|[Oo]bserved a panic|panic serving).*$`)

func healthy(t *testing.T, log string) {
	t.Helper()
	if p := panicOf(log); p != "" {
		t.Errorf("the server panicked:\n%s", p)
	}
}

// panicOf returns the first panic that a log tells of, with what follows it.
func panicOf(log string) string {
	for _, at := range panicked.FindAllStringIndex(log, -1) {
		if !strings.Contains(log[at[0]:at[1]], http.ErrAbortHandler.Error()) {
			return head(log[at[0]:])
		}
	}
	return ""
}

// fromKubeconfig reads address, certificate and token of the administrator. ok is false until the file is complete.
func fromKubeconfig(path string) (o Options, ok bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return o, false
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     string `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	if yaml.Unmarshal(data, &config) != nil || len(config.Clusters) == 0 || len(config.Users) == 0 {
		return o, false
	}
	ca, err := base64.StdEncoding.DecodeString(config.Clusters[0].Cluster.CA)
	return Options{URL: config.Clusters[0].Cluster.Server, Token: config.Users[0].User.Token, CA: ca}, err == nil
}

func tail(log string) string {
	lines := strings.Split(log, "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

func head(log string) string {
	lines := strings.Split(log, "\n")
	return strings.Join(lines[:min(40, len(lines))], "\n")
}

// A panic is found wherever it is told of, and a slow request is none.
func TestPanicked(t *testing.T) {
	for line, want := range map[string]bool{
		"panic: runtime error: index out of range":                                             true,
		`E1122 1 wrap.go:57] "apiserver panic'd" method="GET" URI="/"`:                         true,
		`E1122 1 runtime.go:221] "Observed a panic" panic="boom"`:                              true,
		"panic serving GET /api: boom":                                                         true,
		`finisher.go:175] FinishRequest: post-timeout activity, panicked: true, err: nil`:      true,
		`finisher.go:175] FinishRequest: post-timeout activity, panicked: false, err: nil`:     false,
		`E1122 1 runtime.go:221] "Observed a panic" panic="net/http: abort Handler"`:           false,
		`E1122 1 timeout.go:140] "Post-timeout activity" path="/openapi/v2" result=null`:       false,
		`E1122 1 wrap.go:53] "Timeout or abort while handling" method="GET" URI="/openapi/v2"`: false,
	} {
		if got := panicOf("I1122 before\n"+line+"\nI1122 after") != ""; got != want {
			t.Errorf("%s: found %v, want %v", line, got, want)
		}
	}
}
