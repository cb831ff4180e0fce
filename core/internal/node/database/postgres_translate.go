package database

import (
	"slices"
	"strings"
)

// pgTypes are the types that there are, by their names: what PostgreSQL calls them in full, and what SQLite is told, which says how values
// are kept.
var pgTypes = map[string][2]string{
	"int": {"integer", "int"}, "int4": {"integer", "int"}, "integer": {"integer", "int"}, "bigint": {"bigint", "bigint"}, "int8": {"bigint", "bigint"},
	"smallint": {"smallint", "smallint"}, "int2": {"smallint", "smallint"}, "boolean": {"boolean", "boolean"}, "bool": {"boolean", "boolean"},
	"text": {"text", "text"}, "name": {"name", "name_text"}, "varchar": {"character varying", "varchar"}, "character varying": {"character varying", "varchar"},
	"char": {"character", "char"}, "character": {"character", "char"}, "bpchar": {"character", "char"}, "numeric": {"numeric", "numeric"},
	"decimal": {"numeric", "numeric"}, "real": {"real", "real"}, "float4": {"real", "real"}, "float": {"double precision", "float8"},
	"float8": {"double precision", "float8"}, "double precision": {"double precision", "float8"}, "date": {"date", "date_text"},
	"timestamp": {"timestamp without time zone", "timestamp_text"}, "timestamptz": {"timestamp with time zone", "timestamptz_text"},
	"time": {"time without time zone", "time_text"}, "uuid": {"uuid", "uuid_text"}, "json": {"json", "json_text"}, "jsonb": {"jsonb", "jsonb_text"},
	"inet": {"inet", "inet_text"}, "cidr": {"cidr", "cidr_text"}, "serial": {"integer", "serial"}, "serial4": {"integer", "serial"},
	"bigserial": {"bigint", "serial"}, "serial8": {"bigint", "serial"}, "smallserial": {"smallint", "serial"}, "regclass": {"regclass", "text"}, "oid": {"oid", "int"},
}

// pgType is a type as a statement names it.
type pgType struct {
	full, kept string
	sizes      []string // (10,2)
	tokens     int      // that it takes
}

// declared is what SQLite is told.
func (t pgType) declared() string {
	if len(t.sizes) > 0 {
		return t.kept + "(" + strings.Join(t.sizes, ",") + ")"
	}
	return t.kept
}

// typeAt is the type that tokens begin with.
func typeAt(t []token) (pgType, error) {
	if len(t) == 0 {
		return pgType{}, syntax(t)
	}
	at := 0
	if len(t) > 2 && t[1].is(".") && t[0].is("PG_CATALOG") {
		at = 2
	}
	name := strings.ToLower(t[at].text)
	at++
	switch {
	case name == "double" && len(t) > at && t[at].is("PRECISION"), name == "character" && len(t) > at && t[at].is("VARYING"):
		name += " " + strings.ToLower(t[at].text)
		at++
	case name == "interval", name == "bytea", name == "money", name == "point", name == "xml", name == "bit", name == "tsvector", name == "timetz":
		return pgType{}, unsupported("type " + name)
	}
	of := pgType{}
	if len(t) > at && t[at].is("(") {
		sizes, end := list(t[at+1:])
		if end < 0 {
			return of, syntax(nil)
		}
		for _, size := range sizes {
			if len(size) != 1 || size[0].kind != number {
				return of, syntax(size)
			}
			of.sizes = append(of.sizes, size[0].text)
		}
		at += end + 2
	}
	if name == "timestamp" || name == "time" {
		of.sizes = nil // nothing is rounded
		if starts(t[at:], "WITH", "TIME", "ZONE") {
			name += "tz"
			at += 3
		} else if starts(t[at:], "WITHOUT", "TIME", "ZONE") {
			at += 3
		}
	}
	known, ok := pgTypes[name]
	if !ok {
		e := fails("42704", "type \"%s\" does not exist", name)
		e.Near = written(t)
		return of, e
	}
	if of.full, of.kept, of.tokens = known[0], known[1], at; of.kept == "char" && of.sizes == nil {
		of.sizes = []string{"1"}
	}
	if len(t) > at && t[at].is("[") {
		return of, unsupported("arrays")
	}
	return of, nil
}

// pgCalls are functions that SQLite has by another name.
var pgCalls = map[string]string{
	"char_length": "length", "character_length": "length", "btrim": "trim", "strpos": "instr", "clock_timestamp": "now", "transaction_timestamp": "now", "statement_timestamp": "now",
	"substr": "substr", "array_length": "", "bool_and": "min", "bool_or": "max", "every": "min", "json_agg": "json_group_array", "jsonb_agg": "json_group_array",
}

// pgLacks are functions that PostgreSQL has and this has not.
var pgLacks = []string{
	"extract", "date_part", "date_trunc", "date_bin", "to_char", "to_timestamp", "to_date", "to_number", "age", "make_date", "make_timestamp", "make_interval", "array_agg", "array_length", "unnest", "regexp_replace",
	"regexp_matches", "regexp_match", "regexp_split_to_table", "string_to_array", "array_to_string", "json_build_object", "jsonb_build_object", "row_to_json", "to_json", "to_jsonb", "json_each", "jsonb_each", "json_array_elements",
	"jsonb_array_elements", "jsonb_set", "json_extract_path", "overlay", "translate", "format", "quote_ident", "quote_literal", "pg_stat_get_activity", "pg_total_relation_size", "pg_relation_size", "pg_terminate_backend", "pg_cancel_backend",
	"pg_advisory_lock", "pg_advisory_unlock", "pg_try_advisory_lock", "pg_notify", "pg_read_file", "pg_ls_dir", "pg_switch_wal", "pg_current_wal_lsn", "pg_start_backup", "pg_backup_start", "pg_backup_stop", "pg_promote", "dblink", "crypt", "gen_salt", "encode", "decode", "digest", "to_hex",
	"percentile_cont", "percentile_disc", "stddev", "variance", "corr", "xpath", "to_tsvector", "to_tsquery", "setval", "currval", "lastval", "any", "some", "array", "row", "rollup", "cube", "grouping",
}

// pgWithout are words that are calls without brackets.
var pgWithout = []string{"CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "LOCALTIMESTAMP", "LOCALTIME", "CURRENT_USER", "SESSION_USER", "CURRENT_ROLE", "CURRENT_CATALOG", "CURRENT_SCHEMA", "USER"}

// pgWithoutNames are the functions that these words call.
var pgWithoutNames = map[string]string{
	"current_timestamp": "pg_now", "current_date": "pg_date", "current_time": "pg_time", "localtimestamp": "pg_local", "localtime": "pg_time", "current_user": "current_user", "session_user": "current_user",
	"current_role": "current_user", "current_catalog": "current_database", "current_schema": "current_schema", "user": "current_user",
}

// strange are names to PostgreSQL, and words of the language to SQLite.
var strange = []string{"INDEX", "TRANSACTION", "AUTOINCREMENT", "INDEXED", "GLOB", "REGEXP", "MATCH", "ISNULL", "ADD", "COMMIT", "ESCAPED", "ABORT", "PLAN", "PRAGMA", "ATTACH", "RAISE", "VACUUM"}

// tablesAfter are words behind which tables are named.
var tablesAfter = []string{"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "ONLY", "REFERENCES"}

// missing is the error for a table that there is not.
func missing(name string, from []token) error {
	e := fails("42P01", "relation \"%s\" does not exist", name)
	e.Near = written(from)
	return e
}

// unwanted is why a token cannot be passed on to SQLite, to which it would mean something else.
func unwanted(t []token, i int) error {
	one := t[i]
	lower := strings.ToLower(one.text)
	switch {
	case one.is("[", "]"):
		return unsupported("arrays")
	case one.is("$") && i+1 < len(t) && t[i+1].kind == number, one.kind == word && strings.HasPrefix(lower, "$"):
		e := fails("42P02", "there is no parameter $%s", strings.TrimPrefix(one.text+t[min(i+1, len(t)-1)].text, "$"))
		e.Near = written(t[i:])
		return e
	case one.is("`", "?", "@", ":", "$", "{", "}", `\`, "==", "&&", "<=>", ":="):
		return syntax(t[i:])
	case one.is("=") && i+1 < len(t) && t[i+1].is("=") && t[i+1].space == "":
		return fails("42883", "operator does not exist: ==")
	case one.names() && (strings.HasPrefix(lower, "sqlite_") || strings.HasPrefix(lower, "pragma_") || lower == "dbstat"):
		if i+1 < len(t) && t[i+1].is("(") {
			e := fails("42883", "function %s() does not exist", lower)
			e.Near = written(t[i:])
			return e
		}
		return missing(lower, t[i:])
	case one.is("/", "%") && i+1 < len(t) && t[i+1].kind == number && strings.Trim(t[i+1].text, "0.") == "":
		return fails("22012", "division by zero")
	case one.is("LATERAL", "TABLESAMPLE", "GROUPING"), one.is("ON") && i > 0 && t[i-1].is("DISTINCT"):
		return unsupported(strings.ToUpper(one.text))
	case one.is("INTERVAL") && i+1 < len(t) && t[i+1].kind == text:
		return unsupported("type interval")
	case one.is("X", "B", "U") && i+1 < len(t) && t[i+1].space == "" && (t[i+1].kind == text || t[i+1].is("&")):
		return unsupported("texts of bits and of code points")
	}
	return nil
}

// spelled replaces what SQLite has other words for. It is long because it has a case for each.
func (p postgres) spelled(s *Session, t []token) ([]token, error) {
	t, err := p.resolved(s, t)
	if err != nil {
		return nil, err
	}
	var out []token
	limited := slices.ContainsFunc(t, func(t token) bool { return t.is("LIMIT") })
	for i := 0; i < len(t); i++ {
		one := t[i]
		lower := strings.ToLower(one.text)
		called := i+1 < len(t) && t[i+1].is("(") && one.kind == word
		next := token{kind: sign}
		if i+1 < len(t) {
			next = t[i+1]
		}
		if err := unwanted(t, i); err != nil {
			return nil, err
		}
		switch {
		case one.is("::"):
			of, err := typeAt(t[i+1:])
			if err != nil {
				return nil, err
			}
			begin := operand(out)
			out = append(out[:begin:begin], cast(out[begin:], of)...)
			i += of.tokens
		case called && lower == "cast":
			inner, end := list(t[i+2:])
			as := -1
			if len(inner) == 1 {
				as = slices.IndexFunc(inner[0], func(t token) bool { return t.is("AS") })
			}
			if end < 0 || as < 1 {
				return nil, syntax(t[min(i+2+max(end, 0), len(t)):])
			}
			of, err := typeAt(inner[0][as+1:])
			if err != nil {
				return nil, err
			}
			what, err := p.spelled(s, inner[0][:as])
			if err != nil {
				return nil, err
			}
			out = append(out, cast(bracketed(one.space, what), of)...)
			i += 2 + end
		case one.is("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIME") && next.kind == text, one.is("ONLY"):
			// the text stands for itself, and no table is the parent of another
		case one.is("E") && next.kind == text && next.space == "":
			out = append(out, said(one.space, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\\`, `\`, `\'`, "'").Replace(next.text)))
			i++
		case one.kind == text:
			if with := compared(out, one); with != nil {
				out = append(out, with...)
			} else {
				out = append(out, said(one.space, one.text))
			}
		case one.kind == quoted:
			out = append(out, named(one.space, one.text))
		case one.is(pgWithout...) && !called:
			out = append(out, plain(one.space, pgWithoutNames[lower]+"()"))
		case one.is("ILIKE"):
			out = append(out, plain(one.space, "MATCH"))
		case one.is("!") && next.is("~"):
			out = append(out, plain(" ", "NOT"))
		case one.is("~") && operand(out) < len(out) || one.is("~") && i > 0 && t[i-1].is("!"):
			if next.is("*") && next.space == "" {
				out = append(out, plain(" ", "GLOB"))
				i++
			} else {
				out = append(out, plain(" ", "REGEXP"))
			}
		case one.is("FOR") && next.is("UPDATE", "SHARE", "NO", "KEY"):
			i = len(t) // one who writes has the whole database
		case one.is("OFFSET") && !limited && !called:
			out = append(out, plain(one.space, "LIMIT -1 OFFSET"))
		case called && lower == "generate_series" && i > 0 && (t[i-1].is("FROM", "JOIN", ",")):
			_, end := list(t[i+2:])
			if end < 0 {
				return nil, syntax(nil)
			}
			arguments, err := p.spelled(s, t[i+1:i+3+end])
			if err != nil {
				return nil, err
			}
			i += 2 + end
			alias, column, taken := aliasAt(t[i+1:])
			i += taken
			out = append(out, plain(one.space, "(SELECT value AS"), named(" ", column), plain(" ", "FROM generate_series"))
			out = append(append(out, arguments...), plain("", ") AS"), named(" ", alias))
		case called && (slices.Contains(pgLacks, lower) || lower == "position" || lower == "substring" && fromWithin(t[i+2:])):
			return nil, unsupported("function " + lower + "()")
		case called && pgCalls[lower] != "":
			out = append(out, plain(one.space, pgCalls[lower]))
		case one.is(strange...) && !called:
			out = append(out, named(one.space, lower))
		case one.kind == word:
			out = append(out, plain(one.space, lower))
		default:
			out = append(out, one)
		}
	}
	return out, nil
}

// truthTexts are texts that a boolean may be compared with.
var truthTexts = []string{"t", "f", "true", "false", "yes", "no", "on", "off"}

// compared is a text that a column is compared with which may be a boolean, as active = 'true', or nil for any other.
func compared(before []token, t token) []token {
	n := len(before)
	if n < 2 || !before[n-1].is("=", "<>", "!=") || !slices.Contains(truthTexts, strings.ToLower(t.text)) {
		return nil
	}
	column := slices.Clone(before[operand(before[:n-1]) : n-1])
	if len(column) == 0 || slices.ContainsFunc(column, func(t token) bool { return !t.names() && !t.is(".") }) {
		return nil
	}
	column[0].space = ""
	return append(append([]token{plain(t.space, "pg_truth"), plain("", "(")}, column...), plain("", ","), said("", t.text), plain("", ")"))
}

// fromWithin says whether what is called has FROM between its arguments.
func fromWithin(t []token) bool {
	_, end := list(t)
	return end > 0 && slices.ContainsFunc(t[:end], func(t token) bool { return t.is("FROM") })
}

// aliasAt is the name that generate_series is given in FROM, that of its column, and how many tokens these take.
func aliasAt(t []token) (alias, column string, taken int) {
	alias, column = "generate_series", "generate_series"
	if len(t) > 1 && t[0].is("AS") {
		taken = 1
	}
	if taken >= len(t) || !t[taken].names() || taken == 0 && t[0].is("WHERE", "GROUP", "ORDER", "LIMIT", "OFFSET", "JOIN", "CROSS", "LEFT", "RIGHT", "INNER", "FULL", "ON", "UNION", "HAVING", "RETURNING", "EXCEPT", "INTERSECT", "FOR", "NATURAL") {
		return alias, column, 0
	}
	alias = folded(t[taken])
	column = alias
	taken++
	if len(t) > taken+2 && t[taken].is("(") && t[taken+2].is(")") {
		column = folded(t[taken+1])
		taken += 3
	}
	return alias, column, taken
}

// bracketed is what tokens say, in brackets.
func bracketed(space string, t []token) []token {
	return append(append([]token{plain(space, "(")}, t...), plain("", ")"))
}

// operand is where the last operand of an expression begins, or the end if there is none.
func operand(t []token) int {
	i := len(t) - 1
	switch {
	case i < 0:
		return 0
	case t[i].is(")") || t[i].kind == word && strings.HasSuffix(t[i].text, ")"):
		depth := 0
		for ; i >= 0; i-- {
			if depth += strings.Count(t[i].raw, ")") * boolean(t[i].kind == word || t[i].kind == sign); t[i].kind == word || t[i].kind == sign {
				depth -= strings.Count(t[i].raw, "(")
			}
			if depth <= 0 {
				break
			}
		}
		i = max(i, 0)
		if i > 0 && t[i].raw == "(" && t[i-1].names() && !t[i-1].is("SELECT", "WHERE", "AND", "OR", "NOT", "IN", "VALUES", "ON", "THEN", "ELSE", "WHEN", "AS", "BY", "RETURNING", "LIKE", "HAVING", "BETWEEN", "DISTINCT", "SET", "LIMIT", "OFFSET", "CASE", "FROM", "JOIN", "UNION", "ALL", "EXCEPT", "INTERSECT", "ANY", "FILTER", "OVER") {
			i--
		}
	case t[i].kind == sign, t[i].is("SELECT", "WHERE", "AND", "OR", "NOT", "IN", "ON", "BY", "THEN", "ELSE", "WHEN", "LIKE", "BETWEEN"):
		return len(t)
	}
	for i > 1 && t[i-1].is(".") {
		i -= 2
	}
	return i
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cast is an operand as a type.
func cast(what []token, of pgType) []token {
	if len(what) == 0 || of.full == "regclass" {
		return what
	}
	first := what[0]
	what = slices.Clone(what)
	what[0].space = ""
	out := append([]token{plain(first.space, "pg_cast"), plain("", "("), said("", of.declared()), plain("", ",")}, what...)
	return append(out, plain("", ")"))
}

// resolved has the names of schemas before tables taken away, and the tables of catalogs made that are named.
func (p postgres) resolved(s *Session, t []token) ([]token, error) {
	var out []token
	for i := 0; i < len(t); i++ {
		one := t[i]
		last := token{kind: sign}
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		isTable := last.is(tablesAfter...) || last.is(",")
		if one.names() && i+2 < len(t) && t[i+1].is(".") && (i == 0 || !t[i-1].is(".")) {
			switch schema := folded(one); {
			case schema == "public", schema == "pg_catalog":
				t[i+2].space = one.space
				i++
				continue
			case schema == "information_schema":
				if err := p.catalog(s, schema+"_"+folded(t[i+2]), t[i:]); err != nil {
					return nil, err
				}
				out = append(out, named(one.space, schema+"_"+folded(t[i+2])))
				i += 2
				continue
			case last.is(tablesAfter...), schema == "main", schema == "temp":
				return nil, missing(schema+"."+folded(t[i+2]), t[i:])
			}
		}
		name := folded(one)
		called := i+1 < len(t) && t[i+1].is("(")
		if one.names() && isTable && !called && strings.HasPrefix(name, "pg_") && (last.is(tablesAfter...) || catalogs[name] != "") {
			if last.is("INTO", "UPDATE") || t[0].is("DELETE") {
				return nil, fails("42501", "permission denied: \"%s\" is a system catalog", name)
			}
			if err := p.catalog(s, name, t[i:]); err != nil {
				return nil, err
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// endsList are words that end what a SELECT lists.
var endsList = []string{"FROM", "WHERE", "LIMIT", "ORDER", "GROUP", "UNION", "HAVING", "INTO", "FOR", "EXCEPT", "INTERSECT", "OFFSET", "WINDOW", "FETCH", "ON"}
