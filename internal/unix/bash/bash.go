// Package bash sets up the interpreter (mvdan.cc/sh) of Kubetab's two shells: that of the terminal and that of containers.
// It knows no Kubernetes and no machine: programs and files are the caller's.
//
//	a line ──▶ Parse, Mend ──▶ Run, with an interp.Runner of New
//	                              │ each simple command: Config.Call and tame, which may replace it
//	                              ├─ builtins and functions: the interpreter's own
//	                              ├─ programs: Config.Exec
//	                              ├─ what stands before an ampersand: Config.Jobs
//	                              └─ redirections, globs, cd, test: Config.Open, Config.Files
package bash

import (
	"context"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Files are the files that a shell looks at. Names are absolute.
type Files interface {
	Stat(name string, follow bool) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// Config is what a shell is made of. All fields but Options, Params, Name, Dialect, Interactive, Executable, Access,
// Now, Number and Wait are required.
type Config struct {
	// Dir is the absolute path of the directory that the shell starts in. Nobody asks
	// the machine whether it is there.
	Dir string
	// Env are the exported variables as NAME=value. Of two values of a name the last one
	// counts. PWD and IFS are the shell's own, whatever Env says.
	Env []string
	// Options are those of set, such as "-e" or "-o", "pipefail". Params are $1, $2 and so on.
	Options, Params []string
	Stdout, Stderr  io.Writer // standard input comes from Call and Exec
	// Name is $0 in the shell's messages. Empty means bash. Dialect is how they are worded.
	Name    string
	Dialect Dialect
	// Interactive has the shell expand aliases.
	Interactive bool
	// Call sees each simple command before it runs, builtins as well, and returns what
	// runs in its place. An error ends the line.
	Call interp.CallHandlerFunc
	// Exec runs what is neither a builtin nor a function.
	Exec interp.ExecHandlerFunc
	// Find returns the file of a program, "" where there is none of the name.
	Find func(env expand.Environ, dir, name string) string
	// Open opens the file of a redirection and of `source`. The name is absolute.
	Open func(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error)
	// Spool makes an empty file that lasts as long as what ctx is of, and returns its name: it stands for >(command).
	Spool func(ctx context.Context) (name string, err error)
	// Files are what globs, cd and test look at.
	Files Files
	// Jobs notes what the shell puts into the background. Their numbers are what $! is.
	Jobs *Jobs
	// Wait runs the builtin wait. Nil means Jobs.Wait, which nothing interrupts.
	Wait func(ctx context.Context, args []string) error
	// Executable says whether a file may be executed, for `test -x` and cd. Nil means
	// that its mode must have one of the three bits.
	Executable func(fs.FileInfo) bool
	// Access says whether the shell's user may read, write and execute a file, by the bits 4, 2 and 1. Nil means that
	// he may read and write all there are.
	Access func(name string, what fs.FileMode) error
	// Now is the time that printf has. Nil means time.Now.
	Now func() time.Time
	// Number is the shell's process number, which is what $$ is. Nil means that of the process.
	Number func() int
}

// ownNumber is the variable that Mend puts in place of $$: the interpreter's is the number of the engine's process.
const ownNumber = "__number"

// New returns an interpreter whose every way to the world leads through c. It fails on
// Options that the interpreter does not have. It is long because there are many ways.
func New(c Config) (*interp.Runner, error) {
	wait := c.Wait
	if wait == nil {
		wait = func(ctx context.Context, args []string) error { return c.Jobs.Wait(ctx, args, nil) }
	}
	number := c.Number
	if number == nil {
		number = os.Getpid
	}
	params := append(append([]string{}, c.Options...), "--")
	var lines pipelines
	var traced atomic.Bool
	traced.Store(setsTrace(c.Options))
	return interp.New(
		func(r *interp.Runner) error { r.Dir = c.Dir; return nil }, // interp.Dir asks the machine whether it exists
		interp.Env(own{expand.ListEnviron(append(slices.Clone(c.Env), "PWD="+c.Dir, "IFS= \t\n")...), number, c.Dialect}),
		interp.Params(append(params, c.Params...)...),
		interp.StdIO(nil, c.Stdout, untraced{c.Stderr, &traced}),
		interp.Interactive(c.Interactive),
		interp.CallHandler(func(ctx context.Context, args []string) ([]string, error) {
			if u, ok := interp.HandlerCtx(ctx).Stderr.(untraced); ok && traced.Load() && traces(shellOf(ctx)) {
				u.trace(args)
			}
			args = unaliased(ctx, args)
			switch {
			case isPart(args), isOutputs(args), args[0] == runs, args[0] == contents, args[0] == aliased, args[0] == status:
				return args, nil // what it runs is seen
			case isNote(args):
				return c.noted(ctx, &lines, args), nil
			case args[0] == tests:
				return []string{"true"}, nil
			case args[0] == "set":
				traced.Store(traced.Load() || setsTrace(args[1:]))
			case args[0] == begin:
				lines.pass(ctx)
				return c.Jobs.begun(ctx, args), nil
			}
			if args[0] != "eval" {
				lines.pass(ctx)
			}
			args, err := c.Call(ctx, args)
			if err != nil || len(args) == 0 {
				return args, err
			}
			return c.tame(ctx, args), nil
		}),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
			return func(ctx context.Context, args []string) error {
				switch {
				case isPart(args):
					return runPart(ctx, &lines, args)
				case args[0] == status:
					return leave(args)
				case isOutputs(args):
					return runOutputs(ctx, c.Spool, args)
				case args[0] == runs:
					return c.Jobs.run(ctx, args)
				case args[0] == waits:
					return wait(ctx, args[1:])
				case args[0] == looks:
					return c.look(ctx, args)
				case args[0] == lists:
					return c.list(ctx, args)
				case args[0] == executes:
					return c.execute(ctx, args[1:])
				case args[0] == aliased:
					return c.runAlias(ctx, args)
				case args[0] == contents:
					return c.Exec(ctx, []string{"cat"})
				}
				return c.Exec(ctx, args)
			}
		}),
		interp.OpenHandler(func(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
			hc := interp.HandlerCtx(ctx)
			if script, ok := strings.CutPrefix(name, sourced); ok {
				return source(ctx, c.Open, coreutils.Absolute(hc.Dir, script), handled{hc.Env, traces(shellOf(ctx))})
			}
			if bits, ok := mask(hc.Env); ok {
				perm = 0o666 &^ bits
			}
			file, err := c.Open(ctx, coreutils.Absolute(hc.Dir, name), flag, perm)
			if err != nil {
				return nil, c.opening(name, flag, err)
			}
			return file, nil
		}),
		interp.StatHandler(func(_ context.Context, name string, follow bool) (fs.FileInfo, error) {
			return c.Files.Stat(name, follow)
		}),
		interp.ReadDirHandler2(func(_ context.Context, name string) ([]fs.DirEntry, error) { return c.Files.ReadDir(name) }),
		interp.AccessHandler(func(_ context.Context, name string, mode interp.AccessMode) error {
			return c.access(name, fs.FileMode(mode))
		}),
	)
}

// NewParser returns a parser of bash's language. It is for texts that are not run: see [Parse].
func NewParser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// VariablesOf returns the variables that a shell has had since it has run something. The shell must not be running.
func VariablesOf(runner *interp.Runner) Variables { return variables{runner.Vars, traces(runner)} }

type variables struct {
	vars   map[string]expand.Variable
	traces bool
}

func (v variables) Get(name string) expand.Variable { return v.vars[name] }

// traced reports whether set -x was on.
func (v variables) traced() bool { return v.traces }

// handled are the variables of the shell that calls a handler.
type handled struct {
	Variables
	traces bool
}

func (h handled) traced() bool { return h.traces }
