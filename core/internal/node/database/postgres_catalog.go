package database

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// catalogs are the columns of those tables that say what there is. They are made when they are named.
var catalogs = map[string]string{
	"pg_database":                          "oid int, datname name_text, datdba name_text, encoding name_text, datcollate name_text, datctype name_text, datistemplate boolean, datallowconn boolean",
	"pg_tables":                            "schemaname name_text, tablename name_text, tableowner name_text",
	"pg_views":                             "schemaname name_text, viewname name_text, viewowner name_text, definition text",
	"pg_indexes":                           "schemaname name_text, tablename name_text, indexname name_text, indexdef text",
	"pg_sequences":                         "schemaname name_text, sequencename name_text, sequenceowner name_text, last_value bigint",
	"pg_constraint":                        "conname name_text, contype char_text, conrelid name_text, condef text",
	"pg_class":                             "relname name_text, relkind char_text, relowner name_text",
	"pg_roles":                             "rolname name_text, rolsuper boolean, rolcreaterole boolean, rolcreatedb boolean, rolcanlogin boolean, rolreplication boolean",
	"pg_user":                              "usename name_text, usesuper boolean",
	"pg_settings":                          "name name_text, setting text",
	"pg_extension":                         "extname name_text, extversion text",
	"pg_stat_activity":                     "datname name_text, pid int, usename name_text, application_name text, client_addr inet_text, state text, query text",
	"pg_stat_replication":                  "pid int, usename name_text, application_name text, client_addr inet_text, state text, sync_state text",
	"information_schema_tables":            "table_catalog name_text, table_schema name_text, table_name name_text, table_type text",
	"information_schema_columns":           "table_catalog name_text, table_schema name_text, table_name name_text, column_name name_text, ordinal_position int, column_default text, is_nullable text, data_type text, character_maximum_length int",
	"information_schema_schemata":          "catalog_name name_text, schema_name name_text, schema_owner name_text",
	"information_schema_table_constraints": "constraint_name name_text, table_name name_text, constraint_type text",
}

// catalog makes one of catalogs as it is now.
func (p postgres) catalog(s *Session, name string, near []token) error {
	columns, ok := catalogs[name]
	if !ok {
		return unsupported("table " + strings.Replace(name, "information_schema_", "information_schema.", 1))
	}
	if err := s.enter(context.Background()); err != nil {
		return err
	}
	rows, err := p.listing(s, name)
	if err != nil {
		return err
	}
	var sql strings.Builder
	sql.WriteString("DROP TABLE IF EXISTS temp." + name + "; CREATE TEMP TABLE " + name + " (" + columns + ");")
	for _, row := range rows {
		sql.WriteString("INSERT INTO temp." + name + " VALUES (")
		for i, value := range row {
			if i > 0 {
				sql.WriteString(",")
			}
			if value == null {
				sql.WriteString("NULL")
			} else {
				sql.WriteString(said("", value).raw)
			}
		}
		sql.WriteString(");")
	}
	return s.conn.Exec(sql.String())
}

// owner is the role that owns what there is: the first one.
func (s *Server) owner() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.users) == 0 {
		return "postgres"
	}
	return s.users[0].Name
}

func bit(b bool) string { return strconv.Itoa(boolean(b)) }

// listing are the rows of a catalog. It is long because there are many, each of a few lines.
func (p postgres) listing(s *Session, name string) (rows [][]string, err error) {
	owner := s.server.owner()
	switch name {
	case "pg_database":
		for i, db := range p.databases(s.server) {
			rows = append(rows, []string{strconv.Itoa(16384 + i), db, owner, "UTF8", "en_US.utf8", "en_US.utf8", bit(strings.HasPrefix(db, "template")), bit(db != "template0")})
		}
	case "pg_roles", "pg_user":
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		for _, u := range s.server.users {
			if name == "pg_user" && u.Host != noLogin {
				rows = append(rows, []string{u.Name, bit(u.Super)})
			} else if name == "pg_roles" {
				super := bit(u.Super)
				rows = append(rows, []string{u.Name, super, super, super, bit(u.Host != noLogin), super})
			}
		}
	case "pg_settings":
		for _, one := range p.settings(s) {
			rows = append(rows, one[:])
		}
	case "pg_extension":
		rows = [][]string{{"plpgsql", "1.0"}}
	case "pg_stat_activity":
		for _, c := range s.server.connections() {
			from, state := c.from, "idle"
			if from == "" {
				from = null
			}
			what := null
			if c == s {
				state, what = "active", "SELECT"
			}
			rows = append(rows, []string{c.database, strconv.Itoa(c.id + 60), c.user, "psql", from, state, what})
		}
	case "pg_stat_replication":
	case "pg_sequences":
		found, err := s.texts(context.Background(), "SELECT name FROM sqlite_schema WHERE name = '"+sequences+"'")
		if err != nil || len(found) == 0 {
			return nil, err
		}
		found, err = s.texts(context.Background(), "SELECT name, last FROM "+sequences)
		for _, row := range found {
			rows = append(rows, []string{"public", *row[0], owner, *row[1]})
		}
		return rows, err
	case "information_schema_schemata":
		rows = [][]string{{s.database, "public", "pg_database_owner"}, {s.database, "information_schema", owner}, {s.database, "pg_catalog", owner}}
	case "information_schema_columns":
		return p.listColumns(s)
	case "pg_constraint", "information_schema_table_constraints":
		return p.listConstraints(s, name == "pg_constraint")
	default:
		return p.listRelations(s, name, owner)
	}
	return rows, nil
}

// own tables have such names, and nobody else's.
const notOwn = "name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'pg\\_%' ESCAPE '\\'"

// listRelations are catalogs of tables, views and indexes.
func (p postgres) listRelations(s *Session, name, owner string) (rows [][]string, err error) {
	found, err := s.texts(context.Background(), "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE ("+notOwn+" OR name LIKE 'sqlite\\_autoindex\\_%' ESCAPE '\\') ORDER BY name")
	if err != nil {
		return nil, err
	}
	for _, row := range found {
		kind, relation, table := *row[0], *row[1], *row[2]
		sql := ""
		if row[3] != nil {
			sql = *row[3]
		}
		switch {
		case name == "pg_tables" && kind == "table":
			rows = append(rows, []string{"public", relation, owner})
		case name == "pg_views" && kind == "view":
			rows = append(rows, []string{"public", relation, owner, sql})
		case name == "information_schema_tables" && kind != "index":
			rows = append(rows, []string{s.database, "public", relation, map[bool]string{true: "BASE TABLE", false: "VIEW"}[kind == "table"]})
		case name == "pg_class" && sql != "":
			rows = append(rows, []string{relation, map[string]string{"table": "r", "view": "v", "index": "i"}[kind], owner})
		case name == "pg_indexes" && kind == "index" && sql != "":
			unique := ""
			if strings.HasPrefix(sql, "CREATE UNIQUE") {
				unique = "UNIQUE "
			}
			t := tokens(sql, false)
			at := slices.IndexFunc(t, func(t token) bool { return t.is("(") })
			rows = append(rows, []string{"public", table, relation, "CREATE " + unique + "INDEX " + relation + " ON public." + table + " USING btree " + unquoted(t[max(0, at):])})
		}
	}
	if name != "pg_indexes" {
		return rows, nil
	}
	constraints, err := p.listConstraints(s, true)
	for _, c := range constraints {
		if c[1] == "p" || c[1] == "u" {
			rows = append(rows, []string{"public", c[2], c[0], "CREATE UNIQUE INDEX " + c[0] + " ON public." + c[2] + " USING btree " + c[3][strings.IndexByte(c[3], '('):]})
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[2], b[2]) })
	return rows, err
}

// unquoted is what tokens say, without quotes that no name needs.
func unquoted(t []token) string {
	t = slices.Clone(t)
	for i, one := range t {
		if one.kind == quoted && strings.IndexFunc(one.text, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }) < 0 && one.text != "" {
			t[i].raw = one.text
		}
	}
	return written(t)
}

// userTables are those of the database that clients have made.
func (s *Session) userTables() ([]string, error) {
	found, err := s.texts(context.Background(), "SELECT name FROM sqlite_schema WHERE type = 'table' AND "+notOwn+" ORDER BY name")
	var all []string
	for _, row := range found {
		all = append(all, *row[0])
	}
	return all, err
}

// fullType is what PostgreSQL calls a type that SQLite has been told.
func fullType(declared string) (of, size string) {
	declared = strings.ToLower(declared)
	declared, size, _ = strings.Cut(declared, "(")
	size = strings.TrimSuffix(size, ")")
	for _, known := range pgTypes {
		if known[1] == declared && declared != "serial" {
			if declared == "int" {
				return "integer", ""
			}
			if declared == "text" {
				return "text", ""
			}
			return known[0], size
		}
	}
	switch declared { // of CREATE TABLE ... AS
	case "integer":
		return "integer", ""
	case "num":
		return "numeric", ""
	}
	return "text", ""
}

func (p postgres) listColumns(s *Session) (rows [][]string, err error) {
	found, err := s.texts(context.Background(), `SELECT m.name, c.name, c.cid + 1, c.dflt_value, c."notnull" OR c.pk, c.type, c.pk AND m.sql LIKE '%AUTOINCREMENT%' FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
		WHERE m.type IN ('table', 'view') AND m.`+strings.ReplaceAll(notOwn, "AND name", "AND m.name")+` ORDER BY m.name, c.cid`)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		of, size := fullType(*r[5])
		length, initial := null, null
		if strings.HasPrefix(of, "character") && size != "" {
			length = size
		}
		if of == "numeric" && size != "" {
			of += "(" + size + ")"
		}
		switch {
		case *r[6] == "1":
			initial = "nextval('" + *r[0] + "_" + *r[1] + "_seq'::regclass)"
		case r[3] != nil && strings.HasPrefix(*r[3], "nextval("):
			initial = strings.TrimSuffix(*r[3], ")") + "::regclass)"
		case r[3] != nil && shownDefaults[*r[3]] != "":
			initial = shownDefaults[*r[3]]
		case r[3] != nil && strings.HasPrefix(*r[3], "'"):
			initial = *r[3] + "::" + of
		case r[3] != nil:
			initial = *r[3]
		}
		rows = append(rows, []string{s.database, "public", *r[0], *r[1], *r[2], initial, map[bool]string{true: "NO", false: "YES"}[*r[4] == "1"], of, length})
	}
	return rows, nil
}

// shownDefaults are what functions stand for that are values of columns.
var shownDefaults = map[string]string{"pg_now()": "CURRENT_TIMESTAMP", "pg_date()": "CURRENT_DATE", "pg_time()": "CURRENT_TIME", "pg_local()": "LOCALTIMESTAMP"}

// listConstraints are keys, foreign keys and conditions of tables.
func (p postgres) listConstraints(s *Session, full bool) (rows [][]string, err error) {
	tables, err := s.userTables()
	if err != nil {
		return nil, err
	}
	add := func(name, kind, table, text string) {
		if full {
			rows = append(rows, []string{name, kind, table, text})
		} else {
			rows = append(rows, []string{name, table, map[string]string{"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY", "c": "CHECK"}[kind]})
		}
	}
	for _, table := range tables {
		of := said("", table).raw
		key, err := s.texts(context.Background(), "SELECT name FROM pragma_table_info("+of+") WHERE pk ORDER BY pk")
		if err != nil {
			return nil, err
		}
		made := p.made(s, table)
		if columns := column0(key); len(columns) > 0 {
			name := constraintOf(made, columns, true)
			if name == "" {
				name = table + "_pkey"
			}
			add(name, "p", table, "PRIMARY KEY ("+strings.Join(columns, ", ")+")")
		}
		unique, err := s.texts(context.Background(), "SELECT name FROM pragma_index_list("+of+") WHERE origin = 'u' ORDER BY seq DESC")
		if err != nil {
			return nil, err
		}
		for _, index := range column0(unique) {
			columns, err := s.texts(context.Background(), "SELECT name FROM pragma_index_info("+said("", index).raw+") ORDER BY seqno")
			if err != nil {
				return nil, err
			}
			name := constraintOf(made, column0(columns), false)
			if name == "" {
				name = table + "_" + strings.Join(column0(columns), "_") + "_key"
			}
			add(name, "u", table, "UNIQUE ("+strings.Join(column0(columns), ", ")+")")
		}
		foreign, err := s.texts(context.Background(), `SELECT "from", "table", coalesce("to", ''), on_delete FROM pragma_foreign_key_list(`+of+`) WHERE seq = 0 ORDER BY id DESC`)
		if err != nil {
			return nil, err
		}
		for _, f := range foreign {
			text := "FOREIGN KEY (" + *f[0] + ") REFERENCES " + *f[1]
			if *f[2] != "" {
				text += "(" + *f[2] + ")"
			}
			if *f[3] != "NO ACTION" {
				text += " ON DELETE " + *f[3]
			}
			add(table+"_"+*f[0]+"_fkey", "f", table, text)
		}
		for i := 0; i+3 < len(made); i++ {
			if made[i].is("CONSTRAINT") && made[i+2].is("CHECK") {
				add(made[i+1].text, "c", table, "CHECK "+unquoted(made[i+3:behind(made, i+2)+1]))
			}
		}
	}
	return rows, nil
}

// column0 is the first one of rows.
func column0(rows [][]*string) []string {
	var all []string
	for _, row := range rows {
		all = append(all, *row[0])
	}
	return all
}

// settings are the parameters of the server as a session has them, sorted.
func (p postgres) settings(s *Session) [][2]string {
	all := map[string]string{
		"server_version": s.server.Version, "max_connections": "100", "port": "5432", "data_directory": s.server.Dir, "hba_file": s.server.Dir + "/pg_hba.conf",
		"config_file": s.server.Dir + "/postgresql.conf", "listen_addresses": "*", "shared_buffers": "128MB", "work_mem": "4MB", "wal_level": "replica", "timezone": "Etc/UTC",
		"client_encoding": "UTF8", "server_encoding": "UTF8", "search_path": `"$user", public`, "datestyle": "ISO, MDY", "transaction_isolation": "read committed", "default_transaction_isolation": "read committed",
		"is_superuser": "on", "max_wal_senders": "10", "hot_standby": "on", "log_destination": "stderr", "password_encryption": "scram-sha-256", "ssl": "off", "fsync": "on", "autovacuum": "on", "application_name": "psql",
		"unix_socket_directories": "/var/run/postgresql", "synchronous_commit": "on", "standard_conforming_strings": "on", "client_min_messages": "notice", "effective_cache_size": "4GB", "maintenance_work_mem": "64MB", "lc_collate": "en_US.utf8",
		"session_authorization": s.user,
	}
	major, minor, _ := strings.Cut(s.server.Version, ".")
	if a, err := strconv.Atoi(major); err == nil {
		b, _ := strconv.Atoi(minor) // none is 0
		all["server_version_num"] = strconv.Itoa(a*10000 + b)
	}
	s.server.mu.Lock()
	for name, value := range s.server.Settings {
		all[strings.ToLower(name)] = value
	}
	s.server.mu.Unlock()
	for name, value := range s.postgres.settings {
		all[name] = value
	}
	var rows [][2]string
	for name, value := range all {
		rows = append(rows, [2]string{name, value})
	}
	slices.SortFunc(rows, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return rows
}

// show is SHOW.
func (p postgres) show(s *Session, _ *pgState, t []token) (*Result, error) {
	if len(t) == 0 {
		return nil, syntax(nil)
	}
	name := folded(t[0])
	switch {
	case name == "all":
		return nil, unsupported("SHOW ALL")
	case starts(t, "TIME", "ZONE"):
		name = "timezone"
	case starts(t, "TRANSACTION", "ISOLATION", "LEVEL"):
		name = "transaction_isolation"
	}
	for _, row := range p.settings(s) {
		if row[0] == name {
			heading := name
			switch name {
			case "timezone":
				heading = "TimeZone"
			case "datestyle":
				heading = "DateStyle"
			}
			r := tableOf([]string{heading}, []string{row[1]})
			r.Tag = "SHOW"
			return r, nil
		}
	}
	return nil, fails("42704", "unrecognized configuration parameter \"%s\"", name)
}

// fixed are parameters that no session can change.
var fixed = []string{"max_connections", "port", "data_directory", "hba_file", "config_file", "listen_addresses", "shared_buffers", "wal_level", "server_version", "server_version_num", "server_encoding", "max_wal_senders", "hot_standby", "unix_socket_directories", "is_superuser"}

// changeable are those that change nothing here: there is one schema, one encoding.
var changeable = []string{"client_encoding", "client_min_messages", "application_name", "work_mem", "maintenance_work_mem", "standard_conforming_strings", "synchronous_commit", "extra_float_digits", "check_function_bodies", "xmloption", "row_security", "default_table_access_method", "idle_in_transaction_session_timeout", "datestyle", "effective_cache_size", "default_tablespace"}

// set is SET and RESET.
func (p postgres) set(s *Session, state *pgState, t []token) error {
	resets := t[0].is("RESET")
	rest := t[1:]
	if starts(rest, "SESSION", "CHARACTERISTICS") || starts(rest, "TRANSACTION") {
		return nil // one who writes is alone: every level is kept
	}
	if len(rest) > 0 && rest[0].is("SESSION", "LOCAL") {
		rest = rest[1:]
	}
	if starts(rest, "TIME", "ZONE") {
		return unsupported("SET TIME ZONE")
	}
	if len(rest) == 0 || !rest[0].names() {
		return syntax(rest)
	}
	name := folded(rest[0])
	known := slices.Contains(changeable, name) || slices.ContainsFunc(p.settings(s), func(row [2]string) bool { return row[0] == name })
	switch {
	case resets && name == "all":
		clear(state.settings)
		return nil
	case slices.Contains(fixed, name):
		return fails("55P02", "parameter \"%s\" cannot be changed without restarting the server", name)
	case !resets && (len(rest) < 3 || !rest[1].is("=", "TO")):
		return syntax(rest[1:])
	case name == "search_path" && !resets && !slices.ContainsFunc(rest, func(t token) bool { return t.is("PUBLIC", "DEFAULT") || t.text == "" || t.text == "public" }):
		return unsupported("schemas")
	case !known && (name == "role" || strings.HasSuffix(name, "_timeout")), name == "timezone", name == "session_authorization", strings.Contains(name, "transaction_isolation"):
		return unsupported("SET " + name)
	case !known && !strings.Contains(name, "."):
		return fails("42704", "unrecognized configuration parameter \"%s\"", name)
	case resets, rest[2].is("DEFAULT"):
		delete(state.settings, name)
	default:
		var values []string
		for _, one := range rest[2:] {
			if !one.is(",") {
				values = append(values, one.text)
			}
		}
		if state.settings == nil {
			state.settings = map[string]string{}
		}
		state.settings[name] = strings.Join(values, ", ")
	}
	return nil
}
