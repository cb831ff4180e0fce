package core_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// second is a package of another module, which imports core.
const second = `// Package second imports core.
package second

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"github.com/kubetab/kubetab/core"
)

// Start returns a new engine and a client of it.
func Start(ctx context.Context) (*core.Engine, kubernetes.Interface, error) {
	engine, err := core.New(ctx, core.Config{Nodes: 2})
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(engine.RESTConfig())
	return engine, client, err
}
`

// Another module can import core with nothing in its go.mod but a requirement: the
// versions of all staging modules of Kubernetes come with it. (The replace directive
// in the test stands for a released version.)
func TestAnotherModuleImportsCore(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// Read here and not by the go command, so that the test runs anew when they change.
	own, sums := file(t, "../go.mod"), file(t, "../go.sum")
	dir := t.TempDir()
	// Nothing may be looked up or downloaded: this module's sums and the module cache must do.
	run := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOOS=", "GOARCH=")
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
		}
		return string(out)
	}
	write(t, filepath.Join(dir, "own.mod"), own)
	write(t, filepath.Join(dir, "go.sum"), sums)
	write(t, filepath.Join(dir, "second.go"), second)

	var module struct {
		Go      string
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := json.Unmarshal([]byte(run("mod", "edit", "-json", "own.mod")), &module); err != nil {
		t.Fatal(err)
	}
	for _, r := range module.Replace {
		t.Errorf("go.mod replaces %s with %s: the go command ignores that in modules which import core, and refuses `go install` of a program here", r.Old.Path, r.New.Path)
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/second\n\ngo "+module.Go+"\n")
	run("mod", "edit", "-require=github.com/kubetab/kubetab@v0.0.0", "-replace=github.com/kubetab/kubetab="+root)
	// A library: it is compiled, and nothing is linked.
	run("build", "-tags=grpcnotrace", "./...")
}

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
