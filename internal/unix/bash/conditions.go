package bash

import (
	"mvdan.cc/sh/v3/syntax"
)

// mostBranches is how many && and || of a [[ ]] may be within each other for it to be taken apart.
const mostBranches = 200

// condition makes [[ ]] with && and || a list of such commands: the interpreter expands both sides, whatever the left one is.
//
//	[[ -f f && $(<f) ]]  ──▶  { [[ -f f ]] && [[ $(<f) ]] && ((1)); }
//
// The list ends with what is true because the last command of a list ends a shell with -e, and runs a trap of ERR, before the
// block does it again. Each part that has no && and || is traced, see [mender.traced].
func (m *mender) condition(stmt *syntax.Stmt) {
	clause, ok := stmt.Cmd.(*syntax.TestClause)
	if !ok || m.tests[clause] {
		return
	}
	var changed bool
	if clause.X, changed = regrouped(clause.X); changed {
		m.changed = true
	}
	deep, expands := branches(clause.X)
	switch {
	case deep > mostBranches || deep == 0 && !m.traces:
		return
	case deep == 0:
		m.traced(stmt, clause)
		return
	case !expands && !m.traces:
		return
	}
	top := blocked(m.branch(stmt, clause.X))
	stmt.Cmd = block(stmt, both(stmt, syntax.AndStmt, top, &syntax.Stmt{Position: stmt.Position, Cmd: &syntax.ArithmCmd{X: number("1")}}))
	m.changed = true
}

// branches returns how many && and || are within each other, and whether what stands behind one is expanded.
func branches(expr syntax.TestExpr) (deep int, expands bool) {
	switch expr := expr.(type) {
	case *syntax.ParenTest:
		return branches(expr.X)
	case *syntax.UnaryTest:
		if expr.Op == syntax.TsNot {
			return branches(expr.X)
		}
	case *syntax.BinaryTest:
		if expr.Op != syntax.AndTest && expr.Op != syntax.OrTest {
			return 0, false
		}
		x, xExpands := branches(expr.X)
		y, _ := branches(expr.Y)
		syntax.Walk(expr.Y, func(node syntax.Node) bool {
			switch node.(type) {
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst:
				expands = true
			}
			return !expands
		})
		return max(x, y) + 1, expands || xExpands
	}
	return 0, false
}

// branch returns the statement that an expression becomes.
func (m *mender) branch(at *syntax.Stmt, expr syntax.TestExpr) *syntax.Stmt {
	if deep, _ := branches(expr); deep > 0 {
		switch expr := expr.(type) {
		case *syntax.ParenTest:
			return m.branch(at, expr.X)
		case *syntax.UnaryTest: // not
			stmt := blocked(m.branch(at, expr.X))
			stmt.Negated = !stmt.Negated
			return stmt
		case *syntax.BinaryTest:
			op := syntax.AndStmt
			if expr.Op == syntax.OrTest {
				op = syntax.OrStmt
			}
			list := m.branch(at, expr.X)
			for {
				next, more := expr.Y.(*syntax.BinaryTest)
				if !more || next.Op != expr.Op {
					return both(at, op, list, blocked(m.branch(at, expr.Y)))
				}
				list, expr = both(at, op, list, blocked(m.branch(at, next.X))), next
			}
		}
	}
	return &syntax.Stmt{Position: at.Position, Cmd: &syntax.TestClause{Left: at.Position, X: expr}}
}

// regrouped has ! bind more than &&, and that more than ||: the parser has each take all that is behind it. What is between
// parentheses then stays what it is when it is printed and parsed again.
func regrouped(expr syntax.TestExpr) (_ syntax.TestExpr, changed bool) {
	terms, ops, changed := chain(expr)
	if len(ops) == 0 {
		return terms[0], changed
	}
	for i, term := range terms {
		if not, ok := term.(*syntax.UnaryTest); ok && not.Op == syntax.TsNot && i < len(ops) {
			terms[i], changed = &syntax.ParenTest{X: term}, true
		}
	}
	var groups []syntax.TestExpr
	for begin, i := 0, 0; i < len(terms); i++ {
		if i < len(ops) && ops[i] == syntax.AndTest {
			continue
		}
		group := joined(syntax.AndTest, terms[begin:i+1])
		if i > begin && i < len(ops) {
			group, changed = &syntax.ParenTest{X: group}, true
		}
		groups, begin = append(groups, group), i+1
	}
	return joined(syntax.OrTest, groups), changed
}

// chain returns what && and || are between, and these.
func chain(expr syntax.TestExpr) (terms []syntax.TestExpr, ops []syntax.BinTestOperator, changed bool) {
	switch expr := expr.(type) {
	case *syntax.ParenTest:
		x, changed := regrouped(expr.X)
		return []syntax.TestExpr{&syntax.ParenTest{X: x}}, nil, changed
	case *syntax.UnaryTest:
		if expr.Op == syntax.TsNot {
			terms, ops, changed = chain(expr.X)
			terms[0] = &syntax.UnaryTest{OpPos: expr.OpPos, Op: syntax.TsNot, X: terms[0]}
			return terms, ops, changed
		}
	case *syntax.BinaryTest:
		if expr.Op == syntax.AndTest || expr.Op == syntax.OrTest {
			x, xOps, xChanged := chain(expr.X)
			y, yOps, yChanged := chain(expr.Y)
			return append(x, y...), append(append(xOps, expr.Op), yOps...), xChanged || yChanged
		}
	}
	return []syntax.TestExpr{expr}, nil, false
}

// joined joins expressions as the parser does.
func joined(op syntax.BinTestOperator, exprs []syntax.TestExpr) syntax.TestExpr {
	last := len(exprs) - 1
	all := exprs[last]
	for i := last - 1; i >= 0; i-- {
		all = &syntax.BinaryTest{Op: op, X: exprs[i], Y: all}
	}
	return all
}

// blocked has a list be one command.
func blocked(stmt *syntax.Stmt) *syntax.Stmt {
	if _, list := stmt.Cmd.(*syntax.BinaryCmd); !list {
		return stmt
	}
	return &syntax.Stmt{Position: stmt.Position, Cmd: block(stmt, stmt)}
}

func block(at *syntax.Stmt, stmts ...*syntax.Stmt) *syntax.Block {
	return &syntax.Block{Lbrace: at.Position, Stmts: stmts}
}

func both(at *syntax.Stmt, op syntax.BinCmdOperator, x, y *syntax.Stmt) *syntax.Stmt {
	return &syntax.Stmt{Position: at.Position, Cmd: &syntax.BinaryCmd{OpPos: at.Position, Op: op, X: x, Y: y}}
}

// traced has a [[ ]] be traced: the interpreter does not do it. A command with the name [[ comes before it, which is seen
// with its arguments expanded and does nothing:
//
//	[[ -n $x ]]  ──▶  { '[[' -n "$x" ']]'; [[ -n $x ]]; }
//
// What would change something by being expanded twice, or asks for $?, is not traced.
func (m *mender) traced(stmt *syntax.Stmt, clause *syntax.TestClause) {
	if m.tests == nil {
		m.tests = map[*syntax.TestClause]bool{}
	}
	m.tests[clause] = true
	words, ok := testWords(clause.X)
	if !ok {
		return
	}
	call := &syntax.CallExpr{Args: []*syntax.Word{single(tests)}}
	call.Args = append(append(call.Args, words...), single("]]"))
	stmt.Cmd = block(stmt, &syntax.Stmt{Position: stmt.Position, Cmd: call}, &syntax.Stmt{Position: stmt.Position, Cmd: clause})
	m.changed = true
}

// tests is the name of the command that is traced in the place of a [[ ]].
const tests = "[["

func single(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: text}}}
}

// testWords returns the words of an expression, each one argument. ok is false where they are not to be expanded twice.
func testWords(expr syntax.TestExpr) (words []*syntax.Word, ok bool) {
	switch expr := expr.(type) {
	case *syntax.Word:
		word, ok := testWord(expr)
		return []*syntax.Word{single("-n"), word}, ok
	case *syntax.ParenTest:
		return testWords(expr.X)
	case *syntax.UnaryTest:
		op := single(expr.Op.String())
		if word, is := expr.X.(*syntax.Word); is && expr.Op != syntax.TsNot {
			word, ok := testWord(word)
			return []*syntax.Word{op, word}, ok
		}
		words, ok := testWords(expr.X)
		return append([]*syntax.Word{op}, words...), ok
	case *syntax.BinaryTest:
		x, isWord := expr.X.(*syntax.Word)
		y, areWords := expr.Y.(*syntax.Word)
		if !isWord || !areWords {
			return nil, false
		}
		left, leftOK := testWord(x)
		right, rightOK := testWord(y)
		return []*syntax.Word{left, single(expr.Op.String()), right}, leftOK && rightOK
	}
	return nil, false
}

// testWord returns a word as one argument.
func testWord(word *syntax.Word) (quoted *syntax.Word, ok bool) {
	if text := word.Lit(); text != "" {
		return single(text), true
	}
	plain := true
	syntax.Walk(word, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			plain = false
		case *syntax.ParamExp:
			if node.Param == nil || node.Param.Value == "?" || node.Param.Value == "RANDOM" || node.Exp != nil {
				plain = false
			}
		}
		return plain
	})
	if !plain {
		return nil, false
	}
	var parts []syntax.WordPart
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.ParamExp:
			parts = append(parts, &syntax.DblQuoted{Parts: []syntax.WordPart{part}})
		case *syntax.Lit:
			parts = append(parts, &syntax.SglQuoted{Value: part.Value})
		default:
			parts = append(parts, part)
		}
	}
	return &syntax.Word{Parts: parts}, true
}
