package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// job is a command that was started with an ampersand, as long as the shell
// remembers it. Those inside of loops, functions and scripts are the
// interpreter's: they run, and wait waits for them, but they have no number.
type job struct {
	number int
	pid    int    // which no other job of the shell has had
	text   string // as it was typed, without the ampersand
	cancel context.CancelCauseFunc
	done   chan struct{}
	// code and killed are read after done.
	code   int
	killed bool
}

// errKilled is why a job ends at kill.
var errKilled = errors.New("killed")

// firstProcess is one less than the process number of the first job.
const firstProcess = 1000

func (j *job) process() string { return strconv.Itoa(j.pid) }

func (j *job) isDone() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// state is what jobs shows of it.
func (j *job) state() string {
	switch {
	case !j.isDone():
		return "Running"
	case j.killed:
		return "Terminated"
	case j.code != 0:
		return fmt.Sprintf("Exit %d", j.code)
	}
	return "Done"
}

// line is the job in a list of bash's. mark says which one fg takes: the last is +.
func (j *job) line(mark string) string {
	text := j.text
	if !j.isDone() {
		text += " &"
	}
	return fmt.Sprintf("[%d]%s  %-24s%s", j.number, mark, j.state(), text)
}

// inBackground marks the context of a job: the terminal's keys are not for it.
type inBackground struct{}

// start runs a statement that ends with an ampersand.
func (k *session) start(stmt *syntax.Stmt) *job {
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
	ctx, remove := withSpools(context.WithValue(k.life, inBackground{}, true))
	ctx, cancel := context.WithCancelCause(ctx)
	j := &job{number: 1, text: strings.TrimSpace(text), cancel: cancel, done: make(chan struct{})}
	k.mu.Lock()
	for _, other := range k.jobs {
		j.number = max(j.number, other.number+1)
	}
	k.begun++
	j.pid = firstProcess + k.begun
	k.jobs = append(k.jobs, j)
	k.mu.Unlock()
	runner := k.runner.Subshell()
	go func() {
		defer cancel(context.Canceled)
		defer close(j.done)
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
		var status interp.ExitStatus
		switch {
		case errors.Is(context.Cause(ctx), errKilled):
			j.killed, j.code = true, 143
		case errors.As(err, &status):
			j.code = int(status)
		case err != nil:
			j.code = 1
			if fault != nil {
				j.code = coreutils.Aborted
			}
			if ctx.Err() == nil {
				fmt.Fprintf(k.stderr, "bash: %v\n", err)
			}
		}
		k.shell.files.changed()
	}()
	return j
}

// lastJob is the variable that stands for $!, which the interpreter keeps to itself.
const lastJob = "__last_job"

// background starts a job and says so.
func (k *session) background(stmt *syntax.Stmt) {
	j := k.start(stmt)
	if k.tty != nil {
		fmt.Fprintf(k.stderr, "[%d] %s\n", j.number, j.process())
	}
	assign, err := bash.NewParser().Parse(strings.NewReader(lastJob+"="+j.process()), "")
	if err == nil {
		_ = k.runner.Run(context.Background(), assign.Stmts[0]) // an assignment to an ordinary variable
	}
}

// nameLastJob has $! in a statement mean the last job.
func nameLastJob(stmt *syntax.Stmt) {
	syntax.Walk(stmt, func(node syntax.Node) bool {
		if p, ok := node.(*syntax.ParamExp); ok && p.Param != nil && p.Param.Value == "!" {
			p.Param.Value, p.Short = lastJob, false
		}
		return true
	})
}

// notify returns lines for the jobs that have ended since, which are forgotten.
func (k *session) notify() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	for i, j := range k.jobs {
		if j.isDone() {
			b.WriteString(j.line(mark(i, len(k.jobs))) + "\r\n")
		}
	}
	k.forgetLocked((*job).isDone)
	return b.String()
}

func mark(i, n int) string {
	switch i {
	case n - 1:
		return "+"
	case n - 2:
		return "-"
	}
	return " "
}

// endJobs ends those that still run.
func (k *session) endJobs() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, j := range k.jobs {
		j.cancel(context.Canceled)
	}
}

// findJob returns the job that %1, %%, %+, %-, %text or a process number means.
func (k *session) findJob(word string) *job {
	k.mu.Lock()
	defer k.mu.Unlock()
	name, isJob := strings.CutPrefix(word, "%")
	for i, j := range slices.Backward(k.jobs) {
		switch {
		case !isJob && j.process() == word,
			isJob && (name == "" || name == "%" || name == "+") && i == len(k.jobs)-1,
			isJob && name == "-" && i == max(len(k.jobs)-2, 0),
			isJob && strconv.Itoa(j.number) == name:
			return j
		}
		if _, err := strconv.Atoi(name); isJob && err != nil && name != "" && strings.HasPrefix(j.text, name) {
			return j
		}
	}
	return nil
}

func (k *session) forget(gone *job) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgetLocked(func(j *job) bool { return j == gone })
}

// forgetLocked forgets jobs, but for what wait is to return for them.
func (k *session) forgetLocked(is func(*job) bool) {
	k.jobs = slices.DeleteFunc(k.jobs, func(j *job) bool {
		if !is(j) {
			return false
		}
		if j.isDone() {
			if k.codes == nil {
				k.codes = map[string]int{}
			}
			k.codes[j.process()] = j.code
		}
		return true
	})
}

// forgotten returns the code of a job that has ended and been forgotten.
func (k *session) forgotten(process string) (code int, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	code, ok = k.codes[process]
	return code, ok
}

func (k *session) listJobs(c *coreutils.Call) int {
	k.mu.Lock()
	jobs := slices.Clone(k.jobs)
	k.mu.Unlock()
	for i, j := range jobs {
		if len(c.Args) > 0 && c.Args[0] == "-p" {
			fmt.Fprintln(c.Stdout, j.process())
			continue
		}
		fmt.Fprintln(c.Stdout, j.line(mark(i, len(jobs))))
		if j.isDone() {
			k.forget(j)
		}
	}
	return 0
}

// foreground is fg: ^C then ends the job.
func (k *session) foreground(c *coreutils.Call) int {
	j := k.namedJob(c)
	if j == nil {
		return 1
	}
	fmt.Fprintln(c.Stdout, j.text)
	defer k.forget(j)
	select {
	case <-j.done:
		return j.code
	case <-c.Done():
		j.cancel(context.Cause(c))
		<-j.done
		return kubectl.Interrupted
	}
}

// namedJob is the job that c names, or the current one; nil when c has been told
// that there is none.
func (k *session) namedJob(c *coreutils.Call) *job {
	word := ""
	if len(c.Args) > 0 {
		word = c.Args[0]
	}
	j := k.findJob(cmp.Or(word, "%+"))
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
	fmt.Fprintf(c.Stderr, "bash: bg: job %d already in background\n", j.number)
	return 0
}

// waitFor is wait with jobs named.
func (k *session) waitFor(c *coreutils.Call) int {
	code := 0
	for _, word := range c.Args {
		j := k.findJob(word)
		if j == nil {
			earlier, ok := k.forgotten(word)
			switch {
			case ok:
				code = earlier
				continue
			case strings.HasPrefix(word, "%"):
				k.noJob(c, word)
			default:
				fmt.Fprintf(c.Stderr, "bash: wait: pid %s is not a child of this shell\n", word)
			}
			code = 127
			continue
		}
		select {
		case <-j.done:
			code = j.code
			k.forget(j)
		case <-c.Done():
			return kubectl.Interrupted
		}
	}
	return code
}

// waitForAll returns when all jobs have ended, or ctx has.
func (k *session) waitForAll(ctx context.Context) {
	k.mu.Lock()
	jobs := slices.Clone(k.jobs)
	k.mu.Unlock()
	for _, j := range jobs {
		select {
		case <-j.done:
			k.forget(j)
		case <-ctx.Done():
			return
		}
	}
}

// kill ends jobs. All signals do, but 0, which only asks.
func (k *session) kill(c *coreutils.Call) int {
	args, ask := c.Args, false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		ask = args[0] == "-0"
		if (args[0] == "-s" || args[0] == "-n") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(c.Stderr, "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]")
		return 2
	}
	code := 0
	for _, word := range args {
		j := k.findJob(word)
		switch {
		case j == nil && strings.HasPrefix(word, "%"):
			code = k.noJob(c, word)
		case j == nil || j.isDone():
			fmt.Fprintf(c.Stderr, "bash: kill: (%s) - No such process\n", word)
			code = 1
		case !ask:
			j.cancel(errKilled)
		}
	}
	return code
}
