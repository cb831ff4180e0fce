package coreutils_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

const answers = "testdata/gnu.txt"

var update = flag.Bool("update", false, "write to "+answers+" what the programs of this machine print, which must be GNU's and util-linux's")

// TestGNU compares what the commands print, and exit with, with what GNU's do:
// testdata has command lines, each with its answer.
func TestGNU(t *testing.T) {
	text, err := os.ReadFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n$ ")
	written := strings.TrimRight(head, "\n") + "\n"
	for block := range strings.SplitSeq(rest, "\n$ ") {
		line, want, _ := strings.Cut(strings.TrimRight(block, "\n"), "\n")
		dir := t.TempDir()
		if *update {
			written += "\n$ " + line + "\n" + theirs(t, dir, line)
			continue
		}
		if diff := cmp.Diff(strings.TrimRight(want, "\n"), strings.TrimRight(ours(t, dir, line), "\n")); diff != "" {
			t.Errorf("$ %s\n-GNU's +ours\n%s", line, diff)
		}
	}
	if *update {
		if err := os.WriteFile(answers, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// answer is a block's text. A last line without its end is marked.
func answer(out []byte, code int) string {
	text := string(out)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "[no newline]\n"
	}
	if code != 0 {
		text += fmt.Sprintf("[exit %d]\n", code)
	}
	return text
}

func theirs(t *testing.T, dir, line string) string {
	t.Helper()
	c := exec.Command("bash", "-c", line)
	c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return answer(out, c.ProcessState.ExitCode())
}

func ours(t *testing.T, dir, line string) string {
	t.Helper()
	var out bytes.Buffer
	code := machine{t: t}.run(t.Context(), dir, line, strings.NewReader(""), &out)
	return answer(out.Bytes(), code)
}

// machine is a coreutils.System over the files of the operating system.
type machine struct {
	coreutils.System
	t *testing.T
}

func (m machine) run(ctx context.Context, dir, line string, in io.Reader, out io.Writer) int {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		m.t.Fatal(err)
	}
	runner, err := interp.New(interp.Dir(dir), interp.StdIO(in, out, io.Discard), interp.Env(expand.ListEnviron()),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return m.exec }))
	if err != nil {
		m.t.Fatal(err)
	}
	err = runner.Run(ctx, file)
	var status interp.ExitStatus
	if err != nil && !errors.As(err, &status) {
		m.t.Fatal(err)
	}
	return int(status)
}

func (m machine) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	command := coreutils.Lookup(args[0])
	if command == nil {
		return interp.ExitStatus(127)
	}
	var opened files
	c := &coreutils.Call{Context: ctx, System: m, Files: &opened, Name: args[0], Args: args[1:], Dir: hc.Dir, Env: hc.Env, Stdin: hc.Stdin, Stdout: hc.Stdout, Stderr: hc.Stderr}
	if c.Stdin == nil {
		c.Stdin = strings.NewReader("")
	}
	code := command(c)
	if n := opened.now.Load(); n != 0 {
		m.t.Errorf("%q leaves %d files open", args, n)
	}
	if code != 0 {
		return interp.ExitStatus(code)
	}
	return nil
}

func (m machine) Run(c *coreutils.Call, _, argv []string) int {
	var line []string
	for _, arg := range argv {
		word, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			m.t.Fatal(err)
		}
		line = append(line, word)
	}
	return m.run(c, c.Dir, strings.Join(line, " "), c.Stdin, c.Stdout)
}

func (machine) Clock() clock.WithTickerAndDelayedExecution { return clock.RealClock{} }

// files are those of the operating system, as far as the commands ask for them. It counts those that are open.
type files struct {
	coreutils.Files
	now atomic.Int32
}

func (f *files) Open(name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	file, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	f.now.Add(1)
	return &openFile{file, f}, nil
}

type openFile struct {
	*os.File
	of *files
}

func (f *openFile) Close() error {
	f.of.now.Add(-1)
	return f.File.Close()
}

func (*files) Stat(name string, follow bool) (fs.FileInfo, error) {
	if follow {
		return os.Stat(name)
	}
	return os.Lstat(name)
}
func (*files) ReadDir(name string) ([]fs.DirEntry, error)   { return os.ReadDir(name) }
func (*files) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (*files) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (*files) ReadFile(name string) ([]byte, error)         { return os.ReadFile(name) }
func (*files) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(name, data, perm)
}

func (*files) Remove(name string, all bool) error {
	if all {
		return os.RemoveAll(name)
	}
	return os.Remove(name)
}

// What watches print must not wait for their end.
func TestFiltersPassOnWhatHasCome(t *testing.T) {
	for _, argv := range [][]string{
		{"cut", "-c1-5"}, {"tr", "a-z", "A-Z"}, {"nl"}, {"rev"}, {"grep", "."}, {"sed", "s/a/b/"}, {"uniq", "-c"}, {"cat", "-n"}, {"tail", "-n", "+1"}, {"paste", "-", "-"},
	} {
		t.Run(argv[0], func(t *testing.T) {
			in, feed := io.Pipe()
			out := make(lines, 10)
			done := make(chan int)
			go func() {
				done <- coreutils.Lookup(argv[0])(&coreutils.Call{Context: t.Context(), System: machine{t: t}, Files: &files{}, Name: argv[0], Args: argv[1:], Stdin: in, Stdout: out, Stderr: io.Discard})
			}()
			for _, text := range []string{"one\n", "two\n", "three\n"} {
				if _, err := io.WriteString(feed, text); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-out:
			case <-time.After(time.Minute):
				t.Error("nothing comes while there may be more")
			}
			if err := feed.Close(); err != nil {
				t.Fatal(err)
			}
			if code := <-done; code != 0 {
				t.Errorf("exits with %d", code)
			}
		})
	}
}

// lines takes what is written.
type lines chan []byte

func (l lines) Write(b []byte) (int, error) {
	l <- bytes.Clone(b)
	return len(b), nil
}
