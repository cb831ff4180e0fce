package coreutils_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/locked"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

// rotated are files of which one gets a last line and another name just before somebody looks at its name, once what is in it
// has been printed.
type rotated struct {
	*unixtest.Files
	t       *testing.T
	printed *locked.Buffer
	done    bool
}

func (r *rotated) Stat(name string, follow bool) (fs.FileInfo, error) {
	if !r.done && r.printed.String() == "first\n" {
		r.done = true
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			r.t.Error(err)
		} else {
			_, _ = f.WriteString("last\n") // what is not there is not printed
			f.Close()
		}
		if err := os.Rename(name, name+".old"); err != nil {
			r.t.Error(err)
		}
	}
	return r.Files.Stat(name, follow)
}

// ends ends a command that has written something.
type ends context.CancelFunc

func (e ends) Write(b []byte) (int, error) {
	e()
	return len(b), nil
}

func TestTailPrintsWhatWasAddedBeforeARename(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte("first\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out := &locked.Buffer{Most: 1 << 10}
	var errs bytes.Buffer
	files := &rotated{Files: &unixtest.Files{}, t: t, printed: out}
	// It says that the file has become inaccessible, and is ended then.
	coreutils.Lookup("tail")(&coreutils.Call{Context: ctx, System: machine(t), Files: files, Name: "tail", Args: []string{"-F", "log"}, Dir: dir,
		Stdin: strings.NewReader(""), Stdout: out, Stderr: io.MultiWriter(&errs, ends(cancel))})
	if got := out.String(); got != "first\nlast\n" || !strings.Contains(errs.String(), "inaccessible") {
		t.Errorf("prints %q, and says %q", got, errs.String())
	}
}
