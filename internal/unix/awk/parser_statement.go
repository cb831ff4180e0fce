package awk

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
	defer r.deeper()()
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
	if r.at(name) && r.ahead(1).value == "in" && r.ahead(3).value == ")" {
		l := forIn{variable: r.now().value, array: r.ahead(2).value}
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
