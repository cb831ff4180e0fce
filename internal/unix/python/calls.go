package python

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// builtins are functions without keywords: how many arguments they take, and what they do.
var builtins = map[string]struct {
	least, most int
	do          func(*machine, []any) (any, error)
}{
	"int":   {0, 1, func(_ *machine, v []any) (any, error) { return convert(v, int64(0), toInt) }},
	"float": {0, 1, func(_ *machine, v []any) (any, error) { return convert(v, 0.0, toFloat) }},
	"str": {0, 1, func(_ *machine, v []any) (any, error) {
		return convert(v, "", func(v any) (any, error) { return sized(text(v)) })
	}},
	"len": {1, 1, func(_ *machine, v []any) (any, error) {
		if s, ok := v[0].(string); ok {
			return int64(utf8.RuneCountInString(s)), nil
		}
		if all, ok := items(v[0]); ok {
			return int64(len(all)), nil
		}
		return nil, raise("TypeError", "object of type '%s' has no len()", kindOf(v[0]))
	}},
	"exit": {0, 1, leave}, "quit": {0, 1, leave}, "sys.exit": {0, 1, leave}, "os._exit": {1, 1, leave},
	"os.getenv": {1, 2, getenv}, "os.environ.get": {1, 2, getenv},
	"time.sleep": {1, 1, func(m *machine, v []any) (any, error) {
		_, seconds, _, ok := number(v[0])
		switch {
		case !ok:
			return nil, raise("TypeError", "'%s' object cannot be interpreted as an integer", kindOf(v[0]))
		case seconds < 0:
			return nil, raise("ValueError", "sleep length must be non-negative")
		case seconds > 1e9:
			return nil, raise("OverflowError", "timestamp too large to convert to C PyTime_t")
		}
		return nil, m.Sleep(time.Duration(seconds * float64(time.Second)))
	}},
	"time.time":     {0, 0, func(m *machine, _ []any) (any, error) { return float64(m.Now().UnixNano()) / 1e9, nil }},
	"random.random": {0, 0, func(*machine, []any) (any, error) { return rand.Float64(), nil }},
	"random.randint": {2, 2, func(_ *machine, v []any) (any, error) {
		from, _, isFloat, ok := number(v[0])
		to, _, alsoFloat, alsoOK := number(v[1])
		switch {
		case !ok || !alsoOK || isFloat || alsoFloat:
			return nil, raise("TypeError", "randint takes integers")
		case to < from:
			return nil, raise("ValueError", "empty range in randrange(%d, %d)", from, to+1)
		case to-from < 0 || to-from == 1<<63-1:
			return nil, simulated(largeIntegers)
		}
		return from + rand.Int64N(to-from+1), nil
	}},
	"socket.gethostname": {0, 0, func(m *machine, _ []any) (any, error) { return m.Hostname, nil }},
}

// exceptions are those that raise may name.
var exceptions = map[string]bool{"Exception": true, "ValueError": true, "RuntimeError": true, "TypeError": true, "KeyError": true, "OSError": true, "SystemExit": true}

func convert(v []any, otherwise any, to func(any) (any, error)) (any, error) {
	if len(v) == 0 {
		return otherwise, nil
	}
	return to(v[0])
}

func leave(_ *machine, v []any) (any, error) {
	if len(v) == 0 || v[0] == nil {
		return nil, &exit{}
	}
	if code, _, isFloat, ok := number(v[0]); ok && !isFloat {
		return nil, &exit{code: int(code & 0xff)}
	}
	return nil, &exit{code: 1, text: text(v[0])}
}

func getenv(m *machine, v []any) (any, error) {
	if value, ok := m.Environment[text(v[0])]; ok {
		return value, nil
	}
	if len(v) > 1 {
		return v[1], nil
	}
	return nil, nil
}

// builtin is the name of the function that is called, if it is one of Python's or of a module, and not the script's own.
func (c *compiler) builtin(fn syntax.Expr) string {
	if name, ok := fn.(*syntax.Ident); ok && !c.locals[name.Name] && !c.globals[name.Name] && c.modules[name.Name] == "" {
		return name.Name
	}
	return c.path(fn)
}

func (c *compiler) call(x *syntax.CallExpr) (term, error) {
	name := c.builtin(x.Fn)
	switch name {
	case "print":
		return c.print(x)
	case "__raise":
		return c.raise(x)
	}
	args, err := c.terms(x.Args)
	if err != nil {
		return nil, err
	}
	if b, ok := builtins[name]; ok {
		if len(args) < b.least || len(args) > b.most {
			return nil, unknown(x, fmt.Sprintf("%s with %d arguments", name, len(args)))
		}
		return func(m *machine) (any, error) {
			v, err := values(m, args)
			if err != nil {
				return nil, err
			}
			return b.do(m, v)
		}, nil
	}
	if dot, ok := x.Fn.(*syntax.DotExpr); ok && dot.Name.Name == "format" && name == "" {
		of, err := c.term(dot.X)
		return func(m *machine) (any, error) {
			v, err := values(m, append([]term{of}, args...))
			if err != nil {
				return nil, err
			}
			format, ok := v[0].(string)
			if !ok {
				return nil, raise("AttributeError", "'%s' object has no attribute 'format'", kindOf(v[0]))
			}
			return formatted(format, v[1:])
		}, err
	}
	own, ok := x.Fn.(*syntax.Ident)
	if !ok {
		return nil, unknown(x, "this call")
	}
	fn, err := c.ident(own)
	return func(m *machine) (any, error) {
		v, err := values(m, append([]term{fn}, args...))
		if err != nil {
			return nil, err
		}
		f, ok := v[0].(*function)
		if !ok {
			return nil, raise("TypeError", "'%s' object is not callable", kindOf(v[0]))
		}
		return f.call(m, v[1:])
	}, err
}

// print is print(values..., sep=, end=, file=, flush=).
func (c *compiler) print(x *syntax.CallExpr) (term, error) {
	var plain []syntax.Expr
	separator, end := term(nil), term(nil)
	errors := false
	for _, arg := range x.Args {
		keyword, ok := arg.(*syntax.BinaryExpr)
		if !ok || keyword.Op != syntax.EQ {
			plain = append(plain, arg)
			continue
		}
		var err error
		switch keyword.X.(*syntax.Ident).Name { // the parser admits nothing else
		case "sep":
			separator, err = c.term(keyword.Y)
		case "end":
			end, err = c.term(keyword.Y)
		case "flush":
			_, err = c.term(keyword.Y)
		case "file":
			switch c.path(keyword.Y) {
			case "sys.stdout":
			case "sys.stderr":
				errors = true
			default:
				err = unknown(keyword, "this file")
			}
		default:
			err = unknown(keyword, "this argument of print")
		}
		if err != nil {
			return nil, err
		}
	}
	all, err := c.terms(plain)
	if err != nil {
		return nil, err
	}
	return func(m *machine) (any, error) {
		v, err := values(m, all)
		if err != nil {
			return nil, err
		}
		between, after := " ", "\n"
		for _, given := range []struct {
			t    term
			text *string
		}{{separator, &between}, {end, &after}} {
			if given.t == nil {
				continue
			}
			value, err := given.t(m)
			if err != nil {
				return nil, err
			}
			if value != nil {
				*given.text = text(value)
			}
		}
		var words []string
		for _, each := range v {
			words = append(words, text(each))
		}
		out := m.Out
		if errors {
			out = m.Err
		}
		// What nobody reads is lost, as behind a pipe that has ended.
		_, _ = io.WriteString(out, strings.Join(words, between)+after)
		return nil, nil
	}, nil
}

// raise is raise Name and raise Name(text).
func (c *compiler) raise(x *syntax.CallExpr) (term, error) {
	var args []syntax.Expr
	what := x.Args[0]
	if call, ok := what.(*syntax.CallExpr); ok {
		what, args = call.Fn, call.Args
	}
	name, ok := what.(*syntax.Ident)
	if !ok || len(args) > 1 || !exceptions[name.Name] {
		return nil, unknown(x, "what is raised")
	}
	all, err := c.terms(args)
	return func(m *machine) (any, error) {
		v, err := values(m, all)
		switch {
		case err != nil:
			return nil, err
		case name.Name == "SystemExit":
			return leave(m, v)
		case len(v) == 0:
			return nil, raise(name.Name, "")
		case name.Name == "KeyError":
			return nil, raise(name.Name, "%s", repr(v[0]))
		}
		return nil, raise(name.Name, "%s", text(v[0]))
	}, err
}
