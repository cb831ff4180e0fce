package database

import (
	"slices"
	"strings"
)

// translated is a statement of MySQL as SQLite takes it.
func (m mysql) translated(s *Session, t []token) (string, map[string]string, error) {
	t, err := m.qualified(s, t)
	if err != nil {
		return "", nil, err
	}
	if place := tableAt(t); place > 0 {
		if s.database == "" && place < len(t) && (place+1 == len(t) || !t[place+1].is(".")) {
			return "", nil, errNoDatabase
		}
		if t, err = m.table(t, place); err != nil {
			return "", nil, err
		}
		return written(t), nil, nil
	}
	return written(m.spelled(s, t)), m.headings(s, t), nil
}

// tableAt is where the name is in CREATE TABLE, or 0.
func tableAt(t []token) int {
	i := 1
	if len(t) > i && t[i].is("TEMPORARY", "TEMP", "UNLOGGED") {
		i++
	}
	if !t[0].is("CREATE") || len(t) <= i+1 || !t[i].is("TABLE") {
		return 0
	}
	if i++; starts(t[i:], "IF", "NOT", "EXISTS") {
		i += 3
	}
	return i
}

// qualified resolves the names of databases before tables: the one that is used is SQLite's main one, others are attached.
func (m mysql) qualified(s *Session, t []token) ([]token, error) {
	t = slices.Clone(t)
	known := m.databases(s.server)
	s.detach()
	for i := 0; i+2 < len(t); i++ {
		if !t[i].names() || !t[i+1].is(".") || i > 0 && t[i-1].is(".") {
			continue
		}
		name := t[i].text
		isTable := i > 0 && t[i-1].is("FROM", "INTO", "JOIN", "TABLE", "UPDATE", "EXISTS", "VIEW")
		switch {
		case name == s.database && name != "":
			t[i] = plain(t[i].space, "main")
		case strings.EqualFold(name, "mysql") && t[i+2].is("user"):
			if err := s.listUsers(); err != nil {
				return nil, err
			}
			t[i] = plain(t[i].space, "temp")
		case slices.Contains(systemDatabases, strings.ToLower(name)):
			return nil, unsupported("table " + name + "." + t[i+2].text)
		case slices.Contains(known, name):
			if err := s.attach(name); err != nil {
				return nil, err
			}
			t[i] = named(t[i].space, name)
		case isTable:
			return nil, unknownDatabase(name)
		}
	}
	return t, nil
}

// listUsers has mysql.user as a table for a while.
func (s *Session) listUsers() error {
	sql := "DROP TABLE IF EXISTS temp.user; CREATE TEMP TABLE user (Host CHAR(255), User CHAR(32), plugin CHAR(64), authentication_string TEXT);"
	s.server.mu.Lock()
	for _, u := range s.server.users {
		sql += "INSERT INTO temp.user VALUES (" + said("", u.Host).raw + "," + said("", u.Name).raw + ",'caching_sha2_password'," + said("", u.Password).raw + ");"
	}
	s.server.mu.Unlock()
	return s.within(func() error { return s.conn.Exec(sql) })
}

// words are those of MySQL that SQLite has others for.
var words = map[string]string{"&&": " AND ", "||": " OR ", "<=>": " IS ", "MOD": "%", "RLIKE": "REGEXP", "DIV": "/"}

// calls are functions that have another name.
var calls = map[string]string{"IF": "iif", "LAST_INSERT_ID": "last_insert_rowid", "CURRENT_TIMESTAMP": "now", "SYSDATE": "now", "LOCALTIME": "now", "SCHEMA": "database", "SESSION_USER": "user", "SYSTEM_USER": "user", "SUBSTR": "substr", "CHAR_LENGTH": "length", "CHARACTER_LENGTH": "length", "LCASE": "lower", "UCASE": "upper"}

// spelled replaces what SQLite has other words for.
func (m mysql) spelled(s *Session, t []token) []token {
	var out []token
	for i := 0; i < len(t); i++ {
		one := t[i]
		called := i+1 < len(t) && t[i+1].is("(") && one.kind == word
		upper := strings.ToUpper(one.text)
		switch {
		case one.kind == text:
			out = append(out, said(one.space, one.text))
		case one.kind == quoted:
			out = append(out, named(one.space, one.text))
		case one.kind == variable:
			out = append(out, s.server.setting(one))
		case called && calls[upper] != "":
			out = append(out, plain(one.space, calls[upper]))
		case one.is("CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"):
			out = append(out, plain(one.space, "now()"))
		case one.is("CURRENT_DATE"):
			out = append(out, plain(one.space, "curdate()"))
		case one.is("CURRENT_USER") && !called:
			out = append(out, plain(one.space, "user()"))
		case one.is("FROM") && i+1 < len(t) && t[i+1].is("DUAL"):
			i++
		case starts(t[i:], "INSERT", "IGNORE"):
			out = append(out, one, plain(" ", "OR"), t[i+1])
			i++
		case starts(t[i:], "ON", "DUPLICATE", "KEY", "UPDATE"):
			out = append(out, plain(one.space, "ON CONFLICT DO UPDATE SET"))
			i += 3
		case one.is("VALUES") && called && i > 0 && t[i-1].is("=", "+", "-", "*", ",", "(") && i+3 < len(t): // VALUES(x) is what x would have been
			out = append(out, plain(one.space, "excluded."), t[i+2])
			i += 3
		case starts(t[i:], "FOR", "UPDATE"), starts(t[i:], "LOCK", "IN", "SHARE", "MODE"):
			i = len(t)
		case !called && one.kind != number && words[upper] != "":
			out = append(out, plain(" ", words[upper]))
		default:
			out = append(out, one)
		}
	}
	return out
}

// headings are the texts of columns that are no longer as they were written, by what they are now.
func (m mysql) headings(s *Session, t []token) map[string]string {
	if !t[0].is("SELECT") {
		return nil
	}
	was := map[string]string{}
	for _, item := range listed(t[1:]) {
		now, before := written(m.spelled(s, item)), written(item)
		if len(item) == 1 && item[0].kind == text {
			before = item[0].text
		}
		if now != before {
			was[now] = before
		}
	}
	return was
}

// table is CREATE TABLE without what SQLite does not know, of which the name is at a place.
func (m mysql) table(t []token, place int) ([]token, error) {
	begin := slices.IndexFunc(t, func(t token) bool { return t.is("(") })
	if begin < 0 || slices.ContainsFunc(t[place:begin], func(t token) bool { return t.is("LIKE", "AS", "SELECT") }) {
		if as := slices.IndexFunc(t, func(t token) bool { return t.is("SELECT") }); as > 0 {
			return t, nil
		}
		return nil, unsupported("CREATE TABLE of this form")
	}
	definitions, end := list(t[begin+1:])
	if end < 0 {
		return nil, wrongAt("")
	}
	var out [][]token
	counted := ""
	for _, d := range definitions {
		switch d, counts := m.definition(d); {
		case d == nil:
		case counts:
			counted = d[0].text
			out = append(out, d)
		default:
			out = append(out, d)
		}
	}
	if counted != "" { // its column says that it is the key
		out = slices.DeleteFunc(out, func(d []token) bool {
			return slices.ContainsFunc(d, func(t token) bool { return t.is("PRIMARY") }) && !d[0].names() || d[0].is("PRIMARY") || d[0].is("CONSTRAINT") && len(d) > 2 && d[2].is("PRIMARY")
		})
	}
	all := slices.Clone(t[:begin+1])
	for i := range all {
		if all[i].kind == quoted {
			all[i] = named(all[i].space, all[i].text)
		}
	}
	for i, d := range out {
		if i > 0 {
			all = append(all, plain("", ","))
		}
		all = append(all, d...)
	}
	return append(all, plain("", ")")), nil
}

// list is what stands between commas up to the bracket that closes, and where that is, or -1.
func list(t []token) (all [][]token, end int) {
	depth, from := 0, 0
	for i, one := range t {
		switch {
		case one.is("("):
			depth++
		case one.is(")") && depth == 0:
			return append(all, t[from:i]), i
		case one.is(")"):
			depth--
		case one.is(",") && depth == 0:
			all = append(all, t[from:i])
			from = i + 1
		}
	}
	return nil, -1
}

// definition is one of CREATE TABLE as SQLite takes it, or nil if it needs none. counts: it is a column that counts by itself.
func (m mysql) definition(d []token) (out []token, counts bool) {
	if len(d) == 0 || d[0].is("KEY", "INDEX", "FULLTEXT", "SPATIAL") {
		return nil, false
	}
	bracket := slices.IndexFunc(d, func(t token) bool { return t.is("(") })
	switch {
	case d[0].is("UNIQUE") && bracket > 0:
		return append([]token{plain(d[0].space, "UNIQUE")}, m.names(d[bracket:])...), false
	case d[0].is("PRIMARY", "CONSTRAINT", "FOREIGN", "CHECK"):
		return m.names(d), false
	}
	return m.column(d)
}

// names writes quoted names as SQLite does.
func (mysql) names(t []token) []token {
	t = slices.Clone(t)
	for i, one := range t {
		switch one.kind {
		case quoted:
			t[i] = named(one.space, one.text)
		case text:
			t[i] = said(one.space, one.text)
		}
	}
	return t
}

// column is a definition of one.
func (m mysql) column(d []token) (out []token, counts bool) {
	if len(d) < 2 {
		return m.names(d), false
	}
	name, of := named(d[0].space, d[0].text), strings.ToUpper(d[1].text)
	counts = slices.ContainsFunc(d, func(t token) bool { return t.is("AUTO_INCREMENT") }) || of == "SERIAL"
	if counts {
		return []token{name, plain(" ", "INTEGER PRIMARY KEY AUTOINCREMENT")}, true
	}
	out = append(out, name)
	d = m.names(d[1:])
	if len(d) > 1 && d[1].is("(") {
		_, end := list(d[2:])
		switch {
		case end < 0:
			return append(out, d...), false
		case of == "ENUM" || of == "SET":
			out = append(append(append(out, plain(" ", "TEXT COLLATE NOCASE CONSTRAINT "), named("", "member of "+name.text), plain(" ", "CHECK ("), name, plain(" ", "IN")), d[1:end+3]...), plain("", ")"))
		default:
			out = append(out, d[:end+3]...)
		}
		if strings.Contains(of, "CHAR") && end == 1 {
			out = append(out, plain(" ", "CONSTRAINT"), named(" ", "length of "+name.text), plain(" ", "CHECK (length("), name, plain("", ") <= "+d[2].text+")"))
		}
		d = d[end+3:]
	} else {
		out, d = append(out, d[0]), d[1:]
	}
	switch {
	case of == "VARCHAR", of == "CHAR", strings.HasSuffix(of, "TEXT"):
		out = append(out, plain(" ", "COLLATE NOCASE"))
	case strings.HasSuffix(of, "INT"), of == "INTEGER":
		out = append(out, plain(" ", "CONSTRAINT"), named(" ", "integer of "+name.text), plain(" ", "CHECK (typeof("), name, plain("", ") IN ('integer', 'real', 'null'))"))
	}
	for i := 0; i < len(d); i++ {
		switch {
		case d[i].is("UNSIGNED", "SIGNED", "ZEROFILL", "BINARY", "VISIBLE"):
		case d[i].is("COMMENT", "CHARSET", "COLLATE"), starts(d[i:], "CHARACTER", "SET"):
			if i++; d[i-1].is("CHARACTER") {
				i++
			}
			if i < len(d) && d[i].is("=") {
				i++
			}
		case starts(d[i:], "ON", "UPDATE") && i+2 < len(d) && d[i+2].is("CURRENT_TIMESTAMP", "NOW"):
			i = behind(d, i+2)
		case d[i].is("DEFAULT") && i+1 < len(d) && d[i+1].is("CURRENT_TIMESTAMP", "NOW"):
			out = append(out, plain(" ", "DEFAULT (now())"))
			i = behind(d, i+1)
		default:
			out = append(out, d[i])
		}
	}
	return out, false
}

// behind is where a call ends that begins at a place, with or without brackets.
func behind(t []token, i int) int {
	if i+1 < len(t) && t[i+1].is("(") {
		if _, end := list(t[i+2:]); end >= 0 {
			return i + 2 + end
		}
	}
	return i
}
