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
	"strings"

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

// Config is what a shell is made of. All fields but Options, Params, Interactive, Executable
// and Wait are required.
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
	// Interactive has the shell expand aliases.
	Interactive bool
	// Call sees each simple command before it runs, builtins as well, and returns what
	// runs in its place. An error ends the line.
	Call interp.CallHandlerFunc
	// Exec runs what is neither a builtin nor a function.
	Exec interp.ExecHandlerFunc
	// Find returns the file of a program, "" where there is none of the name.
	Find func(name string) string
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
}

// New returns an interpreter whose every way to the world leads through c. It fails on
// Options that the interpreter does not have.
func New(c Config) (*interp.Runner, error) {
	wait := c.Wait
	if wait == nil {
		wait = func(ctx context.Context, args []string) error { return c.Jobs.Wait(ctx, args, nil) }
	}
	params := append(append([]string{}, c.Options...), "--")
	return interp.New(
		func(r *interp.Runner) error { r.Dir = c.Dir; return nil }, // interp.Dir asks the machine whether it exists
		interp.Env(expand.ListEnviron(append(append([]string{}, c.Env...), "PWD="+c.Dir, "IFS= \t\n")...)),
		interp.Params(append(params, c.Params...)...),
		interp.StdIO(nil, c.Stdout, untraced{c.Stderr}),
		interp.Interactive(c.Interactive),
		interp.CallHandler(func(ctx context.Context, args []string) ([]string, error) {
			switch {
			case isPart(args), isOutputs(args), args[0] == runs:
				return args, nil // what it runs is seen
			case args[0] == begin:
				return c.Jobs.begun(ctx, args), nil
			}
			args, err := c.Call(ctx, args)
			if err != nil || len(args) == 0 {
				return args, err
			}
			return tame(ctx, args), nil
		}),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
			return func(ctx context.Context, args []string) error {
				switch {
				case isPart(args):
					return runPart(ctx, args)
				case isOutputs(args):
					return runOutputs(ctx, c.Spool, args)
				case args[0] == runs:
					return c.Jobs.run(ctx, args)
				case args[0] == waits:
					return wait(ctx, args[1:])
				case args[0] == looks:
					return c.look(ctx, args)
				}
				return c.Exec(ctx, args)
			}
		}),
		interp.OpenHandler(func(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
			hc := interp.HandlerCtx(ctx)
			if script, ok := strings.CutPrefix(name, sourced); ok {
				return source(ctx, c.Open, coreutils.Absolute(hc.Dir, script), hc.Env)
			}
			return c.Open(ctx, coreutils.Absolute(hc.Dir, name), flag, perm)
		}),
		interp.StatHandler(func(_ context.Context, name string, follow bool) (fs.FileInfo, error) {
			return c.Files.Stat(name, follow)
		}),
		interp.ReadDirHandler2(func(_ context.Context, name string) ([]fs.DirEntry, error) { return c.Files.ReadDir(name) }),
		interp.AccessHandler(func(_ context.Context, name string, mode interp.AccessMode) error {
			info, err := c.Files.Stat(name, true)
			if err == nil && mode&interp.AccessExec != 0 && !c.executable(info) {
				return fs.ErrPermission
			}
			return err
		}),
	)
}

// NewParser returns a parser of bash's language. It is for texts that are not run: see [Parse].
func NewParser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// VariablesOf returns the variables that a shell has had since it has run something.
func VariablesOf(runner *interp.Runner) Variables { return variables(runner.Vars) }

type variables map[string]expand.Variable

func (v variables) Get(name string) expand.Variable { return v[name] }
