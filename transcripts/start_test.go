package transcripts

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// start runs "kubetab serve" with everything in memory on ports of its own, without nodes and scheduler as where the
// transcripts were recorded, and stops it when the test ends. served
// fails the test where the server panicked or ended.
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
	return o, func() { p.healthy(t) }
}

// startWasm runs the module behind Node, see wasm/host.mjs.
func startWasm(t *testing.T) (o Options, served func()) {
	t.Helper()
	args := []string{"../wasm/host.mjs", "--wasm", *wasm, "--config", `{"nodes":0,"noScheduler":true}`}
	if *snapshot != "" {
		args = append(args, "--snapshot", *snapshot)
	}
	p := launch(t, "node", args...)
	p.await(t, func() bool {
		found := regexp.MustCompile(`(?m)^listening (http\S+)`).FindSubmatch(p.output())
		if found != nil {
			o.URL = string(found[1])
		}
		return found != nil
	})
	if bytes.Contains(p.output(), []byte("without its snapshot")) {
		t.Fatalf("the engine does not go on from %s:\n%s", *snapshot, p.output())
	}
	return o, func() { p.healthy(t) }
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

func (p *process) output() []byte {
	data, _ := os.ReadFile(p.log)
	return data
}

// await waits until ready is true, for five minutes at most: the time that a large module may take to compile.
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

func (p *process) healthy(t *testing.T) {
	t.Helper()
	if log := p.output(); bytes.Contains(log, []byte("panic")) {
		t.Errorf("the server panicked:\n%s", tail(log))
	}
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

func tail(log []byte) string {
	lines := strings.Split(string(log), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
