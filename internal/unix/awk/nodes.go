package awk

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

type expression interface{ eval(*machine) value }

// target is what can be assigned to.
type target interface {
	expression
	set(*machine, value)
}

type statement interface{ run(*machine) jump }

type (
	constant struct{ value }
	variable string
	field    struct{ number expression }
	pattern  string
	grouping struct{ inner expression }
	element  struct {
		array     string
		subscript []expression
	}
	membership struct {
		array     string
		subscript []expression
	}
	assignment struct {
		to       target
		operator string
		from     expression
	}
	step struct {
		to       target
		operator string
		after    bool
	}
	unary struct {
		operator string
		operand  expression
	}
	binary struct {
		operator    string
		left, right expression
	}
	choice struct{ condition, yes, no expression }
	call   struct {
		function builtin
		args     []expression
	}
)

func (r *parser) pattern(source string) expression { return pattern(source) }

func (c constant) eval(*machine) value   { return c.value }
func (g grouping) eval(m *machine) value { return g.inner.eval(m) }

// eval matches a pattern that stands alone against the record.
func (p pattern) eval(m *machine) value { return truth(m.regexp(string(p)).Match(m.fields[0])) }

func (v variable) eval(m *machine) value {
	s := m.slot(string(v))
	if s.array != nil {
		panic(failure{fmt.Errorf("%s is an array, and used as a value", v)})
	}
	return s.value
}

func (v variable) set(m *machine, x value) {
	s := m.slot(string(v))
	if s.array != nil {
		panic(failure{fmt.Errorf("%s is an array, and used as a value", v)})
	}
	s.value = x
	if v == "NF" {
		n := min(int(x.number()), mostFields)
		for len(m.fields) <= n {
			m.fields = append(m.fields, "")
		}
		m.fields = m.fields[:max(n, 0)+1]
		m.rebuild()
	}
}

func (f field) eval(m *machine) value {
	i := int(f.number.eval(m).number())
	if i < 0 {
		panic(failure{fmt.Errorf("there is no field %d", i)})
	}
	if i >= len(m.fields) {
		return unset
	}
	return input(m.fields[i])
}

func (f field) set(m *machine, x value) { m.setField(int(f.number.eval(m).number()), x.string()) }

func (e element) eval(m *machine) value {
	a, key := m.array(e.array), m.key(e.subscript)
	x, ok := a[key]
	if !ok {
		x = unset
		a[key] = x // as awk does: to ask for an element makes it
	}
	return x
}

func (e element) set(m *machine, x value) { m.array(e.array)[m.key(e.subscript)] = x }

func (e membership) eval(m *machine) value {
	_, ok := m.array(e.array)[m.key(e.subscript)]
	return truth(ok)
}

func (a assignment) eval(m *machine) value {
	x := a.from.eval(m)
	if a.operator != "" {
		x = arithmetic(a.operator, a.to.eval(m).number(), x.number())
	}
	a.to.set(m, x)
	return x
}

func (s step) eval(m *machine) value {
	before := s.to.eval(m).number()
	now := before + 1
	if s.operator == "--" {
		now = before - 1
	}
	s.to.set(m, numeric(now))
	if s.after {
		return numeric(before)
	}
	return numeric(now)
}

func (u unary) eval(m *machine) value {
	x := u.operand.eval(m)
	switch u.operator {
	case "!":
		return truth(!x.true())
	case "-":
		return numeric(-x.number())
	}
	return numeric(x.number())
}

func (b binary) eval(m *machine) value {
	left := b.left.eval(m)
	switch b.operator {
	case "&&":
		return truth(left.true() && b.right.eval(m).true())
	case "||":
		return truth(left.true() || b.right.eval(m).true())
	case "~", "!~":
		source, ok := b.right.(pattern)
		if !ok {
			source = pattern(b.right.eval(m).string())
		}
		return truth(m.regexp(string(source)).Match(left.string()) == (b.operator == "~"))
	}
	right := b.right.eval(m)
	switch b.operator {
	case "":
		return str(sized(m.text(left, "CONVFMT") + m.text(right, "CONVFMT")))
	case "<", "<=", "==", "!=", ">", ">=":
		return truth(compares(b.operator, left, right))
	}
	return arithmetic(b.operator, left.number(), right.number())
}

func compares(operator string, left, right value) bool {
	order := 0
	if (left.isNumber || left.numberLike) && (right.isNumber || right.numberLike) {
		switch l, r := left.number(), right.number(); {
		case l < r:
			order = -1
		case l > r:
			order = 1
		}
	} else {
		order = strings.Compare(left.string(), right.string())
	}
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func arithmetic(operator string, left, right float64) value {
	switch operator {
	case "+":
		return numeric(left + right)
	case "-":
		return numeric(left - right)
	case "*":
		return numeric(left * right)
	case "^":
		return numeric(math.Pow(left, right))
	}
	if right == 0 {
		panic(failure{fmt.Errorf("division by zero")})
	}
	if operator == "%" {
		return numeric(math.Mod(left, right))
	}
	return numeric(left / right)
}

func (c choice) eval(m *machine) value {
	if c.condition.eval(m).true() {
		return c.yes.eval(m)
	}
	return c.no.eval(m)
}

func (c call) eval(m *machine) value { return c.function.call(m, c.args) }

type (
	blockStatement      []statement
	expressionStatement struct{ expression }
	exitStatement       struct{ code expression }
	ifStatement         struct {
		condition expression
		yes, no   []statement
	}
	loop struct {
		first     statement
		condition expression
		step      statement
		body      []statement
		bodyFirst bool
	}
	forIn struct {
		variable, array string
		body            []statement
	}
	deleteStatement struct {
		array     string
		subscript []expression
	}
	printStatement struct {
		args      []expression
		formatted bool
		kind      string // where to: ">", ">>" or "|"; empty: the output
		to        expression
	}
)

func (j jump) run(*machine) jump             { return j }
func (b blockStatement) run(m *machine) jump { return m.run(b) }

func (e expressionStatement) run(m *machine) jump {
	e.eval(m)
	return goOn
}

func (e exitStatement) run(m *machine) jump {
	if e.code != nil {
		m.code = int(e.code.eval(m).number())
	}
	return leave
}

func (s ifStatement) run(m *machine) jump {
	if s.condition.eval(m).true() {
		return m.run(s.yes)
	}
	return m.run(s.no)
}

func (l loop) run(m *machine) jump {
	if l.first != nil {
		l.first.run(m)
	}
	for round := 0; l.bodyFirst && round == 0 || l.condition == nil || l.condition.eval(m).true(); round++ {
		m.breathe()
		if j := m.run(l.body); j == leaveLoop {
			break
		} else if j.leavesLoops() {
			return j
		}
		if l.step != nil {
			l.step.run(m)
		}
	}
	return goOn
}

// run goes through the keys in order, where awk's is any.
func (f forIn) run(m *machine) jump {
	for _, key := range slices.Sorted(maps.Keys(m.array(f.array))) {
		m.breathe()
		m.slot(f.variable).value = input(key)
		if j := m.run(f.body); j == leaveLoop {
			break
		} else if j.leavesLoops() {
			return j
		}
	}
	return goOn
}

func (d deleteStatement) run(m *machine) jump {
	if d.subscript == nil {
		clear(m.array(d.array))
	} else {
		delete(m.array(d.array), m.key(d.subscript))
	}
	return goOn
}

func (p printStatement) run(m *machine) jump {
	var text string
	switch {
	case p.formatted:
		text = sprintf(m, p.args).string()
	case p.args == nil:
		text = m.fields[0] + m.get("ORS").string()
	default:
		parts := make([]string, len(p.args))
		for i, arg := range p.args {
			parts[i] = m.text(arg.eval(m), "OFMT")
		}
		text = strings.Join(parts, m.get("OFS").string()) + m.get("ORS").string()
	}
	out := m.out
	if p.kind != "" {
		out = m.writing(p.kind, p.to.eval(m).string()).out
	}
	if _, err := out.WriteString(text); err != nil {
		panic(failure{err})
	}
	return goOn
}
