package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// A small world: a main module that needs example.com/up, which is unix only, and a GOROOT of one file.
type world struct {
	goEnv
	up string // folder of example.com/up
}

const (
	unixFile = "//go:build !windows\n\npackage a\n\nimport \"syscall\"\n\nconst Name = \"unix\"\n\nvar _ = syscall.SIGHUP\n"
	editFile = "package b\n\nimport (\n\t\"embed\"\n\n\t_ \"example.com/up/c/deep\"\n)\n\n//go:embed texts/*/b.txt\nvar texts embed.FS\n\nconst Name = \"before\"\n"
)

// editDiff changes a word of editFile.
const editDiff = `diff --git a/b/b.go b/b/b.go
--- a/b/b.go
+++ b/b/b.go
@@ -9,4 +9,4 @@
 //go:embed texts/*/b.txt
 var texts embed.FS
 
-const Name = "before"
+const Name = "after"
`

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func newWorld(t *testing.T) world {
	t.Helper()
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
	dir := t.TempDir()
	w := world{up: filepath.Join(dir, "up")}
	w.GOMOD = filepath.Join(dir, "main", "go.mod")
	w.GOROOT = filepath.Join(dir, "goroot")
	w.GOVERSION = "go1.0"
	write(t, w.GOMOD, "module example.com/main\n\ngo 1.26\n\nrequire example.com/up v1.0.0\n\nreplace example.com/up => ../up\n")
	write(t, filepath.Join(filepath.Dir(w.GOMOD), "go.sum"), "")
	write(t, filepath.Join(filepath.Dir(w.GOMOD), "main.go"),
		"package main\n\nimport (\n\t\"os\"\n\n\t\"example.com/up/a\"\n\t\"example.com/up/b\"\n\t\"example.com/up/c/deep\"\n)\n\nfunc main() { os.Stdout.WriteString(a.Name + b.Name + deep.Text) }\n")
	write(t, filepath.Join(w.up, "go.mod"), "module example.com/up\n\ngo 1.26\n")
	write(t, filepath.Join(w.up, "a", "unix.go"), unixFile)
	write(t, filepath.Join(w.up, "a", "unix_test.go"), "package a\n")
	write(t, filepath.Join(w.up, "b", "b.go"), editFile)
	write(t, filepath.Join(w.up, "b", "texts", "en", "b.txt"), "?")
	write(t, filepath.Join(w.up, "c", "deep", "deep.go"),
		"package deep\n\nimport _ \"embed\"\n\n//go:embed deep.txt\nvar Text string\n")
	write(t, filepath.Join(w.up, "c", "deep", "deep.txt"), "!")
	write(t, filepath.Join(w.GOROOT, "src", "text", "a.go"), "package text // slow\n")
	return w
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func worldPatches() []patch {
	return []patch{
		{module: "example.com/up", file: "a/unix.go", sha256: sumOf(unixFile), twin: "a_js.go", why: "a test"},
		{module: "example.com/up", file: "b/b.go", sha256: sumOf(editFile), diff: true, why: "a test"},
		{module: std, file: "text/a.go", sha256: sumOf("package text // slow\n"), diff: true, why: "a test"},
	}
}

func worldFiles() fstest.MapFS {
	return fstest.MapFS{
		"_twins/example.com/up/a/a_js.go":   {Data: []byte("package a\n\nconst Name = \"twin\"\n")},
		"_diffs/example.com/up/b/b.go.diff": {Data: []byte(editDiff)},
		"_diffs/std/text/a.go.diff":         {Data: []byte("diff --git a/text/a.go b/text/a.go\n--- a/text/a.go\n+++ b/text/a.go\n@@ -1 +1 @@\n-package text // slow\n+package text // fast\n")},
	}
}

func mustBuild(t *testing.T, w world, ours fs.FS, patches []patch, made bool) {
	t.Helper()
	got, err := build(w.goEnv, "build/patch", ours, patches)
	if err != nil {
		t.Fatal(err)
	}
	if got != made {
		t.Errorf("made = %v, want %v", got, made)
	}
}

// The second module file builds for js what does not build without it, embedded files included,
// and the main module's own file is not touched.
func TestBuildsForJS(t *testing.T) {
	w := newWorld(t)
	root := filepath.Dir(w.GOMOD)
	before := read(t, w.GOMOD)
	t.Setenv("GOOS", "js")
	t.Setenv("GOARCH", "wasm")
	if _, err := goCommand(root, "vet", "."); err == nil {
		t.Fatal("the unpatched program compiles for js: this test shows nothing")
	}
	mustBuild(t, w, worldFiles(), worldPatches(), true)
	if _, err := goCommand(root, "build", "-modfile=build/patch/go.mod", "-o", os.DevNull, "."); err != nil {
		t.Error(err)
	}
	if read(t, w.GOMOD) != before {
		t.Error("go.mod was changed")
	}
	mod := filepath.Join(root, "build", "patch", "mod", "example.com", "up")
	if got := read(t, mod, "b", "b.go"); got != strings.Replace(editFile, "before", "after", 1) {
		t.Errorf("edited file: %q", got)
	}
	for _, gone := range []string{"a/unix.go", "a/unix_test.go"} {
		if _, err := os.Lstat(filepath.Join(mod, gone)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there (%v)", gone, err)
		}
	}
	if fi, err := os.Lstat(filepath.Join(mod, "c")); err != nil || fi.Mode().Type() != fs.ModeSymlink {
		t.Errorf("a folder without patches is not a link: %v %v", fi, err)
	}
}

func TestOverlay(t *testing.T) {
	w := newWorld(t)
	mustBuild(t, w, worldFiles(), worldPatches(), true)
	var overlay struct{ Replace map[string]string }
	patchDir := filepath.Join(filepath.Dir(w.GOMOD), "build", "patch")
	if err := json.Unmarshal([]byte(read(t, patchDir, "overlay.json")), &overlay); err != nil {
		t.Fatal(err)
	}
	to := overlay.Replace[filepath.Join(w.GOROOT, "src", "text", "a.go")]
	if len(overlay.Replace) != 1 || read(t, to) != "package text // fast\n" {
		t.Errorf("overlay %v", overlay)
	}
}

func TestUnchangedIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	mustBuild(t, w, worldFiles(), worldPatches(), true)
	stamp := filepath.Join(filepath.Dir(w.GOMOD), "build", "patch", "stamp")
	first, err := os.Stat(stamp)
	if err != nil {
		t.Fatal(err)
	}
	mustBuild(t, w, worldFiles(), worldPatches(), false)
	if again, err := os.Stat(stamp); err != nil || !os.SameFile(first, again) {
		t.Errorf("the folder was made again: %v", err)
	}
}

func TestEveryInputIsInTheStamp(t *testing.T) {
	w := newWorld(t)
	mustBuild(t, w, worldFiles(), worldPatches(), true)

	ours := worldFiles()
	ours["_twins/example.com/up/a/a_js.go"].Data = []byte("package a\n\nconst Name = \"other\"\n")
	mustBuild(t, w, ours, worldPatches(), true)

	list := worldPatches()
	ours["_diffs/example.com/up/b/b.go.diff"].Data = []byte(strings.Replace(editDiff, "after", "later", 1))
	mustBuild(t, w, ours, list, true)

	write(t, w.GOMOD, read(t, w.GOMOD)+"\n// changed\n")
	mustBuild(t, w, ours, list, true)

	w.GOVERSION = "go1.1"
	mustBuild(t, w, ours, list, true)

	defer func(before fs.FS) { program = before }(program)
	program = fstest.MapFS{"build.go": {Data: []byte("package main // changed")}}
	mustBuild(t, w, ours, list, true)

	if err := os.Rename(filepath.Join(w.up, "c"), filepath.Join(w.up, "d")); err != nil {
		t.Fatal(err)
	}
	mustBuild(t, w, ours, list, true) // links led nowhere
	mustBuild(t, w, ours, list, false)
}

// Every file that drifted is named, with what to do, and the folder of before stays.
func TestDriftIsLoud(t *testing.T) {
	w := newWorld(t)
	mustBuild(t, w, worldFiles(), worldPatches(), true)
	write(t, filepath.Join(w.up, "a", "unix.go"), unixFile+"\n// new upstream\n")
	if err := os.Remove(filepath.Join(w.up, "b", "b.go")); err != nil {
		t.Fatal(err)
	}
	write(t, w.GOMOD, read(t, w.GOMOD)+"\n// as raising a version does\n")
	stamp := read(t, filepath.Dir(w.GOMOD), "build", "patch", "stamp")
	_, err := build(w.goEnv, "build/patch", worldFiles(), worldPatches())
	var drift *driftError
	if !errors.As(err, &drift) {
		t.Fatalf("got %v, want a driftError", err)
	}
	for _, want := range []string{
		"a/unix.go in example.com/up", "_twins/example.com/up/a/a_js.go", sumOf(unixFile), sumOf(unixFile + "\n// new upstream\n"),
		"b/b.go in example.com/up", "is gone",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q:\n%v", want, err)
		}
	}
	if read(t, filepath.Dir(w.GOMOD), "build", "patch", "stamp") != stamp {
		t.Error("a failed run changed the folder")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(w.GOMOD), "build", ".patch-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

func TestDiffMustApply(t *testing.T) {
	p := patch{module: "example.com/up", file: "b/b.go", diff: true}
	of := func(diff string) fs.FS { return fstest.MapFS{p.diffPath(): {Data: []byte(diff)}} }
	for name, c := range map[string]struct {
		files fs.FS
		text  string
	}{
		"no diff":        {fstest.MapFS{}, editFile},
		"empty":          {of(""), editFile},
		"torn":           {of(strings.TrimSuffix(editDiff, "+const Name = \"after\"\n")), editFile},
		"another file":   {of(strings.ReplaceAll(editDiff, "b/b.go", "b/c.go")), editFile},
		"renames":        {of("diff --git a/b/b.go b/b/c.go\nrename from b/b.go\nrename to b/c.go\n"), editFile},
		"two files":      {of(editDiff + strings.ReplaceAll(editDiff, "b/b.go", "b/c.go")), editFile},
		"another text":   {of(editDiff), strings.Replace(editFile, "before", "other", 1)},
		"another line":   {of(editDiff), "\n" + editFile},
		"no text at all": {of(editDiff), ""},
	} {
		if got, err := p.changed(c.files, []byte(c.text)); err == nil {
			t.Errorf("%s: no error, and %q", name, got)
		}
	}
	got, err := p.changed(of(editDiff), []byte(editFile))
	if want := strings.Replace(editFile, "before", "after", 1); err != nil || string(got) != want {
		t.Errorf("%q %v", got, err)
	}
}

// A build that runs meanwhile finds the folder whole at any time.
func TestFolderIsNeverGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("two folders can be exchanged in one step on Linux only")
	}
	w := newWorld(t)
	mustBuild(t, w, worldFiles(), worldPatches(), true)
	twin := filepath.Join(filepath.Dir(w.GOMOD), "build/patch/mod/example.com/up/a/a_js.go")
	stop := make(chan struct{})
	looked := make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				close(looked)
				return
			default:
				if _, err := os.Stat(twin); err != nil {
					looked <- err
					return
				}
			}
		}
	}()
	for i := range 5 {
		list := worldPatches()
		list[1].why = fmt.Sprint("run ", i)
		mustBuild(t, w, worldFiles(), list, true)
	}
	close(stop)
	if err := <-looked; err != nil {
		t.Error(err)
	}
}

func TestRunsAtOnce(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for i := range cap(errs) {
		wg.Go(func() {
			list := worldPatches()
			list[1].why = fmt.Sprint("run ", i%2) // two different stamps, so that folders replace one another
			_, err := build(w.goEnv, "build/patch", worldFiles(), list)
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	root := filepath.Dir(w.GOMOD)
	if got := read(t, root, "build/patch/mod/example.com/up/a/a_js.go"); !strings.Contains(got, "twin") {
		t.Errorf("%q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "build", ".patch-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// Another Go is refused if a file differs that is changed, with what to do; what was built with the right one stays.
func TestOtherGo(t *testing.T) {
	w := newWorld(t)
	mustBuild(t, w, worldFiles(), worldPatches(), true)
	w.GOVERSION = "go1.1"
	write(t, filepath.Join(w.GOROOT, "src", "text", "a.go"), "package text // another\n")
	_, err := build(w.goEnv, "build/patch", worldFiles(), worldPatches())
	var other *otherGoError
	if !errors.As(err, &other) || !strings.Contains(err.Error(), "GOTOOLCHAIN="+goVersion) || !strings.Contains(err.Error(), "text/a.go") {
		t.Errorf("got %v, want an otherGoError that names the file and what to do", err)
	}
	if got := read(t, filepath.Dir(w.GOMOD), "build", "patch", "overlay.json"); !strings.Contains(got, "a.go") {
		t.Errorf("overlay %s", got)
	}
}

// A Go with another name and the same files is used.
func TestSameFilesOfAnotherGo(t *testing.T) {
	w := newWorld(t)
	w.GOVERSION = "go1.1"
	mustBuild(t, w, worldFiles(), worldPatches(), true)
	if got := read(t, filepath.Dir(w.GOMOD), "build", "patch", "overlay.json"); !strings.Contains(got, "a.go") {
		t.Errorf("overlay %s", got)
	}
}

// The Makefile builds with the Go that go.mod names.
func TestGoOfTheModule(t *testing.T) {
	if text := read(t, "..", "..", "go.mod"); !strings.Contains(text, "\ntoolchain "+goVersion+"\n") {
		t.Errorf("go.mod has no line toolchain %s", goVersion)
	}
}
