package bash

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The parser and the interpreter call themselves for what is nested, and Go ends the process when a stack is full. bash
// refuses some five thousand nested commands, too.
const (
	// mostFrames is how many calls deep the parser may be.
	mostFrames = 24_000
	// mostDepth is how many nodes of a syntax tree may be within each other: {...} in {...} are two, as is each command
	// of a && b && c.
	mostDepth = 2_000
	// mostBraces is how many braces a word may have: their expansion takes memory for the square of it.
	mostBraces = 1_000
)

const tooDeep = "nested too deeply"

// Parse parses a script whose name is for messages, for a shell that has vars; nil is for one that has not begun. The tree
// is one that the interpreter can run: see [Mend]. The error is a syntax.ParseError or a syntax.LangError.
func Parse(text, name string, vars Variables) (*syntax.File, error) {
	file, err := parse(text, name)
	if err != nil {
		return nil, err
	}
	if _, err := mend(file, text, name, vars); err != nil {
		return nil, err
	}
	return file, nil
}

// Begun returns what a shell runs of a script with a syntax error, which it reads line by line: the complete lines before the one
// with the error, and then what prints the message and fails with the status 2. It is "" where no line is complete before that.
func Begun(text string, err error, message string) string {
	var failure syntax.ParseError
	if !errors.As(err, &failure) {
		return ""
	}
	end := uint(0) // the number of the last line of what is complete
	isComplete := true
	// Not left with a break: behind an unclosed here-document the parser goes on, and Go ends the process for that.
	for stmt, err := range NewParser().StmtsSeq(Bounded(strings.NewReader(text))) {
		isComplete = isComplete && err == nil && stmt != nil && stmt.End().Line() < failure.Pos.Line()
		if isComplete {
			end = stmt.End().Line()
		}
	}
	word, err := syntax.Quote(message, syntax.LangBash)
	if end == 0 || err != nil {
		return ""
	}
	lines := strings.SplitAfterN(text, "\n", int(end)+1)
	return strings.Join(lines[:min(int(end), len(lines))], "") + "\nbuiltin printf '%s\\n' " + word + " >&2; (exit 2)\n"
}

// parse is Parse without mending. A text that is nested too deeply for the parser is a refusal.
func parse(text, name string) (*syntax.File, error) {
	file, err := NewParser().Parse(Bounded(strings.NewReader(text)), name)
	if err == errTooDeep {
		err = refusal{syntax.ParseError{Filename: name, Pos: syntax.NewPos(0, 1, 1), Text: tooDeep}}
	}
	return file, err
}

// Bounded returns r for a parser, whose stack it looks at each time the parser reads. The parser fails where a text is
// nested too deeply.
func Bounded(r io.Reader) io.Reader { return bounded{r} }

type bounded struct{ io.Reader }

func (b bounded) Read(p []byte) (int, error) {
	var one [1]uintptr
	if runtime.Callers(mostFrames, one[:]) != 0 {
		return 0, errTooDeep
	}
	return b.Reader.Read(p)
}

var errTooDeep = errors.New(tooDeep)

// Exiting returns a statement that leaves a status, for what has ended without one that the interpreter knows of.
func Exiting(status int) *syntax.Stmt {
	file, err := parse(fmt.Sprintf("(exit %d)", status), "")
	if err != nil {
		panic(err)
	}
	return file.Stmts[0]
}

// Incomplete returns nil unless a script without its last newline goes on in another line. What it returns then says whether a line
// may be the last one: whoever reads line by line need not parse a long document from its beginning for each.
func Incomplete(script string) (mayEnd func(line string) bool) {
	_, err := parse(script+"\n", "")
	// Of a document with a quoted word the parser does not say that it is incomplete.
	if word, found := quotedBehind(err, "unclosed here-document "); found {
		return func(line string) bool { return word == "" || strings.TrimLeft(line, "\t") == word }
	}
	backslashes := len(script) - len(strings.TrimRight(script, "\\"))
	if backslashes%2 == 0 && !syntax.IsIncomplete(err) {
		return nil
	}
	quote, _ := quotedBehind(err, "without closing quote ")
	return func(line string) bool { return strings.Contains(line, quote) }
}

// quotedBehind returns what the text of a syntax.ParseError quotes behind some words; the parser does not tell it otherwise. What it
// had to spell with escapes is empty.
func quotedBehind(err error, words string) (quoted string, found bool) {
	failure, ok := err.(syntax.ParseError)
	if !ok {
		return "", false
	}
	_, behind, found := strings.Cut(failure.Text, words)
	if len(behind) < 2 || behind[0] != '`' {
		return "", found
	}
	return behind[1 : len(behind)-1], true
}

// shallow fails for a tree that is too deep to be run.
func shallow(node syntax.Node, name string) error {
	depth, refused := 0, ""
	var at syntax.Pos
	syntax.Walk(node, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		switch word, ok := n.(*syntax.Word); {
		case refused != "":
		case depth >= mostDepth:
			refused, at = tooDeep, n.Pos()
		case ok && braces(word) > mostBraces:
			refused, at = fmt.Sprintf("more than %d braces in a word", mostBraces), n.Pos()
		}
		if refused != "" {
			return false
		}
		depth++
		return true
	})
	if refused != "" {
		return syntax.ParseError{Filename: name, Pos: at, Text: refused}
	}
	return nil
}

func braces(word *syntax.Word) int {
	n := 0
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	return n
}
