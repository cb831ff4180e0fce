package database

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// Bounds of what a session may take.
const (
	mostMemory = 24 << 20         // of SQLite, for a session
	mostText   = 4 << 20          // bytes of a value
	mostResult = 8 << 20          // bytes of a result
	waits      = 50 * time.Second // for a lock
	// betweenTries is how long SQLite waits before it tries for a lock again.
	betweenTries = 10 * time.Millisecond
)

// Session is what a client is connected to.
type Session struct {
	server   *Server
	id       int
	user     string
	from     string
	disk     *sessionDisk
	mu       sync.Mutex
	database string // that is used; empty: none
	conn     *sqlite3.Conn
	opened   string   // the database that conn has as main
	inside   bool     // statements are this package's own, and may do what a client may not
	attached []string // databases that the last statement has named
	closed   bool
	at       time.Time // that it is for the statement or, in PostgreSQL, for the transaction
	postgres pgState   // of a server of PostgreSQL
}

// ID is the number of the connection, from 1 on.
func (s *Session) ID() int { return s.id }

// Server is what the session is connected to.
func (s *Session) Server() *Server { return s.server }

// Close ends the session. What a transaction has changed that is open is undone.
func (s *Session) Close() {
	s.server.mu.Lock()
	delete(s.server.open, s)
	s.server.mu.Unlock()
	s.close()
}

func (s *Session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.leave()
	vfs.Unregister(s.disk.name)
}

// leave closes the database that is open. What a transaction has changed is undone.
func (s *Session) leave() {
	if s.conn != nil {
		_ = s.conn.Close() // no statement is open
		s.conn, s.attached = nil, nil
	}
}

// uri is how SQLite opens a file.
func (s *Session) uri(name string) string {
	return "file:" + (&url.URL{Path: name}).EscapedPath() + "?vfs=" + s.disk.name
}

// enter opens the database that is used, or one in memory.
func (s *Session) enter(ctx context.Context) error {
	if s.conn != nil && s.opened == s.database {
		return nil
	}
	s.leave()
	name := ":memory:"
	if s.database != "" {
		name = s.uri(s.server.dialect.file(s.server, s.database))
	}
	conn, err := sqlite3.OpenContext(ctx, name)
	if err != nil {
		return err
	}
	s.conn, s.opened = conn, s.database
	conn.HardHeapLimit(mostMemory)
	conn.Limit(sqlite3.LIMIT_LENGTH, mostText)
	err = errors.Join(
		conn.BusyHandler(s.busy),
		conn.Exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON; PRAGMA cache_size = -1024"),
		s.server.dialect.functions(s),
		conn.SetAuthorizer(s.may),
	)
	if err != nil {
		s.leave()
	}
	return err
}

// busy waits for a lock of another session.
func (*Session) busy(ctx context.Context, count int) bool {
	if time.Duration(count)*betweenTries > waits {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(betweenTries):
		return true
	}
}

// may refuses statements with which one would leave the files of the server.
func (s *Session) may(action sqlite3.AuthorizerActionCode, _, _, _, _ string) sqlite3.AuthorizerReturnCode {
	switch action {
	case sqlite3.AUTH_ATTACH, sqlite3.AUTH_DETACH, sqlite3.AUTH_PRAGMA, sqlite3.AUTH_CREATE_VTABLE, sqlite3.AUTH_DROP_VTABLE:
		if !s.inside {
			return sqlite3.AUTH_DENY
		}
	}
	return sqlite3.AUTH_OK
}

// within runs f, which may do what clients may not.
func (s *Session) within(f func() error) error {
	s.inside = true
	defer func() { s.inside = false }()
	return f()
}

// attach opens another database beside the one that is used, under its own name.
func (s *Session) attach(name string) error {
	return s.within(func() error {
		if slices.Contains(s.attached, name) {
			return nil
		}
		as := named("", name).raw
		err := s.conn.Exec("ATTACH " + said("", s.uri(s.server.dialect.file(s.server, name))).raw + " AS " + as + "; PRAGMA " + as + ".journal_mode = MEMORY; PRAGMA " + as + ".synchronous = OFF")
		if err == nil {
			s.attached = append(s.attached, name)
		}
		return err
	})
}

// detach closes what attach has opened. In a transaction, which may have changed it, it stays.
func (s *Session) detach() {
	s.attached = slices.DeleteFunc(s.attached, func(name string) bool {
		return s.within(func() error { return s.conn.Exec("DETACH " + named("", name).raw) }) == nil
	})
}

// ErrLost is what a session returns whose server has ended.
var ErrLost = &Error{Code: 2013, State: "57P01", Message: "Lost connection to MySQL server during query"}

// Run runs one statement. The error is an *Error.
func (s *Session) Run(ctx context.Context, statement string) (r *Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { // the library panics where SQLite has no memory, and what is open cannot be closed then
		if fault := recover(); fault != nil {
			s.conn, s.attached = nil, nil
			s.disk.abandon()
			cause := error(sqlite3.NOMEM)
			if text := fmt.Sprint(fault); !strings.Contains(text, "out of memory") {
				cause = errors.New("internal error: " + text)
			}
			r, err = nil, s.server.dialect.told(s, statement, cause)
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.server.running, cancel)()
	d := s.server.dialect
	switch {
	case s.closed:
		return nil, ErrLost
	case len(statement) > mostStatement:
		return nil, &Error{Code: 1153, State: "08S01", Message: "Got a packet bigger than 'max_allowed_packet' bytes"}
	}
	if _, ofTransaction := d.(postgres); !ofTransaction || s.conn == nil || s.conn.GetAutocommit() {
		s.at = s.server.Now().UTC()
	}
	t := tokens(statement, d.quotes())
	if len(t) == 0 {
		return &Result{Hidden: true, Database: s.database}, nil
	}
	result, err := d.own(ctx, s, t)
	if err == nil && result == nil {
		result, err = s.execute(ctx, t)
	}
	if err != nil {
		var told *Error
		if !errors.As(err, &told) {
			told = d.told(s, statement, err)
		}
		return nil, told
	}
	d.finished(s, t, result)
	result.Database = s.database
	result.Open = s.conn != nil && !s.conn.GetAutocommit()
	return result, nil
}

// execute has SQLite run a statement.
func (s *Session) execute(ctx context.Context, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	sql, columns, err := s.server.dialect.translated(s, t)
	if err != nil {
		return nil, err
	}
	return s.query(ctx, sql, columns)
}

// query runs what is SQLite's already. The texts of columns are those that columns has for them.
func (s *Session) query(ctx context.Context, sql string, columns map[string]string) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.conn.SetInterrupt(s.conn.SetInterrupt(ctx))
	stmt, _, err := s.conn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return &Result{Hidden: true}, nil
	}
	defer stmt.Close()
	before := s.conn.TotalChanges()
	r := &Result{}
	for i := range stmt.ColumnCount() {
		name := stmt.ColumnName(i)
		if was, ok := columns[name]; ok {
			name = was
		}
		r.Columns = append(r.Columns, Column{Name: name, Numeric: numeric(stmt.ColumnDeclType(i)), Nullable: s.nullable(stmt, i)})
	}
	scales := make([]int, len(r.Columns))
	for i := range scales {
		scales[i] = scale(stmt.ColumnDeclType(i))
	}
	size := 0
	for stmt.Step() {
		row := make([]*string, len(r.Columns))
		for i := range row {
			if row[i] = valueOf(stmt, i, scales[i]); row[i] != nil {
				size += len(*row[i])
			}
			if of := stmt.ColumnType(i); len(r.Rows) == 0 && stmt.ColumnDeclType(i) == "" {
				r.Columns[i].Numeric = of == sqlite3.INTEGER || of == sqlite3.FLOAT
			}
		}
		r.Rows = append(r.Rows, row)
		if size += 16 * len(row); size > mostResult {
			return nil, sqlite3.NOMEM
		}
	}
	if err := stmt.Err(); err != nil {
		return nil, err
	}
	if r.Affected = s.conn.TotalChanges() - before; r.Affected > 0 {
		r.Affected = s.conn.Changes() // and not what foreign keys have changed with it
	}
	r.Matched = r.Affected
	return r, nil
}

// nullable says whether a column of a result is one of a table that may be NULL.
func (s *Session) nullable(stmt *sqlite3.Stmt, i int) bool {
	table := stmt.ColumnTableName(i)
	if table == "" {
		return false
	}
	_, _, required, key, _, err := s.conn.TableColumnMetadata(stmt.ColumnDatabaseName(i), table, stmt.ColumnOriginName(i))
	return err == nil && !required && !key
}

// numeric says whether a type is that of numbers.
func numeric(of string) bool {
	of = strings.ToUpper(of)
	for _, name := range []string{"INT", "DECIMAL", "NUMERIC", "FLOAT", "DOUBLE", "REAL", "SERIAL"} {
		if strings.Contains(of, name) && !strings.Contains(of, "POINT") && !strings.Contains(of, "INTERVAL") {
			return true
		}
	}
	return false
}

// scaled is a type that says how many digits are behind the point.
var scaled = regexp.MustCompile(`(?i)^(?:DECIMAL|NUMERIC) *\( *\d+ *, *(\d+) *\)`)

// scale is how many digits of a type are behind the point, or -1: as many as there are.
func scale(of string) int {
	if found := scaled.FindStringSubmatch(of); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n <= 30 {
			return n
		}
	}
	return -1
}

// valueOf is the text of a column with so many digits behind the point, or nil for NULL.
func valueOf(stmt *sqlite3.Stmt, i, scale int) *string {
	var text string
	switch of := stmt.ColumnType(i); {
	case of == sqlite3.NULL:
		return nil
	case scale >= 0 && (of == sqlite3.FLOAT || of == sqlite3.INTEGER):
		text = strconv.FormatFloat(stmt.ColumnFloat(i), 'f', scale, 64)
	case of == sqlite3.FLOAT:
		f := stmt.ColumnFloat(i)
		if text = strconv.FormatFloat(f, 'f', -1, 64); math.Abs(f) >= 1e15 || f != 0 && math.Abs(f) < 1e-5 {
			text = strconv.FormatFloat(f, 'g', -1, 64)
		}
	default:
		text = stmt.ColumnText(i)
	}
	return &text
}

// texts are the rows of a query of this package's own, of which it knows that they are few.
func (s *Session) texts(ctx context.Context, sql string) ([][]*string, error) {
	var r *Result
	err := s.within(func() (err error) {
		r, err = s.query(ctx, sql, nil)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sql, err)
	}
	return r.Rows, nil
}
