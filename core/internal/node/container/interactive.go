package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/completion"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// interactive is a shell that runs what comes on standard input, line by line.
type interactive struct {
	*session
	memory *coreutils.Memory
	name   string
	runner *interp.Runner
	code   int // of the last command
}

// run returns the exit code.
func (i *interactive) run(ctx context.Context) int {
	switch {
	case i.stdin == nil:
	case i.tty != nil:
		i.runTyped(ctx)
	default:
		i.runFed(ctx)
	}
	return i.code
}

// runTyped has a prompt, and lines that can be edited.
func (i *interactive) runTyped(ctx context.Context) {
	before, raw := i.tty.Foreground(nil), i.tty.Raw(true) // it is the commands that ^C ends
	defer func() {
		i.tty.Foreground(before)
		i.tty.Raw(raw)
	}()
	editor := &terminal.Editor{TTY: i.tty, Complete: i.complete}
	for {
		script, err := editor.ReadScript(ctx, i.prompt(), bash.Incomplete)
		switch {
		case errors.Is(err, terminal.ErrInterrupted):
			i.leave(ctx, int(trapped("INT")))
			continue
		case err != nil: // ^D, or nobody is there
			if i.name == "bash" {
				fmt.Fprintln(i.stderr, "exit")
			}
			return
		case strings.TrimSpace(script) == "":
			continue
		}
		if n := len(editor.History); n == 0 || editor.History[n-1] != script {
			editor.History = append(editor.History[max(0, n-mostHistory):], script)
		}
		file, err := bash.NewParser().Parse(bash.Bounded(strings.NewReader(script)), "")
		if err != nil {
			fmt.Fprintf(i.stderr, "%s: syntax error: %v\n", i.name, err)
			i.leave(ctx, 2)
			continue
		}
		if !i.statements(ctx, file.Stmts) {
			return
		}
	}
}

// mostHistory is how many lines the history of a terminal has.
const mostHistory = 500

func (i *interactive) prompt() string {
	mark, user := "#", "root"
	if u := i.c.cfg.User; !u.isRoot() {
		mark, user = "$", i.c.tree().userName(u.UID)
	}
	if i.name == "bash" {
		return fmt.Sprintf("%s@%s:%s%s ", user, i.c.cfg.Hostname, i.runner.Dir, mark)
	}
	return fmt.Sprintf("%s %s ", i.runner.Dir, mark)
}

// complete returns what Tab offers: commands and files.
func (i *interactive) complete(_ context.Context, before string) (all []terminal.Candidate, replaces int) {
	words, last := completion.Split(before)
	here := completion.Shell{Dir: i.runner.Dir, Home: lookupEnv(i.c.env, "HOME"), ReadDir: i.c.tree().ReadDir}
	if completion.IsCommand(words, last) {
		here.Programs = slices.Concat(slices.Collect(maps.Keys(commands)), slices.Collect(maps.Keys(i.runner.Funcs)))
		return here.Commands(last)
	}
	return here.Files(last)
}

// runFed parses what comes from a pipe, statement by statement.
func (i *interactive) runFed(ctx context.Context) {
	parser := bash.NewParser()
	for again := true; again; {
		again = false
		for stmts, err := range parser.InteractiveSeq(bash.Bounded(oneByte{i.stdin})) {
			if err != nil {
				if ctx.Err() == nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
					fmt.Fprintf(i.stderr, "%s: %v\n", i.name, err)
					i.code, again = 2, true
				}
				break
			}
			if !parser.Incomplete() && !i.statements(ctx, stmts) {
				return
			}
		}
	}
}

// statements runs those of a line. It reports false when the shell has been left.
func (i *interactive) statements(ctx context.Context, stmts []*syntax.Stmt) (stays bool) {
	for _, stmt := range stmts {
		before := i.runner.Subshell()
		var interrupted bool
		i.code, interrupted = i.attend(ctx, func(ctx context.Context) int {
			err := bash.Mend(stmt, bash.VariablesOf(i.runner))
			if err == nil {
				err = contain(ctx, i.memory, i.runner, stmt)
			}
			if fault := (*coreutils.Fault)(nil); errors.As(err, &fault) {
				i.jobs.Move(i.runner, before)
				i.runner = before
				i.setRunner(before)
			}
			return i.status(err, i.name)
		})
		switch {
		case interrupted && ctx.Err() == nil:
			i.leave(ctx, i.code)
			return true // the rest of the line is not run
		case i.runner.Exited() || ctx.Err() != nil:
			return false
		}
	}
	return true
}

// leave leaves the status of what the interpreter knows nothing of.
func (i *interactive) leave(ctx context.Context, status int) {
	i.code = status
	_ = i.runner.Run(ctx, bash.Exiting(status))
}

// oneByte reads a byte at a time, so that the parser does not swallow what a
// command that it has parsed is to read.
type oneByte struct{ io.Reader }

func (r oneByte) Read(b []byte) (int, error) {
	if len(b) > 1 {
		b = b[:1]
	}
	return r.Reader.Read(b)
}
