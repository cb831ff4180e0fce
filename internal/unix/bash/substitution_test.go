package bash_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/interp"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

// onDisk has the shell run the machine's cat, tr, tee and sed on files of the machine.
func onDisk(t *testing.T) func(*bash.Config) {
	dir, spools := t.TempDir(), 0
	return func(c *bash.Config) {
		c.Dir = dir
		c.Files = machine{}
		c.Spool = func(context.Context) (string, error) {
			spools++
			name := filepath.Join(dir, "fd-"+strconv.Itoa(spools))
			return name, os.WriteFile(name, nil, 0o600)
		}
		c.Open = func(_ context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
			return os.OpenFile(name, flag, perm)
		}
		c.Exec = func(ctx context.Context, args []string) error {
			hc := bash.HandlerCtx(ctx)
			if args[0] == bash.Spool {
				text, err := io.ReadAll(hc.Stdin)
				name, failed := c.Spool(ctx)
				fmt.Fprintln(hc.Stdout, name)
				return errors.Join(err, failed, os.WriteFile(name, text, 0o600))
			}
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = hc.Dir, hc.Stdin, hc.Stdout, hc.Stderr
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				return interp.ExitStatus(exit.ExitCode())
			}
			return err
		}
	}
}

type machine struct{}

func (machine) Stat(name string, follow bool) (fs.FileInfo, error) {
	if follow {
		return os.Stat(name)
	}
	return os.Lstat(name)
}
func (machine) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// The file that stands for >(command) has what was written, the command has the shell's variables and functions, and
// its output is there when the statement has ended. bash prints the same, if it is waited for.
func TestOutputs(t *testing.T) {
	for script, want := range map[string]string{
		`echo hi > >(tr a-z A-Z)`:                                                                      "HI\n",
		`echo hi > >(tr a-z A-Z; echo over); echo on`:                                                  "HI\nover\non\n",
		`f() { sed "s/^/$p/"; }; p=1; echo hi | tee >(f) >(tr a-z A-Z)`:                                "hi\n1hi\nHI\n",
		`x=$(echo a | tee >(tr a b)); echo $x`:                                                         "a b\n",
		`echo a | tee >(tr a b) | tr ab xy`:                                                            "x\ny\n",
		`echo a | tee >(tr a b | tr b c) >(cat <(cat))`:                                                "a\nc\na\n",
		`echo a | tee >(tee >(tr a b) > /dev/null) > /dev/null`:                                        "b\n",
		`while read x; do echo "$x"; done > >(tr a b) <<< aa; { echo a; } 2>&1 > >(cat)`:               "bb\na\n",
		`false > >(cat); echo $?; ! false > >(cat); echo $?; f() { return 3; }; f > >(cat) || echo $?`: "1\n0\n3\n",
		`( { echo a; exit 3; } > >(tr a b); echo no ); true`:                                           "b\n",
		`(echo a; exit 3) > >(tr a b); echo $?`:                                                        "b\n3\n",
		`f() { { echo a; return 4; } > >(tr a b); echo no; }; f; echo $?`:                              "b\n4\n",
		`for i in 1 2 3; do { echo $i; break; } > >(tr 1 x); done; echo $i`:                            "x\n1\n",
		`cd / > >(cat); pwd; x=1; x=2 > >(cat); echo $x`:                                               "/\n2\n",
		`x=1; f() { echo $x; }; x=5 f > >(cat)`:                                                        "5\n",
		`((x = 3)) > >(cat); echo $x; echo a > >(cat) & wait`:                                          "3\na\n",
		`eval 'echo a > >(tr a b)'; echo "a'b" > >(cat)`:                                               "b\na'b\n",
		`f() { [ $1 = 0 ] || { echo $1 > >(cat); f $(($1 - 1)) > >(sed s/^/$1/); }; }; f 2`:            "2\n21\n",
		`set -x; echo a > >(tr a b) 2> /dev/null`:                                                      "+ tr a b\nb\n",
		`( set -e; false > >(cat); echo no ); true`:                                                    "",
		`cat > >(cat > /dev/null; exit 9) << E` + "\na\nE\necho $?":                                    "0\n",
		`echo a >> >(cat); echo b >&2 2> >(cat); echo c &> >(cat)`:                                     "a\nb\nc\n",
	} {
		if got, _ := run(t, onDisk(t), script); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
		if strings.Contains(script, "set -x") {
			continue // each prints the trace of what it runs
		}
		path, err := exec.LookPath("bash")
		if err != nil {
			continue
		}
		// A pipe ends when all who write to it have.
		out, _ := exec.Command(path, "-c", "{ "+script+"\n} | cat").CombinedOutput()
		if sorted(string(out)) != sorted(want) {
			t.Errorf("%s: bash prints %q", script, out)
		}
	}
}

// sorted has the lines of processes that run side by side in an order.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
