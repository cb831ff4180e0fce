package bash

import (
	"context"
	"fmt"
	"io"
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// The interpreter starts goroutines of its own, and Go ends the process for a panic in one of them. Each runs a part of a
// script: all of a pipeline but its last command, and what stands before an ampersand. (What is in <( ) runs there, too, and Mend has
// made a pipeline of it.) Only a frame below the part's can recover, and the interpreter has none of ours there. A part therefore becomes a call of a
// program that the interpreter asks Config.Exec for. The program has the interpreter's own eval run the part, in the same
// shell and on the same goroutine, and survives it:
//
//	$x | sort  ──▶  { __pipe 0 2 $? && __status; __part $__pipe:0 '$x' | { sort; __ended 0 $? && __status; }; }
//
// What is beside it there is for PIPESTATUS, see notes.
//
// What stands before an ampersand becomes one in any case, because the interpreter's jobs have no numbers, and cannot be
// ended each by itself ([Jobs]):
//
//	$x | sort &  ──▶  { __begin '$x | sort' $?; __job $__last_job & }
//
// What differs is what prints a tree: declare -f shows these calls, and so does a trace (set -x) that is written to
// a pipe or a file.
const (
	// part runs its argument, and parts does so with an argument that has parts itself. Each is taken apart when it runs:
	// quotes within quotes within quotes take too much.
	part  = "__part"
	parts = "__parts"
)

// Run is runner.Run for a tree that Parse or Mend has been given: a panic ends the part of the tree that it is in with the
// status coreutils.Aborted, as SIGABRT would, if the part has a goroutine of its own; it reaches the caller otherwise.
// Run changes the tree.
func Run(ctx context.Context, runner *interp.Runner, node syntax.Node) error {
	if _, err := apart(node); err != nil {
		return err
	}
	return runner.Run(ctx, node)
}

// apart has the parts of a tree be calls of programs, and reports whether there are any. It fails where the tree cannot be
// printed.
func apart(node syntax.Node) (found bool, err error) {
	text := func(stmt *syntax.Stmt) *syntax.Word {
		found = true
		text := ""
		if err == nil {
			text, err = printed(stmt)
		}
		return &syntax.Word{Parts: quoted(text)}
	}
	// Of a | b | c, the interpreter runs a | b on a goroutine, and a on another one.
	var command func(stmt *syntax.Stmt, n *int) *syntax.Stmt
	command = func(stmt *syntax.Stmt, n *int) *syntax.Stmt {
		if line, ok := stmt.Cmd.(*syntax.BinaryCmd); ok && isPipe(line) && !stmt.Negated && len(stmt.Redirs) == 0 {
			line.X = command(line.X, n)
			line.Y = command(line.Y, n)
			return stmt
		}
		place := fmt.Sprintf(":%d", *n)
		*n++
		if isCall(stmt.Cmd) {
			return stmt
		}
		program := part
		if hasParts(stmt) {
			program = parts
		}
		of := variable(pipe)
		of.Parts = append(of.Parts, &syntax.Lit{Value: place})
		return &syntax.Stmt{Position: stmt.Position, Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(program), of, text(stmt)}}}
	}
	syntax.Walk(node, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			if (node.Background || node.Disown) && !isCall(node.Cmd) {
				alone := *node
				alone.Background, alone.Disown = false, false
				words := []*syntax.Word{literal(begin), text(&alone), variable("?")}
				*node = syntax.Stmt{Position: node.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{
					{Position: node.Position, Cmd: &syntax.CallExpr{Args: words}},
					{Position: node.Position, Background: true, Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(runs), variable(LastJob)}}},
				}}}
			}
			if line, ok := node.Cmd.(*syntax.BinaryCmd); ok && isPipe(line) && !isPiped(line) {
				n := 0
				line.X = command(line.X, &n)
				notes(node, line, n+1)
			}
		}
		return err == nil
	})
	return found, err
}

// isPiped reports whether a pipeline's commands are calls already.
func isPiped(line *syntax.BinaryCmd) bool {
	for isPipe(line) {
		inner, ok := line.X.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return isCall(line.X.Cmd)
		}
		line = inner
	}
	return false
}

func isPipe(cmd syntax.Command) bool {
	binary, ok := cmd.(*syntax.BinaryCmd)
	return ok && (binary.Op == syntax.Pipe || binary.Op == syntax.PipeAll)
}

// isCall reports whether a command is what apart has made.
func isCall(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == part || name == parts || name == output || name == begin || name == runs
}

func hasParts(stmt *syntax.Stmt) bool {
	found := false
	syntax.Walk(stmt, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			found = found || node.Background || node.Disown
		case *syntax.BinaryCmd:
			found = found || isPipe(node)
		}
		return !found
	})
	return found
}

// printed returns the text of statements, whose first line has the number that it has in its script where that is asked for.
func printed(stmts ...*syntax.Stmt) (string, error) {
	var text strings.Builder
	if err := syntax.NewPrinter().Print(&text, &syntax.File{Stmts: stmts}); err != nil {
		return "", err
	}
	lines := ""
	if strings.Contains(text.String(), "LINENO") {
		lines = strings.Repeat("\n", int(max(stmts[0].Pos().Line(), 1)-1))
	}
	return lines + strings.TrimSuffix(text.String(), "\n"), nil
}

func literal(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
}

// quoted are the parts of a word that is a text as it stands.
func quoted(text string) (parts []syntax.WordPart) {
	for i, between := range strings.Split(text, "'") {
		if i > 0 {
			parts = append(parts, &syntax.Lit{Value: `\'`})
		}
		parts = append(parts, &syntax.SglQuoted{Value: between})
	}
	return parts
}

// runPart is the programs part and parts, whose status is noted. The errors are those of interp.ExecHandlerFunc.
func runPart(ctx context.Context, lines *pipelines, args []string) (err error) {
	if len(args) != 3 {
		return interp.ExitStatus(1) // somebody else has typed the name
	}
	defer func() { lines.partEnded(args[1], statusOf(err)) }()
	hc, text := interp.HandlerCtx(ctx), args[2]
	if args[0] == parts {
		file, err := parse(text, "")
		if err == nil {
			_, err = apart(file)
		}
		if err == nil {
			text, err = printed(file.Stmts...)
		}
		if err != nil {
			return err
		}
	}
	return evaluate(ctx, hc, text)
}

// evaluate has the shell of a handler run a text, and survives it.
func evaluate(ctx context.Context, hc interp.HandlerContext, text string) error {
	var err error
	ctx = context.WithValue(ctx, inPart{}, true)
	if fault := coreutils.Survive(func() { err = hc.Builtin(ctx, []string{"eval", text}) }); fault != nil {
		fmt.Fprintf(hc.Stderr, "bash: %v\n", fault)
		return interp.ExitStatus(coreutils.Aborted)
	}
	return err
}

// inPart marks the context of what a part runs. A part that ends itself has the interpreter run its trap of EXIT, on the same
// goroutine and outside of the part: the trap is a part of its own then.
type inPart struct{}

// trapped returns the text that a trap of EXIT has in the shell of ctx.
func trapped(ctx context.Context, text string) string {
	if libraryRecovers || ctx.Value(inPart{}) == nil {
		return text
	}
	word, err := syntax.Quote(text, syntax.LangBash)
	if err != nil {
		return text // it has a zero byte, and cannot be parsed either
	}
	return parts + " : " + word
}

func variable(name string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: name}}}}
}

// isPart reports whether a command is one of the programs that run parts.
func isPart(args []string) bool { return args[0] == part || args[0] == parts }

// HandlerCtx is interp.HandlerCtx with the streams that a Config has: who uses a shell knows them by their types.
func HandlerCtx(ctx context.Context) interp.HandlerContext {
	hc := interp.HandlerCtx(ctx)
	for _, stream := range []*io.Writer{&hc.Stdout, &hc.Stderr} {
		if u, ok := (*stream).(untraced); ok {
			*stream = u.Writer
		}
	}
	return hc
}
