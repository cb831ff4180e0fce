package bash_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

// ash has a shell be busybox's sh, and dash Debian's.
func ash(c *bash.Config)  { c.Name, c.Dialect = "sh", bash.Ash }
func dash(c *bash.Config) { c.Name, c.Dialect = "sh", bash.Dash }

// What the shells print was compared with bash 5.2 and dash 0.5; busybox's echo is as its source says.
func TestEcho(t *testing.T) {
	for _, test := range []struct{ script, bash, ash, dash string }{
		{`echo -en 'a\tb'; echo -ne 'c\n'`, "a\tbc\n", "a\tbc\n", "-en a\tb\n-ne c\n\n"},
		{`echo -nE 'a\tb'; echo -eE 'c\n'`, `a\tbc\n` + "\n", `a\tbc\n` + "\n", "-nE a\tb\n-eE c\n\n"},
		{`echo "a\nb"`, `a\nb` + "\n", `a\nb` + "\n", "a\nb\n"},
		{`echo -n a; echo -n "b\n"; echo`, `ab\n` + "\n", `ab\n` + "\n", "ab\n\n"},
		{`echo -x; echo - a; echo -- a; echo -n -; echo`, "-x\n- a\n-- a\n-\n", "-x\n- a\n-- a\n-\n", "-x\n- a\n-- a\n-\n"},
		{`echo -e 'a\0101b\x41\e[0m\\\q'; echo -e 'x\cy' z; echo .`, "aAbA\x1b[0m\\\\q\nx.\n", "aAbA\x1b[0m\\\\q\nx.\n", "-e aAb\\x41\x1b[0m\\\\q\n-e x.\n"},
		{`echo -e 100% '%s'`, "100% %s\n", "100% %s\n", "-e 100% %s\n"},
		{`echo() { builtin echo mine "$@"; }; echo -n a`, "mine -n a\n", "mine -n a\n", "mine -n a\n"},
	} {
		for i, want := range []string{test.bash, test.ash, test.dash} {
			if got, _ := run(t, []func(*bash.Config){nil, ash, dash}[i], test.script); got != want {
				t.Errorf("%s prints %q in shell %d, want %q", test.script, got, i, want)
			}
		}
	}
}

func TestExecFindsBuiltinsThatArePrograms(t *testing.T) {
	for script, want := range map[string]string{
		`exec echo "a  b"; echo no`:           "a  b\n",
		`exec echo -n a; echo no`:             "a",
		`exec printf '%s-' a 'b c'; echo no`:  "a-b c-",
		`(exec false; echo no); echo $?`:      "1\n",
		`(exec true; echo no); echo $?`:       "0\n",
		`(exec [ a = b ]); echo $?`:           "1\n",
		`(exec test a = a); echo $?`:          "0\n",
		`exec -a name echo a; echo no`:        "a\n",
		`f() { exec echo in f; }; f; echo no`: "in f\n",
		`x=$(exec echo a); echo "$x"`:         "a\n",
		`exec; echo goes on`:                  "goes on\n",
	} {
		if got, _ := run(t, nil, script); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
	if _, ran := run(t, nil, `exec ran a 'b c'`); len(ran) != 1 || ran[0] != "ran a b c" {
		t.Errorf("exec runs %q", ran)
	}
}

// refusing is a shell whose user may not do anything with what has "root" in its name.
func refusing(c *bash.Config) {
	open, files := c.Open, c.Files
	c.Open = func(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
		var err error
		switch {
		case strings.Contains(name, "/root"):
			err = syscall.EACCES
		case strings.HasPrefix(name, "/desk/none/"):
			err = fs.ErrNotExist
		case flag&os.O_CREATE == 0:
			return open(ctx, name, flag, perm)
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	c.Access = func(name string, _ fs.FileMode) error {
		if _, err := files.Stat(name, true); err != nil || !strings.Contains(name, "root") {
			return err
		}
		return syscall.EACCES
	}
}

func TestMessagesAreTheShells(t *testing.T) {
	for _, test := range []struct{ script, bash, sh string }{
		{`echo a > /root; echo $?`, "bash: /root: Permission denied\n1\n", "sh: can't create /root: Permission denied\n1\n"},
		{`ran < nofile; echo $?`, "bash: nofile: No such file or directory\n1\n", "sh: can't open nofile: no such file\n1\n"},
		{`ran > none/file`, "bash: none/file: No such file or directory\n", "sh: can't create none/file: nonexistent directory\n"},
		{`cd rootdir; echo $? $PWD`, "bash: cd: rootdir: Permission denied\n1 /desk\n", "sh: cd: can't cd to rootdir: Permission denied\n1 /desk\n"},
		{`cd none; echo $?`, "bash: cd: none: No such file or directory\n1\n", "sh: cd: can't cd to none: No such file or directory\n1\n"},
		{`cd a.txt`, "bash: cd: a.txt: Not a directory\n", "sh: cd: can't cd to a.txt: Not a directory\n"},
		{`cd a b; echo $?`, "bash: cd: too many arguments\n1\n", "sh: cd: can't cd to a: No such file or directory\n1\n"},
		{`cd -P sub && pwd; cd -- .. && pwd; cd - && cd ""; pwd`, "/desk/sub\n/desk\n/desk/sub\n/desk/sub\n", "/desk/sub\n/desk\n/desk/sub\n/desk/sub\n"},
		{`unset HOME; cd; cd -`, "bash: cd: HOME not set\nbash: cd: OLDPWD not set\n", "sh: cd: HOME not set\nsh: cd: OLDPWD not set\n"},
		{`. ./none; echo $?`, "bash: ./none: No such file or directory\n1\n", "sh: can't open ./none: no such file\n1\n"},
		{`[ -n a = b ] || test ! -a 0 = 0; [ -n = -n ] || [ ! -n = "" ] && [ -n a -a b = b ] && echo yes`,
			"bash: [: too many arguments\nbash: test: too many arguments\nyes\n", "sh: [: too many arguments\nsh: test: too many arguments\nyes\n"},
		{`shift -1`, "bash: shift: -1: shift count out of range\n", "sh: shift: -1: shift count out of range\n"},
	} {
		for i, want := range []string{test.bash, test.sh} {
			change := func(c *bash.Config) {
				c.Files.(tree).MapFS["desk/rootdir/file"] = c.Files.(tree).MapFS["desk/a.txt"]
				refusing(c)
				if i == 1 {
					ash(c)
				}
			}
			if got, _ := run(t, change, test.script+"\n:"); got != want {
				t.Errorf("%s prints %q, want %q", test.script, got, want)
			}
		}
	}
}

// What is not an error of a file ends the script, as before.
func TestErrorsOfTheCallerEndTheScript(t *testing.T) {
	other := errors.New("other")
	defer func() {
		if fault := recover(); fault != nil {
			t.Fatal(fault)
		}
	}()
	runner, err := bash.New(bash.Config{
		Dir: "/", Stdout: io.Discard, Stderr: io.Discard, Jobs: bash.NewProcesses(0).Jobs(), Files: tree{},
		Call: func(_ context.Context, args []string) ([]string, error) { return args, nil },
		Open: func(context.Context, string, int, fs.FileMode) (io.ReadWriteCloser, error) { return nil, other },
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := bash.Parse("true > f", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := bash.Run(t.Context(), runner, file); !errors.Is(err, other) {
		t.Errorf("the error is %v", err)
	}
}

func TestUmask(t *testing.T) {
	var made []fs.FileMode
	change := func(c *bash.Config) {
		c.Open = func(_ context.Context, _ string, _ int, perm fs.FileMode) (io.ReadWriteCloser, error) {
			made = append(made, perm)
			return readOnly{}, &fs.PathError{Err: fs.ErrNotExist}
		}
	}
	got, _ := run(t, change, `umask; umask -S; umask 077; umask; umask -p; (umask 027; umask); umask; umask g=rx; umask; umask 9; (echo) 2> f >/dev/null; :`)
	want := "0022\nu=rwx,g=rx,o=rx\n0077\numask 0077\n0027\n0077\n0027\nbash: umask: `9': invalid symbolic mode operator\nbash: f: No such file or directory\n"
	if got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	if len(made) != 1 || made[0] != 0o640 {
		t.Errorf("a file is made with %v", made)
	}
}

func TestUlimit(t *testing.T) {
	got, _ := run(t, nil, `ulimit -n; ulimit; ulimit -Sn 1024 && ulimit -s; ulimit -nu; ulimit -y; ulimit -n x; ulimit -c unlimited; echo $?`)
	want := `1048576
unlimited
8192
open files                          (-n) 1048576
max user processes                  (-u) unlimited
bash: ulimit: -y: invalid option
bash: ulimit: x: invalid number
0
`
	if got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	if got, _ := run(t, nil, `ulimit -a`); strings.Count(got, "\n") != 16 || !strings.Contains(got, "open files                          (-n) 1048576\n") {
		t.Errorf("ulimit -a prints %q", got)
	}
}
