package awk

import (
	"fmt"
	"strconv"
)

// Program is a parsed program.
type Program struct {
	begin, end []statement
	rules      []rule
	functions  map[string]*definition
}

// rule is a pattern with what it does. to is set for a range.
type rule struct {
	from, to expression
	body     []statement // nil: print the record
	inside   int         // which of Run's flags says whether the range is open
}

// Parse reads a program. The error says what it does not understand.
func Parse(source string) (p *Program, err error) {
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case syntaxError:
			err = failed
		default:
			panic(failed)
		}
	}()
	r := &parser{tokens: tokens}
	p = &Program{functions: map[string]*definition{}}
	for r.skip(); !r.at(end); r.skip() {
		r.rule(p)
	}
	for _, c := range r.calls {
		switch f := p.functions[c.name]; {
		case f == nil:
			r.fail("there is no function %s", c.name)
		case len(c.args) > len(f.parameters):
			r.fail("function %s takes %d arguments, not %d", c.name, len(f.parameters), len(c.args))
		}
	}
	return p, nil
}

type syntaxError struct{ message string }

func (e syntaxError) Error() string { return e.message }

type parser struct {
	tokens []token
	i      int
	calls  []userCall
	inside bool // a function
	depth  int  // of what is being parsed
}

// What is nested, the parser and the machine call themselves for, and Go ends the process when a stack is full.
const (
	mostDepth    = 5_000 // calls of the parser's within each other: some five for each parenthesis
	mostOperands = 1_000 // of operators of one level, each of which has the one before for its left operand
)

// deeper counts a call that may be within one of its like. What it returns is to be called at the end.
func (r *parser) deeper() (end func()) {
	if r.depth++; r.depth > mostDepth {
		r.fail("syntax error: nested too deeply")
	}
	return func() { r.depth-- }
}

func (r *parser) now() token { return r.ahead(0) }

// ahead is the token n after the present one; the last one ends the program, and nothing follows it.
func (r *parser) ahead(n int) token { return r.tokens[min(r.i+n, len(r.tokens)-1)] }

func (r *parser) at(k kind) bool { return r.now().kind == k }

func (r *parser) is(value string) bool {
	t := r.now()
	return (t.kind == operator || t.kind == keyword) && t.value == value
}

func (r *parser) take(value string) bool {
	if r.is(value) {
		r.i++
		return true
	}
	return false
}

func (r *parser) want(value string) {
	if !r.take(value) {
		r.fail("syntax error at %q: %q is missing", r.now().value, value)
	}
}

func (r *parser) fail(format string, args ...any) {
	panic(syntaxError{fmt.Sprintf(format, args...)})
}

// skip goes over ends of statements.
func (r *parser) skip() {
	for r.at(newline) || r.is(";") {
		r.i++
	}
}

func (r *parser) lines() {
	for r.at(newline) {
		r.i++
	}
}

// list is what stands between commas, up to a closing mark.
func (r *parser) list(closing string) []expression {
	var all []expression
	for !r.take(closing) {
		if len(all) > 0 {
			r.want(",")
			r.lines()
		}
		all = append(all, r.expression())
	}
	return all
}

func (r *parser) expression() expression {
	defer r.deeper()()
	left := r.ternary(true)
	for _, o := range []string{"=", "+=", "-=", "*=", "/=", "%=", "^="} {
		if !r.is(o) {
			continue
		}
		to, ok := left.(target)
		if !ok {
			r.fail("syntax error: what stands before %s cannot be assigned to", o)
		}
		r.i++
		r.lines()
		return assignment{to, o[:len(o)-1], r.expression()}
	}
	return left
}

// levels of binary operators, the loosest first. Concatenation is between
// comparison and addition.
var levels = [][]string{{"||"}, {"&&"}, {"in"}, {"~", "!~"}, {"<", "<=", "==", "!=", ">", ">="}, {""}, {"+", "-"}, {"*", "/", "%"}}

// concatenation is its level.
const concatenation = 5

func (r *parser) ternary(greater bool) expression {
	defer r.deeper()()
	condition := r.binary(0, greater)
	if !r.take("?") {
		return condition
	}
	r.lines()
	yes := r.ternary(greater)
	r.lines()
	r.want(":")
	r.lines()
	return choice{condition, yes, r.ternary(greater)}
}

func (r *parser) binary(level int, greater bool) expression {
	if level == len(levels) {
		return r.unary(greater)
	}
	left := r.binary(level+1, greater)
	// A command is what stands before, with all that is joined to it.
	for level == concatenation-1 && r.is("|") && r.ahead(1).value == "getline" && r.ahead(1).kind == keyword {
		r.i += 2
		left = getline{r.lvalue(), "|<", left}
	}
	for operands := 1; ; operands++ {
		o, ok := r.operatorOf(level, greater)
		if !ok {
			return left
		}
		if operands == mostOperands {
			r.fail("syntax error: more than %d operands", mostOperands)
		}
		if o == "in" {
			array := r.now().value
			r.i++
			left = membership{array, []expression{left}}
			continue
		}
		if o == "&&" || o == "||" {
			r.lines()
		}
		left = binary{o, left, r.binary(level+1, greater)}
	}
}

// operatorOf takes an operator of the level. That of concatenation is nothing,
// before anything that begins an operand.
func (r *parser) operatorOf(level int, greater bool) (string, bool) {
	for _, o := range levels[level] {
		if o == "" {
			t := r.now()
			begins := t.kind == number || t.kind == text || t.kind == name || t.kind == function || t.kind == regex ||
				t.kind == operator && (t.value == "(" || t.value == "$" || t.value == "!" || t.value == "-" || t.value == "++" || t.value == "--")
			// After an operand a minus is one, and `!` begins no operand.
			if begins && t.value != "-" && t.value != "!" || t.kind == text {
				return "", true
			}
			return "", false
		}
		if o == ">" && !greater {
			continue
		}
		if r.take(o) {
			return o, true
		}
	}
	return "", false
}

func (r *parser) unary(greater bool) expression {
	defer r.deeper()()
	switch {
	case r.take("!"):
		return unary{"!", r.unary(greater)}
	case r.take("-"):
		return unary{"-", r.unary(greater)}
	case r.take("+"):
		return unary{"+", r.unary(greater)}
	}
	left := r.postfix()
	if r.take("^") {
		return binary{"^", left, r.unary(greater)}
	}
	return left
}

func (r *parser) postfix() expression {
	for _, o := range []string{"++", "--"} {
		if r.take(o) {
			to, ok := r.primary().(target)
			if !ok {
				r.fail("syntax error: %s stands before what cannot be assigned to", o)
			}
			return step{to, o, false}
		}
	}
	left := r.primary()
	if to, ok := left.(target); ok {
		for _, o := range []string{"++", "--"} {
			if r.take(o) {
				return step{to, o, true}
			}
		}
	}
	return left
}

func (r *parser) primary() expression {
	defer r.deeper()()
	t := r.now()
	r.i++
	switch t.kind {
	case number:
		n, err := strconv.ParseFloat(t.value, 64)
		if err != nil {
			r.fail("syntax error at %q", t.value)
		}
		return constant{numeric(n)}
	case text:
		return constant{str(t.value)}
	case regex:
		return r.pattern(t.value)
	case function:
		var args []expression
		if r.take("(") {
			args = r.list(")")
		} else if t.value != "length" {
			r.fail("syntax error: %s without parentheses", t.value)
		}
		f := builtins[t.value]
		if len(args) < f.least || len(args) > f.most {
			r.fail("%s takes %d to %d arguments", t.value, f.least, f.most)
		}
		return call{f, args}
	case name:
		if t.calls {
			r.want("(")
			c := userCall{t.value, r.list(")")}
			r.calls = append(r.calls, c)
			return c
		}
		if r.take("[") {
			return element{t.value, r.list("]")}
		}
		return variable(t.value)
	case operator:
		switch t.value {
		case "$":
			if r.is("++") || r.is("--") {
				return field{r.postfix()}
			}
			return field{r.primary()}
		case "(":
			all := r.list(")")
			if len(all) == 1 {
				return grouping{all[0]}
			}
			if r.take("in") {
				array := r.now().value
				r.i++
				return membership{array, all}
			}
		}
	case keyword:
		if t.value == "getline" {
			g := getline{into: r.lvalue()}
			if r.take("<") {
				g.kind, g.from = "<", r.postfix()
			}
			return g
		}
	}
	r.fail("syntax error at %q", t.value)
	return nil
}

// lvalue is what getline reads into, or nothing.
func (r *parser) lvalue() target {
	if r.at(name) && !r.now().calls || r.is("$") {
		return r.primary().(target)
	}
	return nil
}
