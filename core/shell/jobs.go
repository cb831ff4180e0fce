package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// What a line puts into the background lasts longer than the line. What stands before an ampersand within a loop, a
// function or a script is package bash's, and ends with the line at the latest.

// firstProcess is one less than the process number of the first job.
const firstProcess = 1000

// start runs a statement that ends with an ampersand. It returns nil where too much runs.
func (k *session) start(stmt *syntax.Stmt) *bash.Job {
	alone := *stmt
	alone.Background = false
	// A job without a name is still one.
	text, _ := absent.Attempt(func() string {
		var text strings.Builder
		var err error
		if fault := coreutils.Survive(func() { err = syntax.NewPrinter(syntax.SingleLine(true)).Print(&text, &alone) }); fault != nil || err != nil {
			return ""
		}
		return text.String()
	})
	j := k.jobs.Begin(k.runner, strings.TrimSpace(text))
	if j == nil {
		return nil
	}
	ctx, remove := withSpools(k.life)
	ctx, end := j.Attach(ctx)
	runner := k.runner.Subshell()
	go func() {
		status := coreutils.Aborted
		defer func() { end(status) }()
		defer remove()
		ctx, done := withBudget(ctx, k.stderr)
		defer done()
		err, fault := attend(ctx, linePatience, func() error {
			defer ownedByLine(ctx)()
			defer endsWith(ctx)()
			return bash.Run(coreutils.Stepwise(ctx), runner, &alone)
		})
		if fault != nil {
			err = cmp.Or(ctx.Err(), fault)
		}
		var exit interp.ExitStatus
		switch {
		case err == nil:
			status = 0
		case errors.As(err, &exit):
			status = int(exit)
		default:
			if fault == nil {
				status = 1
			}
			if ctx.Err() == nil {
				fmt.Fprintf(k.stderr, "bash: %v\n", err)
			}
		}
		k.shell.files.changed()
	}()
	return j
}

// background starts a job and says so.
func (k *session) background(stmt *syntax.Stmt) {
	j := k.start(stmt)
	if j == nil {
		fmt.Fprintln(k.stderr, "bash: fork: Resource temporarily unavailable")
		return
	}
	if k.tty != nil {
		fmt.Fprintf(k.stderr, "[%d] %s\n", j.Number, j)
	}
	assign, err := bash.NewParser().Parse(strings.NewReader(bash.LastJob+"="+j.String()), "")
	if err == nil {
		_ = k.runner.Run(context.Background(), assign.Stmts[0]) // an assignment to an ordinary variable
	}
}

// notify returns lines for the jobs that have ended since, which are forgotten.
func (k *session) notify() string {
	var b strings.Builder
	var ended []*bash.Job
	for _, j := range k.jobs.List() {
		if j.IsDone() {
			b.WriteString(j.Line() + "\r\n")
			ended = append(ended, j)
		}
	}
	k.jobs.Forget(ended...)
	return b.String()
}

// endJobs ends those that still run.
func (k *session) endJobs() {
	for _, j := range k.jobs.List() {
		j.Kill("HUP")
	}
}

func (k *session) listJobs(c *coreutils.Call) int {
	k.jobs.Show(c.Stdout, c.Args)
	return 0
}

// foreground is fg: ^C then ends the job.
func (k *session) foreground(c *coreutils.Call) int {
	j := k.namedJob(c)
	if j == nil {
		return 1
	}
	fmt.Fprintln(c.Stdout, j.Text)
	defer k.jobs.Forget(j)
	select {
	case <-j.Done():
		return j.Status()
	case <-c.Done():
		j.Kill("INT")
		<-j.Done()
		return kubectl.Interrupted
	}
}

// namedJob is the job that c names, or the current one; nil when c has been told
// that there is none.
func (k *session) namedJob(c *coreutils.Call) *bash.Job {
	word := ""
	if len(c.Args) > 0 {
		word = c.Args[0]
	}
	j := k.jobs.Find(cmp.Or(word, "%+"))
	if j == nil {
		k.noJob(c, word)
	}
	return j
}

// noJob says that there is none, and returns the exit code for that.
func (k *session) noJob(c *coreutils.Call, word string) int {
	if word == "" {
		word = "current"
	}
	fmt.Fprintf(c.Stderr, "bash: %s: %s: no such job\n", c.Name, word)
	return 1
}

// resume is bg: nothing stops a job here, so that there is nothing to resume.
func (k *session) resume(c *coreutils.Call) int {
	j := k.namedJob(c)
	if j == nil {
		return 1
	}
	fmt.Fprintf(c.Stderr, "bash: bg: job %d already in background\n", j.Number)
	return 0
}

// kill sends signals to jobs, and to what else the shells of this machine have in the background.
func (k *session) kill(c *coreutils.Call) int {
	signal, words, err := bash.ParseKill(c.Args)
	if err != nil {
		fmt.Fprintf(c.Stderr, "bash: kill: %v\n", err)
		return 1
	}
	if signal == "l" {
		fmt.Fprintln(c.Stdout, strings.Join(coreutils.SignalNames(), " "))
		return 0
	}
	if len(words) == 0 {
		fmt.Fprintln(c.Stderr, "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]")
		return 2
	}
	code := 0
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, "%") && k.jobs.Find(word) == nil:
			code = k.noJob(c, word)
		case !k.jobs.Kill(word, signal):
			fmt.Fprintf(c.Stderr, "bash: kill: (%s) - No such process\n", word)
			code = 1
		}
	}
	return code
}

// pkill is also pgrep and killall, among what the shells of this machine have in the background.
func (k *session) pkill(c *coreutils.Call) int { return bash.Pkill(c, k.processes.Processes(), true) }
