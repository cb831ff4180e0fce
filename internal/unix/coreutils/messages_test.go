package coreutils_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

// failure returns what a command prints on standard error, and its exit code.
func failure(t *testing.T, stdin string, argv ...string) (string, int) {
	t.Helper()
	var errs bytes.Buffer
	code := coreutils.Lookup(argv[0])(&coreutils.Call{
		Context: t.Context(), System: machine(t), Files: &unixtest.Files{}, Name: argv[0], Args: argv[1:], Dir: t.TempDir(), Stdin: strings.NewReader(stdin), Stdout: &bytes.Buffer{}, Stderr: &errs,
	})
	return errs.String(), code
}

func TestMessagesOfPrograms(t *testing.T) {
	for _, test := range []struct {
		stdin string
		argv  []string
		want  string
		code  int
	}{
		{"a%", []string{"base64", "-d"}, "base64: invalid input\n", 1},
		{"", []string{"ls", "nothing"}, "ls: cannot access 'nothing': No such file or directory\n", 2},
		{"", []string{"tail", "-f", "nothing"}, "tail: can't open 'nothing': No such file or directory\n", 1},
		{"", []string{"df", "nothing"}, "df: nothing: No such file or directory\n", 1},
	} {
		if got, code := failure(t, test.stdin, test.argv...); got != test.want || code != test.code {
			t.Errorf("%q says %q and exits with %d, want %q and %d", test.argv, got, code, test.want, test.code)
		}
	}
}
