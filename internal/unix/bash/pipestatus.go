package bash

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"mvdan.cc/sh/v3/syntax"
)

// The interpreter has no PIPESTATUS. Each pipeline notes the statuses of its commands, and what mentions the variable sets it
// before:
//
//	a | b | c                 ──▶  { __pipe 17 3 $? && __status; __part $__pipe:0 'a' | __part $__pipe:1 'b' | { c; __ended 17 $? && __status; }; }
//	echo ${PIPESTATUS[0]}     ──▶  { __pipestatus seen $? && __status; echo ${PIPESTATUS[0]}; }
//
// The number is the place of the pipeline in its script. What is the first of a subshell has the value of the shell around it.
const (
	pipeStatus = "PIPESTATUS"
	pipe       = "__pipe"
	pipeEnded  = "__ended"
	pipeReport = "__pipestatus"
	// status leaves the status that it is given, behind && also where set -e is on.
	status = "__status"
	// failing begins and ends a trap of ERR, which the interpreter runs also for what is around the command that has failed.
	failing = "__failed"
)

// mostPipelines is how many pipelines of a shell with its subshells are known. Those that are no more of interest are not told
// from others.
const mostPipelines = 256

// pipelines are those that ran last.
type pipelines struct {
	mu     sync.Mutex
	begun  int                          // how many have
	list   []*pipeline                  // in the order of their begin
	latest map[unsafe.Pointer]*pipeline // of each scope, that have ended

	failed unsafe.Pointer // the scope that a trap of ERR has run in, if no command has run there since
}

// pipeline is one that runs or has run.
type pipeline struct {
	number   int
	place    string
	scope    unsafe.Pointer
	statuses []string
	ended    bool
	past     bool // another command has run after it
}

// scopeOf is what a shell, a subshell and each call of a function have of their own: the interpreter's variables.
func scopeOf(ctx context.Context) unsafe.Pointer {
	return reflect.ValueOf(shellOf(ctx)).Elem().FieldByName("writeEnv").Elem().UnsafePointer()
}

// pass notes that another command runs in a scope.
func (p *pipelines) pass(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.latest) > 0 || p.failed != nil {
		p.passLocked(scopeOf(ctx))
	}
}

func (p *pipelines) passLocked(scope unsafe.Pointer) {
	if last := p.latest[scope]; last != nil {
		last.past = true
	}
	if p.failed == scope {
		p.failed = nil
	}
}

// begin is the program pipe. It returns what runs in its place.
func (p *pipelines) begin(ctx context.Context, args []string) []string {
	if len(args) != 4 {
		return []string{"false"} // somebody else has typed the name
	}
	n, err := strconv.Atoi(args[2])
	if err != nil || n < 1 || n > mostDepth {
		return []string{"false"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun++
	p.list = append(p.list, &pipeline{number: p.begun, place: args[1], scope: scopeOf(ctx), statuses: slices.Repeat([]string{"0"}, n)})
	if len(p.list) > mostPipelines {
		if first := p.list[0]; p.latest[first.scope] == first {
			delete(p.latest, first.scope)
		}
		p.list = slices.Delete(p.list, 0, 1)
	}
	set := []string{"eval", fmt.Sprintf("%s=%d", pipe, p.begun)}
	if args[3] != "0" {
		set = append(set, "; "+status, args[3])
	}
	return set
}

// partEnded notes the status of a part, which is called number:place in the pipeline.
func (p *pipelines) partEnded(part string, code int) {
	number, place, _ := strings.Cut(part, ":")
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.list {
		if at, err := strconv.Atoi(place); err == nil && strconv.Itoa(line.number) == number && at >= 0 && at < len(line.statuses) {
			line.statuses[at] = strconv.Itoa(code)
		}
	}
}

// end is the program pipeEnded: the last command of a pipeline has ended. It returns what runs in its place.
func (p *pipelines) end(ctx context.Context, args []string) []string {
	if len(args) != 3 {
		return []string{"false"}
	}
	scope := scopeOf(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range slices.Backward(p.list) {
		if line.scope == scope && line.place == args[1] && !line.ended {
			line.statuses[len(line.statuses)-1], line.ended = args[2], true
			if p.latest == nil {
				p.latest = map[unsafe.Pointer]*pipeline{}
			}
			p.latest[scope] = line
			break
		}
	}
	return []string{status, args[2]}
}

// report is the program pipeReport, which sets the variable. It returns what runs in its place.
func (p *pipelines) report(ctx context.Context, args []string) []string {
	if len(args) != 3 {
		return []string{"false"}
	}
	statuses := args[2]
	scope := scopeOf(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.latest[scope]; last != nil && !last.past {
		statuses = strings.Join(last.statuses, " ")
	}
	if args[1] == passes {
		p.passLocked(scope)
	}
	return []string{"eval", fmt.Sprintf("%s=(%s); %s %s", pipeStatus, statuses, status, args[2])}
}

// fail is the program failing. It returns what leaves the status that it is given, or 0 where no command has run since the trap.
func (p *pipelines) fail(ctx context.Context, args []string) []string {
	scope := scopeOf(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == scope {
		return []string{status}
	}
	p.failed = scope
	return []string{status, args[len(args)-1]}
}

// trapOfError returns the text of a trap of ERR that runs once for a command that has failed.
func trapOfError(text string) string {
	return failing + " $? || {\n" + text + "\n" + failing + " 0; }"
}

// isNote reports whether a command is one of the programs that pipelines note their statuses by.
func isNote(args []string) bool {
	return args[0] == pipe || args[0] == pipeEnded || args[0] == pipeReport || args[0] == failing
}

// noted returns what runs in the place of one of them. Other shells than bash have no PIPESTATUS.
func (c *Config) noted(ctx context.Context, lines *pipelines, args []string) []string {
	switch {
	case args[0] == failing:
		return lines.fail(ctx, args)
	case c.Dialect != Bash:
		return []string{status, args[len(args)-1]}
	case args[0] == pipe:
		return lines.begin(ctx, args)
	case args[0] == pipeEnded:
		return lines.end(ctx, args)
	}
	return lines.report(ctx, args)
}

// leave is the program status.
func leave(args []string) error {
	if len(args) < 2 {
		return nil
	}
	code, _ := strconv.Atoi(args[1])
	return exit(code)
}

// What follows pipeReport: whether the statement, which the call handler does not see, is a command that runs after a pipeline.
const (
	looksAt = "seen"
	passes  = "past"
)

// withStatus is a call of one of the programs, which leaves $? as it is.
func withStatus(at syntax.Pos, words ...string) *syntax.Stmt {
	call := &syntax.CallExpr{}
	for _, word := range words {
		call.Args = append(call.Args, literal(word))
	}
	call.Args = append(call.Args, variable("?"))
	return unexiting(&syntax.Stmt{Position: at, Cmd: call})
}

// unexiting is a statement whose failing does not end the shell where set -e is on.
func unexiting(stmt *syntax.Stmt) *syntax.Stmt {
	good := &syntax.Stmt{Position: stmt.Position, Cmd: &syntax.CallExpr{Args: []*syntax.Word{literal(status)}}}
	return &syntax.Stmt{Position: stmt.Position, Cmd: &syntax.BinaryCmd{OpPos: stmt.Position, Op: syntax.AndStmt, X: stmt, Y: good}}
}

// notes makes a statement that is a pipeline of n commands note their statuses.
func notes(stmt *syntax.Stmt, line *syntax.BinaryCmd, n int) {
	begin, end := notesOf(stmt, n)
	line.Y = &syntax.Stmt{Position: line.Y.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{line.Y, end}}}
	run := &syntax.Stmt{Position: stmt.Position, Cmd: line}
	if stmt.Negated {
		run = unexiting(run)
	}
	stmt.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{begin, run}}
}

// notedAlone is a statement that notes its status as a pipeline does.
func notedAlone(stmt *syntax.Stmt) *syntax.Stmt {
	begin, end := notesOf(stmt, 1)
	return &syntax.Stmt{Position: stmt.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{begin, unexiting(stmt), end}}}
}

// notesOf are what stands before a pipeline of n commands, and behind the last of them.
func notesOf(stmt *syntax.Stmt, n int) (begin, end *syntax.Stmt) {
	place := strconv.Itoa(int(stmt.Position.Offset()))
	return withStatus(stmt.Position, pipe, place, strconv.Itoa(n)), withStatus(stmt.Position, pipeEnded, place)
}

// mentions reports whether a tree has a text in a word or a name.
func mentions(node syntax.Node, text string) (found bool) {
	syntax.Walk(node, func(node syntax.Node) bool {
		if lit, ok := node.(*syntax.Lit); ok && strings.Contains(lit.Value, text) {
			found = true
		}
		return !found
	})
	return found
}

// statuses has a statement that mentions the variable set it before.
func (m *mender) statuses(stmt *syntax.Stmt) {
	if !m.hasPipes || m.reported[stmt] || stmt.Cmd == nil || stmt.Background || stmt.Coprocess || stmt.Disown {
		return
	}
	what := looksAt
	switch cmd := stmt.Cmd.(type) {
	case *syntax.FuncDecl:
		return
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause, *syntax.DeclClause, *syntax.Subshell:
		what = passes
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			what = passes
		}
	}
	line, _ := stmt.Cmd.(*syntax.BinaryCmd)
	alone := stmt.Negated && (line == nil || !isPipe(line)) // $? is not its status
	if !alone && (m.inherits[stmt] || what == looksAt && !mentions(stmt, pipeStatus)) {
		return
	}
	inner := *stmt
	inner.Negated = false
	m.reported[stmt], m.reported[&inner] = true, true
	last := &inner
	if alone {
		last = notedAlone(last)
	}
	if stmt.Negated {
		last = unexiting(last)
	}
	m.reported[last] = true
	before := withStatus(stmt.Position, pipeReport, what)
	stmt.Cmd, stmt.Redirs = &syntax.Block{Stmts: []*syntax.Stmt{before, last}}, nil
	m.changed = true
}

// inherit has what is the first of a subshell keep the variable as it is.
func (m *mender) inherit(node syntax.Node) {
	switch node := node.(type) {
	case *syntax.Subshell:
		if len(node.Stmts) > 0 {
			m.inherits[node.Stmts[0]] = true
		}
	case *syntax.CmdSubst:
		if len(node.Stmts) > 0 {
			m.inherits[node.Stmts[0]] = true
		}
	case *syntax.BinaryCmd:
		for isPipe(node) { // all of its commands but the last are subshells
			m.inherits[node.X] = true
			inner, ok := node.X.Cmd.(*syntax.BinaryCmd)
			if !ok {
				break
			}
			if isPipe(inner) {
				m.inherits[inner.Y] = true
			}
			node = inner
		}
	}
}
