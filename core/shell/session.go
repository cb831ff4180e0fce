package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// session is one shell: that of a terminal, or of a single command line.
type session struct {
	shell          *Shell
	tty            *tty.TTY  // nil without a terminal
	stdin          io.Reader // of commands that no pipe or file feeds; nil: the terminal's, or empty
	stdout, stderr io.Writer
	id             string // of the terminal

	runner *interp.Runner
	// kubeconfig is what the prompt has read last.
	kubeconfig struct {
		text    []byte
		context string
	}

	life      context.Context // of jobs: that of the terminal, or of the command line
	jobs      *bash.Jobs
	processes *bash.Processes // of this shell and of those that it runs

	mu      sync.Mutex
	context string // for kubectl; empty means the kubeconfig's
	history []string
}

// newSession returns a shell in dir. Its variables are env, or those that a
// shell starts with if env is empty; processes are those of the shell that runs it, if one does. It fails when the files that a shell starts
// with cannot be made, and when dir does not exist.
func (s *Shell) newSession(dir string, t *tty.TTY, processes *bash.Processes, stdin io.Reader, stdout, stderr io.Writer, env, params []string) (*session, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if dir == "" {
		dir = s.config.Home
	}
	dir = coreutils.Absolute(s.config.Home, dir)
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	number := firstProcess
	if processes == nil {
		processes = bash.NewProcesses(firstProcess)
	} else {
		number = processes.Number()
	}
	k := &session{shell: s, tty: t, stdin: stdin, stdout: stdout, stderr: stderr, jobs: processes.Jobs(), processes: processes}
	if env == nil {
		env = []string{
			"HOME=" + s.config.Home, "PATH=" + s.searchPath(), "SHELL=/bin/bash", "USER=kubetab", "TERM=xterm-256color", "LANG=C.UTF-8",
			"KUBECONFIG=" + s.kubeconfig(), "TMPDIR=" + s.config.Temp,
		}
	}
	runner, err := bash.New(bash.Config{
		Dir: dir, Env: bash.Nested(env, bash.Bash), Params: params, Stdout: stdout, Stderr: stderr, Interactive: true,
		Call: k.call, Exec: k.exec, Find: k.Find, Spool: k.emptySpool, Files: s.disk(), Jobs: k.jobs, Now: realClock.Now, Number: func() int { return number },
		Open: func(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
			file, err := s.disk().Open(name, flag, perm)
			if err == nil && flag&(os.O_WRONLY|os.O_RDWR) == 0 {
				return coreutils.FileUntil(ctx, file), nil // the interpreter itself reads it for $(<file)
			}
			return file, err
		},
		Executable: func(fs.FileInfo) bool { return true }, // as script has it, which runs any file
	})
	if err != nil {
		return nil, err
	}
	k.runner = runner
	k.run(context.Background(), "alias k=kubectl ll='ls -l'")
	return k, nil
}

// run runs lines of a script and returns the exit code of the last command. The
// second result is false when the shell has been left. A fault of the shell itself ends the lines, and not the shell.
func (k *session) run(ctx context.Context, script string) (code int, stays bool) {
	if fault := coreutils.Survive(func() { code, stays = k.runLines(ctx, script) }); fault != nil {
		fmt.Fprintf(k.stderr, "bash: %v\n", fault)
		return coreutils.Aborted, true
	}
	return code, stays
}

func (k *session) runLines(ctx context.Context, script string) (code int, stays bool) {
	file, err := parse(script, "", bash.VariablesOf(k.runner))
	if err != nil {
		message := "bash: " + syntaxError(err)
		if begun := bash.Begun(script, err, message); begun != "" {
			return k.runLines(ctx, begun)
		}
		fmt.Fprintln(k.stderr, message)
		return 2, true
	}
	defer k.shell.files.changed()
	ctx, remove := withSpools(ctx)
	defer remove()
	ctx, done := withBudget(ctx, k.stderr)
	defer done()
	for _, stmt := range file.Stmts {
		if stmt.Background {
			k.background(stmt)
			code = 0
			continue
		}
		err := k.statement(ctx, stmt)
		var status interp.ExitStatus
		var fault *coreutils.Fault
		switch {
		case overspent(ctx):
			if errors.Is(context.Cause(ctx), errNoMemory) {
				k.dropLarge(ctx)
			}
			return k.leaves(tookTooMuch), true // it has said so
		case ctx.Err() != nil:
			return k.leaves(kubectl.Interrupted), true
		case err == nil:
			code = 0
		case errors.As(err, &status):
			code = int(status)
		case errors.As(err, &fault):
			fmt.Fprintf(k.stderr, "bash: %v\n", fault)
			return k.leaves(coreutils.Aborted), true
		default:
			fmt.Fprintf(k.stderr, "bash: %v\n", err)
			return 1, true // the line ends, and not the shell
		}
		if k.runner.Exited() {
			return code, false
		}
	}
	return code, true
}

// statement runs a statement in the session's shell. When one does not end with ctx, or
// has a *coreutils.Fault, the shell is again what it was before.
func (k *session) statement(ctx context.Context, stmt *syntax.Stmt) error {
	runner, before := k.runner, k.runner.Subshell()
	err, fault := attend(ctx, linePatience, func() error {
		defer ownedByLine(ctx)()
		hurries(ctx)
		defer endsWith(ctx)()
		return bash.Run(coreutils.Stepwise(ctx), runner, stmt)
	})
	if fault != nil {
		k.jobs.Move(runner, before)
		k.runner = before
		return cmp.Or(ctx.Err(), fault)
	}
	return err
}

func (k *session) setContext(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.context = name
}

func (k *session) contextName() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.context
}

// environment is what the shell was started with. One that stands in for a shell
// that was left behind has it among its variables.
func (k *session) environment() expand.Environ {
	if k.runner.Env == nil {
		return expand.ListEnviron()
	}
	return k.runner.Env
}

// tookTooMuch is the status of a line that was ended because it took too much, or needed what could not be had.
const tookTooMuch = 2

// leaves has the shell tell code, one of exits, as the status of the last command, and returns it.
func (k *session) leaves(code int) int {
	_ = k.runner.Run(context.Background(), exits[code]) // the status is the error
	return code
}

// exits leave the status of a command that the interpreter has no status of: one that was interrupted, one that took
// too much or needed what could not be had, and one that had a fault. They are parsed here, because a terminal's goroutine must not wait for a parser.
var exits = func(codes ...int) map[int]*syntax.Stmt {
	exits := map[int]*syntax.Stmt{}
	for _, code := range codes {
		exits[code] = bash.Exiting(code)
	}
	return exits
}(tookTooMuch, kubectl.Interrupted, coreutils.Aborted)

// parse reads a line that a session runs statement by statement. The errors are
// those of the parser, a *coreutils.Fault, and an *absent.Error: the goroutine of a
// terminal has no owner that could be told.
func parse(script, name string, vars bash.Variables) (*syntax.File, error) {
	type result struct {
		file *syntax.File
		err  error
	}
	r, err := absent.Attempt(func() (r result) {
		fault := coreutils.Survive(func() {
			r.file, r.err = bash.Parse(script, name, vars)
		})
		r.err = errors.Join(r.err, fault)
		return r
	})
	return r.file, errors.Join(r.err, err)
}

// syntaxError words an error of the parser.
func syntaxError(err error) string {
	var parse syntax.ParseError
	if errors.As(err, &parse) {
		return "syntax error: " + parse.Text
	}
	return err.Error()
}

// call sees every simple command before it runs, the interpreter's own as well.
func (k *session) call(ctx context.Context, args []string) ([]string, error) {
	hc := bash.HandlerCtx(ctx)
	if err := admit(ctx, args[0]); err != nil {
		return nil, err
	}
	switch args[0] {
	case "read":
		if stdin := k.input(ctx); hc.Stdin == nil && stdin != nil {
			return coreutils.Read(hc.Stderr, stdin, args), nil
		}
	case "kill", "fg", "bg", "jobs", "history":
		return append([]string{"/usr/bin/" + args[0]}, args[1:]...), nil
	}
	return args, nil
}

// input is what a command reads that no pipe and no file feeds.
func (k *session) input(ctx context.Context) io.Reader {
	if bash.InJob(ctx) {
		return strings.NewReader("")
	}
	if k.stdin == nil && k.tty != nil {
		return k.tty.Input(ctx)
	}
	return k.stdin
}

// exec runs what is neither a builtin nor a function.
func (k *session) exec(ctx context.Context, args []string) error {
	if !coreutils.Arguable(args) {
		fmt.Fprintf(bash.HandlerCtx(ctx).Stderr, "bash: %s: %s\n", args[0], coreutils.TooLong)
		return interp.ExitStatus(126)
	}
	// A reader of the terminal ends with its command, not with the line.
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	hc := bash.HandlerCtx(ctx)
	_, screen := hc.Stdout.(*tty.Output)
	if text, ok := hc.Stdout.(*strings.Builder); ok {
		hc.Stdout = &substituted{text, cancel}
	}
	hc.Stdout, hc.Stderr = until(running, hc.Stdout), until(running, hc.Stderr)
	if !screen {
		hc.Stdout = coreutils.Piped(hc.Stdout, func() { cancel(errBrokenPipe) })
		hc.Stderr = &errorsOf{hc.Stderr, running}
	}
	c := &coreutils.Call{
		Context: running, System: k, Files: mortalFiles{k.shell.disk(), running}, Name: path.Base(args[0]), Args: args[1:], Dir: hc.Dir, Env: hc.Env,
		Stdout: hc.Stdout, Stderr: hc.Stderr,
	}
	if hc.Stdin != nil {
		c.Stdin = readUntil(running, hc.Stdin)
	} else if c.Stdin = k.input(running); c.Stdin == nil {
		c.Stdin = strings.NewReader("")
	}
	code, err := attend(running, programPatience, func() int {
		defer absent.OwnFor(cancel, absent.Account())()
		defer endsWith(running)()
		return k.command(c, args[0])
	})
	missing, fault := (*absent.Error)(nil), (*coreutils.Fault)(nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(context.Cause(running), &missing):
		fmt.Fprintf(bash.HandlerCtx(ctx).Stderr, "%s: %v\n", args[0], missing)
		return interp.ExitStatus(1)
	case errors.Is(context.Cause(running), errSubstituted):
		fmt.Fprintf(bash.HandlerCtx(ctx).Stderr, "bash: %v\n", errSubstituted)
		return interp.ExitStatus(2)
	case errors.Is(context.Cause(running), errBrokenPipe):
		return interp.ExitStatus(141) // as a program that ends by SIGPIPE
	case errors.As(err, &fault):
		fmt.Fprintf(bash.HandlerCtx(ctx).Stderr, "%s: %v\n", args[0], fault)
		return interp.ExitStatus(coreutils.Aborted)
	case code == 0:
		return nil
	}
	return interp.ExitStatus(code)
}

var errBrokenPipe = errors.New("nobody reads the pipe any more")

// errorsOf is a command's standard error. A command that a broken pipe has ended writes nothing to it any more.
type errorsOf struct {
	io.Writer
	running context.Context
}

func (e *errorsOf) Write(b []byte) (int, error) {
	if errors.Is(context.Cause(e.running), errBrokenPipe) {
		return len(b), nil
	}
	return e.Writer.Write(b)
}

// Fd returns the file descriptor of the terminal behind it, as os.File's does.
func (e *errorsOf) Fd() uintptr {
	if f, ok := e.Writer.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return tty.NoDevice
}

// command runs a program. asked is how it was called.
func (k *session) command(c *coreutils.Call, asked string) int {
	if f := programs[c.Name]; f != nil {
		return f(k, c)
	}
	if f := coreutils.Lookup(c.Name); f != nil {
		return f(c)
	}
	if bash.Programs[c.Name] { // by its path, such as /bin/echo
		return k.Run(c, c.Environ(), append([]string{c.Name}, c.Args...))
	}
	if strings.Contains(asked, "/") {
		return k.script(c, c.Path(asked), asked, c.Args)
	}
	if file := k.onPath(c.Env, c.Dir, asked); file != "" {
		return k.script(c, file, asked, c.Args)
	}
	return missing(c, asked)
}

// sub runs a script in a shell of its own, with the call's streams.
func (k *session) sub(c *coreutils.Call, text, zero string, env, params []string) int {
	file, err := bash.Parse(text, zero, nil)
	if err != nil {
		message := zero + ": " + syntaxError(err)
		if begun := bash.Begun(text, err, message); begun != "" {
			return k.sub(c, begun, zero, env, params)
		}
		fmt.Fprintln(c.Stderr, message)
		return 2
	}
	child, err := k.shell.newSession(c.Dir, nil, k.processes, c.Stdin, c.Stdout, c.Stderr, env, params)
	if err != nil {
		return c.Fail("%v", err)
	}
	child.tty, child.id = k.tty, k.id
	child.setContext(k.contextName())
	err = bash.Run(coreutils.Stepwise(c), child.runner, file)
	var status interp.ExitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	if err != nil && c.Err() == nil {
		return c.Fail("%v", err)
	}
	return 0
}

// What follows makes session a coreutils.System.

func (k *session) Clock() clock.WithTickerAndDelayedExecution { return realClock }

func (k *session) Go(f func()) { go f() }

func (k *session) Find(env expand.Environ, dir, name string) string {
	if programs[name] == nil && coreutils.Lookup(name) == nil {
		return k.onPath(env, dir, name)
	}
	return "/usr/bin/" + name
}

func (k *session) Pause(c *coreutils.Call, d time.Duration) int {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return 0
	case <-c.Done():
		return 130
	}
}

func (k *session) Run(c *coreutils.Call, env, argv []string) int {
	words := make([]string, len(argv))
	for i, arg := range argv {
		word, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			return c.Fail("%v", err)
		}
		words[i] = word
	}
	// Quote leaves plain words as they are. The child shell therefore expands its own aliases, k and ll, in the first
	// word: `xargs k get` works here, and in bash it does not.
	return k.sub(c, strings.Join(words, " "), c.Name, env, nil)
}
