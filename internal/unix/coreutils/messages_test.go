package coreutils_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

// failure returns what a command prints on standard error, and its exit code.
func failure(t *testing.T, of coreutils.Userland, stdin string, argv ...string) (string, int) {
	t.Helper()
	var errs bytes.Buffer
	code := coreutils.Lookup(argv[0])(&coreutils.Call{
		Context: t.Context(), System: machine(t), Userland: of, Files: &unixtest.Files{}, Name: argv[0], Args: argv[1:], Dir: t.TempDir(), Stdin: strings.NewReader(stdin), Stdout: &bytes.Buffer{}, Stderr: &errs,
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
		{"", []string{"tail", "-f", "nothing"}, "tail: cannot open 'nothing' for reading: No such file or directory\n", 1},
		{"", []string{"mkdir", "no/x"}, "mkdir: cannot create directory 'no/x': No such file or directory\n", 1}, // the locale has no other quotes
		{"", []string{"tar", "cf", "/dev/null", "/no", "/no2"}, "tar: Removing leading `/' from member names\ntar: /no: Cannot stat: No such file or directory\n" +
			"tar: /no2: Cannot stat: No such file or directory\ntar: Exiting with failure status due to previous errors\n", 2},
		{"", []string{"tar", "xf", "-", "-C", "/nodir"}, "tar: /nodir: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now\n", 2},
		{"", []string{"df", "nothing"}, "df: nothing: No such file or directory\n", 1},
	} {
		if got, code := failure(t, coreutils.GNU, test.stdin, test.argv...); got != test.want || code != test.code {
			t.Errorf("%q says %q and exits with %d, want %q and %d", test.argv, got, code, test.want, test.code)
		}
	}
}

// What is wanted is what busybox 1.35 says, with the options of an image with musl.
func TestMessagesOfBusybox(t *testing.T) {
	const usage = "BusyBox v1.36.1 (2024-09-26 21:31:42 UTC) multi-call binary.\n\nUsage: "
	for _, test := range []struct {
		line, want string
		code       int
	}{
		{"ls no", "ls: no: No such file or directory\n", 1},
		{"cat no", "cat: can't open 'no': No such file or directory\n", 1},
		{"cat /", "cat: read error: Is a directory\n", 1},
		{"head no", "head: no: No such file or directory\n", 1},
		{"tail no", "tail: can't open 'no': No such file or directory\n", 1},
		{"wc no", "wc: no: No such file or directory\n", 1},
		{"sort no", "sort: no: No such file or directory\n", 2},
		{"md5sum no", "md5sum: can't open 'no': No such file or directory\n", 1},
		{"grep a no", "grep: no: No such file or directory\n", 2},
		{"rm no", "rm: can't remove 'no': No such file or directory\n", 1},
		{"rm /", "rm: '/' is a directory\n", 1},
		{"rm", usage + "rm [-irf] FILE...\n", 1},
		{"rm -f", "", 0},
		{"rmdir no", "rmdir: 'no': No such file or directory\n", 1},
		{"mkdir no/x", "mkdir: can't create directory 'no/x': No such file or directory\n", 1},
		{"mkdir", usage + "mkdir [-m MODE] [-p] DIRECTORY...\n", 1},
		{"cp no x", "cp: can't stat 'no': No such file or directory\n", 1},
		{"cp / x", "cp: omitting directory '/'\n", 1},
		{"mv no x", "mv: can't rename 'no': No such file or directory\n", 1},
		{"touch no/x", "touch: no/x: No such file or directory\n", 1},
		{"ln -s a no/x", "ln: no/x: No such file or directory\n", 1},
		{"chmod 644 no", "chmod: no: No such file or directory\n", 1},
		{"chmod zz .", "chmod: invalid mode 'zz'\n", 1},
		{"chown nouser .", "chown: unknown user nouser\n", 1},
		{"stat no", "stat: can't stat 'no': No such file or directory\n", 1},
		{"find no", "find: no: No such file or directory\n", 1},
		{"du no", "du: no: No such file or directory\n", 1},
		{"sleep x", "sleep: invalid number 'x'\n", 1},
		{"sleep", usage + "sleep [N]...\n", 1},
		{"head -c x", "head: invalid number 'x'\n", 1},
		{"tar cf /dev/null /no", "tar: removing leading '/' from member names\ntar: /no: No such file or directory\ntar: error exit delayed from previous errors\n", 1},
		{"tar xf - -C /nodir", "tar: can't change directory to '/nodir': No such file or directory\n", 1},
		{"date -d nonsense", "date: invalid date 'nonsense'\n", 1},
		{"ls -Z", "ls: unrecognized option: Z\n" + usage + "ls [-1AaCxdLHRFplinshrSXvctu] [-w WIDTH] [FILE]...\n", 1},
		{"cat --help", usage + "cat [-nbvteA] [FILE]...\n", 0},
	} {
		if got, code := failure(t, coreutils.Busybox, "", strings.Fields(test.line)...); got != test.want || code != test.code {
			t.Errorf("%s says %q and exits with %d, want %q and %d", test.line, got, code, test.want, test.code)
		}
	}
}
