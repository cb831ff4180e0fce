package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/locked"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

var shells = map[string]bool{"sh": true, "bash": true, "ash": true, "dash": true}

// A script that never waits would keep a single-threaded machine from doing
// anything else: after so many commands it rests for a moment of real time.
const (
	commandsPerRest = 500
	rest            = 2 * time.Millisecond
)

// session is one command that runs in a container with everything it starts:
// the container's own, or that of an exec.
type session struct {
	c              *Container
	stdin          io.Reader // nil: empty
	stdout, stderr io.Writer
	tty            *terminal.TTY // where somebody sits at it

	jobs *bash.Jobs
	own  bool // it is the container's first process, or what that has started
	// process is that of the shell, or of the program if single is set; nil in a
	// session that is a part of another.
	process *process
	single  bool

	zero    string       // $0 of a shell; empty where it is none
	dialect bash.Dialect // that the shell prints like
	aliases bool         // are expanded

	mu       sync.Mutex
	top      *interp.Runner    // runs the script; traps are its, and not those of its subshells
	traps    map[string]string // by signal, without SIG
	pending  []string          // trap bodies to run before the next command
	waiting  chan struct{}     // closed by a trapped signal; nil unless the shell waits
	last     string            // signal that was trapped
	commands int
	rested   time.Time  // when it last rested
	spools   []string   // files that stand for <(command)
	final    syntax.Pos // where the command begins that takes the place of the shell
	execs    bool       // so does the next one, as exec has said
	hooked   bool       // a trap has been set
}

func newSession(c *Container, stdout, stderr io.Writer) *session {
	out := locked.NewWriter(stdout)
	errs := out
	if stderr != stdout {
		errs = locked.NewWriter(stderr)
	}
	return &session{c: c, stdout: out, stderr: errs, jobs: c.root().processes.Jobs(), traps: map[string]string{}}
}

// run runs a command line, which ^C ends, and returns its exit code.
func (s *session) run(ctx context.Context, argv []string) (code int) {
	code, _ = s.attend(ctx, func(ctx context.Context) int { return s.guarded(ctx, argv) })
	return code
}

// guarded runs a command line and returns its exit code. A fault of the interpreter ends the
// command, and not the process, in which the API server runs as well.
func (s *session) guarded(ctx context.Context, argv []string) (code int) {
	if fault := coreutils.Survive(func() { code = s.start(ctx, argv) }); fault != nil {
		return s.status(fault, path.Base(argv[0]))
	}
	return code
}

func (s *session) start(ctx context.Context, argv []string) int {
	if shells[path.Base(argv[0])] {
		return s.shell(ctx, argv)
	}
	call := &syntax.CallExpr{}
	for _, arg := range argv {
		call.Args = append(call.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: arg}}})
	}
	if len(argv[0]) > 0 && strings.HasPrefix(argv[0], "/") && isTool(path.Base(argv[0])) {
		call.Args[0] = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: path.Base(argv[0])}}}
	}
	runner, err := s.runner(nil, nil)
	if err != nil {
		fmt.Fprintln(s.stderr, err)
		return 126
	}
	ctx, kill := context.WithCancel(ctx) // as the kernel kills what memory is short for
	defer kill()
	ctx, memory := coreutils.WithMemory(ctx, s.shortOfMemory(kill))
	defer memory.End()
	return s.status(contain(ctx, memory, runner, &syntax.Stmt{Cmd: call}), "sh")
}

// shell runs sh and its like: with -c, with a file, or with what comes on
// standard input. It is long because each of these has options of its own.
func (s *session) shell(ctx context.Context, argv []string) int {
	name := path.Base(argv[0])
	zero := argv[0] // $0
	var options, params []string
	var script *string
	rest := argv[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && (rest[0][0] == '-' || rest[0][0] == '+') && rest[0] != "--" {
		flag := rest[0]
		rest = rest[1:]
		if flag == "--version" && name == "bash" {
			bash.Version(s.stdout)
			return 0
		}
		if strings.HasPrefix(flag, "--") {
			continue // --login, --noprofile, ...
		}
		wantsScript := false
		for _, letter := range flag[1:] {
			switch letter {
			case 'c':
				wantsScript = true
			case 'e', 'u', 'x', 'f', 'n', 'a':
				options = append(options, flag[:1]+string(letter))
			case 'o':
				if len(rest) > 0 {
					options = append(options, flag[:1]+"o", rest[0])
					rest = rest[1:]
				}
			}
		}
		if wantsScript {
			if len(rest) == 0 {
				fmt.Fprintf(s.stderr, "%s: -c requires an argument\n", name)
				return 2
			}
			script, rest = &rest[0], rest[1:]
			if len(rest) > 0 {
				zero, rest = rest[0], rest[1:]
			}
			break
		}
	}
	ofWord := script != nil
	switch {
	case ofWord:
		params = rest
	case len(rest) > 0:
		text, err := s.c.tree().ReadFile(coreutils.Absolute("/", rest[0]))
		if err != nil {
			fmt.Fprintf(s.stderr, "%s: can't open '%s': No such file or directory\n", name, rest[0])
			return 127
		}
		file := string(text)
		script, params, zero = &file, rest[1:], rest[0]
	}
	s.zero, s.dialect = zero, s.c.cfg.Image.dialect(name)
	s.aliases = script == nil || s.dialect != bash.Bash
	runner, err := s.runner(options, params)
	if err != nil {
		fmt.Fprintf(s.stderr, "%s: %v\n", name, err)
		return 2
	}
	ctx, kill := context.WithCancel(ctx) // as the kernel kills what memory is short for
	defer kill()
	ctx, memory := coreutils.WithMemory(ctx, s.shortOfMemory(kill))
	defer memory.End()
	defer s.removeSpools()
	if script == nil {
		return (&interactive{session: s, memory: memory, name: name, runner: runner}).run(ctx)
	}
	file, err := bash.Parse(*script, zero, bash.VariablesOf(runner))
	if err != nil {
		message := fmt.Sprintf("%s: syntax error: %v", name, err)
		begun := bash.Begun(*script, err, message)
		if file, err = bash.Parse(begun, zero, bash.VariablesOf(runner)); begun == "" || err != nil {
			fmt.Fprintln(s.stderr, message)
			return 2
		}
	}
	if ofWord {
		s.mu.Lock()
		s.final = lastCommand(file)
		s.mu.Unlock()
	}
	code := s.status(contain(ctx, memory, runner, file), name)
	// A signal that came during the last command has its trap run now.
	s.mu.Lock()
	body := s.pendingBodies()
	s.mu.Unlock()
	if trap, err := bash.Parse(body, zero, bash.VariablesOf(runner)); body != "" && ctx.Err() == nil && err == nil {
		if status := s.status(contain(ctx, memory, runner, trap), name); runner.Exited() {
			code = status
		}
	}
	return code
}

// shortOfMemory kills a command that there is too little memory for, and the container
// with it if its memory is limited.
func (s *session) shortOfMemory(kill func()) func() {
	return func() {
		kill()
		if s.c.Resources().Memory > 0 {
			s.c.outOfMemory()
		}
	}
}

// contain runs what a container's memory is looked at for. It fails with context.Canceled when there is not enough, and
// with a *coreutils.Fault.
func contain(ctx context.Context, memory *coreutils.Memory, runner *interp.Runner, node syntax.Node) error {
	err := context.Canceled
	memory.Contain(func() {
		// What calculates, as a search for a regular expression, knows no context, and would go on beside the API server.
		defer context.AfterFunc(ctx, absent.Ender())()
		if fault := coreutils.Survive(func() { err = bash.Run(coreutils.Stepwise(ctx), runner, node) }); fault != nil {
			err = fault
		}
	})
	return err
}

// status turns what a run returned into an exit code.
func (s *session) status(err error, name string) int {
	var code interp.ExitStatus
	var fault *coreutils.Fault
	switch {
	case err == nil:
		return 0
	case errors.As(err, &fault):
		fmt.Fprintf(s.stderr, "%s: %v\n", name, fault)
		return coreutils.Aborted
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled):
		return 137
	}
	fmt.Fprintf(s.stderr, "%s: %v\n", name, err)
	return 1
}

// runner returns an interpreter whose every way to the world leads into the
// container. It fails on options that the interpreter does not have.
func (s *session) runner(options, params []string) (*interp.Runner, error) {
	env := s.c.env
	if s.zero != "" {
		env = bash.Nested(env, s.dialect)
	}
	runner, err := bash.New(bash.Config{
		Dir: s.c.dir(), Env: env, Options: options, Params: params, Stdout: s.stdout, Stderr: s.stderr, Name: s.name(), Dialect: s.dialect, Interactive: s.aliases,
		Call: s.call, Exec: s.exec, Find: s.Find, Spool: s.emptySpool, Files: ownFiles{s.c}, Access: func(name string, what fs.FileMode) error { return s.c.tree().Access(name, what) }, Jobs: s.jobs, Wait: s.wait, Now: s.Clock().Now, Number: func() int { return s.c.number(s.process) },
		Open: s.open,
	})
	s.setRunner(runner)
	return runner, err
}

// name is what the session's shell calls itself in messages.
func (s *session) name() string { return cmp.Or(s.zero, "sh") }

// setRunner says which interpreter the session's script is run by.
func (s *session) setRunner(runner *interp.Runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.top = runner
}

// ownFiles are those of a container, whose tree is made when somebody looks at it.
type ownFiles struct{ c *Container }

func (f ownFiles) Stat(name string, follow bool) (fs.FileInfo, error) {
	return f.c.tree().Stat(name, follow)
}
func (f ownFiles) ReadDir(name string) ([]fs.DirEntry, error) { return f.c.tree().ReadDir(name) }

// call sees every simple command before it runs. It may replace it: that is how
// traps of signals run, which the interpreter does not know, and how `read`
// takes the session's standard input, which the interpreter does not get,
// because it would read ahead.
func (s *session) call(ctx context.Context, args []string) ([]string, error) {
	if err := coreutils.Admit(args[0]); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.commands++
	tired := s.commands%commandsPerRest == 0
	s.mu.Unlock()
	if tired {
		s.rest(ctx)
	}
	hc := bash.HandlerCtx(ctx)
	args, err := s.replace(ctx, hc, args)
	if body := s.takePending(ctx); body != "" && err == nil {
		quoted := make([]string, len(args))
		for i, arg := range args {
			if quoted[i], err = syntax.Quote(arg, syntax.LangBash); err != nil {
				return args, nil
			}
		}
		return []string{"eval", body + "\n" + strings.Join(quoted, " ")}, nil
	}
	return args, err
}

// rest lets others run. A shell that comes here again within a second has waited for nothing, and kept a processor busy.
func (s *session) rest(ctx context.Context) {
	select {
	case <-time.After(rest):
	case <-ctx.Done():
	}
	now := s.Clock().Now()
	s.mu.Lock()
	took := now.Sub(s.rested)
	s.rested = now
	s.mu.Unlock()
	if took < time.Second {
		s.c.spend(took)
	}
}

func (s *session) replace(ctx context.Context, hc interp.HandlerContext, args []string) ([]string, error) {
	switch args[0] {
	case "trap":
		return s.trap(ctx, args), nil
	case "exec":
		if len(args) > 1 && bash.CalledBy(ctx, s.top) {
			s.mu.Lock()
			s.execs = true
			s.mu.Unlock()
		}
	case "read":
		if stdin := s.input(ctx); hc.Stdin == nil && stdin != nil {
			return coreutils.Read(hc.Stderr, stdin, args), nil
		}
	case "kill", "jobs": // builtins that the interpreter knows only by name
		return append([]string{"/bin/" + args[0]}, args[1:]...), nil
	}
	return args, nil
}

// input is what a command reads that no pipe and no file feeds: it ends with the command. It is nil for none.
func (s *session) input(ctx context.Context) io.Reader {
	switch {
	case s.stdin == nil || bash.InJob(ctx):
		return nil
	case s.tty != nil:
		return s.tty.Input(ctx)
	}
	return s.stdin
}

// exec runs what is neither a builtin nor a function.
func (s *session) exec(ctx context.Context, args []string) error {
	hc := bash.HandlerCtx(ctx)
	if !coreutils.Arguable(args) {
		fmt.Fprintf(hc.Stderr, "%s: %s: %s\n", s.name(), args[0], coreutils.TooLong)
		return interp.ExitStatus(126)
	}
	within, p, end := s.begin(ctx, args)
	defer end()
	var code int
	if fault := coreutils.Survive(func() { code = s.command(within, hc, p, args) }); fault != nil {
		fmt.Fprintf(hc.Stderr, "%s: %v\n", args[0], fault)
		code = coreutils.Aborted
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if by, ok := killed(within); ok && code != 0 {
		code = by
	}
	if code == 0 {
		return nil
	}
	return interp.ExitStatus(code)
}

func (s *session) command(ctx context.Context, hc interp.HandlerContext, p *process, args []string) int {
	name := path.Base(args[0])
	k := &call{session: s, process: p, Call: &coreutils.Call{
		Context: ctx, System: s, Userland: s.c.cfg.Image.userland(),
		Name: name, Args: args[1:], Dir: hc.Dir, Env: hc.Env, Stdin: hc.Stdin, Stdout: hc.Stdout, Stderr: hc.Stderr,
	}}
	k.Files = files{Tree: s.c.tree(), self: k, ctx: ctx}
	if k.Stdin == nil {
		if k.Stdin = s.input(ctx); k.Stdin == nil {
			k.Stdin = strings.NewReader("")
		}
	}
	if name == bash.Spool {
		return s.spool(k)
	}
	if s.c.cfg.Image.isAgnhost(args) {
		return agnhostCommand(k, args[0])
	}
	if s.c.cfg.Image.holds(name) && !isTool(name) && k.removed(name) {
		fmt.Fprintf(hc.Stderr, "sh: %s: not found\n", args[0])
		return 127
	}
	if f := s.c.control(args, hc.Dir); f != nil {
		return f(k)
	}
	if !s.c.cfg.Image.Bare {
		if k.spins() {
			defer s.c.use(&Load{CPU: 1000})()
		}
		if f, ok := commands[name]; ok {
			return f(k)
		}
		if f := coreutils.Lookup(name); f != nil {
			return k.piped(f)
		}
		if bash.Programs[name] { // by its path, such as /bin/echo
			return s.Run(k.Call, k.Environ(), append([]string{name}, args[1:]...))
		}
	}
	if shells[name] && s.c.cfg.Image.hasShell(name) {
		return k.shell(ctx, args)
	}
	if strings.Contains(args[0], "/") {
		if code, ok := k.script(ctx, args); ok {
			return code
		}
	}
	if server, ok := s.c.fileServer(args, hc.Dir); ok {
		return k.serve(server)
	}
	interprets := s.c.cfg.Image.interprets(name)
	if s.own || s.c.holds(args) && !interprets {
		if server, ok := s.c.program(args, k.Environ()); ok {
			return k.serve(server)
		}
	}
	if interprets {
		return k.interpreter()
	}
	missing := "not found"
	switch {
	case s.dialect != bash.Bash || s.zero == "":
	case strings.Contains(args[0], "/"):
		missing = "No such file or directory"
	default:
		missing = "command not found"
	}
	fmt.Fprintf(hc.Stderr, "%s: %s: %s\n", s.name(), args[0], missing)
	return 127
}

// removed reports whether somebody has removed a program of the image.
func (k *call) removed(name string) bool {
	_, err := k.Files.Stat(k.session.c.cfg.Image.where(name), true)
	return errors.Is(err, fs.ErrNotExist)
}
