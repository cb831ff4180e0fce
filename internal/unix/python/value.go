package python

import (
	"math"
	"strconv"
	"strings"
)

// A value is nil for None, or a bool, int64, float64, string, list, tuple or function.

type (
	list  []any
	tuple []any
)

// items are those of a list or a tuple.
func items(v any) (all []any, ok bool) {
	switch v := v.(type) {
	case list:
		return v, true
	case tuple:
		return v, true
	}
	return nil, false
}

// iterated are the items of what has some: the characters of a string, too.
func iterated(v any) (all []any, ok bool) {
	s, isText := v.(string)
	if !isText {
		return items(v)
	}
	for _, r := range s {
		all = append(all, string(r))
	}
	return all, true
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case tuple:
		return "tuple"
	case *function:
		return "function"
	}
	return "list"
}

func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	all, ok := items(v)
	return !ok || len(all) > 0
}

// text is str(v).
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return repr(v)
}

func repr(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return floatText(v)
	case string:
		quote := "'"
		if strings.Contains(v, "'") && !strings.Contains(v, `"`) {
			quote = `"`
		}
		inner := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, quote, `\`+quote).Replace(v)
		return quote + inner + quote
	case list:
		return "[" + joined(v) + "]"
	case tuple:
		if len(v) == 1 {
			return "(" + joined(v) + ",)"
		}
		return "(" + joined(v) + ")"
	case *function:
		return "<function " + v.name + ">"
	}
	return ""
}

func joined(all []any) string {
	var texts []string
	for _, each := range all {
		texts = append(texts, repr(each))
	}
	return strings.Join(texts, ", ")
}

// floatText is repr of a float: as few digits as tell it from others, with an exponent where Python has one.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		format = 'e'
	}
	s := strconv.FormatFloat(f, format, -1, 64)
	if format == 'f' && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// number returns v as an int, or as a float. A bool is a number, too.
func number(v any) (i int64, f float64, isFloat, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, 1, false, true
		}
		return 0, 0, false, true
	case int64:
		return v, float64(v), false, true
	case float64:
		return 0, v, true, true
	}
	return 0, 0, false, false
}

func toInt(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.Abs(v) >= 1<<62 {
			return nil, raise("OverflowError", "cannot convert float %s to integer", floatText(v))
		}
		return int64(v), nil
	case string:
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(v), "_", ""), 10, 64)
		if err != nil {
			return nil, raise("ValueError", "invalid literal for int() with base 10: %s", repr(v))
		}
		return n, nil
	}
	if i, _, _, ok := number(v); ok {
		return i, nil
	}
	return nil, raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'", kindOf(v))
}

func toFloat(v any) (any, error) {
	if s, ok := v.(string); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return nil, raise("ValueError", "could not convert string to float: %s", repr(s))
		}
		return f, nil
	}
	if _, f, _, ok := number(v); ok {
		return f, nil
	}
	return nil, raise("TypeError", "float() argument must be a string or a real number, not '%s'", kindOf(v))
}

// sized returns s, if a string may be as long.
func sized(s string) (any, error) {
	if len(s) > mostString {
		return nil, raise("MemoryError", "")
	}
	return s, nil
}
