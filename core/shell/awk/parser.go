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
		if failed, ok := recover().(syntaxError); ok {
			err = failed
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
}

func (r *parser) now() token { return r.tokens[r.i] }

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

func (r *parser) rule(p *Program) {
	switch {
	case r.take("function") || r.take("func"):
		r.function(p)
		return
	case r.take("BEGIN"):
		p.begin = append(p.begin, r.block()...)
		return
	case r.take("END"):
		p.end = append(p.end, r.block()...)
		return
	}
	one := rule{inside: len(p.rules)}
	if !r.is("{") {
		one.from = r.expression()
		if r.take(",") {
			r.lines()
			one.to = r.expression()
		}
	}
	if r.is("{") {
		one.body = r.block()
	}
	p.rules = append(p.rules, one)
}

func (r *parser) function(p *Program) {
	f := &definition{name: r.now().value}
	if !r.at(name) {
		r.fail("syntax error at %q: a name is missing", r.now().value)
	}
	if p.functions[f.name] != nil {
		r.fail("function %s is there twice", f.name)
	}
	r.i++
	r.want("(")
	for !r.take(")") {
		if len(f.parameters) > 0 {
			r.want(",")
			r.lines()
		}
		if !r.at(name) {
			r.fail("syntax error at %q: a parameter is missing", r.now().value)
		}
		f.parameters = append(f.parameters, r.now().value)
		r.i++
	}
	r.lines()
	r.inside = true
	f.body = r.block()
	r.inside = false
	p.functions[f.name] = f
}

func (r *parser) block() []statement {
	r.want("{")
	body := []statement{}
	for r.skip(); !r.take("}"); r.skip() {
		if r.at(end) {
			r.fail("syntax error: } is missing")
		}
		body = append(body, r.statement())
	}
	return body
}

// simple is a block, or one statement.
func (r *parser) simple() []statement {
	r.lines()
	if r.take(";") {
		return nil
	}
	if r.is("{") {
		return r.block()
	}
	one := []statement{r.statement()}
	return one
}

func (r *parser) statement() statement {
	switch {
	case r.is("{"):
		return blockStatement(r.block())
	case r.take("if"):
		r.want("(")
		condition := r.expression()
		r.want(")")
		yes := r.simple()
		before := r.i
		r.skip()
		if r.take("else") {
			return ifStatement{condition, yes, r.simple()}
		}
		r.i = before
		return ifStatement{condition, yes, nil}
	case r.take("while"):
		r.want("(")
		condition := r.expression()
		r.want(")")
		return loop{condition: condition, body: r.simple()}
	case r.take("do"):
		body := r.simple()
		r.skip()
		r.want("while")
		r.want("(")
		condition := r.expression()
		r.want(")")
		return loop{condition: condition, body: body, bodyFirst: true}
	case r.take("for"):
		return r.forLoop()
	case r.take("next"):
		return jump(nextRecord)
	case r.take("nextfile"):
		return jump(nextFile)
	case r.is("return") && r.inside:
		r.i++
		var result expression
		if !r.ends() {
			result = r.expression()
		}
		return returnStatement{result}
	case r.take("break"):
		return jump(leaveLoop)
	case r.take("continue"):
		return jump(nextRound)
	case r.take("exit"):
		var code expression
		if !r.ends() {
			code = r.expression()
		}
		return exitStatement{code}
	case r.take("delete"):
		array := r.now().value
		r.i++
		if r.take("[") {
			subscript := r.list("]")
			return deleteStatement{array, subscript}
		}
		return deleteStatement{array, nil}
	}
	return r.action()
}

func (r *parser) forLoop() statement {
	r.want("(")
	if r.at(name) && r.tokens[r.i+1].value == "in" && r.tokens[r.i+3].value == ")" {
		l := forIn{variable: r.now().value, array: r.tokens[r.i+2].value}
		r.i += 4
		l.body = r.simple()
		return l
	}
	var l loop
	if !r.is(";") {
		l.first = r.action()
	}
	r.want(";")
	if !r.is(";") {
		l.condition = r.expression()
	}
	r.want(";")
	if !r.is(")") {
		l.step = r.action()
	}
	r.want(")")
	l.body = r.simple()
	return l
}

// ends reports whether a statement ends here.
func (r *parser) ends() bool { return r.at(end) || r.at(newline) || r.is(";") || r.is("}") }

// redirects reports whether what is printed goes elsewhere.
func (r *parser) redirects() bool { return r.is(">") || r.is(">>") || r.is("|") }

// action is print, printf or an expression.
func (r *parser) action() statement {
	if !r.is("print") && !r.is("printf") {
		return expressionStatement{r.expression()}
	}
	formatted := r.is("printf")
	r.i++
	var args []expression
	if !r.ends() && !r.redirects() {
		// print (a, b) is a list, print (a) b is not.
		before := r.i
		if r.take("(") {
			args = r.list(")")
			if !r.ends() && !r.redirects() {
				r.i, args = before, nil
			}
		}
		if args == nil {
			args = append(args, r.ternary(false))
			for r.take(",") {
				r.lines()
				args = append(args, r.ternary(false))
			}
		}
	}
	if formatted && len(args) == 0 {
		r.fail("syntax error: printf without a format")
	}
	print := printStatement{args: args, formatted: formatted}
	for _, kind := range []string{">", ">>", "|"} {
		if r.take(kind) {
			print.kind, print.to = kind, r.binary(concatenation, false)
			break
		}
	}
	return print
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
	for level == concatenation-1 && r.is("|") && r.tokens[r.i+1].value == "getline" && r.tokens[r.i+1].kind == keyword {
		r.i += 2
		left = getline{r.lvalue(), "|<", left}
	}
	for {
		o, ok := r.operatorOf(level, greater)
		if !ok {
			return left
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
