package python

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// term is an expression, and block statements, that are compiled: functions of the machine, which know no syntax any more.
type (
	term  func(*machine) (any, error)
	block func(*machine) error
)

// What ends a block early.
var errBreak, errContinue = errors.New("break"), errors.New("continue")

type returned struct{ value any }

func (*returned) Error() string { return "return" }

// compiler turns syntax into terms and blocks. Its errors say what is not known.
type compiler struct {
	modules map[string]string // imported names, and what they stand for
	globals map[string]bool
	locals  map[string]bool // of the function that is compiled; nil outside of one
	depth   int             // of what is compiled, within each other
	loops   int             // around what is compiled
}

// deeper counts what stands within each other, so that no script takes a stack that there is not.
func (c *compiler) deeper(n syntax.Node) error {
	if c.depth++; c.depth > mostDepth {
		return unknown(n, "so deep a nesting")
	}
	return nil
}

func unknown(n syntax.Node, what string) error {
	return fmt.Errorf("%s: %s is not known", syntax.Start(n), what)
}

// declare notes the names that statements assign to.
func (c *compiler) declare(stmts []syntax.Stmt) {
	names := c.globals
	if c.locals != nil {
		names = c.locals
	}
	for _, stmt := range stmts {
		switch s := stmt.(type) {
		case *syntax.AssignStmt:
			if name, ok := s.LHS.(*syntax.Ident); ok {
				names[name.Name] = true
			}
		case *syntax.DefStmt:
			names[s.Name.Name] = true
		case *syntax.IfStmt:
			c.declare(s.True)
			c.declare(s.False)
		case *syntax.WhileStmt:
			c.declare(s.Body)
		case *syntax.ForStmt:
			if name, ok := s.Vars.(*syntax.Ident); ok {
				names[name.Name] = true
			}
			c.declare(s.Body)
		}
	}
}

func (c *compiler) block(stmts []syntax.Stmt) (block, error) {
	var all []block
	for _, stmt := range stmts {
		run, err := c.stmt(stmt)
		if err != nil {
			return nil, err
		}
		line := syntax.Start(stmt).Line
		all = append(all, func(m *machine) error {
			if err := m.ctx.Err(); err != nil {
				return err
			}
			return at(run(m), line)
		})
	}
	return func(m *machine) error {
		for _, run := range all {
			if err := run(m); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (c *compiler) stmt(stmt syntax.Stmt) (block, error) {
	defer func() { c.depth-- }()
	if err := c.deeper(stmt); err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *syntax.ExprStmt:
		run, err := c.term(s.X)
		return func(m *machine) error { _, err := run(m); return err }, err
	case *syntax.AssignStmt:
		return c.assign(s)
	case *syntax.BranchStmt:
		if s.Token != syntax.PASS && c.loops == 0 {
			return nil, unknown(s, s.Token.String()+" outside of a loop")
		}
		err := map[syntax.Token]error{syntax.BREAK: errBreak, syntax.CONTINUE: errContinue}[s.Token]
		return func(*machine) error { return err }, nil
	case *syntax.IfStmt:
		return c.ifStmt(s)
	case *syntax.WhileStmt:
		condition, err := c.term(s.Cond)
		if err != nil {
			return nil, err
		}
		body, err := c.loop(s.Body)
		return func(m *machine) error {
			for {
				v, err := condition(m)
				if err != nil || !truth(v) {
					return err
				}
				if over, err := round(m, body); over {
					return err
				}
			}
		}, err
	case *syntax.ForStmt:
		return c.forStmt(s)
	case *syntax.DefStmt:
		return c.def(s)
	case *syntax.ReturnStmt:
		if c.locals == nil {
			return nil, unknown(s, "return outside of a function")
		}
		value := func(*machine) (any, error) { return nil, nil }
		if s.Result != nil {
			result, err := c.term(s.Result)
			if err != nil {
				return nil, err
			}
			value = result
		}
		return func(m *machine) error {
			v, err := value(m)
			if err != nil {
				return err
			}
			return &returned{v}
		}, nil
	}
	return nil, unknown(stmt, "this statement")
}

func (c *compiler) loop(body []syntax.Stmt) (block, error) {
	c.loops++
	defer func() { c.loops-- }()
	return c.block(body)
}

// round runs the body of a loop once, and reports whether the loop is over.
func round(m *machine, body block) (over bool, err error) {
	switch err = body(m); {
	case errors.Is(err, errBreak):
		return true, nil
	case err == nil, errors.Is(err, errContinue):
		// A body of nothing has no statement that asks.
		err = m.ctx.Err()
		return err != nil, err
	}
	return true, err
}

func (c *compiler) ifStmt(s *syntax.IfStmt) (block, error) {
	condition, err := c.term(s.Cond)
	if err != nil {
		return nil, err
	}
	then, err := c.block(s.True)
	if err != nil {
		return nil, err
	}
	otherwise, err := c.block(s.False)
	return func(m *machine) error {
		v, err := condition(m)
		switch {
		case err != nil:
			return err
		case truth(v):
			return then(m)
		}
		return otherwise(m)
	}, err
}

func (c *compiler) forStmt(s *syntax.ForStmt) (block, error) {
	name, ok := s.Vars.(*syntax.Ident)
	if !ok {
		return nil, unknown(s, "a loop with several variables")
	}
	body, err := c.loop(s.Body)
	if err != nil {
		return nil, err
	}
	local := c.locals != nil
	each := func(m *machine, v any) (bool, error) {
		m.names(local)[name.Name] = v
		return round(m, body)
	}
	if call, ok := s.X.(*syntax.CallExpr); ok && c.builtin(call.Fn) == "range" {
		bounds, err := c.terms(call.Args)
		if err != nil || len(bounds) == 0 || len(bounds) > 3 {
			return nil, errors.Join(err, unknown(call, "this range"))
		}
		return func(m *machine) error {
			from, to, step, err := rangeOf(m, bounds)
			if err != nil {
				return err
			}
			for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
				if over, err := each(m, i); over {
					return err
				}
			}
			return nil
		}, nil
	}
	of, err := c.term(s.X)
	return func(m *machine) error {
		v, err := of(m)
		if err != nil {
			return err
		}
		all, ok := iterated(v)
		if !ok {
			return raise("TypeError", "'%s' object is not iterable", kindOf(v))
		}
		for _, item := range all {
			if over, err := each(m, item); over {
				return err
			}
		}
		return nil
	}, err
}

// rangeOf evaluates the arguments of range. A bound is far enough from the largest number that a step beyond it is none.
func rangeOf(m *machine, bounds []term) (from, to, step int64, err error) {
	var n []int64
	for _, bound := range bounds {
		v, err := bound(m)
		if err != nil {
			return 0, 0, 0, err
		}
		i, _, isFloat, ok := number(v)
		if !ok || isFloat {
			return 0, 0, 0, raise("TypeError", "'%s' object cannot be interpreted as an integer", kindOf(v))
		}
		n = append(n, min(max(i, -1<<61), 1<<61))
	}
	switch step = 1; len(n) {
	case 1:
		return 0, n[0], 1, nil
	case 3:
		step = n[2]
	}
	if step == 0 {
		return 0, 0, 0, raise("ValueError", "range() arg 3 must not be zero")
	}
	return n[0], n[1], step, nil
}

func (c *compiler) assign(s *syntax.AssignStmt) (block, error) {
	name, ok := s.LHS.(*syntax.Ident)
	if !ok {
		return nil, unknown(s, "an assignment to anything but a name")
	}
	value, err := c.term(s.RHS)
	if err != nil {
		return nil, err
	}
	if s.Op != syntax.EQ {
		have, err := c.term(name)
		if err != nil {
			return nil, err
		}
		added, op := value, s.Op-syntax.PLUS_EQ+syntax.PLUS // as syntax has them for its BinaryExpr
		value = func(m *machine) (any, error) {
			x, err := have(m)
			if err != nil {
				return nil, err
			}
			y, err := added(m)
			if err != nil {
				return nil, err
			}
			return binary(op, x, y)
		}
		if !slices.Contains(arithmetic, op) {
			return nil, unknown(s, s.Op.String())
		}
	}
	local := c.locals != nil
	return func(m *machine) error {
		v, err := value(m)
		if err == nil {
			m.names(local)[name.Name] = v
		}
		return err
	}, nil
}

// names are those that assignments set.
func (m *machine) names(local bool) map[string]any {
	if local {
		return m.locals
	}
	return m.globals
}

// function is a value that only calls use.
type function struct {
	name   string
	params []string
	body   block
}

func (c *compiler) def(s *syntax.DefStmt) (block, error) {
	if c.locals != nil {
		return nil, unknown(s, "a function within a function")
	}
	f := &function{name: s.Name.Name}
	inner := &compiler{modules: c.modules, globals: c.globals, locals: map[string]bool{}, depth: c.depth}
	for _, param := range s.Params {
		name, ok := param.(*syntax.Ident)
		if !ok {
			return nil, unknown(param, "this parameter")
		}
		f.params = append(f.params, name.Name)
		inner.locals[name.Name] = true
	}
	inner.declare(s.Body)
	body, err := inner.block(s.Body)
	f.body = body
	return func(m *machine) error { m.globals[f.name] = f; return nil }, err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// enumerated is 'a', 'b', and 'c'.
func enumerated(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, "'"+name+"'")
	}
	switch last := len(all) - 1; {
	case last == 1:
		return all[0] + " and " + all[1]
	case last > 1:
		all[last] = "and " + all[last]
	}
	return strings.Join(all, ", ")
}

func (f *function) call(m *machine, args []any) (any, error) {
	switch wanted := counted(len(f.params), "positional argument"); {
	case len(args) < len(f.params):
		missing := f.params[len(args):]
		return nil, raise("TypeError", "%s() missing %s: %s", f.name, counted(len(missing), "required positional argument"), enumerated(missing))
	case len(args) == 1 && len(f.params) == 0:
		return nil, raise("TypeError", "%s() takes %s but 1 was given", f.name, wanted)
	case len(args) > len(f.params):
		return nil, raise("TypeError", "%s() takes %s but %d were given", f.name, wanted, len(args))
	case m.calls == mostCalls:
		return nil, raise("RecursionError", "maximum recursion depth exceeded")
	}
	before := m.locals
	m.locals = map[string]any{}
	m.calls++
	defer func() { m.locals = before; m.calls-- }()
	for i, param := range f.params {
		m.locals[param] = args[i]
	}
	err := f.body(m)
	var is *returned
	if errors.As(err, &is) {
		return is.value, nil
	}
	var exception *raised
	if errors.As(err, &exception) {
		exception.calls = append(exception.calls, frame{f.name, exception.line})
		exception.line = 0
	}
	return nil, err
}
