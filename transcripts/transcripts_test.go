package transcripts

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	serverURL = flag.String("url", os.Getenv("KUBETAB_URL"), "run against the server at this URL instead of starting bin/kubetab (KUBETAB_URL)")
	token     = flag.String("token", os.Getenv("KUBETAB_TOKEN"), "bearer token of an administrator at -url (KUBETAB_TOKEN)")
	insecure  = flag.Bool("insecure", os.Getenv("KUBETAB_INSECURE") != "", "accept any certificate at -url (KUBETAB_INSECURE)")
	etcdURL   = flag.String("etcd", os.Getenv("KUBETAB_ETCD"), "client URL of the etcd beneath -url, to compact it; a Kubetab needs none (KUBETAB_ETCD)")
	compact   = flag.String("compact", os.Getenv("KUBETAB_COMPACT"), "a URL that compacts the history when something is posted to it; a Kubetab has one that needs no flag (KUBETAB_COMPACT)")
	update    = flag.Bool("update", false, "write the answers into the transcripts; do this against a real kube-apiserver only")
	wasm      = flag.String("wasm", "", "start this wasm module behind Node (wasm/host/serve.mjs) instead of bin/kubetab")
	snapshot  = flag.String("snapshot", "", "go on from this snapshot of -wasm, made by wasm/snapshot/main.mjs for the same settings")
	program   = flag.String("kubetab", "../bin/kubetab", "the program to start where no -url is given")
)

// TestTranscripts plays every file below testdata against one server: all at once, then those that cannot share it.
func TestTranscripts(t *testing.T) {
	ctx := t.Context()
	target, served := connect(t)
	var serial []string
	t.Run("parallel", func(t *testing.T) {
		for _, name := range names(t) {
			f := read(t, name)
			if f.Settings.Serial {
				serial = append(serial, name)
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				play(ctx, t, target, f)
			})
		}
	})
	for _, name := range serial {
		t.Run("serial/"+name, func(t *testing.T) { play(ctx, t, target, read(t, name)) })
	}
	// After all that, and after all the bad input in it.
	t.Run("still serving", func(t *testing.T) {
		play(ctx, t, target, read(t, "verbs/create"))
		served()
	})
	if target.Lacks("controllers") == "" {
		t.Run("namespaces terminate", func(t *testing.T) {
			if err := target.Gone(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func connect(t *testing.T) (target *Target, served func()) {
	t.Helper()
	o, served := Options{URL: *serverURL, Token: *token, Insecure: *insecure, Etcd: *etcdURL, Compact: *compact}, func() {}
	switch {
	case o.URL != "":
	case *wasm != "":
		o, served = startWasm(t)
	default:
		o, served = start(t)
	}
	target, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return target, served
}

func names(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".txt") {
			name, _ := filepath.Rel("testdata", strings.TrimSuffix(path, ".txt"))
			found = append(found, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t *testing.T, name string) *File {
	t.Helper()
	f, err := ReadFile(path(name), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func path(name string) string { return filepath.Join("testdata", filepath.FromSlash(name)+".txt") }

// play runs one transcript and compares, or rewrites it with -update.
func play(ctx context.Context, t *testing.T, target *Target, f *File) {
	for _, capability := range f.Settings.Needs {
		if why := target.Lacks(capability); why != "" {
			t.Skipf("needs %s: %s", capability, why)
		}
	}
	answers, err := Run(ctx, target, f)
	for i, got := range answers {
		s := f.Steps[i]
		if *update {
			s.Want = got
		} else if got != s.Want {
			t.Errorf("%s:%d: %s\n%s", path(f.Name), s.Line, s.Title, cmp.Diff(strings.Split(s.Want, "\n"), strings.Split(got, "\n")))
		}
	}
	if err != nil {
		t.Errorf("%s: %v", path(f.Name), err)
	}
	if *update && err == nil {
		if err := os.WriteFile(path(f.Name), f.Format(), 0o644); err != nil {
			t.Error(err)
		}
	}
}
