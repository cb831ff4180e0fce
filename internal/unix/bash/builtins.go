package bash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// tame returns what runs in the place of a simple command, so that the interpreter's builtins do what bash does where
// they would panic, and so that what they parse is mended like any other script. ctx is that of a call handler.
func (c *Config) tame(ctx context.Context, args []string) []string {
	hc := interp.HandlerCtx(ctx)
	errs, vars := hc.Stderr, handled{hc.Env, traces(shellOf(ctx))}
	if shellOf(ctx).Funcs[args[0]] != nil {
		return args
	}
	n := 0 // of words before the builtin
	for n < len(args)-1 && args[n] == "builtin" {
		n++
	}
	if looked := lookup(args[n], args[n+1:]); looked != nil {
		return looked
	}
	for n < len(args)-1 && (args[n] == "builtin" || args[n] == "command") {
		n++
	}
	before, name, rest := args[:n:n], args[n], args[n+1:]
	with := func(rest ...string) []string { return slices.Concat(before, []string{name}, rest) }
	switch name {
	case "echo":
		if echo := c.echoed(rest); echo != nil {
			return echo
		}
	case "cd":
		return c.directory(hc, with, rest)
	case "umask":
		return c.masked(hc, rest)
	case "ulimit":
		return c.limited(hc, rest)
	case "exec":
		return executed(with, rest)
	case "printf":
		return c.formatted(hc, with, rest)
	case "unset":
		return with(slices.DeleteFunc(slices.Clone(rest), func(arg string) bool { return arg == "" || !indexes(arg) })...)
	case "shift":
		if len(rest) == 1 {
			if n, err := strconv.Atoi(rest[0]); err == nil && n < 0 {
				return c.refused(errs, "shift: %d: shift count out of range", n)
			}
		}
	case "test", "[":
		if len(rest) > mostDepth || comparesTest(rest) {
			return c.refused(errs, "%s: too many arguments", name) // each may be within the one before
		}
		return with(namedVariables(texts(name, rest))...)
	case "eval":
		text := strings.Join(rest, " ")
		mended, err := mendedText(text, "", vars)
		if err != nil {
			return c.refused(errs, "eval: %v", err)
		}
		if mended != text {
			return with(mended)
		}
	case "trap":
		return c.mendedTrap(ctx, with, rest)
	case "alias":
		return c.alias(ctx, with, rest)
	case "wait":
		return append([]string{waits}, rest...)
	case "complete", "compopt": // how Tab completes: here it knows kubectl and files by itself
		return []string{"true"}
	case "source", ".":
		if len(rest) > 0 && !strings.HasPrefix(rest[0], sourced) {
			if _, err := c.Files.Stat(coreutils.Absolute(hc.Dir, rest[0]), true); err != nil {
				var path *fs.PathError
				if errors.As(err, &path) {
					return c.refused(errs, "%s", strings.TrimPrefix(c.opening(rest[0], os.O_RDONLY, path).Error(), c.name()+": "))
				}
			}
			return with(append([]string{sourced + rest[0]}, rest[1:]...)...)
		}
	}
	return args
}

// executed returns what runs in the place of exec: the interpreter's finds no builtins. Those that are programs, too, run as
// what they are, and the shell ends with their status.
func executed(with func(...string) []string, args []string) []string {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		option := args[0]
		args = args[1:]
		if option == "-a" && len(args) > 0 { // the name that the program is told to have
			args = args[1:]
		}
		if option == "--" {
			break
		}
	}
	if len(args) == 0 || !Programs[args[0]] || args[0] == "kill" { // which programs have
		return with(args...)
	}
	return append([]string{executes}, args...)
}

// executes is the program that runs a builtin, and ends the shell with its status.
const executes = "__exec"

// execute is the program executes.
func (c *Config) execute(ctx context.Context, args []string) error {
	hc, code := interp.HandlerCtx(ctx), 0
	if len(args) > 0 && interp.IsBuiltin(args[0]) {
		err := hc.Builtin(ctx, c.tame(ctx, args))
		if code = statusOf(err); code < 0 {
			return err
		}
	}
	return hc.Builtin(ctx, []string{"exit", strconv.Itoa(code)})
}

// statusOf returns the status that the error of a handler leaves, -1 for one that ends the script. That of a builtin has no name.
func statusOf(err error) int {
	var status interp.ExitStatus
	code := 0
	if err == nil {
		return 0
	} else if errors.As(err, &status) {
		return int(status)
	} else if _, failed := fmt.Sscanf(err.Error(), "builtin exit status %d", &code); failed == nil {
		return code
	}
	return -1
}

// refused says why a command fails, and returns one that does.
func (c *Config) refused(errs io.Writer, format string, args ...any) []string {
	fmt.Fprintf(errs, c.name()+": "+format+"\n", args...)
	return []string{"false"}
}

func (c *Config) mendedTrap(ctx context.Context, with func(...string) []string, args []string) []string {
	hc := interp.HandlerCtx(ctx)
	args = slices.Clone(args)
	at := 0
	if len(args) > 0 && args[0] == "--" {
		at = 1
	}
	if len(args) < at+2 {
		return with(args...) // no command
	}
	if args[at] == "" || args[at] == "-" {
		return with(args...)
	}
	mended, err := mendedText(args[at], "", handled{hc.Env, traces(shellOf(ctx))})
	switch {
	case mustNotRun(err):
		return c.refused(hc.Stderr, "trap: %v", err)
	case err == nil:
		if slices.Equal(args[at+1:], []string{"ERR"}) {
			mended = trapOfError(mended)
		}
		args[at] = trapped(ctx, mended)
	}
	return with(args...)
}

// refusal is the error of a text that can be parsed, and must not be run.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

func mustNotRun(err error) bool {
	_, is := err.(refusal)
	return is
}

// mendedText returns text as Mend and Run change it. The errors are the parser's, and a refusal.
func mendedText(text, name string, vars Variables) (string, error) {
	file, err := parse(text, name)
	if err != nil {
		return "", err
	}
	changed, err := mend(file, text, name, vars)
	if err != nil {
		return "", refusal{err}
	}
	found, err := apart(file)
	if err != nil {
		return "", refusal{err}
	}
	if !changed && !found {
		return text, nil
	}
	var mended strings.Builder
	if err := syntax.NewPrinter().Print(&mended, file); err != nil {
		return "", refusal{err}
	}
	return strings.TrimSuffix(mended.String(), "\n"), nil
}

// indexes reports whether the index of a[index], if arg is that, is an expression that can be calculated.
func indexes(arg string) bool {
	_, index, ok := strings.Cut(arg, "[")
	index, closed := strings.CutSuffix(index, "]")
	if !ok || !closed {
		return true
	}
	expr, err := NewParser().Arithmetic(Bounded(strings.NewReader(index)))
	if err != nil || expr == nil {
		return err != errTooDeep
	}
	_, err = mend(expr, index, "", nil)
	return err == nil
}

// namedVariables has test -v and test -R ask for no variable without a name: no text is there, either.
func namedVariables(args []string) []string {
	var named []string
	for i, arg := range args {
		if (arg == "-v" || arg == "-R") && i+1 < len(args) && args[i+1] == "" {
			arg = "-n"
		}
		named = append(named, arg)
	}
	return named
}

// comparesTest reports whether test is to compare what -f file and the like say with something, which the interpreter panics
// at.
func comparesTest(args []string) bool {
	compares := func(arg string) bool { return arg == "=" || arg == "==" || arg == "!=" }
	for i := range len(args) - 2 {
		operator := len(args[i]) == 2 && args[i][0] == '-' && (i == 0 || slices.Contains([]string{"!", "(", "-a", "-o"}, args[i-1]))
		if operator && compares(args[i+2]) && !compares(args[i+1]) {
			return true
		}
	}
	return false
}

// texts has [ a = b ] compare texts that look like operators.
func texts(name string, args []string) []string {
	compared := slices.Clone(args)
	if name == "[" && len(compared) > 0 {
		args = args[:len(args)-1]
	}
	if at := len(args) - 3; (at == 0 || at == 1 && args[0] == "!") && slices.Contains([]string{"=", "==", "!="}, args[at+1]) {
		compared[at], compared[at+2] = "x"+args[at], "x"+args[at+2]
	}
	return compared
}
