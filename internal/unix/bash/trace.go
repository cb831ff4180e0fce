package bash

import (
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// What set -x prints of commands is this package's: the interpreter writes the arguments of its builtins as one quoted word,
// and those of programs without quotes. Of assignments, loops and case it is the interpreter's.

// xtrace is where the interpreter has the option of set -x among its options.
const xtrace = 5

// traces reports whether set -x is on in a shell, which must not be running on another goroutine.
func traces(shell *interp.Runner) bool {
	return reflect.ValueOf(shell).Elem().FieldByName("opts").Index(xtrace).Bool()
}

// turnsTraceOn reports whether a tree has a set -x.
func turnsTraceOn(node syntax.Node) (found bool) {
	syntax.Walk(node, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 1 && call.Args[0].Lit() == "set" {
			var args []string
			for _, arg := range call.Args[1:] {
				args = append(args, arg.Lit())
			}
			found = setsTrace(args)
		}
		return !found
	})
	return found
}

// setsTrace reports whether the arguments of set may turn its option x on.
func setsTrace(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "xtrace" || strings.HasPrefix(arg, "-") && strings.Contains(arg, "x")
	})
}

// untraced is the standard error of a shell, without the lines of a trace that the interpreter writes of commands: they are
// about the programs of this package, or written by [untraced.trace]. The interpreter writes each line in one piece.
type untraced struct {
	io.Writer
	on *atomic.Bool // something has been traced
}

// hidden are the names of what this package has the interpreter run.
var hidden = []string{part, output, begin, runs, LastJob, maskVariable, contents, executes, aliased, pipe, pipeEnded, pipeStatus, status, failing, lists} // and those whose names begin so

// keptTraces are those of the interpreter that are like bash's.
var keptTraces = regexp.MustCompile(`^(\w+=|for \w+ in|case |let )`)

func (u untraced) Write(b []byte) (int, error) {
	line, ok := strings.CutPrefix(string(b[:min(len(b), 64)]), "+ ")
	switch {
	case !ok:
	case slices.ContainsFunc(hidden, func(name string) bool { return strings.HasPrefix(line, name) }),
		u.on.Load() && b[len(b)-1] == '\n' && !keptTraces.MatchString(line):
		return len(b), nil
	}
	return u.Writer.Write(b)
}

// trace prints a command as bash does with set -x.
func (u untraced) trace(args []string) {
	if slices.ContainsFunc(hidden, func(name string) bool { return strings.HasPrefix(args[0], name) }) || args[0] == waits || args[0] == looks {
		return
	}
	words := slices.Clone(args)
	for i, word := range words {
		if args[0] == tests && word != "" && !strings.ContainsAny(word, " \t\n") {
			continue // patterns and operators
		}
		words[i] = traceWord(word)
	}
	_, _ = io.WriteString(u.Writer, "+ "+strings.Join(words, " ")+"\n") // who does not read it does not see it
}

// traceWord quotes a word as a trace of bash has it.
func traceWord(word string) string {
	control := strings.ContainsFunc(word, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == '\x7f' })
	switch {
	case word == "" || !control && (strings.ContainsAny(word, " \t\n'\"\\|&;()<>!{}*[]?^$`") || word[0] == '~' || word[0] == '#'):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	case control:
		if quoted, err := syntax.Quote(word, syntax.LangBash); err == nil {
			return quoted
		}
	}
	return word
}
