package bash

import (
	"context"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Spool is the program that takes the place of the pipe in <(command), and that Config.Exec has: it keeps its standard
// input in a file and prints the file's name. The interpreter wants a pipe with a name in the file system, which there is
// none of in a tab, and which a container does not see.
const Spool = "__spool"

// A statement with >(command) becomes a call of the program outputs, with the statement as its argument:
//
//	tee >(wc -l) > f  ──▶  __outputs 'tee >(wc -l) > f'  ──▶  eval "__output '(wc -l) < FILE' &"; eval 'tee FILE > f'
//
// A file of Config.Spool takes the place of the pipe here, too: the program output runs its argument when the statement has
// ended, and outputs ends when that has. A job has a shell of its own: that of a statement which ends with exit or return
// runs nothing any more.
const (
	outputs = "__outputs"
	output  = "__output"
)

// pending is the command of a >(command).
type pending struct {
	begin <-chan struct{} // closed when the statement has ended, and the command before this one
	done  chan struct{}   // closed when this one has
}

type pendingKey struct{}

// substitute makes <(command) in a word $(command | __spool), and refuses >(command) where no statement has taken it.
func (m *mender) substitute(word *syntax.Word) {
	for i, part := range word.Parts {
		process, ok := part.(*syntax.ProcSubst)
		if !ok || m.taken[process] {
			continue
		}
		if process.Op != syntax.CmdIn {
			m.refuse(process, ">(command) is supported among the arguments of a command, and behind a > of one")
			return
		}
		pipe := &syntax.BinaryCmd{
			Op: syntax.Pipe,
			X:  &syntax.Stmt{Position: process.Pos(), Cmd: &syntax.Block{Stmts: process.Stmts}},
			Y:  &syntax.Stmt{Position: process.Pos(), Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(Spool)}}},
		}
		word.Parts[i] = &syntax.CmdSubst{Stmts: []*syntax.Stmt{{Position: process.Pos(), Cmd: pipe}}}
		m.changed = true
	}
}

// contents is the program that copies its standard input in $(<file). The interpreter's own way has no status, and prints
// its error twice.
const contents = "__contents"

// contents makes $(<file) $(__contents <file).
func (m *mender) contents(subst *syntax.CmdSubst) {
	if len(subst.Stmts) != 1 {
		return
	}
	stmt := subst.Stmts[0]
	if stmt.Cmd == nil && len(stmt.Redirs) == 1 && stmt.Redirs[0].Op == syntax.RdrIn && !stmt.Negated && !stmt.Background {
		stmt.Cmd = &syntax.CallExpr{Args: []*syntax.Word{literal(contents)}}
		m.changed = true
	}
}

// outputsOf are where a statement has >(command), among its arguments and behind its redirections.
func outputsOf(stmt *syntax.Stmt) (found []*syntax.WordPart) {
	var words []*syntax.Word
	if call, ok := stmt.Cmd.(*syntax.CallExpr); ok {
		words = append(words, call.Args...)
	}
	for _, redirect := range stmt.Redirs {
		if redirect.Hdoc == nil {
			words = append(words, redirect.Word)
		}
	}
	for _, word := range words {
		for i, part := range word.Parts {
			if process, ok := part.(*syntax.ProcSubst); ok && process.Op == syntax.CmdOut {
				found = append(found, &word.Parts[i])
			}
		}
	}
	return found
}

// output makes a statement with >(command) a call of the program outputs.
func (m *mender) output(stmt *syntax.Stmt) {
	found := outputsOf(stmt)
	if len(found) == 0 || m.taken[*found[0]] {
		return
	}
	if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "exec" {
		m.refuse(*found[0], "exec with >(command) is not supported")
		return
	}
	if m.taken == nil {
		m.taken = map[syntax.WordPart]bool{}
	}
	for _, part := range found {
		m.taken[*part] = true
	}
	alone := *stmt
	alone.Negated, alone.Background, alone.Disown, alone.Coprocess = false, false, false, false
	syntax.Walk(&alone, m.visit)
	text, err := printed(&alone)
	if err != nil {
		m.refuse(stmt, err.Error())
	}
	if m.err != nil {
		return
	}
	stmt.Redirs = nil
	stmt.Cmd = &syntax.CallExpr{Args: []*syntax.Word{literal(outputs), {Parts: quoted(text)}}}
	m.changed = true
}

// isOutputs reports whether a command is one of the programs for >(command).
func isOutputs(args []string) bool { return args[0] == outputs || args[0] == output }

// runOutputs is the programs outputs and output. The errors are those of interp.ExecHandlerFunc.
func runOutputs(ctx context.Context, spool func(context.Context) (string, error), args []string) error {
	text := strings.Join(args[1:], " ")
	if args[0] == output {
		return runOutput(ctx, text)
	}
	hc := HandlerCtx(ctx)
	file, err := parse(text, "")
	if err != nil {
		return err
	}
	if len(file.Stmts) == 0 {
		return nil // somebody else has typed the name
	}
	var commands []*syntax.Stmt
	for _, part := range outputsOf(file.Stmts[0]) {
		name, err := spool(ctx)
		if err != nil {
			fmt.Fprintf(hc.Stderr, "bash: >(command): %v\n", err)
			return interp.ExitStatus(1)
		}
		process := (*part).(*syntax.ProcSubst)
		*part = &syntax.SglQuoted{Value: name}
		from := &syntax.Redirect{Op: syntax.RdrIn, Word: &syntax.Word{Parts: []syntax.WordPart{*part}}}
		commands = append(commands, &syntax.Stmt{Position: process.Pos(), Cmd: &syntax.Subshell{Stmts: process.Stmts}, Redirs: []*syntax.Redirect{from}})
	}
	if text, err = runnable(file); err != nil {
		return err
	}
	ended := make(chan struct{})
	last := (<-chan struct{})(ended)
	defer func() {
		close(ended)
		select {
		case <-last:
		case <-ctx.Done():
		}
	}()
	for _, command := range commands {
		text, err := runnable(&syntax.File{Stmts: []*syntax.Stmt{command}})
		if err != nil {
			return err
		}
		word := &syntax.Word{Parts: quoted(text)}
		job := &syntax.Stmt{Background: true, Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(output), word}}}
		if text, err = printed(job); err != nil {
			return err
		}
		p := &pending{begin: last, done: make(chan struct{})}
		last = p.done
		_ = hc.Builtin(context.WithValue(ctx, pendingKey{}, p), []string{"eval", text}) // a job that begins has no status
	}
	return hc.Builtin(ctx, []string{"eval", text})
}

// runOutput runs the command of >(command).
func runOutput(ctx context.Context, text string) error {
	hc := HandlerCtx(ctx)
	p, ok := ctx.Value(pendingKey{}).(*pending)
	if !ok {
		fmt.Fprintf(hc.Stderr, "bash: %s: is not for commands\n", output)
		return interp.ExitStatus(1)
	}
	defer close(p.done)
	select {
	case <-p.begin:
	case <-ctx.Done():
		return ctx.Err()
	}
	return evaluate(ctx, hc, text)
}

// runnable returns the text of a tree for the interpreter's own eval.
func runnable(file *syntax.File) (string, error) {
	if _, err := apart(file); err != nil {
		return "", err
	}
	return printed(file.Stmts...)
}
