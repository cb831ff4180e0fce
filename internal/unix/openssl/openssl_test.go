package openssl

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

const answers = "testdata/openssl.txt"

var update = flag.Bool("update", false, "write to "+answers+" what the openssl of this machine prints, which must be version 3.0")

// TestOpenSSL compares what command lines print, and exit with, with what OpenSSL 3.0 does: testdata has the lines, each with its
// answer. Keys of RSA sign the same in the same way, so that requests are compared to the byte.
func TestOpenSSL(t *testing.T) {
	if *update && !isOurs(t) {
		t.Fatal("this machine has no OpenSSL 3.0")
	}
	machine(t).Compare(answers, *update, inputs)
}

// machine runs openssl beside the other commands.
func machine(t *testing.T) unixtest.Machine {
	return unixtest.Machine{T: t, Lookup: func(name string) func(*coreutils.Call) int {
		if name == "openssl" {
			return Command
		}
		return coreutils.Lookup(name)
	}}
}

// inputs returns a folder with a copy of testdata/files.
func inputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "files"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// isOurs reports whether the openssl of this machine is of the version that this one follows.
func isOurs(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("openssl", "version").Output()
	return err == nil && strings.HasPrefix(string(out), "OpenSSL 3.0.")
}

// call returns a run of openssl with those arguments in a folder.
func call(t *testing.T, dir string, args ...string) (c *coreutils.Call, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &coreutils.Call{Context: t.Context(), System: machine(t), Files: &unixtest.Files{}, Name: "openssl", Args: args, Dir: dir,
		Env: expand.ListEnviron(), Stdin: strings.NewReader(""), Stdout: out, Stderr: errs}, out, errs
}
