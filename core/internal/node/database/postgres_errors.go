package database

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// nearOf is the statement from the token on that is wrong. rest is the same of what SQLite was given, sql.
func nearOf(t []token, sql, rest string) []token {
	if rest == "" || !strings.HasSuffix(sql, rest) {
		return nil
	}
	wrong := tokens(rest, false)
	if len(wrong) == 0 {
		return nil
	}
	same := func(a, b token) bool {
		if a.kind == text || b.kind == text {
			return a.kind == b.kind && a.text == b.text
		}
		return strings.EqualFold(a.raw, b.raw) || a.names() && b.names() && strings.EqualFold(a.text, b.text)
	}
	nth := 0
	for _, one := range tokens(sql[:len(sql)-len(rest)], false) {
		if same(one, wrong[0]) {
			nth++
		}
	}
	found := -1
	for i, one := range t {
		if same(one, wrong[0]) {
			if found = i; nth == 0 {
				break
			}
			nth--
		}
	}
	if found < 0 {
		return nil
	}
	return t[found:]
}

// mention is the statement from the first token on that is a name, or nothing.
func mention(t []token, name string) string {
	for i, one := range t {
		if one.names() && strings.EqualFold(one.text, name) {
			return written(t[i:])
		}
	}
	return ""
}

// target is the table that a statement changes.
func target(t []token) string {
	for i, one := range t {
		if one.is("INTO", "UPDATE", "FROM") && i+1 < len(t) {
			at := i + 1
			if at+2 < len(t) && t[at+1].is(".") {
				at += 2
			}
			return folded(t[at])
		}
	}
	return ""
}

// toldOf is an error of SQLite as PostgreSQL tells it. t is the statement, and sql what has become of it. It is long because it knows
// the messages of SQLite one by one.
func (p postgres) toldOf(s *Session, t []token, sql string, err error) *Error {
	var told *Error
	if errors.As(err, &told) {
		return told
	}
	if known := p.unnamed(s, err); known != nil {
		return known
	}
	var failed *sqlite3.Error
	rest := ""
	if errors.As(err, &failed) {
		rest = failed.SQL()
	}
	message := err.Error()
	for _, before := range []string{"sqlite3: ", "SQL logic error: ", "constraint failed: ", "datatype mismatch: "} {
		message = strings.TrimPrefix(message, before)
	}
	at := func(e *Error, near string) *Error {
		e.Near = near
		return e
	}
	near := nearOf(t, sql, rest)
	name := ""
	tells := func(before string) (ok bool) {
		name, ok = strings.CutPrefix(message, before)
		return ok
	}
	modifies := len(t) > 0 && t[0].is("DROP")
	switch {
	case tells("no such table: "), tells("no such view: "):
		if name = strings.TrimPrefix(strings.TrimPrefix(name, "main."), "temp."); modifies {
			return fails("42P01", "%s \"%s\" does not exist", strings.ToLower(t[1].text), name)
		}
		e := fails("42P01", "relation \"%s\" does not exist", name)
		if len(t) > 0 && t[0].is("ALTER", "CREATE", "TRUNCATE") {
			return e
		}
		return at(e, mention(t, name))
	case tells("no such index: "):
		return fails("42704", "index \"%s\" does not exist", name)
	case tells("no such column: "):
		name, _, _ = strings.Cut(name, " - should")
		name = strings.Trim(name, `"`)
		if table, column, qualified := strings.Cut(name, "."); qualified {
			if !p.inFrom(t, table) {
				return at(fails("42P01", "missing FROM-clause entry for table \"%s\"", table), written(near))
			}
			return at(fails("42703", "column %s.%s does not exist", table, column), written(near))
		}
		return at(fails("42703", "column \"%s\" does not exist", name), written(near))
	case strings.Contains(message, " has no column named "):
		table, column, _ := strings.Cut(strings.TrimPrefix(message, "table "), " has no column named ")
		return at(fails("42703", "column \"%s\" of relation \"%s\" does not exist", column, table), mention(t, column))
	case tells("duplicate column name: "):
		if len(t) > 0 && t[0].is("ALTER") {
			return fails("42701", "column \"%s\" of relation \"%s\" already exists", name, folded(t[min(2, len(t)-1)]))
		}
		return fails("42701", "column \"%s\" specified more than once", name)
	case tells("ambiguous column name: "):
		return at(fails("42702", "column reference \"%s\" is ambiguous", name), written(near))
	case strings.HasSuffix(message, "already exists"):
		f := strings.Fields(message)
		return fails("42P07", "relation \"%s\" already exists", strings.Trim(f[max(0, len(f)-3)], `"`))
	case tells("UNIQUE constraint failed: "):
		return fails("23505", "duplicate key value violates unique constraint \"%s\"", p.keyOf(s, name))
	case tells("NOT NULL constraint failed: "):
		table, column, _ := strings.Cut(name, ".")
		return fails("23502", "null value in column \"%s\" of relation \"%s\" violates not-null constraint", column, table)
	case tells("CHECK constraint failed: "):
		return fails("23514", "new row for relation \"%s\" violates check constraint \"%s\"", target(t), name)
	case strings.Contains(message, "FOREIGN KEY constraint failed"):
		return p.foreign(s, t)
	case tells("no such function: "), tells("wrong number of arguments to function "):
		name = strings.TrimSuffix(name, "()")
		e := fails("42883", "function %s() does not exist", name)
		e.Hint = "No function matches the given name and argument types. You might need to add explicit type casts."
		return at(e, mention(t, name))
	case strings.Contains(message, "values for") || strings.Contains(message, "values were supplied"):
		return p.counts(t, message)
	case strings.Contains(message, "datatype mismatch"):
		return fails("22P02", "invalid input syntax for type integer")
	case strings.Contains(message, "same number of terms"):
		return fails("42601", "VALUES lists must all be the same length")
	case strings.Contains(message, "same number of result columns"):
		return fails("42601", "each UNION query must have the same number of columns")
	case strings.Contains(message, "incomplete input"):
		return fails("42601", atEnd)
	case strings.Contains(message, "syntax error"), strings.Contains(message, "unrecognized token"):
		if near == nil {
			if quotedWord, _, ok := strings.Cut(strings.TrimPrefix(message, `near "`), `"`); ok {
				return fails("42601", "syntax error at or near \"%s\"", quotedWord)
			}
			return fails("42601", atEnd)
		}
		return syntax(near).(*Error)
	case strings.Contains(message, "misuse of aggregate"):
		return at(fails("42803", "aggregate functions are not allowed here"), written(near))
	case tells("use DROP VIEW to delete view "):
		e := fails("42809", "\"%s\" is not a table", name)
		e.Hint = "Use DROP VIEW to remove a view."
		return e
	case tells("use DROP TABLE to delete table "):
		return fails("42809", "\"%s\" is not a view", name)
	case strings.Contains(message, "because it is a view"):
		return fails("55000", "cannot change view \"%s\"", target(t))
	case strings.Contains(message, "ON CONFLICT clause does not match"):
		return fails("42P10", "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	case strings.Contains(message, "not authorized"):
		return unsupported("such statement").(*Error)
	case strings.Contains(message, "integer overflow"):
		return fails("22003", "bigint out of range")
	}
	return own22(message)
}

// own22 is an error that a function of this package has made, or an unknown one.
func own22(message string) *Error {
	for _, one := range []struct{ begins, state string }{
		{"invalid input syntax for type date", "22007"}, {"invalid input syntax for type timestamp", "22007"}, {"invalid input syntax", "22P02"}, {"value too long", "22001"},
		{"value \"", "22003"}, {"integer out of range", "22003"}, {"numeric field overflow", "22003"}, {"invalid regular expression", "2201B"}, {"this server is simulated", "0A000"}, {"relation \"", "42P01"},
		{"smallint out of range", "22003"}, {"requested length", "54000"}, {"database \"", "3D000"},
	} {
		if strings.HasPrefix(message, one.begins) {
			return &Error{State: one.state, Message: message}
		}
	}
	return fails("XX000", "%s", message)
}

// inFrom says whether a statement has a table or an alias of that name.
func (postgres) inFrom(t []token, name string) bool {
	for i, one := range t {
		if one.names() && strings.EqualFold(one.text, name) && (i+1 == len(t) || !t[i+1].is(".")) {
			return true
		}
	}
	return false
}

// counts is the error for an INSERT with more or fewer values than columns.
func (postgres) counts(t []token, message string) *Error {
	var numbers []int
	for _, f := range strings.Fields(message) {
		if n, err := strconv.Atoi(f); err == nil {
			numbers = append(numbers, n)
		}
	}
	columns, values := 0, 0
	if len(numbers) == 2 {
		if columns, values = numbers[0], numbers[1]; strings.Contains(message, "values for") {
			columns, values = values, columns
		}
	}
	at := slices.IndexFunc(t, func(t token) bool { return t.is("VALUES") })
	var near string
	if values > columns {
		if at >= 0 && at+1 < len(t) {
			if all, _ := list(t[at+2:]); len(all) > columns && len(all[columns]) > 0 {
				near = written(t[at+2+offset(all, columns):])
			}
		}
		e := fails("42601", "INSERT has more expressions than target columns")
		e.Near = near
		return e
	}
	if open := slices.IndexFunc(t, func(t token) bool { return t.is("(") }); open > 0 && open < at {
		if all, _ := list(t[open+1:]); len(all) > values && values >= 0 {
			near = written(t[open+1+offset(all, values):])
		}
	}
	e := fails("42601", "INSERT has more target columns than expressions")
	e.Near = near
	return e
}

// offset is where an element of a list begins, in tokens.
func offset(all [][]token, n int) int {
	at := n // commas
	for _, one := range all[:n] {
		at += len(one)
	}
	return at
}

// keyOf is the name of the constraint or index that SQLite calls by its columns: t.a, t.b.
func (p postgres) keyOf(s *Session, columns string) string {
	var names []string
	table := ""
	for one := range strings.SplitSeq(columns, ", ") {
		var column string
		if table, column, _ = strings.Cut(one, "."); column == "" {
			return strings.Trim(strings.TrimPrefix(one, "index "), "'")
		}
		names = append(names, column)
	}
	rows, err := s.texts(context.Background(), `SELECT l.name, l.origin, (SELECT group_concat(name, ',') FROM (SELECT i.name FROM pragma_index_info(l.name) AS i ORDER BY i.seqno)) FROM pragma_index_list(`+said("", table).raw+`) AS l WHERE l."unique"`)
	origin := "pk" // of the table's rowid there is no index
	if err == nil {
		for _, row := range rows {
			if row[2] != nil && *row[2] == strings.Join(names, ",") {
				if origin = *row[1]; origin == "c" {
					return *row[0]
				}
			}
		}
	}
	if named := constraintOf(p.made(s, table), names, origin == "pk"); named != "" {
		return named
	}
	if origin == "pk" {
		return table + "_pkey"
	}
	return table + "_" + strings.Join(names, "_") + "_key"
}

// made is the statement that has made a table.
func (postgres) made(s *Session, table string) []token {
	rows, err := s.texts(context.Background(), "SELECT sql FROM sqlite_schema WHERE name = "+said("", table).raw+" COLLATE NOCASE")
	if err != nil || len(rows) == 0 || rows[0][0] == nil {
		return nil
	}
	return tokens(*rows[0][0], false)
}

// constraintOf is the name that a table's statement gives to its key of these columns, if it does.
func constraintOf(t []token, columns []string, primary bool) string {
	for i := 0; i+4 < len(t); i++ {
		if !t[i].is("CONSTRAINT") || !(primary && t[i+2].is("PRIMARY") || !primary && t[i+2].is("UNIQUE")) {
			continue
		}
		open := slices.IndexFunc(t[i:min(i+5, len(t))], func(t token) bool { return t.is("(") })
		if open < 0 {
			continue
		}
		all, _ := list(t[i+open+1:])
		if len(all) == len(columns) && slices.EqualFunc(all, columns, func(a []token, b string) bool { return len(a) > 0 && strings.EqualFold(a[0].text, b) }) {
			return t[i+1].text
		}
	}
	return ""
}

// foreign is the error for a row that another one needs, or that needs another one.
func (p postgres) foreign(s *Session, t []token) *Error {
	table := target(t)
	if len(t) > 0 && t[0].is("DELETE") {
		rows, err := s.texts(context.Background(), `SELECT m.name, f."from" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' AND f."table" = `+said("", table).raw+` COLLATE NOCASE`)
		if err == nil && len(rows) > 0 {
			other := *rows[0][0]
			return fails("23503", "update or delete on table \"%s\" violates foreign key constraint \"%s_%s_fkey\" on table \"%s\"", table, other, *rows[0][1], other)
		}
		return fails("23503", "update or delete on table \"%s\" violates foreign key constraint", table)
	}
	rows, err := s.texts(context.Background(), `SELECT "from" FROM pragma_foreign_key_list(`+said("", table).raw+`) ORDER BY id DESC`)
	if err != nil || len(rows) == 0 {
		return fails("23503", "update or delete on table \"%s\" violates foreign key constraint", table)
	}
	return fails("23503", "insert or update on table \"%s\" violates foreign key constraint \"%s_%s_fkey\"", table, table, *rows[0][0])
}
