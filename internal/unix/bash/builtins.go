package bash

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// tame returns what runs in the place of a simple command, so that the interpreter's builtins do what bash does where
// they would panic, and so that what they parse is mended like any other script. ctx is that of a call handler.
func tame(ctx context.Context, args []string) []string {
	hc := interp.HandlerCtx(ctx)
	errs, vars := hc.Stderr, hc.Env
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
	case "printf":
		return formatted(hc, with, rest)
	case "unset":
		return with(slices.DeleteFunc(slices.Clone(rest), func(arg string) bool { return arg == "" || !indexes(arg) })...)
	case "shift":
		if len(rest) == 1 {
			if n, err := strconv.Atoi(rest[0]); err == nil && n < 0 {
				return refused(errs, "shift: %d: shift count out of range", n)
			}
		}
	case "test", "[":
		if len(rest) > mostDepth {
			return refused(errs, "%s: too many arguments", name) // each may be within the one before
		}
		return with(namedVariables(rest)...)
	case "eval":
		text := strings.Join(rest, " ")
		mended, err := mendedText(text, "", vars)
		if err != nil {
			return refused(errs, "eval: %v", err)
		}
		if mended != text {
			return with(mended)
		}
	case "trap":
		return mendedTrap(ctx, with, rest)
	case "alias":
		mended := slices.Clone(rest)
		for i, arg := range rest {
			alias, text, _ := strings.Cut(arg, "=")
			of, err := mendedText(text, "", vars)
			switch {
			case mustNotRun(err):
				return refused(errs, "alias: %s: %v", alias, err)
			case err == nil && of != text:
				mended[i] = alias + "=" + of
			}
		}
		return with(mended...)
	case "wait":
		return append([]string{waits}, rest...)
	case "complete", "compopt": // how Tab completes: here it knows kubectl and files by itself
		return []string{"true"}
	case "source", ".":
		if len(rest) > 0 && !strings.HasPrefix(rest[0], sourced) {
			return with(append([]string{sourced + rest[0]}, rest[1:]...)...)
		}
	}
	return args
}

// formatted returns what runs in the place of printf, for the interpreter's prints its options: -v NAME, which sets a
// variable, and --.
func formatted(hc interp.HandlerContext, with func(...string) []string, args []string) []string {
	name, sets := "", false
	if len(args) > 0 {
		if name, sets = strings.CutPrefix(args[0], "-v"); sets {
			args = args[1:]
		}
	}
	if sets && name == "" {
		if len(args) == 0 {
			return refused(hc.Stderr, "printf: -v: option requires an argument")
		}
		name, args = args[0], args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if !sets || len(args) == 0 { // which the interpreter's says
		return with(args...)
	}
	if variable, _, _ := strings.Cut(name, "["); !syntax.ValidName(variable) || !indexes(name) {
		return refused(hc.Stderr, "printf: `%s': not a valid identifier", name)
	}
	var text strings.Builder
	format, args := args[0], args[1:]
	for {
		part, used, err := expand.Format(nil, format, args)
		if err != nil {
			return refused(hc.Stderr, "printf: %v", err)
		}
		text.WriteString(part)
		if args = args[used:]; used == 0 || len(args) == 0 {
			break
		}
	}
	value, _, _ := strings.Cut(text.String(), "\x00")
	quoted, err := syntax.Quote(value, syntax.LangBash)
	if err != nil {
		return refused(hc.Stderr, "printf: %v", err)
	}
	return []string{"eval", name + "=" + quoted}
}

// refused says why a command fails, and returns one that does.
func refused(errs io.Writer, format string, args ...any) []string {
	fmt.Fprintf(errs, "bash: "+format+"\n", args...)
	return []string{"false"}
}

func mendedTrap(ctx context.Context, with func(...string) []string, args []string) []string {
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
	mended, err := mendedText(args[at], "", hc.Env)
	switch {
	case mustNotRun(err):
		return refused(hc.Stderr, "trap: %v", err)
	case err == nil:
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
