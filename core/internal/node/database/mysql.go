package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// mysql is the dialect of MySQL and MariaDB.
type mysql struct{}

// systemDatabases are those that every server has.
var systemDatabases = []string{"information_schema", "mysql", "performance_schema", "sys"}

// tables is the file that has those of a database.
const tables = "tables.sqlite"

func (mysql) quotes() bool { return true }

func (mysql) file(s *Server, name string) string { return path.Join(s.Dir, name, tables) }

// databases are those that clients have made.
func (mysql) databases(s *Server) []string {
	entries, err := s.Files.ReadDir(s.Dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(systemDatabases, e.Name()) && e.Name() != "lost+found" && !strings.HasPrefix(e.Name(), "#") {
			all = append(all, e.Name())
		}
	}
	return all
}

func (m mysql) has(s *Server, name string) bool { return slices.Contains(m.databases(s), name) }

func refused(code int, state, format string, args ...any) *Error {
	return &Error{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

func unknownDatabase(name string) *Error {
	return refused(1049, "42000", "Unknown database '%s'", name)
}

var errNoDatabase = refused(1046, "3D000", "No database selected")

// wrongAt is the error for a statement that is wrong from a place on.
func wrongAt(near string) *Error {
	if len(near) > 80 {
		near = near[:80]
	}
	return refused(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '%s' at line 1", near)
}

// makes are the first words of statements that change something.
var makes = []string{"INSERT", "REPLACE", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "TRUNCATE", "GRANT", "REVOKE"}

func (m mysql) own(ctx context.Context, s *Session, t []token) (*Result, error) {
	done := &Result{}
	s.server.catchUp(ctx)
	if t[0].is(makes...) && s.server.readOnly() {
		return nil, refused(1290, "HY000", "The MySQL server is running with the --super-read-only option so it cannot execute this statement")
	}
	switch {
	case t[len(t)-1].kind == open:
		return nil, wrongAt(t[len(t)-1].raw)
	case t[0].is("USE") && len(t) == 2:
		if !m.has(s.server, t[1].text) {
			return nil, unknownDatabase(t[1].text)
		}
		s.database = t[1].text
		return done, nil
	case t[0].is("SHOW"):
		return m.show(ctx, s, t[1:])
	case t[0].is("DESC", "DESCRIBE", "EXPLAIN") && len(t) > 1 && t[1].names() && !t[1].is("SELECT", "INSERT", "UPDATE", "DELETE"):
		return m.describe(ctx, s, t[1:])
	case (starts(t, "CREATE") || starts(t, "DROP")) && len(t) > 1 && t[1].is("DATABASE", "SCHEMA"):
		return m.changeDatabase(s, t)
	case t[0].is("CREATE", "DROP", "ALTER") && len(t) > 1 && t[1].is("USER"), t[0].is("GRANT"), starts(t, "SET", "PASSWORD"):
		return done, m.changeUsers(s, t)
	case t[0].is("REVOKE", "FLUSH", "LOCK", "UNLOCK", "ANALYZE", "OPTIMIZE"):
		return done, nil
	case t[0].is("SET"):
		return done, m.set(s, t[1:])
	case starts(t, "START", "TRANSACTION"), t[0].is("BEGIN"), t[0].is("COMMIT"), t[0].is("ROLLBACK") && !slices.ContainsFunc(t, func(t token) bool { return t.is("TO") }):
		return done, s.transaction(ctx, t[0].text)
	case t[0].is("TRUNCATE"):
		t = slices.Clone(t[1:])
		if len(t) > 0 && t[0].is("TABLE") {
			t = t[1:]
		}
		if len(t) == 0 {
			return nil, wrongAt("")
		}
		_, err := s.execute(ctx, append([]token{plain("", "DELETE"), plain(" ", "FROM")}, t...))
		return done, err
	case t[0].is("CHANGE", "START", "STOP", "RESET"):
		return done, s.server.replicate(ctx, t)
	case t[0].is("SELECT", "WITH", "VALUES", "TABLE", "INSERT", "REPLACE", "UPDATE", "DELETE", "SAVEPOINT", "RELEASE", "ROLLBACK", "("),
		t[0].is("CREATE", "DROP", "ALTER") && len(t) > 1 && t[1].is("TABLE", "TEMPORARY", "INDEX", "UNIQUE", "VIEW", "OR"):
		return nil, nil
	case t[0].is("CREATE", "DROP", "ALTER", "CALL", "PREPARE", "EXECUTE", "LOAD", "KILL", "EXPLAIN", "DESC", "RENAME", "CHECK", "INSTALL"):
		return nil, unsupported(strings.ToUpper(t[0].text))
	}
	return nil, wrongAt(written(t))
}

// transaction begins one, or ends it.
func (s *Session) transaction(ctx context.Context, how string) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	begins, isOpen := strings.EqualFold(how, "START") || strings.EqualFold(how, "BEGIN"), !s.conn.GetAutocommit()
	if isOpen {
		if begins {
			how = "COMMIT" // as MySQL does
		}
		if err := s.conn.Exec(how); err != nil {
			return err
		}
	}
	if begins {
		return s.conn.Exec("BEGIN")
	}
	return nil
}

// after returns the tokens behind IF [NOT] EXISTS, and whether they were there.
func after(t []token) (rest []token, conditional bool) {
	switch {
	case starts(t, "IF", "NOT", "EXISTS"):
		return t[3:], true
	case starts(t, "IF", "EXISTS"):
		return t[2:], true
	}
	return t, false
}

// changeDatabase is CREATE DATABASE and DROP DATABASE.
func (m mysql) changeDatabase(s *Session, t []token) (*Result, error) {
	creates := t[0].is("CREATE")
	t, conditional := after(t[2:])
	if len(t) == 0 || !t[0].names() {
		return nil, wrongAt(written(t))
	}
	name := t[0].text
	has := m.has(s.server, name)
	dir := path.Join(s.server.Dir, name)
	switch {
	case creates && (has || slices.Contains(systemDatabases, strings.ToLower(name))):
		if conditional {
			return &Result{Affected: 1}, nil
		}
		return nil, refused(1007, "HY000", "Can't create database '%s'; database exists", name)
	case strings.ContainsAny(name, "/\x00") || name == "" || name == "." || name == ".." || len(name) > 64:
		return nil, refused(1102, "42000", "Incorrect database name '%s'", name)
	case creates:
		if err := s.server.Files.MkdirAll(dir, 0o750); err != nil {
			return nil, refused(1006, "HY000", "Can't create database '%s' (errno: 28 - No space left on device)", name)
		}
		return &Result{Affected: 1}, nil
	case !has && conditional:
		return &Result{}, nil
	case !has:
		return nil, refused(1008, "HY000", "Can't drop database '%s'; database doesn't exist", name)
	}
	if s.database == name {
		s.leave()
		s.database = ""
	}
	if err := s.server.Files.Remove(dir, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refused(1010, "HY000", "Error dropping database (can't rmdir './%s/', errno: 13 - Permission denied)", name)
	}
	return &Result{}, nil
}

// set keeps the values of settings that are known: SET GLOBAL name = value.
func (mysql) set(s *Session, t []token) error {
	for len(t) > 0 && (t[0].is("GLOBAL", "SESSION", "LOCAL", "PERSIST") || t[0].is(",")) {
		t = t[1:]
	}
	if len(t) >= 3 && t[1].is("=", ":=") && t[2].kind != sign {
		name := strings.ToLower(t[0].text)
		for _, prefix := range []string{"@@", "global.", "session."} {
			name = strings.TrimPrefix(name, prefix)
		}
		if strings.HasPrefix(name, "@") {
			return unsupported("variables")
		}
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		s.server.Settings[name] = t[2].text
	}
	return nil
}

// told knows the messages of SQLite: https://sqlite.org/src/file/src.
func (m mysql) told(s *Session, statement string, err error) *Error {
	text := err.Error()
	if _, message, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(text, "sqlite3") {
		text = message
	}
	tell := func(before string) (string, bool) {
		_, rest, ok := strings.Cut(text, before)
		return rest, ok
	}
	short := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	var failed *sqlite3.Error
	switch {
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return refused(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")
	case errors.Is(err, sqlite3.INTERRUPT), errors.Is(err, context.Canceled):
		return refused(1317, "70100", "Query execution was interrupted")
	case errors.Is(err, sqlite3.FULL):
		return refused(1021, "HY000", "Disk full (%s); waiting for someone to free some space... (errno: 28 \"No space left on device\")", path.Join(s.server.Dir, s.database))
	case errors.Is(err, sqlite3.NOMEM), errors.Is(err, sqlite3.TOOBIG):
		return refused(1041, "HY000", "Out of memory; check if mysqld or some other process uses all available memory")
	case errors.Is(err, sqlite3.CANTOPEN):
		if s.database != "" && !m.has(s.server, s.database) {
			return unknownDatabase(s.database)
		}
		return refused(1105, "HY000", "Can't open the files of the database: %v", err)
	}
	if name, ok := tell("no such table: "); ok {
		if t := tokens(statement, true); starts(t, "DROP") && s.database != "" {
			return refused(1051, "42S02", "Unknown table '%s.%s'", s.database, short(name))
		}
		if s.database == "" && (!strings.Contains(name, ".") || strings.HasPrefix(name, "main.")) {
			return errNoDatabase
		}
		if db, table, ok := strings.Cut(name, "."); ok && db != "main" {
			return refused(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
		}
		return refused(1146, "42S02", "Table '%s.%s' doesn't exist", s.database, short(name))
	}
	for _, known := range []struct {
		before, state, message string
		code                   int
	}{
		{"no such column: ", "42S22", "Unknown column '%s' in 'field list'", 1054},
		{"no column named ", "42S22", "Unknown column '%s' in 'field list'", 1054},
		{"duplicate column name: ", "42S21", "Duplicate column name '%s'", 1060},
		{"ambiguous column name: ", "23000", "Column '%s' in field list is ambiguous", 1052},
		{"UNIQUE constraint failed: ", "23000", "Duplicate entry for key '%s'", 1062},
		{"CHECK constraint failed: integer of ", "HY000", "Incorrect integer value for column '%s' at row 1", 1366},
		{"CHECK constraint failed: length of ", "22001", "Data too long for column '%s' at row 1", 1406},
		{"CHECK constraint failed: member of ", "01000", "Data truncated for column '%s' at row 1", 1265},
		{"CHECK constraint failed: ", "HY000", "Check constraint '%s' is violated.", 3819},
		{"no such function: ", "42000", "FUNCTION " + strings.TrimPrefix(s.database+".", ".") + "%s does not exist", 1305},
		{"wrong number of arguments to function ", "42000", "Incorrect parameter count in the call to native function '%s'", 1582},
	} {
		if name, ok := tell(known.before); ok {
			return refused(known.code, known.state, known.message, strings.TrimSuffix(name, "()"))
		}
	}
	switch name, isNull := tell("NOT NULL constraint failed: "); {
	case isNull && slices.ContainsFunc(tokens(statement, true), func(t token) bool { return strings.EqualFold(t.text, short(name)) || t.is("NULL") }):
		return refused(1048, "23000", "Column '%s' cannot be null", short(name))
	case isNull:
		return refused(1364, "HY000", "Field '%s' doesn't have a default value", short(name))
	case strings.Contains(text, "FOREIGN KEY constraint failed"):
		return refused(1452, "23000", "Cannot add or update a child row: a foreign key constraint fails")
	case strings.HasSuffix(text, "already exists"):
		return refused(1050, "42S01", "Table '%s' already exists", strings.Trim(strings.Fields(text)[max(0, len(strings.Fields(text))-3)], `"`))
	case strings.Contains(text, "values for") || strings.Contains(text, "values were supplied"):
		return refused(1136, "21S01", "Column count doesn't match value count at row 1")
	case strings.Contains(text, "datatype mismatch"):
		return refused(1366, "HY000", "Incorrect integer value for an AUTO_INCREMENT column at row 1")
	case strings.Contains(text, "not authorized"):
		return unsupported("such statement").(*Error)
	case errors.As(err, &failed) && (strings.Contains(text, "syntax error") || strings.Contains(text, "incomplete input") || strings.Contains(text, "unrecognized token")):
		return wrongAt(strings.TrimSpace(failed.SQL()))
	}
	return refused(1105, "HY000", "%s", text)
}

// finished has nothing to add.
func (mysql) finished(_ *Session, t []token, r *Result) {
	if t[0].is("CREATE", "DROP", "ALTER") && !t[min(1, len(t)-1)].is("DATABASE", "SCHEMA") {
		r.Affected = 0
	}
}
