package database

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
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
