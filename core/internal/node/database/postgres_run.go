package database

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// data runs what reads and writes rows.
func (p postgres) data(ctx context.Context, s *Session, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	with, err := p.defaults(ctx, s, renamed(slices.Clone(t)))
	if err != nil {
		return nil, err
	}
	with = headed(seriesListed(with))
	out, err := p.spelled(s, with)
	var told *Error
	if errors.As(err, &told) && told.Near != "" {
		told.Near = written(nearOf(t, written(with), told.Near))
	}
	if err != nil {
		return nil, err
	}
	truth := truths(t)
	r, err := p.run(ctx, s, t, out, truth)
	if err != nil {
		return nil, err
	}
	verb := t[0]
	if verb.is("WITH") { // what it is for stands behind it
		depth := 0
		for _, one := range t {
			switch {
			case one.is("("):
				depth++
			case one.is(")"):
				depth--
			case depth == 0 && one.is("SELECT", "INSERT", "UPDATE", "DELETE"):
				verb = one
			}
		}
	}
	switch changed := strconv.FormatInt(r.Affected, 10); {
	case verb.is("INSERT"):
		r.Tag = "INSERT 0 " + changed
	case verb.is("UPDATE", "DELETE"):
		r.Tag = strings.ToUpper(verb.text) + " " + changed
	default:
		r.Affected = int64(len(r.Rows))
		r.Tag = "SELECT " + strconv.Itoa(len(r.Rows))
	}
	return r, nil
}

// seriesListed is SELECT generate_series(1, 3), which has no FROM, with one.
func seriesListed(t []token) []token {
	selects := slices.IndexFunc(t, func(t token) bool { return t.is("SELECT") })
	series := slices.IndexFunc(t, func(t token) bool { return t.is("GENERATE_SERIES") })
	if selects < 0 || series < selects || slices.ContainsFunc(t, func(t token) bool { return t.is("FROM", "UNION", "WITH") }) {
		return t
	}
	end := behind(t, series)
	if end == series {
		return t
	}
	call := slices.Clone(t[series : end+1])
	list := 1 + selects
	for _, item := range listed(t[selects+1:]) {
		list += len(item) + 1
	}
	list-- // the last one has no comma
	out := append(slices.Clone(t[:series]), named(call[0].space, "generate_series"))
	out = append(append(out, t[end+1:list]...), plain(" ", "FROM"))
	call[0].space = " "
	return append(append(out, call...), t[list:]...)
}

// renamed has a query in FROM that names its columns - AS v(id, name) - name them in WITH.
func renamed(t []token) []token {
	for i := 0; i+3 < len(t); i++ {
		at := i + 1
		if !t[i].is(")") {
			continue
		}
		if t[at].is("AS") {
			at++
		}
		begin := operand(t[:i+1])
		if at+1 >= len(t) || !t[at].names() || t[at].is(endsList...) || !t[at+1].is("(") || !t[begin].is("(") || begin == 0 || !t[begin-1].is("FROM", "JOIN", ",") {
			continue
		}
		end := behind(t, at)
		if begin+1 >= len(t) || !t[begin+1].is("SELECT", "VALUES", "WITH") || end == at {
			continue
		}
		name := named(" ", t[at].text+" listed")
		out := append(slices.Clone(t[:begin]), plain(t[begin].space, "("), plain("", "WITH"), name)
		out = append(append(out, t[at+1:end+1]...), plain(" ", "AS"))
		out = append(append(out, t[begin:i+1]...), plain(" ", "SELECT"), plain(" ", "*"), plain(" ", "FROM"), name, plain("", ")"), plain(" ", "AS"), t[at])
		t, i = append(out, t[end+1:]...), len(out)
	}
	return t
}

// defaults are the values that DEFAULT stands for in INSERT and UPDATE, and the columns that INSERT does not name.
func (p postgres) defaults(ctx context.Context, s *Session, t []token) ([]token, error) {
	values := slices.IndexFunc(t, func(t token) bool { return t.is("VALUES") })
	listless := values > 0 && !slices.ContainsFunc(t[:values], func(t token) bool { return t.is("(") })
	if !t[0].is("INSERT", "UPDATE") || !listless && !slices.ContainsFunc(t, func(t token) bool { return t.is("DEFAULT") }) || slices.ContainsFunc(t, func(t token) bool { return t.is("SELECT") }) {
		return t, nil
	}
	rows, err := s.texts(ctx, `SELECT c.name, c.dflt_value FROM pragma_table_info(`+said("", target(t)).raw+`) AS c`)
	if err != nil {
		return nil, err
	}
	initial := map[string]string{}
	var names []string
	for _, row := range rows {
		names = append(names, *row[0])
		if initial[*row[0]] = "NULL"; row[1] != nil {
			initial[*row[0]] = "(" + *row[1] + ")"
		}
	}
	if listless && values+1 < len(t) {
		if given, _ := list(t[values+2:]); len(given) > 0 && len(given) < len(names) { // those behind get what they get by default
			columns := []token{plain(" ", "(")}
			for i := range given {
				if i > 0 {
					columns = append(columns, plain("", ","))
				}
				columns = append(columns, named("", names[i]))
			}
			t = slices.Concat(t[:values], append(columns, plain("", ")")), t[values:])
			values += len(columns) + 1
		}
	}
	if values > 0 {
		if begin := slices.IndexFunc(t[:values], func(t token) bool { return t.is("(") }); begin > 0 {
			names = nil
			given, _ := list(t[begin+1:])
			for _, one := range given {
				if len(one) > 0 {
					names = append(names, folded(one[0]))
				}
			}
		}
	}
	depth, column := 0, 0
	for i, one := range t {
		switch {
		case i > values && one.is("("):
			if depth++; depth == 1 {
				column = 0
			}
		case i > values && one.is(")"):
			depth--
		case depth == 1 && one.is(","):
			column++
		case !one.is("DEFAULT"):
		case depth == 1 && values > 0 && column < len(names) && initial[names[column]] != "":
			t[i] = plain(one.space, initial[names[column]])
		case t[i-1].is("=") && i > 1 && initial[folded(t[i-2])] != "":
			t[i] = plain(one.space, initial[folded(t[i-2])])
		case depth == 1 && values > 0 && column >= len(names):
			return nil, fails("42601", "VALUES lists must all be the same length")
		}
	}
	return t, nil
}

// run has SQLite run what a statement has become, and writes values as PostgreSQL does.
func (p postgres) run(ctx context.Context, s *Session, t, out []token, truth []bool) (*Result, error) {
	sql := written(out)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	stmt, tail, err := s.conn.Prepare(sql)
	if err != nil {
		return nil, p.toldOf(s, t, sql, err)
	}
	if stmt == nil || strings.TrimSpace(tail) != "" {
		if stmt != nil {
			stmt.Close()
		}
		return nil, syntax(nil)
	}
	kinds := make([]string, stmt.ColumnCount())
	for i := range kinds {
		kinds[i] = strings.ToLower(stmt.ColumnDeclType(i))
	}
	if err := stmt.Close(); err != nil {
		return nil, err
	}
	r, err := s.query(ctx, sql, nil)
	if err != nil {
		return nil, p.toldOf(s, t, sql, err)
	}
	for i, kind := range kinds {
		switch {
		case kind == "" && len(truth) == len(kinds) && truth[i]:
			kind = "boolean"
		case kind == "":
			continue
		}
		if kind == "boolean" {
			r.Columns[i].Numeric = false
		}
		for _, row := range r.Rows {
			if row[i] != nil {
				shown := shownAs(kind, *row[i])
				row[i] = &shown
			}
		}
	}
	return r, nil
}

// shownAs is a value as PostgreSQL writes one of a type.
func shownAs(kind, value string) string {
	switch {
	case kind == "boolean" && value == "1":
		return "t"
	case kind == "boolean" && value == "0":
		return "f"
	case kind == "date_text":
		return value[:min(len(value), len("2006-01-02"))]
	case kind == "timestamp_text", kind == "timestamptz_text":
		if len(value) == len("2006-01-02") {
			value += " 00:00:00"
		}
		value = strings.Replace(value, "T", " ", 1)
		zoned := strings.HasSuffix(value, "+00") || strings.HasSuffix(value, "Z")
		value = strings.TrimSuffix(strings.TrimSuffix(value, "+00"), "Z")
		if kind == "timestamptz_text" && (zoned || !strings.ContainsAny(value[min(len(value), 11):], "+-")) {
			value += "+00"
		}
		return value
	case strings.HasPrefix(kind, "numeric("):
		scale := 0
		if _, after, ok := strings.Cut(kind, ","); ok {
			scale, _ = strconv.Atoi(strings.Trim(after, " )")) // the type has been looked at when the table was made
		}
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			return strconv.FormatFloat(f, 'f', scale, 64)
		}
	case strings.HasPrefix(kind, "char("):
		if n, err := strconv.Atoi(strings.Trim(kind[len("char("):], ")")); err == nil {
			return value + strings.Repeat(" ", max(0, n-len([]rune(value))))
		}
	}
	return value
}

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
