package bash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/interp"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Processes are what the shells of one machine have put into the background, by process number. Its methods are safe for
// concurrent use.
type Processes struct {
	mu    sync.Mutex
	last  int          // the number of the one that began last
	known map[int]*Job // that run, or have ended since the last sweep
	swept int          // how many were known after it
}

// NewProcesses returns an empty table, whose first process gets the number after last.
func NewProcesses(last int) *Processes { return &Processes{last: last, known: map[int]*Job{}} }

// Number returns a number for a process that is none of the table's: no other gets it.
func (p *Processes) Number() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	return p.last
}

// Running returns those that have not ended, in the order of their begin.
func (p *Processes) Running() []*Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	var running []*Job
	for _, number := range slices.Sorted(maps.Keys(p.known)) {
		if job := p.known[number]; !job.IsDone() {
			running = append(running, job)
		}
	}
	return running
}

// Find returns the process of a number that has not ended, or nil.
func (p *Processes) Find(number string) *Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := strconv.Atoi(number)
	if job := p.known[n]; err == nil && job != nil && !job.IsDone() {
		return job
	}
	return nil
}

// mostProcesses is how many run in the background of one machine: as with the limit on processes of a real one, who has a
// shell call itself for ever is told before the memory ends.
const mostProcesses = 4096

// admitLocked reports whether there may be one more.
func (p *Processes) admitLocked() bool {
	if len(p.known) >= min(2*p.swept+most, mostProcesses) {
		maps.DeleteFunc(p.known, func(_ int, job *Job) bool { return job.IsDone() })
		p.swept = len(p.known)
	}
	return len(p.known) < mostProcesses
}

// Jobs are what one shell with its subshells has put into the background. Its methods are safe for concurrent use.
type Jobs struct {
	processes *Processes
	// Guarded by processes.mu:
	list      []*Job  // in the order of their begin and of their numbers, until they are forgotten
	most      int     // of list, before those that have ended are counted
	forgotten []ended // whose statuses wait still returns
}

// ended is what remains of a job.
type ended struct{ process, status int }

// most is how many jobs that have ended a shell remembers, and how many statuses of others.
const most = 1024

// Jobs returns the jobs of a shell that has none yet.
func (p *Processes) Jobs() *Jobs { return &Jobs{processes: p} }

// Job is a command that was started with an ampersand.
type Job struct {
	Number  int    // which no other job has that its shell remembers
	Process int    // which no other job of the machine has had
	Text    string // as it was typed, without the ampersand, or the first line of it

	jobs   *Jobs
	script string // that the interpreter is to run; empty for a job of Begin
	before int    // $? when it began
	parent *Job   // that has begun it, if one has
	done   chan struct{}

	// Guarded by processes.mu:
	shell    *interp.Runner // that waits for it: the shell itself, or a subshell
	attached bool
	pending  int // jobs that it has begun, and that have not attached
	cancel   context.CancelCauseFunc
	stop     func() bool // has nobody end it when what has begun it is ended
	status   int         // after done
	signal   int         // that has ended it; zero is for none
}

// Begin notes a job of shell, the one of New or a subshell of it. It runs from [Job.Attach] on. Text is its command. It
// returns nil where there are too many.
func (j *Jobs) Begin(shell *interp.Runner, text string) *Job {
	p := j.processes
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.admitLocked() {
		return nil
	}
	p.last++
	job := &Job{Number: 1, Process: p.last, Text: text, jobs: j, shell: shell, done: make(chan struct{})}
	if n := len(j.list); n > 0 {
		job.Number = j.list[n-1].Number + 1
	}
	if len(j.list) > max(j.most, 2*most) {
		over := -most // to be forgotten
		for _, other := range j.list {
			if other.IsDone() {
				over++
			}
		}
		j.forgetLocked(func(*Job) bool { over--; return over >= 0 })
		j.most = 2 * len(j.list)
	}
	j.list = append(j.list, job)
	p.known[job.Process] = job
	return job
}

// errKilled is why the context of a job ends at a signal.
var errKilled = errors.New("killed")

// Attach returns the context that the job's command is to run in, which ends when the job is killed, and with ctx, or with
// the context of the shell if ctx is of another job: that one may end before. Whoever has attached calls end with the
// command's exit status when it has ended.
func (j *Job) Attach(ctx context.Context) (_ context.Context, end func(status int)) {
	shell := ctx
	if in, ok := ctx.Value(inJob{}).(inside); ok {
		shell = in.shell
	}
	ctx, cancel := context.WithCancelCause(shell)
	p := j.jobs.processes
	p.mu.Lock()
	defer p.mu.Unlock()
	j.attached, j.cancel = true, cancel
	j.begunLocked()
	if j.signal != 0 {
		cancel(errKilled)
	}
	return context.WithValue(ctx, inJob{}, inside{shell, j}), j.end
}

// begunLocked says that the job needs the context of what has begun it no more.
func (j *Job) begunLocked() {
	if j.stop != nil {
		j.stop()
	}
	if j.parent != nil {
		j.parent.pending--
		j.parent.releaseLocked()
		j.parent = nil
	}
}

// releaseLocked ends the context of a job that has ended. The interpreter takes it for jobs that it begins, so that these have
// to have begun.
func (j *Job) releaseLocked() {
	if j.IsDone() && j.pending == 0 && j.cancel != nil {
		j.cancel(context.Canceled)
	}
}

func (j *Job) end(status int) {
	j.jobs.processes.mu.Lock()
	defer j.jobs.processes.mu.Unlock()
	j.endLocked(status)
}

func (j *Job) endLocked(status int) {
	if j.status = status; j.signal != 0 {
		j.status = 128 + j.signal
	}
	j.script = "" // a long one would be remembered with the job
	close(j.done)
	j.releaseLocked()
}

// inJob is the key of inside, in the context of a job.
type inJob struct{}

type inside struct {
	shell context.Context
	job   *Job
}

// InJob reports whether ctx is that of a command in the background.
func InJob(ctx context.Context) bool { return ctx.Value(inJob{}) != nil }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// IsDone reports whether the job has ended.
func (j *Job) IsDone() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Status is the exit status of a job that has ended: 128 and the number of the signal if one has ended it.
func (j *Job) Status() int {
	j.jobs.processes.mu.Lock()
	defer j.jobs.processes.mu.Unlock()
	return j.status
}

// harmless are signals that end nothing. A job cannot be stopped, and goes on without SIGCONT.
var harmless = []string{"CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "WINCH", "0"}

// IsHarmless reports whether a signal of [Signal] ends nothing.
func IsHarmless(signal string) bool { return slices.Contains(harmless, signal) }

// Kill sends a signal of [Signal], of which "0" only asks. It reports whether the job has not ended yet.
func (j *Job) Kill(signal string) bool {
	p := j.jobs.processes
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.IsDone() {
		return false
	}
	if number, ok := coreutils.SignalNumber(signal); ok && !IsHarmless(signal) && j.signal == 0 {
		j.signal = number
		if j.cancel != nil {
			j.cancel(errKilled)
		}
	}
	return true
}

// State is what the builtin jobs shows.
func (j *Job) State() string {
	if !j.IsDone() {
		return "Running"
	}
	j.jobs.processes.mu.Lock()
	defer j.jobs.processes.mu.Unlock()
	switch {
	case j.signal != 0:
		return causes[j.signal]
	case j.status != 0:
		return fmt.Sprintf("Exit %d", j.status)
	}
	return "Done"
}

// causes are how bash names what signals end.
var causes = map[int]string{1: "Hangup", 2: "Interrupt", 3: "Quit", 6: "Aborted", 9: "Killed", 10: "User defined signal 1",
	12: "User defined signal 2", 13: "Broken pipe", 14: "Alarm clock", 15: "Terminated"}

// Line is the job in a list of the builtin jobs.
func (j *Job) Line() string {
	text := j.Text
	if !j.IsDone() {
		text += " &"
	}
	return fmt.Sprintf("[%d]%s  %-24s%s", j.Number, j.jobs.mark(j), j.State(), text)
}

// mark returns what a list has beside a job: + for the last one, - for the one before it.
func (j *Jobs) mark(job *Job) string {
	j.processes.mu.Lock()
	defer j.processes.mu.Unlock()
	switch n := len(j.list); {
	case n > 0 && j.list[n-1] == job:
		return "+"
	case n > 1 && j.list[n-2] == job:
		return "-"
	}
	return " "
}

// Kill sends a signal of [Signal] to the job that Find finds, or to a process of another shell. It reports whether there is
// one.
func (j *Jobs) Kill(word, signal string) bool {
	job := j.Find(word)
	if job == nil {
		job = j.processes.Find(word)
	}
	return job != nil && job.Kill(signal)
}

// Show is the builtin jobs: it lists the jobs, or with -p their process numbers. Those whose end it tells are forgotten.
func (j *Jobs) Show(w io.Writer, args []string) {
	list, numbers := j.List(), slices.Contains(args, "-p")
	var ended []*Job
	for _, job := range list {
		if numbers {
			fmt.Fprintln(w, job)
			continue
		}
		if job.IsDone() {
			ended = append(ended, job)
		}
		fmt.Fprintln(w, job.Line())
	}
	j.Forget(ended...)
}

// List returns the jobs that the shell remembers, in the order of their begin.
func (j *Jobs) List() []*Job {
	j.processes.mu.Lock()
	defer j.processes.mu.Unlock()
	return slices.Clone(j.list)
}

// Find returns the job that %1, %%, %+, %-, %text or a process number means; nil if there is none.
func (j *Jobs) Find(word string) *Job {
	name, isJob := strings.CutPrefix(word, "%")
	if !isJob {
		j.processes.mu.Lock()
		defer j.processes.mu.Unlock()
		number, err := strconv.Atoi(word)
		at, found := slices.BinarySearchFunc(j.list, number, func(job *Job, number int) int { return job.Process - number })
		if err != nil || !found {
			return nil
		}
		return j.list[at]
	}
	list := j.List()
	number, err := strconv.Atoi(name)
	for i, job := range slices.Backward(list) {
		switch {
		case (name == "" || name == "%" || name == "+") && i == len(list)-1,
			name == "-" && i == max(len(list)-2, 0),
			err == nil && job.Number == number,
			err != nil && name != "" && strings.HasPrefix(job.Text, name):
			return job
		}
	}
	return nil
}

// Move has shell wait for the jobs of another one, in whose place it goes on.
func (j *Jobs) Move(from, to *interp.Runner) {
	j.processes.mu.Lock()
	defer j.processes.mu.Unlock()
	for _, job := range j.list {
		if job.shell == from {
			job.shell = to
		}
	}
}

// of returns those of one shell.
func (j *Jobs) of(shell *interp.Runner) []*Job {
	j.processes.mu.Lock()
	defer j.processes.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.list), func(job *Job) bool { return job.shell != shell })
}

// Forget forgets jobs that have ended, but for what wait is to return for them.
func (j *Jobs) Forget(gone ...*Job) {
	j.processes.mu.Lock()
	defer j.processes.mu.Unlock()
	among := make(map[*Job]bool, len(gone)) // a fork bomb leaves thousands
	for _, job := range gone {
		among[job] = true
	}
	j.forgetLocked(func(job *Job) bool { return among[job] })
}

func (j *Jobs) forgetLocked(is func(*Job) bool) {
	j.list = slices.DeleteFunc(j.list, func(job *Job) bool {
		if !job.IsDone() || !is(job) {
			return false
		}
		j.forgotten = append(j.forgotten, ended{job.Process, job.status})
		return true
	})
	j.forgotten = j.forgotten[max(0, len(j.forgotten)-most):]
}

// statusOf returns the status of a job that has ended and been forgotten.
func (j *Jobs) statusOf(process string) (status int, ok bool) {
	j.processes.mu.Lock()
	defer j.processes.mu.Unlock()
	for _, was := range j.forgotten {
		if strconv.Itoa(was.process) == process {
			return was.status, true
		}
	}
	return 0, false
}

// String is the process number, as $! has it.
func (j *Job) String() string { return strconv.Itoa(j.Process) }

// LastJob is the variable that stands for $!: the interpreter's own is a name such as g1, which only its wait knows.
const LastJob = "__last_job"

// What stands before an ampersand is run by two programs: begin notes the job and sets LastJob, and runs runs it on the
// interpreter's goroutine.
const (
	begin = "__begin"
	runs  = "__job"
)

// begun returns what runs in the place of begin, where ctx is that of a call handler. Its arguments are what is to run, and
// $?.
func (j *Jobs) begun(ctx context.Context, args []string) []string {
	if len(args) != 3 || args[1] == "" {
		return []string{"false"} // somebody else has typed the name
	}
	text, more, _ := strings.Cut(strings.TrimSpace(args[1]), "\n")
	if more != "" {
		text += " ..."
	}
	job := j.Begin(shellOf(ctx), text)
	if job == nil {
		fmt.Fprintln(HandlerCtx(ctx).Stderr, "bash: fork: Resource temporarily unavailable")
		return []string{"eval", LastJob + "="}
	}
	job.script = args[1]
	job.before, _ = strconv.Atoi(args[2])
	j.processes.mu.Lock()
	defer j.processes.mu.Unlock()
	if in, ok := ctx.Value(inJob{}).(inside); ok {
		job.parent = in.job
		job.parent.pending++
	}
	// A shell that is ended now does not come to what runs the job.
	job.stop = context.AfterFunc(ctx, func() {
		if j.processes.mu.Lock(); !job.attached {
			job.attached = true
			job.begunLocked()
			job.endLocked(128 + 9)
		}
		j.processes.mu.Unlock()
	})
	return []string{"eval", LastJob + "=" + job.String()}
}

// run is the program runs. The errors are those of interp.ExecHandlerFunc.
func (j *Jobs) run(ctx context.Context, args []string) error {
	var job *Job
	if len(args) == 2 {
		job = j.Find(args[1])
	}
	if job == nil || !job.take() {
		return interp.ExitStatus(1) // there are too many, it was ended before, or somebody else has typed the name
	}
	hc, shell := HandlerCtx(ctx), shellOf(ctx).Subshell()
	ctx, end := job.Attach(ctx)
	status := interp.ExitStatus(128 + 9) // of a goroutine that is ended
	defer func() { end(int(status)) }()
	var err error
	if fault := coreutils.Survive(func() { err = runJob(ctx, shell, job) }); fault != nil {
		fmt.Fprintf(hc.Stderr, "bash: %v\n", fault)
		err = interp.ExitStatus(coreutils.Aborted)
	}
	if status = 0; err != nil && !errors.As(err, &status) {
		status = 1
	}
	return err
}

// runJob runs a job's script. The error is that of the interpreter.
func runJob(ctx context.Context, shell *interp.Runner, job *Job) error {
	file, err := parse(job.script, "")
	if err != nil {
		return err
	}
	if job.before != 0 {
		before, err := parse(fmt.Sprintf("(exit %d)", job.before), "")
		if err != nil {
			return err
		}
		_ = shell.Run(ctx, before.Stmts[0]) // the status is the error
	}
	return Run(ctx, shell, file)
}

// take reports whether the job is one that the interpreter is to run, and has not begun to.
func (j *Job) take() bool {
	j.jobs.processes.mu.Lock()
	defer j.jobs.processes.mu.Unlock()
	ready := j.script != "" && !j.attached
	j.attached = j.attached || ready
	return ready
}
