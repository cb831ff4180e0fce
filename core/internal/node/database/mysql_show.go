package database

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// table makes a result of columns and rows.
func tableOf(columns []string, rows ...[]string) *Result {
	r := &Result{Rows: [][]*string{}}
	for _, c := range columns {
		r.Columns = append(r.Columns, Column{Name: c, Numeric: c == "Id" || c == "Time" || c == "Position" || c == "File_size"})
	}
	for _, row := range rows {
		one := make([]*string, len(row))
		for i := range row {
			if row[i] != null {
				one[i] = &row[i]
			}
		}
		r.Rows = append(r.Rows, one)
	}
	return r
}

// null stands for NULL in what tableOf is given.
const null = "\x00"

// like is what SHOW ... LIKE 'pattern' lets through, and the rest of the statement.
func like(t []token) (matches func(string) bool, heading string) {
	for i := range t {
		if t[i].is("LIKE", "=") && i+1 < len(t) && t[i+1].kind == text {
			pattern := t[i+1].text
			if t[i].is("LIKE") {
				heading = " (" + pattern + ")"
			}
			return func(s string) bool { return alike(strings.ToLower(pattern), strings.ToLower(s)) }, heading
		}
	}
	return func(string) bool { return true }, ""
}

// alike is LIKE: % is any text, _ any character, and \ has the next one stand for itself.
func alike(pattern, s string) bool {
	matches, err := regexp.MatchString("(?s)"+likeExpression(pattern, '\\'), s)
	return err == nil && matches
}

// show is SHOW. It is long because it shows many things, each in a few lines.
func (m mysql) show(ctx context.Context, s *Session, t []token) (*Result, error) {
	for len(t) > 0 && t[0].is("FULL", "GLOBAL", "SESSION", "EXTENDED") {
		t = t[1:]
	}
	if len(t) == 0 {
		return nil, wrongAt("")
	}
	matches, heading := like(t)
	only := func(rows [][]string) [][]string {
		return slices.DeleteFunc(rows, func(row []string) bool { return !matches(row[0]) })
	}
	switch {
	case t[0].is("DATABASES", "SCHEMAS"):
		names := append(m.databases(s.server), systemDatabases...)
		slices.Sort(names)
		var rows [][]string
		for _, name := range names {
			rows = append(rows, []string{name})
		}
		return tableOf([]string{"Database" + heading}, only(rows)...), nil
	case t[0].is("TABLES"):
		return m.showTables(ctx, s, t, only, heading)
	case t[0].is("COLUMNS", "FIELDS") && len(t) > 2:
		return m.describe(ctx, s, t[2:])
	case starts(t, "CREATE") && len(t) > 2 && t[1].is("DATABASE", "SCHEMA"):
		if !m.has(s.server, t[2].text) {
			return nil, unknownDatabase(t[2].text)
		}
		return tableOf([]string{"Database", "Create Database"}, []string{t[2].text, "CREATE DATABASE `" + t[2].text + "` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */"}), nil
	case starts(t, "CREATE", "TABLE") && len(t) > 2:
		return m.showCreate(ctx, s, t[2:])
	case t[0].is("VARIABLES"):
		return tableOf([]string{"Variable_name", "Value"}, only(s.server.settings())...), nil
	case t[0].is("STATUS"):
		connected := strconv.Itoa(len(s.server.connections()))
		return tableOf([]string{"Variable_name", "Value"}, only([][]string{{"Threads_connected", connected}, {"Threads_running", "1"}})...), nil
	case t[0].is("PROCESSLIST"):
		var rows [][]string
		for _, c := range s.server.connections() {
			db, state, what := null, "", null
			if c == s {
				if c.database != "" {
					db = c.database
				}
				state, what = "init", "SHOW "+written(t)
			}
			host := c.from
			if host == "" {
				host = "localhost"
			}
			rows = append(rows, []string{strconv.Itoa(c.id), c.user, host, db, map[bool]string{true: "Query", false: "Sleep"}[c == s], "0", state, what})
		}
		return tableOf([]string{"Id", "User", "Host", "db", "Command", "Time", "State", "Info"}, rows...), nil
	case t[0].is("GRANTS"):
		who := "`" + s.user + "`@`%`"
		return tableOf([]string{"Grants for " + s.user + "@%"}, []string{"GRANT ALL PRIVILEGES ON *.* TO " + who + " WITH GRANT OPTION"}), nil
	case t[0].is("ENGINES"):
		return tableOf([]string{"Engine", "Support", "Comment"}, []string{"InnoDB", "DEFAULT", "Supports transactions, row-level locking, and foreign keys"}), nil
	case t[0].is("WARNINGS", "ERRORS"):
		return &Result{}, nil
	case t[0].is("MASTER", "SLAVE", "REPLICA", "BINARY", "REPLICAS"):
		return s.server.showReplication(t)
	}
	return nil, unsupported("SHOW " + strings.ToUpper(t[0].text))
}

func (m mysql) showTables(ctx context.Context, s *Session, t []token, only func([][]string) [][]string, heading string) (*Result, error) {
	name := s.database
	if len(t) > 2 && t[1].is("FROM", "IN") {
		name = t[2].text
	}
	switch {
	case name == "":
		return nil, errNoDatabase
	case name == "mysql":
		return tableOf([]string{"Tables_in_mysql" + heading}, only([][]string{{"user"}})...), nil
	case !m.has(s.server, name):
		return nil, unknownDatabase(name)
	}
	schema, err := s.schema(ctx, name)
	if err != nil {
		return nil, err
	}
	found, err := s.texts(ctx, "SELECT name FROM "+schema+".sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name")
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, row := range found {
		rows = append(rows, []string{*row[0]})
	}
	return tableOf([]string{"Tables_in_" + name + heading}, only(rows)...), nil
}

// schema is what SQLite calls a database, which is attached if it is not the one that is used.
func (s *Session) schema(ctx context.Context, name string) (string, error) {
	if err := s.enter(ctx); err != nil {
		return "", err
	}
	if name == s.database {
		return "main", nil
	}
	s.detach()
	return named("", name).raw, s.attach(name)
}

// described is a column of a table.
type described struct {
	name, of       string
	required       bool
	initial        *string
	key, automatic bool
	unique         bool
}

// columns are those of a table, which stands at the beginning of the tokens: [database.]table [FROM database].
func (m mysql) columns(ctx context.Context, s *Session, t []token) (db, table string, all []described, err error) {
	db, table = s.database, t[0].text
	switch {
	case len(t) > 2 && t[1].is("."):
		db, table = t[0].text, t[2].text
	case len(t) > 2 && t[1].is("FROM", "IN"):
		db = t[2].text
	}
	switch {
	case db == "":
		return "", "", nil, errNoDatabase
	case !m.has(s.server, db):
		return "", "", nil, unknownDatabase(db)
	}
	schema, err := s.schema(ctx, db)
	if err != nil {
		return "", "", nil, err
	}
	name := said("", table).raw
	rows, err := s.texts(ctx, `SELECT c.name, c.type, c."notnull", c.dflt_value, c.pk, (SELECT sql FROM `+schema+`.sqlite_schema WHERE name = `+name+` COLLATE NOCASE) LIKE '%AUTOINCREMENT%',
		EXISTS (SELECT 1 FROM pragma_index_list(`+name+`) AS l, pragma_index_info(l.name) AS i WHERE l."unique" AND l.origin = 'u' AND i.name = c.name)
		FROM pragma_table_info(`+name+`, `+said("", strings.Trim(schema, `"`)).raw+`) AS c`)
	if err != nil {
		return "", "", nil, err
	}
	if len(rows) == 0 {
		return "", "", nil, refused(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
	}
	for _, r := range rows {
		c := described{name: *r[0], of: strings.ToLower(*r[1]), initial: r[3], key: *r[4] != "0", unique: *r[6] == "1"}
		c.automatic = c.key && r[5] != nil && *r[5] == "1"
		c.required = *r[2] == "1" || c.key
		if c.automatic {
			c.of = "int"
		}
		all = append(all, c)
	}
	return db, table, all, nil
}

func (m mysql) describe(ctx context.Context, s *Session, t []token) (*Result, error) {
	_, _, columns, err := m.columns(ctx, s, t)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, c := range columns {
		row := []string{c.name, c.of, "YES", "", null, ""}
		if c.required {
			row[2] = "NO"
		}
		switch {
		case c.key:
			row[3] = "PRI"
		case c.unique:
			row[3] = "UNI"
		}
		switch {
		case c.initial != nil && *c.initial == "now()":
			row[4], row[5] = "CURRENT_TIMESTAMP", "DEFAULT_GENERATED"
		case c.initial != nil:
			row[4] = strings.Trim(*c.initial, "'")
		}
		if c.automatic {
			row[5] = "auto_increment"
		}
		rows = append(rows, row)
	}
	return tableOf([]string{"Field", "Type", "Null", "Key", "Default", "Extra"}, rows...), nil
}

func (m mysql) showCreate(ctx context.Context, s *Session, t []token) (*Result, error) {
	_, table, columns, err := m.columns(ctx, s, t)
	if err != nil {
		return nil, err
	}
	var lines, keys []string
	for _, c := range columns {
		line := "  `" + c.name + "` " + c.of
		switch {
		case c.required:
			line += " NOT NULL"
		case c.initial == nil:
			line += " DEFAULT NULL"
		}
		switch {
		case c.automatic:
			line += " AUTO_INCREMENT"
		case c.initial != nil && *c.initial == "now()":
			line += " DEFAULT CURRENT_TIMESTAMP"
		case c.initial != nil:
			line += " DEFAULT '" + strings.Trim(*c.initial, "'") + "'"
		}
		if lines = append(lines, line); c.key {
			keys = append(keys, "`"+c.name+"`")
		}
	}
	if len(keys) > 0 {
		lines = append(lines, "  PRIMARY KEY ("+strings.Join(keys, ",")+")")
	}
	for _, c := range columns {
		if c.unique {
			lines = append(lines, "  UNIQUE KEY `"+c.name+"` (`"+c.name+"`)")
		}
	}
	return tableOf([]string{"Table", "Create Table"}, []string{table, "CREATE TABLE `" + table + "` (\n" + strings.Join(lines, ",\n") + "\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"}), nil
}

// settings are the variables of the server, sorted by name.
func (s *Server) settings() [][]string {
	all := map[string]string{
		"version": s.Version, "hostname": s.Hostname, "server_id": "1", "port": "3306", "datadir": s.Dir + "/", "read_only": "OFF", "super_read_only": "OFF",
		"max_connections": "151", "default_storage_engine": "InnoDB", "character_set_server": "utf8mb4", "log_bin": "ON", "autocommit": "ON",
		"version_comment": "MySQL Community Server - GPL", "max_allowed_packet": strconv.Itoa(mostStatement), "socket": "/var/run/mysqld/mysqld.sock",
		"transaction_isolation": "REPEATABLE-READ", "time_zone": "SYSTEM", "sql_mode": "STRICT_TRANS_TABLES",
	}
	s.mu.Lock()
	for name, value := range s.Settings {
		all[strings.ReplaceAll(name, "-", "_")] = value
	}
	s.mu.Unlock()
	if s.readOnly() {
		all["read_only"], all["super_read_only"] = "ON", "ON"
	}
	var rows [][]string
	for name, value := range all {
		rows = append(rows, []string{name, value})
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return rows
}

// setting is what stands for @@name, or NULL.
func (s *Server) setting(t token) token {
	name := strings.ToLower(strings.TrimPrefix(t.text, "@@"))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "global."), "session.")
	for _, row := range s.settings() {
		if row[0] != name || strings.HasPrefix(t.text, "@") && !strings.HasPrefix(t.text, "@@") {
			continue
		}
		switch _, err := strconv.Atoi(row[1]); {
		case err == nil:
			return plain(t.space, row[1])
		case row[1] == "ON":
			return plain(t.space, "1")
		case row[1] == "OFF":
			return plain(t.space, "0")
		}
		return said(t.space, row[1])
	}
	return plain(t.space, "NULL")
}

// readOnly says whether the server is told to take no changes.
func (s *Server) readOnly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"super_read_only"} {
		if value, ok := s.Settings[name]; ok && !slices.Contains([]string{"0", "off", "false"}, strings.ToLower(value)) {
			return true
		}
	}
	return false
}

// usersFile is the file that has those who may connect, in the folder of the server.
const usersFile = "mysql/user.json"
