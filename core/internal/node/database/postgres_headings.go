package database

import (
	"slices"
	"strings"
)

// headed gives each column of each SELECT that has no name the one that PostgreSQL gives it.
func headed(t []token) []token {
	var out []token
	for i := 0; i < len(t); i++ {
		out = append(out, t[i])
		if !t[i].is("SELECT", "RETURNING") {
			continue
		}
		if i+1 < len(t) && t[i+1].is("DISTINCT", "ALL") {
			i++
			out = append(out, t[i])
		}
		for n, item := range listed(t[i+1:]) {
			if n > 0 {
				i++
				out = append(out, t[i]) // the comma
			}
			out = append(out, headed(item)...)
			if h, needed := heading(item); needed {
				out = append(out, plain(" ", "AS"), named(" ", h))
			}
			i += len(item)
		}
	}
	return out
}

// listed is what a SELECT lists, behind that word.
func listed(t []token) [][]token {
	var all [][]token
	depth, from := 0, 0
	for i, one := range t {
		switch {
		case one.is("("):
			depth++
		case one.is(")") && depth == 0, depth == 0 && one.is(endsList...) && !(one.is("FROM") && i > 0 && t[i-1].is("DISTINCT")):
			return append(all, t[from:i])
		case one.is(")"):
			depth--
		case depth == 0 && one.is(","):
			all = append(all, t[from:i])
			from = i + 1
		}
	}
	return append(all, t[from:])
}

// heading is what a column is called that an expression makes. needed: SQLite would call it something else.
func heading(item []token) (name string, needed bool) {
	n := len(item)
	if n == 0 || item[n-1].is("*") {
		return "", false
	}
	if n > 1 && item[n-1].names() && !item[n-2].is(".", "::") && !item[n-1].is("END", "NULL", "TRUE", "FALSE", "ISNULL", "NOTNULL", "VARYING", "PRECISION", "ZONE") && !item[n-1].is(pgWithout...) &&
		(item[n-2].kind != sign || item[n-2].is(")")) && !item[n-2].is("IS", "AND", "OR", "NOT", "LIKE", "ILIKE", "IN", "DATE", "TIMESTAMP") {
		return "", false // it has a name of its own, with AS or without
	}
	if n == 1 && item[0].names() && !item[0].is("NULL", "TRUE", "FALSE", "CURRENT_USER") && !item[0].is(pgWithout...) {
		return folded(item[0]), item[0].kind == word && item[0].is(strange...)
	}
	return figured(item), true
}

// figured is FigureColname of PostgreSQL.
func figured(item []token) string {
	const unknown = "?column?"
	n := len(item)
	if n == 0 {
		return unknown
	}
	depth := 0
	for i := n - 1; i >= 0; i-- { // the last cast, if nothing but a type stands behind it
		switch {
		case item[i].is(")"):
			depth++
		case item[i].is("("):
			depth--
		}
		if depth == 0 && item[i].is("::") {
			of, err := typeAt(item[i+1:])
			if err != nil || i+1+of.tokens != n || operand(item[:i]) != 0 {
				return unknown
			}
			return typed(figured(item[:i]), item[i+1])
		}
	}
	switch {
	case item[0].is("CASE"):
		return "case"
	case item[0].is("(") && item[n-1].is(")"):
		if _, end := list(item[1:]); end != n-2 {
			return unknown
		}
		if inner := item[1 : n-1]; len(inner) > 0 && inner[0].is("SELECT") {
			first := listed(inner[1:])[0]
			if len(first) > 1 && first[len(first)-1].names() && first[len(first)-2].is("AS") {
				return folded(first[len(first)-1])
			}
			return figured(first)
		}
		return figured(item[1 : n-1])
	case n == 1 && item[0].names() && !item[0].is("NULL", "TRUE", "FALSE"):
		return folded(item[0])
	case n >= 3 && item[n-2].is(".") && item[n-1].names():
		return folded(item[n-1])
	case n == 2 && item[0].is("DATE", "TIMESTAMP", "TIMESTAMPTZ") && item[1].kind == text:
		return strings.ToLower(item[0].text)
	}
	at := 0
	for at+2 < n && item[at].names() && item[at+1].is(".") {
		at += 2
	}
	if at+1 >= n || !item[at].names() || !item[at+1].is("(") || item[at].is("NOT", "IN") {
		return unknown
	}
	inner, end := list(item[at+2:])
	rest := at + 3 + end
	if end < 0 || rest < n && !item[rest].is("OVER", "FILTER") {
		return unknown
	}
	if item[at].is("CAST") && len(inner) == 1 {
		if as := slices.IndexFunc(inner[0], func(t token) bool { return t.is("AS") }); as > 0 && as+1 < len(inner[0]) {
			return typed(figured(inner[0][:as]), inner[0][as+1])
		}
	}
	return folded(item[at])
}

// typed is the name of a cast: that of what is cast or, if that has none, of the type.
func typed(name string, of token) string {
	if name != "?column?" {
		return name
	}
	switch known := pgTypes[strings.ToLower(of.text)]; known[0] {
	case "integer":
		return "int4"
	case "bigint":
		return "int8"
	case "smallint":
		return "int2"
	case "boolean":
		return "bool"
	case "double precision":
		return "float8"
	case "real":
		return "float4"
	case "character varying":
		return "varchar"
	case "character":
		return "bpchar"
	}
	return strings.ToLower(of.text)
}

// truths says of each column that a statement lists whether it is a boolean. It is nil where that cannot be told.
func truths(t []token) []bool {
	begin := slices.IndexFunc(t, func(t token) bool { return t.is("SELECT", "RETURNING") })
	if begin < 0 || t[0].is("WITH") {
		return nil
	}
	var all []bool
	for _, item := range listed(t[begin+1:]) {
		if len(item) > 0 && item[len(item)-1].is("*") {
			return nil
		}
		all = append(all, isTruth(item))
	}
	return all
}

func isTruth(item []token) bool {
	depth := 0
	if len(item) > 0 && item[0].is("CASE", "COALESCE") {
		return false
	}
	for i, one := range item {
		switch {
		case one.is("("):
			depth++
		case one.is(")"):
			depth--
		case depth > 0:
		case one.is("=", "<", ">", "<=", ">=", "<>", "!=", "~", "LIKE", "ILIKE", "IN", "BETWEEN", "IS", "AND", "OR", "NOT", "EXISTS", "TRUE", "FALSE"):
			return true
		case one.is("::") && i+1 < len(item) && item[i+1].is("BOOL", "BOOLEAN"):
			return true
		case one.is("BOOL_AND", "BOOL_OR", "EVERY", "PG_IS_IN_RECOVERY", "STARTS_WITH"):
			return i+1 < len(item) && item[i+1].is("(")
		}
	}
	return false
}
