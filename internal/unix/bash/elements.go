package bash

import "mvdan.cc/sh/v3/syntax"

// assignments are the operators that assign, with what each of them assigns the result of.
var assignments = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo,
	syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor,
	syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}

// statement makes ((...)) with assignments to elements of arrays a block, of assignments and expressions. The status is
// that of the last expression.
//
//	((a[i] += n, b[0]++))    { a[i]=$((a[i]+(n))); b[0]=$((b[0]+1)); ((b[0]-1)); }
func (m *mender) statement(stmt *syntax.Stmt, exprs []syntax.ArithmExpr) {
	var parts []syntax.ArithmExpr
	for _, expr := range exprs {
		parts = append(parts, commas(expr)...)
	}
	block, found := &syntax.Block{}, false
	add := func(cmd syntax.Command) {
		block.Stmts = append(block.Stmts, &syntax.Stmt{Position: stmt.Position, Cmd: cmd})
	}
	for i, part := range parts {
		assign, value, ok := m.element(part)
		if !ok {
			add(&syntax.ArithmCmd{Left: stmt.Position, X: part})
			continue
		}
		found = true
		add(&syntax.CallExpr{Assigns: []*syntax.Assign{assign}})
		if i == len(parts)-1 {
			add(&syntax.ArithmCmd{Left: stmt.Position, X: value})
		}
	}
	if found {
		stmt.Cmd, m.changed = block, true
	}
}

// commas are the expressions that commas separate.
func commas(expr syntax.ArithmExpr) []syntax.ArithmExpr {
	var parts []syntax.ArithmExpr
	for {
		both, ok := expr.(*syntax.BinaryArithm)
		if !ok || both.Op != syntax.Comma {
			break
		}
		parts = append([]syntax.ArithmExpr{both.Y}, parts...)
		expr = both.X
	}
	return append([]syntax.ArithmExpr{expr}, parts...)
}

// element returns the assignment that an expression is to an element of an array, and what the expression's value is when
// that has been assigned. ok is false for other expressions, and where the index would be changed by being looked at twice.
func (m *mender) element(expr syntax.ArithmExpr) (assign *syntax.Assign, value syntax.ArithmExpr, ok bool) {
	var to, becomes syntax.ArithmExpr
	switch expr := expr.(type) {
	case *syntax.UnaryArithm:
		to = expr.X
		by, back := syntax.Add, syntax.Sub
		if expr.Op == syntax.Dec {
			by, back = back, by
		} else if expr.Op != syntax.Inc {
			return nil, nil, false
		}
		becomes, value = binary(to, by, number("1")), to
		if expr.Post {
			value = binary(to, back, number("1"))
		}
	case *syntax.BinaryArithm:
		to, value = expr.X, expr.X
		op, known := assignments[expr.Op]
		switch {
		case known:
			becomes = binary(to, op, &syntax.ParenArithm{X: expr.Y})
		case expr.Op == syntax.Assgn:
			becomes = expr.Y
		default:
			return nil, nil, false
		}
	}
	word, isWord := to.(*syntax.Word)
	if !isWord || len(word.Parts) != 1 {
		return nil, nil, false
	}
	param, isParam := word.Parts[0].(*syntax.ParamExp)
	if !isParam || param.Index == nil || param.Param == nil || changes(param.Index) {
		return nil, nil, false
	}
	result := &syntax.Word{Parts: []syntax.WordPart{&syntax.ArithmExp{X: becomes}}}
	return &syntax.Assign{Name: param.Param, Index: param.Index, Value: result}, value, true
}

// changes reports whether looking at an expression changes something.
func changes(expr syntax.ArithmExpr) bool {
	found := false
	syntax.Walk(expr, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.UnaryArithm:
			found = found || node.Op == syntax.Inc || node.Op == syntax.Dec
		case *syntax.BinaryArithm:
			_, assigns := assignments[node.Op]
			found = found || assigns || node.Op == syntax.Assgn
		case *syntax.CmdSubst:
			found = true
		}
		return !found
	})
	return found
}

func binary(x syntax.ArithmExpr, op syntax.BinAritOperator, y syntax.ArithmExpr) syntax.ArithmExpr {
	return &syntax.BinaryArithm{Op: op, X: x, Y: y}
}

func number(text string) syntax.ArithmExpr {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
}
