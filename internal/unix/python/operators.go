package python

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// binary is x op y. and, or, in and not in are elsewhere.
func binary(op syntax.Token, x, y any) (any, error) {
	switch op {
	case syntax.EQL:
		return equal(x, y), nil
	case syntax.NEQ:
		return !equal(x, y), nil
	case syntax.LT, syntax.GT, syntax.LE, syntax.GE:
		return ordered(op, x, y)
	}
	if s, ok := x.(string); ok {
		switch other, isText := y.(string); {
		case op == syntax.PERCENT:
			return percent(s, y)
		case op == syntax.PLUS && isText:
			return sized(s + other)
		case op == syntax.PLUS:
			return nil, raise("TypeError", `can only concatenate str (not "%s") to str`, kindOf(y))
		}
		if n, _, isFloat, ok := number(y); op == syntax.STAR && ok && !isFloat {
			return repeated(s, n)
		}
	}
	if s, ok := y.(string); ok {
		if n, _, isFloat, ok := number(x); op == syntax.STAR && ok && !isFloat {
			return repeated(s, n)
		}
	}
	if hasList(x, y) {
		return nil, simulated("operators of lists")
	}
	a, fa, isFloat, ok := number(x)
	b, fb, alsoFloat, alsoOK := number(y)
	switch {
	case !ok || !alsoOK:
		return nil, raise("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", op, kindOf(x), kindOf(y))
	case isFloat || alsoFloat || op == syntax.SLASH:
		return floats(op, fa, fb)
	}
	return ints(op, a, b)
}

func hasList(x, y any) bool {
	_, ok := items(x)
	_, alsoOK := items(y)
	return ok || alsoOK
}

func repeated(s string, n int64) (any, error) {
	if n > 0 && int64(len(s)) > mostString/n {
		return nil, raise("MemoryError", "")
	}
	return strings.Repeat(s, int(max(n, 0))), nil
}

func equal(x, y any) bool {
	a, fa, isFloat, ok := number(x)
	b, fb, alsoFloat, alsoOK := number(y)
	switch {
	case ok && alsoOK && (isFloat || alsoFloat):
		return fa == fb
	case ok && alsoOK:
		return a == b
	case ok || alsoOK:
		return false
	}
	if s, isText := x.(string); isText {
		other, same := y.(string)
		return same && s == other
	}
	if all, ok := items(x); ok {
		others, alsoOK := items(y)
		return alsoOK && kindOf(x) == kindOf(y) && slices.EqualFunc(all, others, equal)
	}
	return x == nil && y == nil
}

func ordered(op syntax.Token, x, y any) (any, error) {
	sign := 0
	s, isText := x.(string)
	other, alsoText := y.(string)
	a, fa, isFloat, ok := number(x)
	b, fb, alsoFloat, alsoOK := number(y)
	switch {
	case isText && alsoText:
		sign = strings.Compare(s, other)
	case hasList(x, y):
		return nil, simulated("operators of lists")
	case ok && alsoOK && (isFloat || alsoFloat):
		if math.IsNaN(fa) || math.IsNaN(fb) {
			return false, nil
		}
		sign = cmp.Compare(fa, fb)
	case ok && alsoOK:
		sign = cmp.Compare(a, b)
	default:
		return nil, raise("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, kindOf(x), kindOf(y))
	}
	return map[syntax.Token]bool{syntax.LT: sign < 0, syntax.GT: sign > 0, syntax.LE: sign <= 0, syntax.GE: sign >= 0}[op], nil
}

func floats(op syntax.Token, a, b float64) (any, error) {
	switch op {
	case syntax.PLUS:
		return a + b, nil
	case syntax.MINUS:
		return a - b, nil
	case syntax.STAR:
		return a * b, nil
	}
	switch {
	case b == 0:
		return nil, raise("ZeroDivisionError", "%s", map[syntax.Token]string{
			syntax.SLASH: "division by zero", syntax.SLASHSLASH: "float floor division by zero", syntax.PERCENT: "float modulo",
		}[op])
	case op == syntax.SLASH:
		return a / b, nil
	}
	// As float_divmod of CPython.
	rest := math.Mod(a, b)
	quotient := (a - rest) / b
	switch {
	case rest == 0:
		rest = math.Copysign(0, b)
	case (b < 0) != (rest < 0):
		rest, quotient = rest+b, quotient-1
	}
	whole := math.Floor(quotient)
	if quotient-whole > 0.5 {
		whole++
	}
	if op == syntax.SLASHSLASH {
		return whole, nil
	}
	return rest, nil
}

const largeIntegers = "integers of more than 64 bits"

func ints(op syntax.Token, a, b int64) (any, error) {
	tooLarge := simulated(largeIntegers)
	switch op {
	case syntax.PLUS:
		if sum := a + b; (sum > a) == (b > 0) || b == 0 {
			return sum, nil
		}
		return nil, tooLarge
	case syntax.MINUS:
		if difference := a - b; (difference < a) == (b > 0) || b == 0 {
			return difference, nil
		}
		return nil, tooLarge
	case syntax.STAR:
		high, low := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
		if high != 0 || low > math.MaxInt64 {
			return nil, tooLarge
		}
		return a * b, nil
	}
	switch {
	case b == 0 && op == syntax.PERCENT:
		return nil, raise("ZeroDivisionError", "integer modulo by zero")
	case b == 0:
		return nil, raise("ZeroDivisionError", "integer division or modulo by zero")
	}
	if a == math.MinInt64 && b == -1 && op == syntax.SLASHSLASH {
		return nil, tooLarge
	}
	quotient, rest := a/b, a%b
	if rest != 0 && (rest < 0) != (b < 0) {
		quotient, rest = quotient-1, rest+b
	}
	if op == syntax.SLASHSLASH {
		return quotient, nil
	}
	return rest, nil
}

// percent is format % values, with %s, %r, %d and %%.
func percent(format string, values any) (any, error) {
	all, isTuple := values.(tuple)
	if !isTuple {
		all = tuple{values}
	}
	var out strings.Builder
	for format != "" && out.Len() <= mostString {
		before, rest, found := strings.Cut(format, "%")
		out.WriteString(before)
		if !found {
			format = ""
			break
		}
		if rest == "" {
			return nil, raise("ValueError", "incomplete format")
		}
		verb := rest[0]
		format = rest[1:]
		if verb == '%' {
			out.WriteByte('%')
			continue
		}
		if len(all) == 0 {
			return nil, raise("TypeError", "not enough arguments for format string")
		}
		v := all[0]
		all = all[1:]
		switch verb {
		case 's':
			out.WriteString(text(v))
		case 'r':
			out.WriteString(repr(v))
		case 'd', 'i':
			if _, _, _, ok := number(v); !ok {
				return nil, raise("TypeError", "%%%c format: a real number is required, not %s", verb, kindOf(v))
			}
			whole, err := toInt(v)
			if err != nil {
				return nil, err
			}
			out.WriteString(text(whole))
		default:
			return nil, simulated("format %" + string(verb))
		}
	}
	if len(all) > 0 && format == "" {
		return nil, raise("TypeError", "not all arguments converted during string formatting")
	}
	return sized(out.String())
}

// formatted is format.format(values...), with {} and {0}.
func formatted(format string, values []any) (any, error) {
	var out strings.Builder
	next := 0
	for format != "" && out.Len() <= mostString {
		i := strings.IndexAny(format, "{}")
		if i < 0 {
			out.WriteString(format)
			break
		}
		out.WriteString(format[:i])
		brace := format[i]
		format = format[i+1:]
		if strings.HasPrefix(format, string(brace)) {
			out.WriteByte(brace)
			format = format[1:]
			continue
		}
		field, rest, found := strings.Cut(format, "}")
		if brace == '}' || !found {
			return nil, raise("ValueError", "Single '%c' encountered in format string", brace)
		}
		format = rest
		place := next
		if field == "" {
			next++
		} else {
			v, err := toInt(field)
			if err != nil {
				return nil, simulated("field {" + field + "}")
			}
			place = int(min(max(v.(int64), -1), 1<<20))
		}
		if place < 0 || place >= len(values) {
			return nil, raise("IndexError", "Replacement index %d out of range for positional args tuple", place)
		}
		out.WriteString(text(values[place]))
	}
	return sized(out.String())
}
