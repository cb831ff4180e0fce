package bash

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// The interpreter keeps the words of an alias, and takes none that has more than a command: a pipe, a redirection, a function.
// Such an alias becomes the program aliased with the text, which runs it with the arguments behind:
//
//	alias kx='f() { ...; } ; f'; kx a  ──▶  __alias kx 'f() { ...; } ; f' a  ──▶  eval "f() { ...; } ; f a"
const aliased = "__alias"

// AliasNames returns the names of a shell's aliases, in any order. The shell must not be running.
func AliasNames(shell *interp.Runner) (names []string) {
	for _, name := range aliases(shell).MapKeys() {
		names = append(names, name.String())
	}
	return names
}

// Alias returns the words that an alias stands for; those that are not literal are empty. ok is false where there is no such alias. The
// shell must not be running.
func Alias(shell *interp.Runner, name string) (words []string, ok bool) {
	all, ok := aliasWords(shell, name)
	for _, word := range all {
		words = append(words, word.Lit())
	}
	return words, ok
}

func aliasWords(shell *interp.Runner, name string) (words []*syntax.Word, ok bool) {
	alias := aliases(shell).MapIndex(reflect.ValueOf(name))
	if !alias.IsValid() {
		return nil, false
	}
	args := alias.FieldByName("args")
	for i := range args.Len() {
		words = append(words, (*syntax.Word)(args.Index(i).UnsafePointer()))
	}
	return words, true
}

// aliasText returns what an alias was given.
func aliasText(shell *interp.Runner, name string) (text string, ok bool) {
	words, ok := aliasWords(shell, name)
	if !ok {
		return "", false
	}
	if len(words) == 3 && words[0].Lit() == aliased {
		for _, part := range words[2].Parts {
			switch part := part.(type) {
			case *syntax.SglQuoted:
				text += part.Value
			case *syntax.Lit: // \'
				text += strings.TrimPrefix(part.Value, `\`)
			}
		}
		return text, true
	}
	var printed strings.Builder
	if err := syntax.NewPrinter().Print(&printed, &syntax.CallExpr{Args: words}); err != nil {
		return "", false
	}
	if aliases(shell).MapIndex(reflect.ValueOf(name)).FieldByName("blank").Bool() {
		printed.WriteByte(' ')
	}
	return printed.String(), true
}

// aliases is the interpreter's map of them, which it shows nobody.
func aliases(shell *interp.Runner) reflect.Value {
	return reflect.ValueOf(shell).Elem().FieldByName("alias")
}

// alias returns what runs in the place of alias.
func (c *Config) alias(ctx context.Context, with func(...string) []string, args []string) []string {
	hc, shell := interp.HandlerCtx(ctx), shellOf(ctx)
	vars := handled{hc.Env, traces(shell)}
	for len(args) > 0 && (args[0] == "-p" || args[0] == "--") {
		args = args[1:]
	}
	if len(args) == 0 {
		args = AliasNames(shell)
		slices.Sort(args)
	}
	var sets []string
	var shown strings.Builder
	failed := false
	for _, arg := range args {
		name, text, assigns := strings.Cut(arg, "=")
		if !assigns {
			text, ok := aliasText(shell, name)
			if !ok {
				fmt.Fprintf(hc.Stderr, "%s: alias: %s: not found\n", c.name(), name)
				failed = true
				continue
			}
			fmt.Fprintf(&shown, "alias %s='%s'\n", name, strings.ReplaceAll(text, "'", `'\''`))
			continue
		}
		mended, err := mendedText(text, "", vars)
		switch {
		case mustNotRun(err):
			return c.refused(hc.Stderr, "alias: %s: %v", name, err)
		case err == nil && !isWords(text):
			quoted := &syntax.Word{Parts: quoted(text)}
			var word strings.Builder
			if err := syntax.NewPrinter().Print(&word, quoted); err == nil {
				arg = name + "=" + aliased + " " + name + " " + word.String()
			}
		case err == nil && mended != text:
			arg = name + "=" + mended
		}
		sets = append(sets, arg)
	}
	_, _ = io.WriteString(hc.Stdout, shown.String()) // as the interpreter's builtins do
	switch {
	case failed:
		return []string{"false"}
	case len(sets) == 0:
		return []string{"true"}
	}
	return with(sets...)
}

// isWords reports whether the interpreter can keep the text of an alias.
func isWords(text string) bool {
	for _, err := range NewParser().WordsSeq(Bounded(strings.NewReader(text))) {
		if err != nil {
			return false
		}
	}
	return true
}

// inAliases is the key of the names of the aliases that are running, in the context of what they run: an alias that is in its
// own text is the program of the name.
type inAliases struct{}

// unaliased returns the command that a call of aliased is where its alias is running already.
func unaliased(ctx context.Context, args []string) []string {
	if running, _ := ctx.Value(inAliases{}).([]string); len(args) > 2 && args[0] == aliased && slices.Contains(running, args[1]) {
		return slices.Concat(args[1:2], args[3:])
	}
	return args
}

// runAlias is the program aliased.
func (c *Config) runAlias(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return interp.ExitStatus(1) // somebody else has typed the name
	}
	text := args[2]
	for _, arg := range args[3:] {
		word, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			return interp.ExitStatus(1)
		}
		text += " " + word
	}
	running, _ := ctx.Value(inAliases{}).([]string)
	ctx = context.WithValue(ctx, inAliases{}, append(slices.Clone(running), args[1]))
	return interp.HandlerCtx(ctx).Builtin(ctx, c.tame(ctx, []string{"eval", text}))
}
