package database

import (
	"context"
	"slices"
	"strings"
)

// drop is DROP of anything but a database or a role.
func (p postgres) drop(ctx context.Context, s *Session, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	if len(t) < 2 {
		return nil, syntax(nil)
	}
	kind := strings.ToUpper(t[1].text)
	if !t[1].is("TABLE", "VIEW", "INDEX", "SEQUENCE") {
		return nil, unsupported("DROP " + kind)
	}
	rest, conditional := after(t[2:])
	names, rest, err := namesAt(rest)
	if err != nil {
		return nil, err
	}
	cascades := starts(rest, "CASCADE")
	if len(rest) > 1 || len(rest) == 1 && !rest[0].is("CASCADE", "RESTRICT") {
		return nil, syntax(rest)
	}
	err = s.atomically(func() error {
		for _, name := range names {
			if kind == "SEQUENCE" {
				if err := p.dropSequence(s, name, conditional); err != nil {
					return err
				}
				continue
			}
			if err := p.depends(ctx, s, strings.ToLower(kind), name, names, cascades); err != nil {
				return err
			}
			sql := "DROP " + kind + " "
			if conditional {
				sql += "IF EXISTS "
			}
			if err := s.conn.Exec(sql + named("", name).raw); err != nil {
				return p.toldOf(s, t, "", err)
			}
			if kind == "TABLE" {
				_ = s.conn.Exec("DELETE FROM " + sequences + " WHERE owner = " + said("", name).raw) // or there is no sequence at all
			}
		}
		return nil
	})
	return &Result{Tag: "DROP " + kind}, err
}

func (postgres) dropSequence(s *Session, name string, conditional bool) error {
	before := s.conn.TotalChanges()
	_ = s.conn.Exec("DELETE FROM " + sequences + " WHERE name = " + said("", name).raw) // or there is no sequence at all
	if s.conn.TotalChanges() == before && !conditional {
		return fails("42P01", "sequence \"%s\" does not exist", name)
	}
	return nil
}

// depends refuses to drop what others need, or drops the views among them.
func (p postgres) depends(ctx context.Context, s *Session, kind, name string, with []string, cascades bool) error {
	e := fails("2BP01", "cannot drop %s %s because other objects depend on it", kind, name)
	e.Hint = "Use DROP ... CASCADE to drop the dependent objects too."
	rows, err := s.texts(ctx, `SELECT m.name, f."from" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' AND f."table" = `+said("", name).raw+` COLLATE NOCASE`)
	if err != nil {
		return err
	}
	for _, row := range rows {
		switch {
		case slices.Contains(with, *row[0]):
		case cascades:
			return unsupported("DROP ... CASCADE of a foreign key")
		default:
			e.Detail = "constraint " + *row[0] + "_" + *row[1] + "_fkey on table " + *row[0] + " depends on " + kind + " " + name
			return e
		}
	}
	views, err := s.texts(ctx, "SELECT name, sql FROM sqlite_schema WHERE type = 'view'")
	if err != nil {
		return err
	}
	for _, v := range views {
		if *v[0] == name || slices.Contains(with, *v[0]) || mention(tokens(*v[1], false), name) == "" {
			continue
		}
		if !cascades {
			e.Detail = "view " + *v[0] + " depends on " + kind + " " + name
			return e
		}
		if err := s.conn.Exec("DROP VIEW IF EXISTS " + named("", *v[0]).raw); err != nil {
			return err
		}
	}
	return nil
}

// truncate is TRUNCATE.
func (p postgres) truncate(ctx context.Context, s *Session, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	rest := t[1:]
	if starts(rest, "TABLE") {
		rest = rest[1:]
	}
	names, rest, err := namesAt(rest)
	if err != nil {
		return nil, err
	}
	restarts := starts(rest, "RESTART", "IDENTITY")
	if restarts || starts(rest, "CONTINUE", "IDENTITY") {
		rest = rest[2:]
	}
	if starts(rest, "CASCADE") {
		return nil, unsupported("TRUNCATE ... CASCADE")
	}
	if len(rest) > 0 && !rest[0].is("RESTRICT") {
		return nil, syntax(rest)
	}
	err = s.atomically(func() error {
		for _, name := range names {
			rows, err := s.texts(ctx, `SELECT m.name FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' AND f."table" = `+said("", name).raw+` COLLATE NOCASE`)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if !slices.Contains(names, *row[0]) {
					e := fails("0A000", "cannot truncate a table referenced in a foreign key constraint")
					e.Detail, e.Hint = "Table \""+*row[0]+"\" references \""+name+"\".", "Truncate table \""+*row[0]+"\" at the same time, or use TRUNCATE ... CASCADE."
					return e
				}
			}
		}
		for i := len(names) - 1; i >= 0; i-- {
			if err := s.conn.Exec("DELETE FROM " + named("", names[i]).raw); err != nil {
				return p.toldOf(s, t, "", err)
			}
			if restarts {
				_ = s.conn.Exec("DELETE FROM sqlite_sequence WHERE name = " + said("", names[i]).raw)                       // or nothing counts
				_ = s.conn.Exec("UPDATE " + sequences + " SET last = 0 WHERE owner = " + said("", names[i]).raw + " AND 1") // the same
			}
		}
		return nil
	})
	return &Result{Tag: "TRUNCATE TABLE"}, err
}

// alterTable is ALTER TABLE.
func (p postgres) alterTable(ctx context.Context, s *Session, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	rest, conditional := after(t[2:])
	if starts(rest, "ONLY") {
		rest = rest[1:]
	}
	name, taken, err := nameAt(rest)
	if err != nil {
		return nil, err
	}
	done := &Result{Tag: "ALTER TABLE"}
	if p.made(s, name) == nil {
		if conditional {
			return done, nil
		}
		return nil, fails("42P01", "relation \"%s\" does not exist", name)
	}
	actions, _ := list(append(slices.Clone(rest[taken:]), token{kind: sign, text: ")", raw: ")"}))
	return done, s.atomically(func() error {
		for _, a := range actions {
			if err := p.alter(ctx, s, t, name, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// alter is one action of ALTER TABLE.
func (p postgres) alter(ctx context.Context, s *Session, t []token, table string, a []token) error {
	if len(a) < 2 {
		return syntax(a)
	}
	head := []token{plain("", "ALTER TABLE"), named(" ", table)}
	execute := func(more ...token) error {
		return s.within(func() error { // SQLite itself looks at what is there, with a PRAGMA
			_, err := p.run(ctx, s, t, append(head, more...), nil)
			return err
		})
	}
	verb, rest := a[0], a[1:]
	if starts(rest, "COLUMN") {
		rest = rest[1:]
	}
	has := func(column string) bool {
		rows, err := s.texts(ctx, "SELECT name FROM pragma_table_info("+said("", table).raw+") WHERE name = "+said("", column).raw+" COLLATE NOCASE")
		return err == nil && len(rows) > 0
	}
	switch {
	case starts(a, "RENAME", "TO") && len(a) == 3:
		if p.made(s, folded(a[2])) != nil {
			return fails("42P07", "relation \"%s\" already exists", folded(a[2]))
		}
		return execute(plain(" ", "RENAME TO"), named(" ", folded(a[2])))
	case verb.is("RENAME") && len(rest) == 3 && rest[1].is("TO"):
		if !has(folded(rest[0])) {
			return fails("42703", "column \"%s\" does not exist", folded(rest[0]))
		}
		return execute(plain(" ", "RENAME COLUMN"), named(" ", folded(rest[0])), plain(" ", "TO"), named(" ", folded(rest[2])))
	case verb.is("ADD") && starts(rest, "CONSTRAINT") && len(rest) > 3 && rest[2].is("UNIQUE"):
		body, err := p.spelled(s, rest[3:])
		if err != nil {
			return err
		}
		_, err = p.run(ctx, s, t, append([]token{plain("", "CREATE UNIQUE INDEX"), named(" ", folded(rest[1])), plain(" ", "ON"), named(" ", table)}, body...), nil)
		return err
	case verb.is("ADD") && len(rest) > 0 && !isConstraint(rest):
		rest, conditional := after(rest)
		if len(rest) > 0 && has(folded(rest[0])) {
			if conditional {
				return nil
			}
			return fails("42701", "column \"%s\" of relation \"%s\" already exists", folded(rest[0]), table)
		}
		m := tableMaker{p: p, s: s, table: table}
		out, err := m.column(rest)
		switch {
		case err != nil:
			return err
		case m.counted != "" || len(m.counting) > 0:
			return unsupported("ALTER TABLE ... ADD of a column that counts")
		}
		err = execute(append([]token{plain(" ", "ADD COLUMN")}, out...)...)
		if err != nil && strings.Contains(err.Error(), "Cannot add a NOT NULL column") {
			return fails("23502", "column \"%s\" of relation \"%s\" contains null values", folded(rest[0]), table)
		} else if err != nil && strings.Contains(err.Error(), "Cannot add") {
			return unsupported("ALTER TABLE ... ADD of a column of this form")
		}
		return err
	case verb.is("DROP") && len(rest) > 0 && !rest[0].is("CONSTRAINT"):
		rest, conditional := after(rest)
		if len(rest) == 0 {
			return syntax(nil)
		}
		if column := folded(rest[0]); !has(column) {
			if conditional {
				return nil
			}
			return fails("42703", "column \"%s\" of relation \"%s\" does not exist", column, table)
		}
		err := execute(plain(" ", "DROP COLUMN"), named(" ", folded(rest[0])))
		if err != nil && (strings.Contains(err.Error(), "cannot drop") || strings.Contains(err.Error(), "error in")) {
			return unsupported("ALTER TABLE ... DROP of a column that others need")
		}
		return err
	}
	return unsupported("ALTER TABLE ... " + strings.ToUpper(verb.text+" "+a[1].text))
}
