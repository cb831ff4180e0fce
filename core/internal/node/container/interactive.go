package container

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mvdan.cc/sh/v3/interp"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// interactive runs what comes on standard input, line by line.
func (s *session) interactive(ctx context.Context, memory *coreutils.Memory, name string, runner *interp.Runner) int {
	if s.stdin == nil {
		return 0
	}
	if s.terminal != nil {
		s.terminal.attend(nil) // it is the commands that ^C ends
	}
	prompt := func() {
		if s.terminal == nil {
			return
		}
		mark := "$"
		if s.c.cfg.UID == 0 {
			mark = "#"
		}
		if name == "bash" {
			user := "root"
			if s.c.cfg.UID != 0 {
				user = "I have no name!"
			}
			fmt.Fprintf(s.stdout, "%s@%s:%s%s ", user, s.c.cfg.Hostname, runner.Dir, mark)
			return
		}
		fmt.Fprintf(s.stdout, "%s %s ", runner.Dir, mark)
	}
	code := 0
	parser := bash.NewParser()
	prompt()
	for {
		again := false
		for stmts, err := range parser.InteractiveSeq(bash.Bounded(oneByte{s.stdin})) {
			if err != nil {
				if ctx.Err() == nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
					fmt.Fprintf(s.stderr, "%s: %v\n", name, err)
					code, again = 2, true
				}
				break
			}
			if parser.Incomplete() {
				if s.terminal != nil {
					fmt.Fprint(s.stdout, "> ")
				}
				continue
			}
			for _, stmt := range stmts {
				before := runner.Subshell()
				var interrupted bool
				code, interrupted = s.attend(ctx, func(ctx context.Context) int {
					err := bash.Mend(stmt, bash.VariablesOf(runner))
					if err == nil {
						err = contain(ctx, memory, runner, stmt)
					}
					if fault := (*coreutils.Fault)(nil); errors.As(err, &fault) {
						s.jobs.Move(runner, before)
						runner = before
						s.setRunner(runner)
					}
					return s.status(err, name)
				})
				if interrupted && ctx.Err() == nil {
					_ = runner.Run(ctx, exitInterrupted) // for $?
					break                                // the rest of the line is not run
				}
				if runner.Exited() || ctx.Err() != nil {
					return code
				}
			}
			prompt()
		}
		if !again {
			return code
		}
		prompt()
	}
}

// exitInterrupted leaves the status of a command that was interrupted, of which the interpreter has none.
var exitInterrupted = bash.Exiting(int(trapped("INT")))

// oneByte reads a byte at a time, so that the parser does not swallow what a
// command that it has parsed is to read.
type oneByte struct{ io.Reader }

func (r oneByte) Read(b []byte) (int, error) {
	if len(b) > 1 {
		b = b[:1]
	}
	return r.Reader.Read(b)
}

// attend runs what ^C ends, unless the script has a trap for that, and returns its exit code and whether ^C came. What it leaves
// in the background goes on.
func (s *session) attend(ctx context.Context, run func(context.Context) int) (code int, interrupted bool) {
	if s.terminal == nil {
		return run(ctx), false
	}
	running, interrupt := context.WithCancelCause(ctx)
	s.terminal.attend(func() (ends bool) {
		if s.signal("INT") {
			return false
		}
		interrupt(errInterrupted)
		return true
	})
	code = run(running)
	s.terminal.attend(nil)
	if errors.Is(context.Cause(running), errInterrupted) {
		return int(trapped("INT")), true
	}
	return code, false
}
