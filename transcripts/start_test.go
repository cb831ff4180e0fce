package transcripts

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// start runs "kubetab serve" with everything in memory on ports of its own, and stops it when the test ends. served
// fails the test where the server panicked or ended.
func start(t *testing.T) (o Options, served func()) {
	t.Helper()
	if _, err := os.Stat(*program); err != nil {
		t.Fatalf("%v\nBuild it with \"make build\", name another with -kubetab, or a running server with -url.", err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(*program, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--kubeconfig", kubeconfig)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	logged := func() []byte {
		data, _ := os.ReadFile(output.Name())
		return data
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("after SIGTERM: %v\n%s", err, tail(logged()))
			}
		case <-time.After(30 * time.Second):
			cmd.Process.Kill()
			t.Errorf("did not end within 30 s of SIGTERM\n%s", tail(logged()))
		}
	})
	deadline := time.After(time.Minute)
	for {
		if o, ok := fromKubeconfig(kubeconfig); ok {
			return o, func() {
				if log := logged(); bytes.Contains(log, []byte("panic")) {
					t.Errorf("the server panicked:\n%s", tail(log))
				}
			}
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended before it was ready: %v\n%s", *program, err, tail(logged()))
		case <-deadline:
			t.Fatalf("%s wrote no kubeconfig within a minute\n%s", *program, tail(logged()))
		case <-time.After(20 * time.Millisecond):
		}
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
