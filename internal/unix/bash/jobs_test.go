package bash_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mvdan.cc/sh/v3/interp"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

// withPrograms has a shell know kill and jobs, hang, which runs until it is ended, ended, which waits until a job has, and
// heard, which waits for told.
func withPrograms(c *bash.Config) {
	told := make(chan struct{})
	c.Call = func(_ context.Context, args []string) ([]string, error) {
		if args[0] == "kill" || args[0] == "jobs" { // builtins that the interpreter knows by name
			args = append([]string{"/bin/" + args[0]}, args[1:]...)
		}
		return args, nil
	}
	c.Exec = func(ctx context.Context, args []string) error {
		hc := bash.HandlerCtx(ctx)
		switch args[0] {
		case "hang":
			<-ctx.Done()
			return ctx.Err()
		case "/bin/kill":
			signal, words, err := bash.ParseKill(args[1:])
			if err != nil {
				fmt.Fprintln(hc.Stderr, err)
				return interp.ExitStatus(1)
			}
			for _, word := range words {
				if !c.Jobs.Kill(word, signal) {
					return interp.ExitStatus(1)
				}
			}
		case "/bin/jobs":
			c.Jobs.Show(hc.Stdout, args[1:])
		case "told":
			close(told)
		case "heard":
			<-told
		case "ended":
			<-c.Jobs.Find(args[1]).Done()
		}
		return nil
	}
}

// Each of these prints what bash prints, but for the numbers of processes.
func TestJobs(t *testing.T) {
	for script, want := range map[string]string{
		`echo "<$!>"; true & [ -n "$!" ] && echo "$!"; (exit 3) & echo ${!}; wait $!; echo $?`: "<>\n1\n2\n3\n",
		// A job ends by a signal, each by itself, and wait tells by which.
		`hang & a=$!; hang & b=$!; kill $a; wait $a; echo $?; kill -0 $b && echo on; kill -KILL $b; wait $b; echo $?; kill -0 $b || echo over`: "143\non\n137\nover\n",
		`for i in 1 2 3; do hang & p="$p $!"; done; kill -s INT $p; for i in $p; do wait $i; echo $?; done`:                                    "130\n130\n130\n",
		`hang & kill -CONT $!; kill -STOP $!; kill -0 $! && echo on; kill -1 %1; wait %%; echo $?`:                                             "on\n129\n",
		`while :; do :; done & kill $!; wait $!; echo $?`:                                                                                      "143\n",
		`{ hang; echo no; } & kill $!; wait; echo over`:                                                                                        "over\n",
		`hang | hang & kill $!; wait $!; echo $?`:                                                                                              "143\n",
		`f() { hang & echo "<$!>"; kill $!; wait $!; return $?; }; f; echo $?`:                                                                 "<1>\n143\n",
		`eval 'hang & kill $!'; wait $!; echo $?`:                                                                                              "143\n",
		`trap 'kill $p; wait $p; echo $?' EXIT; hang & p=$!`:                                                                                   "143\n",
		`hang & (kill $!; wait $! || echo $?); wait $!; echo $?`:                                                                               "bash: wait: pid 1 is not a child of this shell\n127\n143\n",
		// What a subshell has begun is its own, and nobody waits for himself.
		`{ hang & echo $!; kill $!; wait; echo in; } & wait; echo out`:  "2\nin\nout\n",
		`(hang & echo "$!"); wait; echo on; kill $(jobs -p); ended %%`:  "1\non\n",
		`hang & hang & kill $(jobs -p); wait; echo $?; wait 1; echo $?`: "0\n143\n",
		// wait -n
		`hang & p=$!; (exit 4) & wait -n; echo $?; kill $p; wait -n $p; echo $?; wait -n; echo $?`: "4\n143\n127\n",
		`wait 77; echo $?; wait %3; echo $?; wait -x; echo $?; kill -X 1; echo $?`: "bash: wait: pid 77 is not a child of this shell\n127\nbash: wait: %3: no such job\n127\n" +
			"bash: wait: -x: invalid option\nwait: usage: wait [-fn] [id ...]\n2\nX: invalid signal specification\n1\n",
		// Lists
		`hang a  b & (exit 2) & ended 2; jobs; kill %hang; ended %1; jobs`: "[1]-  Running                 hang a b &\n[2]+  Exit 2                  (exit 2)\n" +
			"[1]+  Terminated              hang a b\n",
		// A job goes on when what has begun it is ended.
		`{ { told; hang; } & hang; } & heard; kill 1; wait 1; echo $?; kill 2 && ended 2`:                                             "143\n",
		`(exit 3); echo $? & wait; trap 'echo no' EXIT; { trap 'echo bye' EXIT; } & wait; trap - EXIT; set -e; false & wait; echo $?`: "3\nbye\n0\n",
		"{ hang\nhang\n} & jobs; kill %1": "[1]+  Running                 { ... &\n",
		// The names of the programs are nobody's.
		`__begin; __begin "" 0; __job; __job 1; echo on`: "on\n",
		`set -e; false & wait; echo on`:                  "on\n",
	} {
		if got, _ := run(t, withPrograms, script); got != want {
			t.Errorf("%s\nprints %q\nwant   %q", script, got, want)
		}
	}
	got, _ := run(t, withPrograms, `set -x; : & wait`)
	if lines := strings.SplitAfter(got, "\n"); !slices.Equal(slices.Sorted(slices.Values(lines)), []string{"", "+ :\n", "+ wait\n"}) {
		t.Errorf("set -x prints %q", got)
	}
}

// A job that has ended leaves alone what it has begun, also where that has not come to run yet.
func TestJobsOfJobs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 20 {
		if got, _ := run(t, withPrograms, `{ { told; hang; } & } & wait; heard; kill 2 && ended 2; echo on`); got != "on\n" {
			t.Fatalf("prints %q", got)
		}
		// One that is ended takes along what has not come to run: nothing else would.
		if got, _ := run(t, withPrograms, `{ hang & kill 1; } & wait; ended 2; echo on`); got != "on\n" {
			t.Fatalf("prints %q", got)
		}
	}
}

// Who goes on in the place of a shell waits for the jobs that it has begun.
func TestJobsMove(t *testing.T) {
	var out strings.Builder
	c := bash.Config{Dir: "/", Stdout: &out, Stderr: &out, Files: tree{fstest.MapFS{}}, Jobs: bash.NewProcesses(0).Jobs()}
	withPrograms(&c)
	shell, err := bash.New(c)
	if err != nil {
		t.Fatal(err)
	}
	next := shell.Subshell()
	play := func(shell *interp.Runner, script string) {
		file, err := bash.Parse(script, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := bash.Run(t.Context(), shell, file); err != nil {
			t.Fatalf("%s: %v", script, err)
		}
	}
	play(shell, "hang &")
	c.Jobs.Move(shell, next)
	play(next, "kill %1; wait -n; echo $?; jobs")
	if got, want := out.String(), "143\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
}

// A shell that begins jobs for ever remembers so many of them, and statuses of as many more.
func TestJobsAreForgotten(t *testing.T) {
	var jobs *bash.Jobs
	got, _ := run(t, func(c *bash.Config) { withPrograms(c); jobs = c.Jobs },
		`for ((i = 1; i < 4000; i++)); do (exit 5) & ended $!; done; wait 1; echo $?; wait 2500; echo $?; wait 3999; echo $?`)
	if want := "bash: wait: pid 1 is not a child of this shell\n127\n5\n5\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	if n := len(jobs.List()); n > 2049 {
		t.Errorf("%d jobs are remembered", n)
	}
}

// Who begins jobs for ever is told, and the shell goes on.
func TestTooManyJobs(t *testing.T) {
	got, _ := run(t, withPrograms, `for ((i = 0; i < 4096; i++)); do hang & done; hang & echo $? "<$!>"; kill $(jobs -p); wait; true & wait $!; echo $?`)
	if want := "bash: fork: Resource temporarily unavailable\n0 <>\n0\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
}
