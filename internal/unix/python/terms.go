package python

import (
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

var (
	arithmetic = []syntax.Token{syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT}
	compares   = []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.GT, syntax.LE, syntax.GE}
)

func (c *compiler) terms(exprs []syntax.Expr) ([]term, error) {
	if len(exprs) > mostItems {
		return nil, unknown(exprs[0], "so long a list")
	}
	var all []term
	for _, expr := range exprs {
		t, err := c.term(expr)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (c *compiler) term(expr syntax.Expr) (term, error) {
	defer func() { c.depth-- }()
	if err := c.deeper(expr); err != nil {
		return nil, err
	}
	switch x := expr.(type) {
	case *syntax.Literal:
		switch x.Value.(type) {
		case *big.Int, nil:
			return nil, unknown(x, "a number of more than 64 bits")
		}
		if x.Token == syntax.BYTES {
			return nil, unknown(x, "a string of bytes")
		}
		return func(*machine) (any, error) { return x.Value, nil }, nil
	case *syntax.ParenExpr:
		return c.term(x.X)
	case *syntax.Ident:
		return c.ident(x)
	case *syntax.DotExpr:
		switch c.path(x) {
		case "sys.argv":
			return arguments, nil
		}
		return nil, unknown(x, x.Name.Name)
	case *syntax.UnaryExpr:
		return c.unary(x)
	case *syntax.BinaryExpr:
		return c.binary(x)
	case *syntax.CondExpr:
		all, err := c.terms([]syntax.Expr{x.Cond, x.True, x.False})
		return func(m *machine) (any, error) {
			v, err := all[0](m)
			switch {
			case err != nil:
				return nil, err
			case truth(v):
				return all[1](m)
			}
			return all[2](m)
		}, err
	case *syntax.ListExpr:
		return c.list(x.List, func(all []any) any { return list(all) })
	case *syntax.TupleExpr:
		return c.list(x.List, func(all []any) any { return tuple(all) })
	case *syntax.IndexExpr:
		return c.index(x)
	case *syntax.CallExpr:
		return c.call(x)
	}
	return nil, unknown(expr, "this expression")
}

// list is a list or a tuple, as of makes them. There are none in others: a list twice in a list, and so on, would be a text of any
// size.
func (c *compiler) list(exprs []syntax.Expr, of func([]any) any) (term, error) {
	all, err := c.terms(exprs)
	return func(m *machine) (any, error) {
		v, err := values(m, all)
		if slices.ContainsFunc(v, func(each any) bool { _, nested := items(each); return nested }) {
			return nil, simulated("lists in lists")
		}
		return of(v), err
	}, err
}

func values(m *machine, all []term) ([]any, error) {
	found := []any{}
	for _, t := range all {
		v, err := t(m)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	return found, nil
}

func arguments(m *machine) (any, error) {
	all := list{}
	for _, arg := range m.Arguments {
		all = append(all, arg)
	}
	return all, nil
}

func (c *compiler) ident(x *syntax.Ident) (term, error) {
	switch name := x.Name; {
	case c.locals[name]:
		return func(m *machine) (any, error) {
			if v, ok := m.locals[name]; ok {
				return v, nil
			}
			return nil, raise("UnboundLocalError", "cannot access local variable '%s' where it is not associated with a value", name)
		}, nil
	case c.globals[name]:
		return func(m *machine) (any, error) {
			v, ok := m.globals[name]
			if !ok {
				return nil, raise("NameError", "name '%s' is not defined", name)
			}
			return v, nil
		}, nil
	case name == "None", name == "True", name == "False":
		v := map[string]any{"True": true, "False": false}[name]
		return func(*machine) (any, error) { return v, nil }, nil
	case c.modules[name] == "sys.argv":
		return arguments, nil
	}
	return nil, unknown(x, x.Name)
}

// path is what a name with dots stands for, such as os.environ, and empty for anything else.
func (c *compiler) path(expr syntax.Expr) string {
	switch x := expr.(type) {
	case *syntax.Ident:
		if !c.locals[x.Name] && !c.globals[x.Name] {
			return c.modules[x.Name]
		}
	case *syntax.DotExpr:
		if of := c.path(x.X); of != "" {
			return of + "." + x.Name.Name
		}
	}
	return ""
}

func (c *compiler) unary(x *syntax.UnaryExpr) (term, error) {
	if x.X == nil || !slices.Contains([]syntax.Token{syntax.NOT, syntax.MINUS, syntax.PLUS}, x.Op) {
		return nil, unknown(x, x.Op.String())
	}
	of, err := c.term(x.X)
	return func(m *machine) (any, error) {
		v, err := of(m)
		switch {
		case err != nil:
			return nil, err
		case x.Op == syntax.NOT:
			return !truth(v), nil
		}
		_, f, isFloat, ok := number(v)
		switch {
		case isFloat && x.Op == syntax.MINUS:
			return -f, nil
		case !ok:
			return nil, raise("TypeError", "bad operand type for unary %s: '%s'", x.Op, kindOf(v))
		}
		return binary(x.Op, int64(0), v)
	}, err
}

func (c *compiler) binary(x *syntax.BinaryExpr) (term, error) {
	if x.Op == syntax.IN || x.Op == syntax.NOT_IN {
		return c.in(x)
	}
	all, err := c.terms([]syntax.Expr{x.X, x.Y})
	if err != nil {
		return nil, err
	}
	switch {
	case x.Op == syntax.AND, x.Op == syntax.OR:
		return func(m *machine) (any, error) {
			v, err := all[0](m)
			if err != nil || truth(v) == (x.Op == syntax.OR) {
				return v, err
			}
			return all[1](m)
		}, nil
	case !slices.Contains(arithmetic, x.Op) && !slices.Contains(compares, x.Op):
		return nil, unknown(x, x.Op.String())
	}
	return func(m *machine) (any, error) {
		v, err := values(m, all)
		if err != nil {
			return nil, err
		}
		return binary(x.Op, v[0], v[1])
	}, nil
}

// in is x in y, and x not in y.
func (c *compiler) in(x *syntax.BinaryExpr) (term, error) {
	item, err := c.term(x.X)
	if err != nil {
		return nil, err
	}
	environment := c.path(x.Y) == "os.environ"
	all := func(*machine) (any, error) { return nil, nil }
	if !environment {
		if all, err = c.term(x.Y); err != nil {
			return nil, err
		}
	}
	return func(m *machine) (any, error) {
		v, err := values(m, []term{item, all})
		if err != nil {
			return nil, err
		}
		found := false
		switch of := v[1].(type) {
		case nil:
			if !environment {
				return nil, raise("TypeError", "argument of type 'NoneType' is not iterable")
			}
			_, found = m.Environment[text(v[0])]
		case string:
			part, ok := v[0].(string)
			if !ok {
				return nil, raise("TypeError", "'in <string>' requires string as left operand, not %s", kindOf(v[0]))
			}
			found = strings.Contains(of, part)
		default:
			items, ok := items(of)
			if !ok {
				return nil, raise("TypeError", "argument of type '%s' is not iterable", kindOf(of))
			}
			found = slices.ContainsFunc(items, func(each any) bool { return equal(each, v[0]) })
		}
		return found == (x.Op == syntax.IN), nil
	}, nil
}

func (c *compiler) index(x *syntax.IndexExpr) (term, error) {
	place, err := c.term(x.Y)
	if err != nil {
		return nil, err
	}
	if c.path(x.X) == "os.environ" {
		return func(m *machine) (any, error) {
			name, err := place(m)
			if err != nil {
				return nil, err
			}
			if value, ok := m.Environment[text(name)]; ok {
				return value, nil
			}
			return nil, raise("KeyError", "%s", repr(name))
		}, nil
	}
	of, err := c.term(x.X)
	return func(m *machine) (any, error) {
		v, err := values(m, []term{of, place})
		if err != nil {
			return nil, err
		}
		items, ok := iterated(v[0])
		i, _, isFloat, isNumber := number(v[1])
		if !ok || !isNumber || isFloat {
			return nil, raise("TypeError", "'%s' object has no item of '%s'", kindOf(v[0]), kindOf(v[1]))
		}
		if i < 0 {
			i += int64(len(items))
		}
		if i < 0 || i >= int64(len(items)) {
			return nil, raise("IndexError", "%s index out of range", kindOf(v[0]))
		}
		return items[i], nil
	}, err
}
