// Package python runs scripts as manifests have them in their command lines: they look at their environment, count, print,
// wait and exit.
//
//	script, err := python.Parse("<string>", text)
//	code := script.Run(ctx, python.Config{Out: out, Err: errs, Environment: env, Sleep: sleep})
//
// It knows None, bool, int up to 64 bits, float and str; if, while, for over range(), lists and tuples, break, continue; def with
// positional parameters; raise; print, int, float, str, len, range, str.format, % and f-strings without specifications; of
// modules os.environ, os.getenv, os._exit, sys.argv, sys.exit, sys.stdout, sys.stderr, time.sleep, time.time,
// random.random, random.randint and socket.gethostname. The grammar is Starlark's (go.starlark.net/syntax), which is a part of
// Python's, and what it lacks is written in other words before: import, raise, f-strings, `is None`.
//
// A script that has anything else in it does not parse, so that nothing runs in part that is not known as a whole.
package python

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.starlark.net/syntax"
)

// Config is what a script works with.
type Config struct {
	Arguments   []string          // sys.argv
	Environment map[string]string // os.environ
	Hostname    string            // socket.gethostname()
	Out, Err    io.Writer
	Now         func() time.Time
	// Sleep waits as time.sleep does, and fails when the script shall end.
	Sleep func(time.Duration) error
}

// Limits of a script: of its text and of a string that it makes, in bytes, of calls and of terms within each other, of arguments
// and items.
const (
	mostText   = 64 << 10
	mostString = 64 << 10
	mostCalls  = 100
	mostDepth  = 100
	mostItems  = 256
)

// Script is a script that was understood. It may be run several times.
type Script struct {
	name  string
	lines []string // of a file, which tracebacks show
	run   block
}

// Parse returns the script of a text. The name is what tracebacks call it, such as "<string>", or that of a file. The error says
// what is not known, or not Python, and where.
func Parse(name, text string) (*Script, error) {
	if len(text) > mostText {
		return nil, fmt.Errorf("%s: %d bytes are too many", name, len(text))
	}
	plain, names, err := rewritten(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file, err := (&syntax.FileOptions{}).Parse(name, plain, 0)
	if err != nil {
		return nil, err
	}
	c := &compiler{modules: names, globals: map[string]bool{"__name__": true}}
	c.declare(file.Stmts)
	run, err := c.block(file.Stmts)
	if err != nil {
		return nil, err
	}
	s := &Script{name: name, run: run}
	if !strings.HasPrefix(name, "<") {
		s.lines = strings.Split(text, "\n")
	}
	return s, nil
}

// Run runs the script until it ends or ctx does, and returns its exit code. What it raises and does not catch, which is
// everything, is a traceback on standard error and code 1. ctx is asked at each statement.
func (s *Script) Run(ctx context.Context, config Config) int {
	m := &machine{Config: config, ctx: ctx, globals: map[string]any{"__name__": "__main__"}}
	err := s.run(m)
	var left *exit
	var is *raised
	switch {
	case err == nil:
		return 0
	case errors.As(err, &left):
		if left.text != "" {
			fmt.Fprintln(config.Err, left.text)
		}
		return left.code
	case errors.As(err, &is):
		s.trace(config.Err, append(is.calls, frame{"<module>", is.line}))
		fmt.Fprintln(config.Err, is.message())
	}
	return 1
}

// mostRepeated is how often a traceback shows one and the same call in a row.
const mostRepeated = 3

// trace prints a traceback. The frames are in the order in which an exception leaves them.
func (s *Script) trace(w io.Writer, frames []frame) {
	fmt.Fprintln(w, "Traceback (most recent call last):")
	repeated := 0
	ends := func() {
		if more := repeated - mostRepeated; more > 0 {
			fmt.Fprintf(w, "  [Previous line repeated %s]\n", counted(more, "more time"))
		}
		repeated = 0
	}
	for i, f := range slices.Backward(frames) {
		if i+1 == len(frames) || frames[i+1] != f {
			ends()
		}
		if repeated++; repeated > mostRepeated {
			continue
		}
		fmt.Fprintf(w, "  File \"%s\", line %d, in %s\n", s.name, f.line, f.function)
		if line := int(f.line) - 1; line >= 0 && line < len(s.lines) {
			fmt.Fprintln(w, "    "+strings.TrimSpace(s.lines[line]))
		}
	}
	ends()
}

// machine is a script that runs.
type machine struct {
	Config
	ctx     context.Context
	globals map[string]any
	locals  map[string]any // of the function that runs; nil outside of one
	calls   int
}

// exit ends the script.
type exit struct {
	code int
	text string
}

func (e *exit) Error() string { return fmt.Sprintf("exit %d", e.code) }

// raised is an exception that nobody catches.
type raised struct {
	kind, text string
	line       int32   // in what it is in now; 0 where that is not known yet
	calls      []frame // that it has left
}

// frame is where a function was, or the script itself.
type frame struct {
	function string
	line     int32
}

func (r *raised) Error() string { return r.message() }

func (r *raised) message() string {
	if r.text == "" {
		return r.kind
	}
	return r.kind + ": " + r.text
}

func raise(kind, format string, args ...any) error {
	return &raised{kind: kind, text: fmt.Sprintf(format, args...)}
}

// simulated is raised by what Python has, and this one has not, where only a running script tells.
func simulated(what string) error {
	return raise("NotImplementedError", "this Python is simulated: it has no %s", what)
}

// at says in which line something was raised, unless that is known.
func at(err error, line int32) error {
	var is *raised
	if errors.As(err, &is) && is.line == 0 {
		is.line = line
	}
	return err
}
