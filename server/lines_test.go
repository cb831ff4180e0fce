package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/core/shell/lines"
	"github.com/kubetab/kubetab/server/internal/process"
)

// TestLines runs the command lines of the page's terminal in bash, with the kubectl of the same version against
// `kubetab serve` and with the tools of this machine: they print the same here as there.
func TestLines(t *testing.T) {
	t.Parallel()
	kubectl, err := process.Binary("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"bash", "jq", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the lines need %s, which this machine has not: make jq installs it, and the others are Debian's own", tool)
		}
	}
	all, err := lines.All()
	if err != nil {
		t.Fatal(err)
	}
	served := startKubetab(t, "--nodes", "2")
	readTypes(t, served.Kubeconfig)
	home := t.TempDir()
	config, err := os.ReadFile(served.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".kube", "config"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, block := range all {
		if block.InCluster() {
			continue // this machine is not; and curl's words are those of one version
		}
		sh := exec.Command("bash", "-c", block.Command)
		sh.Dir = home
		sh.Env = []string{"PATH=" + filepath.Dir(kubectl) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "TZ=UTC", "LC_ALL=C", shortLived}
		var stdout, stderr bytes.Buffer
		sh.Stdout, sh.Stderr = &stdout, &stderr
		code := 0
		var exit *exec.ExitError
		if err := sh.Run(); errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		known := []string{home, "<home>", "bash: line 1: ", "bash: ", "bash: line 2: ", "bash: "}
		got := fmt.Sprintf("%s%s= %d", lines.Normal(stdout.String(), known...), lines.Normal(stderr.String(), known...), code)
		want := fmt.Sprintf("%s%s= %d", lines.Normal(block.Stdout), lines.Normal(block.Stderr), block.ExitCode)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("core/shell/lines/lines.txt:%d: $ %s\n-file +bash\n%s", block.Line, block.Command, diff)
		}
	}
}
