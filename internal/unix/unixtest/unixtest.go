// Package unixtest has tests compare the programs of this project with those of the machine.
package unixtest

import (
	"bytes"
	"context"
	"errors"
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

// Machine is a coreutils.System over the files of the operating system.
type Machine struct {
	coreutils.System
	T *testing.T
	// Lookup returns the program of a name, nil if there is none.
	Lookup func(name string) func(*coreutils.Call) int
}

// Compare compares what command lines print, and exit with, with what the machine's programs did: the file has the lines,
// each with its answer. With update, the answers are written anew. Each line is run in a folder that dir makes.
func (m Machine) Compare(file string, update bool, dir func(*testing.T) string) {
	m.T.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		m.T.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n$ ")
	written := strings.TrimRight(head, "\n") + "\n"
	for block := range strings.SplitSeq(rest, "\n$ ") {
		line, want, _ := strings.Cut(strings.TrimRight(block, "\n"), "\n")
		at := dir(m.T)
		if update {
			written += "\n$ " + line + "\n" + m.Theirs(at, line)
			continue
		}
		if diff := cmp.Diff(strings.TrimRight(want, "\n"), strings.TrimRight(m.Ours(at, line), "\n")); diff != "" {
			m.T.Errorf("$ %s\n-theirs +ours\n%s", line, diff)
		}
	}
	if update {
		if err := os.WriteFile(file, []byte(written), 0o644); err != nil {
			m.T.Fatal(err)
		}
	}
}

// Ours returns what a line prints in a folder with the programs of this project.
func (m Machine) Ours(dir, line string) string {
	m.T.Helper()
	var out bytes.Buffer
	code := m.Line(m.T.Context(), dir, line, strings.NewReader(""), &out)
	return answer(out.Bytes(), code)
}

// Theirs returns what a line prints in a folder with the programs of this machine.
func (m Machine) Theirs(dir, line string) string {
	m.T.Helper()
	c := exec.Command("bash", "-c", line)
	c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		m.T.Fatal(err)
	}
	return answer(out, c.ProcessState.ExitCode())
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

// Line runs a command line in a folder, and returns its exit code.
func (m Machine) Line(ctx context.Context, dir, line string, in io.Reader, out io.Writer) int {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		m.T.Fatal(err)
	}
	runner, err := interp.New(interp.Dir(dir), interp.StdIO(in, out, io.Discard), interp.Env(expand.ListEnviron("LC_ALL=C.UTF-8")),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return m.exec }))
	if err != nil {
		m.T.Fatal(err)
	}
	err = runner.Run(ctx, file)
	var status interp.ExitStatus
	if err != nil && !errors.As(err, &status) && ctx.Err() == nil {
		m.T.Fatal(err)
	}
	return int(status)
}

func (m Machine) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	command := m.Lookup(args[0])
	if command == nil {
		return interp.ExitStatus(127)
	}
	var opened Files
	c := &coreutils.Call{Context: ctx, System: m, Files: &opened, Name: args[0], Args: args[1:], Dir: hc.Dir, Env: hc.Env, Stdin: hc.Stdin, Stdout: hc.Stdout, Stderr: hc.Stderr}
	if c.Stdin == nil {
		c.Stdin = strings.NewReader("")
	}
	code := command(c)
	if n := opened.now.Load(); n != 0 {
		m.T.Errorf("%q leaves %d files open", args, n)
	}
	if code != 0 {
		return interp.ExitStatus(code)
	}
	return nil
}

// Run implements coreutils.System.
func (m Machine) Run(c *coreutils.Call, _, argv []string) int {
	var line []string
	for _, arg := range argv {
		word, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			m.T.Fatal(err)
		}
		line = append(line, word)
	}
	return m.Line(c, c.Dir, strings.Join(line, " "), c.Stdin, c.Stdout)
}

// Pause implements coreutils.System.
func (Machine) Pause(c *coreutils.Call, d time.Duration) int {
	select {
	case <-time.After(d):
		return 0
	case <-c.Done():
		return 143
	}
}

// Clock implements coreutils.System.
func (Machine) Clock() clock.WithTickerAndDelayedExecution { return clock.RealClock{} }

// Go implements coreutils.System.
func (Machine) Go(f func()) { go f() }

// Files are those of the operating system, as far as the commands ask for them. It counts those that are open.
type Files struct {
	coreutils.Files
	now atomic.Int32
}

// Open implements coreutils.Files.
func (f *Files) Open(name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	file, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	f.now.Add(1)
	return &openFile{file, f}, nil
}

type openFile struct {
	*os.File
	of *Files
}

// Read reads as much as there is. A read of a device such as /dev/zero is short when a signal comes, and Go's runtime sends
// itself some.
func (f *openFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	if err != nil || n == len(b) {
		return n, err
	}
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return n, nil
	}
	more, err := io.ReadFull(f.File, b[n:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n + more, err
}

// Close implements io.Closer.
func (f *openFile) Close() error {
	f.of.now.Add(-1)
	return f.File.Close()
}

// Stat implements coreutils.Files.
func (*Files) Stat(name string, follow bool) (fs.FileInfo, error) {
	if follow {
		return os.Stat(name)
	}
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return info, err
	}
	to, err := os.Readlink(name)
	return link{info, to}, err
}

// link is a symbolic link.
type link struct {
	fs.FileInfo
	to string
}

// Target is what coreutils.Files asks for.
func (l link) Target() string { return l.to }

// ReadDir implements coreutils.Files.
func (*Files) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Touch implements coreutils.Files.
func (*Files) Touch(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// Symlink implements coreutils.Files.
func (*Files) Symlink(target, name string) error { return os.Symlink(target, name) }

// Mkdir implements coreutils.Files.
func (*Files) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }

// MkdirAll implements coreutils.Files.
func (*Files) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

// ReadFile implements coreutils.Files.
func (*Files) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// WriteFile implements coreutils.Files.
func (*Files) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(name, data, perm)
}

// Remove implements coreutils.Files.
func (*Files) Remove(name string, all bool) error {
	if all {
		return os.RemoveAll(name)
	}
	return os.Remove(name)
}

// Rename implements coreutils.Files.
func (*Files) Rename(from, to string) error { return os.Rename(from, to) }

// Chmod implements coreutils.Files.
func (*Files) Chmod(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }
