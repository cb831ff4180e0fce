package bash

import (
	"fmt"

	"mvdan.cc/sh/v3/syntax"
)

// loop makes a loop that counts one with while:
//
//	for ((i = 0; i < 3; i++)); do ...; done  ──▶  { __for7=0; while ((__for7++ ? (i++) : (i = 0), (i < 3))); do ...; done; }
//
// The interpreter ends the first when the last command of its body has failed, as [[ ]] && does where it does not hold, and
// does not end it at exit 0 and return 0. The variable's name has the place of the loop in the script: a function that calls
// itself in the body is past its own first round when it returns.
func (m *mender) loop(stmt *syntax.Stmt) {
	clause, ok := stmt.Cmd.(*syntax.ForClause)
	if !ok {
		return
	}
	loop, ok := clause.Loop.(*syntax.CStyleLoop)
	if !ok {
		return
	}
	or := func(expr syntax.ArithmExpr, otherwise string) syntax.ArithmExpr {
		if expr == nil {
			return number(otherwise)
		}
		return &syntax.ParenArithm{X: expr}
	}
	name := fmt.Sprintf("__for%d", stmt.Position.Offset())
	rounds := &syntax.UnaryArithm{Op: syntax.Inc, Post: true, X: number(name)}
	step := binary(rounds, syntax.TernQuest, binary(or(loop.Post, "0"), syntax.TernColon, or(loop.Init, "0")))
	begin := &syntax.CallExpr{Assigns: []*syntax.Assign{{Name: &syntax.Lit{Value: name}, Value: literal("0")}}}
	goesOn := &syntax.ArithmCmd{X: binary(step, syntax.Comma, or(loop.Cond, "1"))}
	first, cond := &syntax.Stmt{Position: stmt.Position, Cmd: begin}, &syntax.Stmt{Position: stmt.Position, Cmd: goesOn}
	m.reported[first], m.reported[cond] = true, true
	stmt.Cmd = &syntax.Block{Stmts: []*syntax.Stmt{
		first,
		{Position: stmt.Position, Cmd: &syntax.WhileClause{Cond: []*syntax.Stmt{cond}, Do: clause.Do, DoLast: clause.DoLast}},
	}}
	m.changed = true
}
