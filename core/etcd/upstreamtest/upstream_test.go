//go:build !js

package upstreamtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	apiserver  = "k8s.io/apiserver"
	testServer = "pkg/storage/etcd3/testserver/test_server.go"
)

// runs are the packages, and what of them is left out.
var runs = []struct {
	name, pkg string
	env       string
	leftOut   map[string]string
}{
	{
		name: "etcd3",
		pkg:  "pkg/storage/etcd3",
		leftOut: map[string]string{
			"TestGetListStreamFallsBackToPaginated": countsKV,
			"TestListPaginationRareObject":          countsKV,
			"TestListContinuationWithFilter":        countsKV,
		},
	},
	{
		// With upstream's own kubernetes.Interface over KV all of them run.
		name: "etcd3 over KV",
		pkg:  "pkg/storage/etcd3",
		env:  "KUBETAB_KUBERNETES_CLIENT=general",
	},
	{
		name: "cacher",
		pkg:  "pkg/storage/cacher",
	},
}

const countsKV = "counts how often client.KV is asked, and the Kubernetes field of this store's client does not go through it"

// TestUpstream runs upstream's tests, each as a subtest.
func TestUpstream(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two minutes")
	}
	modfile := layOut(t)
	for _, run := range runs {
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"test", "-json", "-tags=grpcnotrace", "-modfile=" + modfile}
			if len(run.leftOut) > 0 {
				args = append(args, "-skip=^("+strings.Join(keys(run.leftOut), "|")+")$")
			}
			for name, why := range run.leftOut {
				t.Logf("left out: %s %s", name, why)
			}
			cmd := exec.Command("go", append(args, apiserver+"/"+run.pkg)...)
			cmd.Env = append(os.Environ(), run.env)
			// A failed test is an exit status, too; the events tell more.
			out, runErr := cmd.Output()
			passed, failed := results(t, out)
			for _, name := range failed {
				t.Errorf("%s fails:\n%s", name, outputOf(out, name))
			}
			if runErr != nil && len(failed) == 0 {
				t.Errorf("%v\n%s%s", runErr, stderr(runErr), outputOf(out, ""))
			}
			// The packages have more than a hundred tests each with their subtests.
			if len(passed) < 100 {
				t.Errorf("only %d tests passed", len(passed))
			}
			t.Logf("%d tests passed", len(passed))
		})
	}
}

// layOut makes a copy of the module with the test server exchanged, and a module
// file that points there. Both stay where they are, so that a second run finds the
// packages compiled.
func layOut(t *testing.T) (modfile string) {
	t.Helper()
	root := filepath.Dir(output(t, "go", "env", "GOMOD"))
	source := output(t, "go", "list", "-m", "-f", "{{.Dir}}", apiserver)
	out := filepath.Join(root, "build", "upstreamtest")
	module := filepath.Join(out, filepath.Base(source))
	err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to := filepath.Join(module, strings.TrimPrefix(path, source))
		if strings.HasSuffix(path, testServer) {
			path = filepath.Join("_testserver", "test_server.go")
		}
		return copyFile(path, to)
	})
	if err != nil {
		t.Fatal(err)
	}
	modfile = filepath.Join(out, "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := copyFile(filepath.Join(root, name), filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	output(t, "go", "mod", "edit", "-replace="+apiserver+"="+module, modfile)
	return modfile
}

// copyFile leaves a file alone that is what it should be.
func copyFile(from, to string) error {
	want, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, want, 0o644)
}

// event is one line of go test -json.
type event struct{ Action, Test, Output string }

func events(out []byte) (all []event) {
	for line := range bytes.Lines(out) {
		var e event
		if json.Unmarshal(line, &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

func results(t *testing.T, out []byte) (passed, failed []string) {
	for _, e := range events(out) {
		switch {
		case e.Test == "":
		case e.Action == "pass":
			passed = append(passed, e.Test)
		case e.Action == "fail":
			failed = append(failed, e.Test)
		}
	}
	return passed, failed
}

// outputOf returns what a test printed; "" is the package.
func outputOf(out []byte, test string) string {
	var b strings.Builder
	for _, e := range events(out) {
		if e.Test == test && e.Action == "output" {
			b.WriteString(e.Output)
		}
	}
	return b.String()
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr(err))
	}
	return strings.TrimSpace(string(out))
}

func stderr(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.Stderr
	}
	return nil
}

func keys(m map[string]string) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// notThroughTheCache are the functions of the suite that upstream does not run
// through its watch cache, and why. All of them run on the plain store.
var notThroughTheCache = map[string]string{
	"RunTestListInconsistentContinuation":     cacheTODO,
	"RunTestListResourceVersionMatch":         cacheTODO,
	"RunTestGuaranteedUpdate":                 cacheTODO,
	"RunTestGuaranteedUpdateChecksStoredData": cacheTODO,
	"RunTestTransformationFailure":            cacheTODO,
	"RunTestWatchError":                       cacheTODO,
	"RunTestWatchContextCancel":               cacheTODO,
	"RunTestGetListWithErrorAggregation":      corrupt,
	"RunTestGetListWithoutErrorAggregation":   corrupt,
	"RunTestWatchWithUnsafeDelete":            corrupt,
	"RunWatchErrorIsBlockingFurtherEvents":    corrupt,
	"RunOptionalTestProgressNotify":           "is about the notifications of etcd, which the cache consumes",
}

const (
	cacheTODO = "is switched off in upstream's cacher_test.go, kubernetes/kubernetes#109831"
	corrupt   = "exchanges the transformer of a store in use, which the cache has no way to"
)

// TestSuiteIsComplete checks the claim of this package: that upstream's tests call
// every function of its suite on the plain store, and through the cache all but
// the listed ones.
func TestSuiteIsComplete(t *testing.T) {
	dir := filepath.Join(output(t, "go", "list", "-m", "-f", "{{.Dir}}", apiserver), "pkg", "storage")
	suite := declared(t, filepath.Join(dir, "testing"))
	if len(suite) < 54 {
		t.Fatalf("found only %d functions: %v", len(suite), suite)
	}
	plain, cached := source(t, filepath.Join(dir, "etcd3")), source(t, filepath.Join(dir, "cacher"))
	onlyCached := map[string]string{
		"RunTestOptionalWatchBookmarksWithCorrectResourceVersion": "is about the bookmarks of the cache",
	}
	for _, name := range suite {
		if _, ok := onlyCached[name]; !ok && !strings.Contains(plain, "."+name+"(") {
			t.Errorf("%s is not called by the tests of the plain store", name)
		}
		_, listed := notThroughTheCache[name]
		if called := strings.Contains(cached, "."+name+"("); called == listed {
			t.Errorf("%s: called through the cache: %v, listed as left out: %v", name, called, listed)
		}
	}
	for name := range notThroughTheCache {
		if !slices.Contains(suite, name) {
			t.Errorf("%s is no function of the suite any more", name)
		}
	}
}

// declared returns the functions of the suite; its benchmarks are not part of it.
func declared(t *testing.T, dir string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^func (Run\w+)\(`).FindAllStringSubmatch(source(t, dir), -1) {
		if !strings.HasPrefix(m[1], "RunBenchmark") {
			names = append(names, m[1])
		}
	}
	return names
}

func source(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, string(text))
	}
	return b.String()
}
