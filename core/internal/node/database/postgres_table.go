package database

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// sequences is the table that has what counts by itself and is no key of its table.
const sequences = "pg_sequence_values"

const makeSequences = "CREATE TABLE IF NOT EXISTS " + sequences + " (name TEXT PRIMARY KEY, last INTEGER, step INTEGER, owner TEXT)"

// atomically runs f, of which nothing stays if it fails.
func (s *Session) atomically(f func() error) error {
	if err := s.conn.Exec("SAVEPOINT pg_statement"); err != nil {
		return err
	}
	if err := f(); err != nil {
		if !s.conn.GetAutocommit() {
			_ = s.conn.Exec("ROLLBACK TO pg_statement; RELEASE pg_statement") // it is there
		}
		return err
	}
	return s.conn.Exec("RELEASE pg_statement")
}

// nameAt is the name of what is made or dropped, without public, and how many tokens that takes.
func nameAt(t []token) (name string, taken int, err error) {
	if len(t) > 2 && t[0].names() && t[1].is(".") {
		if schema := folded(t[0]); schema != "public" {
			return "", 0, fails("3F000", "schema \"%s\" does not exist", schema)
		}
		name, taken, err = nameAt(t[2:])
		return name, taken + 2, err
	}
	if len(t) == 0 || !t[0].names() || t[0].kind == word && t[0].is("SELECT", "TABLE", "FROM", "WHERE", "USER", "ORDER", "GROUP") {
		return "", 0, syntax(t)
	}
	name = folded(t[0])
	if strings.HasPrefix(name, "pg_") || strings.HasPrefix(strings.ToLower(name), "sqlite_") || name == "" {
		return "", 0, fails("42602", "unacceptable name \"%s\"", name)
	}
	return name, 1, nil
}

// namesAt returns the names that a list begins with, and what is behind it.
func namesAt(t []token) (names []string, rest []token, err error) {
	for {
		if starts(t, "ONLY") { // nothing inherits from a table
			t = t[1:]
		}
		name, taken, err := nameAt(t)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, name)
		if t = t[taken:]; !starts(t, ",") {
			return names, t, nil
		}
		t = t[1:]
	}
}

// createTable is CREATE TABLE.
func (p postgres) createTable(ctx context.Context, s *Session, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	place := tableAt(t)
	name, taken, err := nameAt(t[place:])
	if err != nil {
		return nil, err
	}
	head := []token{}
	for _, one := range t[:place] {
		if !one.is("UNLOGGED") {
			head = append(head, one)
		}
	}
	head = append(head, named(" ", name))
	rest := t[place+taken:]
	switch {
	case starts(rest, "AS"):
		return p.createAs(ctx, s, t, head, rest[1:])
	case starts(rest, "PARTITION"), starts(rest, "OF"):
		return nil, unsupported("CREATE TABLE ... " + strings.ToUpper(rest[0].text))
	case !starts(rest, "("):
		return nil, syntax(rest)
	}
	definitions, end := list(rest[1:])
	if end < 0 {
		return nil, syntax(nil)
	}
	if err := tail(rest[end+2:]); err != nil {
		return nil, err
	}
	m := tableMaker{p: p, s: s, table: name, definitions: definitions}
	body, err := m.all()
	if err != nil {
		return nil, err
	}
	out := append(append(append(head, plain(" ", "(")), body...), plain("", ")"))
	err = s.atomically(func() error {
		if _, err := p.run(ctx, s, t, out, nil); err != nil {
			return err
		}
		return m.count()
	})
	return &Result{Tag: "CREATE TABLE"}, err
}

// createAs is CREATE TABLE ... AS: its columns are of the types that the query's are of.
func (p postgres) createAs(ctx context.Context, s *Session, t, head, query []token) (*Result, error) {
	body, err := p.spelled(s, headed(seriesListed(renamed(slices.Clone(query)))))
	if err != nil {
		return nil, err
	}
	stmt, _, err := s.conn.Prepare(written(body))
	if err != nil {
		return nil, p.toldOf(s, t, written(body), err)
	}
	truth := truths(query)
	out := append(head, plain(" ", "("))
	columns := stmt.ColumnCount()
	for i := range columns {
		declared := strings.ToLower(stmt.ColumnDeclType(i))
		if declared == "" && len(truth) == columns && truth[i] {
			declared = "boolean"
		}
		if i > 0 {
			out = append(out, plain("", ","))
		}
		out = append(out, named(" ", stmt.ColumnName(i)), plain(" ", declared))
	}
	if err := stmt.Close(); err != nil {
		return nil, err
	}
	var r *Result
	err = s.atomically(func() error {
		if _, err := p.run(ctx, s, t, append(out, plain("", ")")), nil); err != nil {
			return err
		}
		r, err = p.run(ctx, s, t, append([]token{plain("", "INSERT INTO"), head[len(head)-1]}, append([]token{plain(" ", "")}, body...)...), nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Result{Tag: "SELECT " + strconv.FormatInt(r.Affected, 10)}, nil
}

// tail is what stands behind the columns of a table.
func tail(t []token) error {
	for len(t) > 0 {
		switch {
		case t[0].is("WITH") && len(t) > 1 && t[1].is("("):
			t = t[behind(t, 0)+1:]
		case t[0].is("TABLESPACE") && len(t) > 1:
			t = t[2:]
		case t[0].is("INHERITS", "PARTITION", "ON", "USING"):
			return unsupported("CREATE TABLE ... " + strings.ToUpper(t[0].text))
		default:
			return syntax(t)
		}
	}
	return nil
}

// tableMaker turns the definitions of a table into those of SQLite.
type tableMaker struct {
	p           postgres
	s           *Session
	table       string
	definitions [][]token
	key         []string // columns of a key that has a definition of its own
	counted     string   // the column that is the key and counts
	counting    []string // other columns that count
}

func isConstraint(d []token) bool {
	return d[0].is("CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "EXCLUDE", "LIKE") && d[0].kind == word
}

func (m *tableMaker) all() ([]token, error) {
	for _, d := range m.definitions {
		if len(d) == 0 {
			if len(m.definitions) == 1 {
				return nil, unsupported("tables without columns")
			}
			return nil, syntax([]token{plain("", ")")})
		}
		if at := slices.IndexFunc(d, func(t token) bool { return t.is("PRIMARY") }); isConstraint(d) && at >= 0 && at+2 < len(d) {
			columns, _ := list(d[at+3:])
			for _, c := range columns {
				if len(c) > 0 {
					m.key = append(m.key, folded(c[0]))
				}
			}
		}
	}
	var columns, constraints [][]token
	for _, d := range m.definitions {
		if isConstraint(d) {
			constraints = append(constraints, d)
			continue
		}
		out, err := m.column(d)
		if err != nil {
			return nil, err
		}
		columns = append(columns, out)
	}
	for _, d := range constraints {
		if d[0].is("LIKE", "EXCLUDE") {
			return nil, unsupported("CREATE TABLE ... " + strings.ToUpper(d[0].text))
		}
		if m.counted != "" && slices.ContainsFunc(d, func(t token) bool { return t.is("PRIMARY") }) {
			continue // its column says that it is
		}
		out, err := m.p.spelled(m.s, d)
		if err != nil {
			return nil, err
		}
		if d[0].is("CHECK") {
			out = append([]token{plain(" ", "CONSTRAINT"), named(" ", m.table+"_check")}, out...)
		}
		columns = append(columns, out)
	}
	var all []token
	for i, d := range columns {
		if i > 0 {
			all = append(all, plain("", ","))
		}
		all = append(all, d...)
	}
	return all, nil
}

// begins are the words that constraints of columns begin with.
var begins = []string{"NOT", "NULL", "UNIQUE", "PRIMARY", "CHECK", "REFERENCES", "CONSTRAINT", "COLLATE", "GENERATED", "DEFAULT"}

// column is the definition of one. It is long because it has a case for each constraint.
func (m *tableMaker) column(d []token) ([]token, error) {
	if len(d) < 2 || !d[0].names() {
		return nil, syntax(append(slices.Clone(d[min(1, len(d)):]), plain("", ")")))
	}
	name := folded(d[0])
	of, err := typeAt(d[1:])
	if err != nil {
		return nil, err
	}
	rest := d[1+of.tokens:]
	identity := slices.ContainsFunc(rest, func(t token) bool { return t.is("IDENTITY") })
	counts := of.kept == "serial" || identity
	isKey := slices.ContainsFunc(rest, func(t token) bool { return t.is("PRIMARY") })
	out := []token{named(" ", name)}
	switch {
	case counts && (isKey || len(m.key) == 1 && m.key[0] == name):
		m.counted = name
		out = append(out, plain(" ", "INTEGER PRIMARY KEY AUTOINCREMENT"))
	case counts:
		m.counting = append(m.counting, name)
		out = append(out, plain(" ", map[bool]string{true: "bigint", false: "int"}[of.full == "bigint"]), plain(" ", "NOT NULL DEFAULT (nextval("), said("", m.table+"_"+name+"_seq"), plain("", "))"))
	default:
		if out = append(out, plain(" ", of.declared())); of.kept != "text" {
			out = append(out, plain(" ", "CHECK (pg_is("), said("", of.declared()), plain("", ","), named(" ", name), plain("", "))"))
		}
		if slices.Contains(m.key, name) {
			out = append(out, plain(" ", "NOT NULL"))
		}
	}
	named1 := false
	for i := 0; i < len(rest); i++ {
		one := rest[i]
		switch {
		case one.is("PRIMARY"):
			if m.counted != name {
				out = append(out, plain(" ", "NOT NULL PRIMARY KEY"))
			}
			i++
		case one.is("NOT") && counts:
			i++
		case one.is("GENERATED") && identity:
			if i = behind(rest, i+slices.IndexFunc(rest[i:], func(t token) bool { return t.is("IDENTITY") })); i >= len(rest) {
				return out, nil
			}
		case one.is("COLLATE"):
			i++
		case one.is("CONSTRAINT") && i+2 < len(rest):
			if named1 = !rest[i+2].is("PRIMARY", "NOT") || !counts; named1 {
				out = append(out, plain(" ", "CONSTRAINT"), named(" ", folded(rest[i+1])))
			}
			i++
		case one.is("CHECK") && i+1 < len(rest):
			body, err := m.p.spelled(m.s, rest[i+1:behind(rest, i)+1])
			if err != nil {
				return nil, err
			}
			if !named1 {
				out = append(out, plain(" ", "CONSTRAINT"), named(" ", m.table+"_"+name+"_check"))
			}
			out = append(append(out, plain(" ", "CHECK")), body...)
			named1 = false
			i = behind(rest, i)
		case one.is("DEFAULT") && i+1 < len(rest):
			end := i + 2
			for depth := boolean(rest[i+1].is("(")); end < len(rest) && (depth > 0 || !rest[end].is(begins...)); end++ {
				depth += boolean(rest[end].is("(")) - boolean(rest[end].is(")"))
			}
			body, err := m.p.spelled(m.s, rest[i+1:end])
			if err != nil {
				return nil, err
			}
			if len(body) > 1 || strings.HasSuffix(body[0].raw, "()") {
				body = bracketed(" ", body)
			}
			out = append(append(out, plain(" ", "DEFAULT")), body...)
			i = end - 1
		default:
			end := i + 1
			for end < len(rest) && !(rest[end].is(begins...) && !rest[end-1].is("NOT", "SET")) {
				end++
			}
			body, err := m.p.spelled(m.s, rest[i:end])
			if err != nil {
				return nil, err
			}
			out = append(out, body...)
			i = end - 1
		}
	}
	return out, nil
}

// count makes the sequences of columns that count.
func (m *tableMaker) count() error {
	for _, c := range m.counting {
		if err := m.s.conn.Exec(makeSequences + "; INSERT OR IGNORE INTO " + sequences + " VALUES (" + said("", m.table+"_"+c+"_seq").raw + ", 0, 1, " + said("", m.table).raw + ")"); err != nil {
			return err
		}
	}
	return nil
}

// create is CREATE of anything but a table.
func (p postgres) create(ctx context.Context, s *Session, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	at, replaces := 1, starts(t[1:], "OR", "REPLACE")
	if replaces {
		at = 3
	}
	head := "CREATE"
	for at < len(t) && t[at].is("UNIQUE", "TEMP", "TEMPORARY") {
		head += " " + strings.ToUpper(t[at].text)
		at++
	}
	if at >= len(t) {
		return nil, syntax(nil)
	}
	rest := t[at+1:]
	switch {
	case t[at].is("INDEX"):
		return p.createIndex(ctx, s, t, head, rest)
	case t[at].is("VIEW"):
		name, taken, err := nameAt(rest)
		if err != nil {
			return nil, err
		}
		as := slices.IndexFunc(rest, func(t token) bool { return t.is("AS") })
		if as < 0 {
			return nil, syntax(rest[taken:])
		}
		body, err := p.spelled(s, headed(rest[as+1:]))
		if err != nil {
			return nil, err
		}
		out := append(append(append([]token{plain("", head+" VIEW"), named(" ", name)}, rest[taken:as]...), plain(" ", "AS")), body...)
		return &Result{Tag: "CREATE VIEW"}, s.atomically(func() error {
			if replaces {
				if err := s.conn.Exec("DROP VIEW IF EXISTS " + named("", name).raw); err != nil {
					return p.toldOf(s, t, "", err)
				}
			}
			_, err := p.run(ctx, s, t, out, nil)
			return err
		})
	case t[at].is("SEQUENCE"):
		return p.createSequence(s, rest)
	case t[at].is("EXTENSION", "FUNCTION", "PROCEDURE", "TRIGGER", "TYPE", "DOMAIN", "SCHEMA", "MATERIALIZED", "RULE", "AGGREGATE", "OPERATOR", "CAST", "POLICY", "PUBLICATION", "SUBSCRIPTION", "SERVER", "FOREIGN", "TABLESPACE", "COLLATION", "EVENT", "LANGUAGE", "STATISTICS", "GROUP", "ACCESS", "RECURSIVE"):
		return nil, unsupported("CREATE " + strings.ToUpper(t[at].text))
	}
	return nil, syntax(t[at:])
}

func (p postgres) createIndex(ctx context.Context, s *Session, t []token, head string, rest []token) (*Result, error) {
	if starts(rest, "CONCURRENTLY") {
		rest = rest[1:]
	}
	rest, conditional := after(rest)
	name := ""
	if len(rest) > 0 && !rest[0].is("ON") {
		name, rest = folded(rest[0]), rest[1:]
	}
	if !starts(rest, "ON") {
		return nil, syntax(rest)
	}
	table, taken, err := nameAt(rest[1:])
	if err != nil {
		return nil, err
	}
	rest = rest[1+taken:]
	if starts(rest, "USING") && len(rest) > 1 {
		if !rest[1].is("BTREE", "HASH") {
			return nil, unsupported("indexes of " + rest[1].text)
		}
		rest = rest[2:]
	}
	if !starts(rest, "(") {
		return nil, syntax(rest)
	}
	if name == "" {
		columns, _ := list(rest[1:])
		name = table
		for _, c := range columns {
			if len(c) > 0 && c[0].names() {
				name += "_" + folded(c[0])
			}
		}
		name += "_idx"
	}
	if head += " INDEX"; conditional {
		head += " IF NOT EXISTS"
	}
	body, err := p.spelled(s, rest)
	if err != nil {
		return nil, err
	}
	out := append([]token{plain("", head), named(" ", name), plain(" ", "ON"), named(" ", table)}, body...)
	_, err = p.run(ctx, s, t, out, nil)
	return &Result{Tag: "CREATE INDEX"}, err
}

func (p postgres) createSequence(s *Session, rest []token) (*Result, error) {
	rest, conditional := after(rest)
	name, taken, err := nameAt(rest)
	if err != nil {
		return nil, err
	}
	start, step := 1, 1
	for rest = rest[taken:]; len(rest) > 0; {
		what := rest[0]
		if rest = rest[1:]; len(rest) > 0 && rest[0].is("WITH", "BY") {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].kind != number || !what.is("START", "INCREMENT") {
			return nil, unsupported("CREATE SEQUENCE ... " + strings.ToUpper(what.text))
		}
		n, err := strconv.Atoi(rest[0].text)
		if err != nil {
			return nil, syntax(rest)
		}
		if rest = rest[1:]; what.is("START") {
			start = n
		} else {
			step = n
		}
	}
	done := &Result{Tag: "CREATE SEQUENCE"}
	if err := s.conn.Exec(makeSequences); err != nil {
		return nil, err
	}
	have, err := s.texts(context.Background(), "SELECT name FROM "+sequences+" WHERE name = "+said("", name).raw)
	switch {
	case err != nil:
		return nil, err
	case len(have) > 0 && conditional:
		return done, nil
	case len(have) > 0:
		return nil, fails("42P07", "relation \"%s\" already exists", name)
	}
	return done, s.conn.Exec("INSERT INTO " + sequences + " VALUES (" + said("", name).raw + "," + strconv.Itoa(start-step) + "," + strconv.Itoa(step) + ", NULL)")
}
