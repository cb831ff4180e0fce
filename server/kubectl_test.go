package server_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/server/internal/process"
)

var (
	update     = flag.Bool("update", false, "write the outputs in testdata/kubectl and testdata/cluster anew")
	kubeconfig = flag.String("kubeconfig", "", "kubeconfig `file` of another, fresh cluster to run testdata/kubectl and testdata/cluster/controllers against")
)

// TestKubectl plays testdata/kubectl with the kubectl of the same version. Each file is a terminal of its own, with an
// own namespace of the file's name as the current one. Nothing is scheduled. With -kubeconfig the same files are played against another
// cluster: a real kube-apiserver prints the same.
func TestKubectl(t *testing.T) {
	t.Parallel()
	kubectl, err := process.Binary("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	config := *kubeconfig
	if config == "" {
		config = startKubetab(t, "--nodes", "0", "--scheduler=false").Kubeconfig
		readTypes(t, config)
	}
	files, err := filepath.Glob("testdata/kubectl/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, file, openShell(t, kubectl, config, name))
		})
	}
}

// play runs the commands of a file in sh and compares what they print, or writes it to the file with -update.
func play(t *testing.T, file string, sh *shell) {
	t.Helper()
	steps := readTranscript(t, file)
	for _, s := range steps {
		if s.command == "" {
			continue
		}
		got := normalise(sh.run(t, s.command), sh.dir)
		if *update {
			s.output = got
		} else if diff := cmp.Diff(strings.Split(s.output, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("$ %s\n(-file +now)\n%s", s.command, diff)
		}
	}
	if *update && !t.Failed() {
		parsed, err := parseTranscript(steps.String())
		if err != nil || parsed.String() != steps.String() {
			t.Fatalf("an output cannot be told from a command: %v", err)
		}
		if err := os.WriteFile(file, []byte(steps.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shortLived is for the environment of kubectl, which runs more than a thousand times and ends before garbage matters: with it,
// it takes a sixth less of a processor.
const shortLived = "GOGC=400"

// openShell returns a shell with kubectl on its path and the namespace ns as the current one.
func openShell(t *testing.T, kubectl, config, ns string) *shell {
	t.Helper()
	home := t.TempDir() // with kubectl's caches
	s := &shell{dir: t.TempDir(), env: []string{
		"PATH=" + filepath.Dir(kubectl) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "config"), "TZ=UTC", "LC_ALL=C", shortLived,
	}}
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"create", "namespace", ns},
		{"config", "set-context", "--current", "--namespace", ns},
	} {
		c := exec.Command(kubectl, args...)
		c.Env = s.env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %s: %s", strings.Join(args, " "), out)
		}
	}
	return s
}
