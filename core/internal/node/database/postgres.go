package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// postgres is the dialect of PostgreSQL.
type postgres struct{}

// pgState is what a session of PostgreSQL has beside what SQLite keeps.
type pgState struct {
	aborted  bool              // an error has ended what the transaction may do
	points   bool              // the transaction has savepoints
	snapshot bool              // the transaction sees what there was when it began
	settings map[string]string // that SET has changed
}

// ends is how the names of files of databases end.
const ends = ".sqlite"

// Initialized says whether a folder has the files of a server of PostgreSQL.
func Initialized(files Files, dir string) bool {
	_, err := files.ReadFile(path.Join(dir, "PG_VERSION"))
	return err == nil
}

// NewPostgres returns a server of PostgreSQL. A folder that is empty gets what env asks for, as the entrypoint of the image has
// it: the superuser, its password, a database. It fails where the folder cannot be written to.
func NewPostgres(c Config, env func(string) string) (*Server, error) {
	p := postgres{}
	s := newServer(c, p)
	if Initialized(c.Files, c.Dir) {
		data, err := c.Files.ReadFile(p.rolesFile(s))
		if err != nil {
			return s, err
		}
		return s, json.Unmarshal(data, &s.users)
	}
	either := func(name, otherwise string) string {
		if file := env(name + "_FILE"); file != "" {
			text, _ := c.Files.ReadFile(file) // there is none: the password is empty
			return strings.TrimRight(string(text), "\n")
		}
		if value := env(name); value != "" {
			return value
		}
		return otherwise
	}
	name := either("POSTGRES_USER", "postgres")
	s.users = []user{{Name: name, Password: hashed(either("POSTGRES_PASSWORD", "")), Super: true}}
	for _, dir := range []string{"base", "global"} {
		if err := c.Files.MkdirAll(path.Join(c.Dir, dir), 0o700); err != nil {
			return s, err
		}
	}
	for _, one := range []string{"postgres", "template0", "template1", either("POSTGRES_DB", name)} {
		if err := p.makeDatabase(s, one, ""); err != nil {
			return s, err
		}
	}
	method := either("POSTGRES_HOST_AUTH_METHOD", "scram-sha-256")
	hba := "# TYPE  DATABASE        USER            ADDRESS                 METHOD\n\nlocal   all             all                                     trust\nhost    all             all             127.0.0.1/32            trust\nhost    all             all             ::1/128                 trust\n\nhost all all all " + method + "\n"
	major, _, _ := strings.Cut(c.Version, ".")
	return s, errors.Join(
		c.Files.WriteFile(path.Join(c.Dir, "pg_hba.conf"), []byte(hba), 0o600),
		p.saveRoles(s),
		c.Files.WriteFile(path.Join(c.Dir, "PG_VERSION"), []byte(major+"\n"), 0o600), // last: it says that all is there
	)
}

func (postgres) quotes() bool { return false }

func (postgres) file(s *Server, name string) string {
	return path.Join(s.Dir, "base", url.PathEscape(name)+ends)
}

// databases are their names, sorted.
func (postgres) databases(s *Server) []string {
	entries, err := s.Files.ReadDir(path.Join(s.Dir, "base"))
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if escaped, ok := strings.CutSuffix(e.Name(), ends); ok {
			if name, err := url.PathUnescape(escaped); err == nil {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

func (p postgres) has(s *Server, name string) bool { return slices.Contains(p.databases(s), name) }

// makeDatabase makes one that has what another has, or nothing.
func (p postgres) makeDatabase(s *Server, name, from string) error {
	to, err := s.Files.OpenFile(p.file(s, name), true)
	if err != nil || from == "" {
		if err == nil {
			err = to.Close()
		}
		return err
	}
	defer to.Close()
	source, err := s.Files.OpenFile(p.file(s, from), false)
	if err != nil {
		return err
	}
	defer source.Close()
	_, err = io.Copy(io.NewOffsetWriter(to, 0), io.NewSectionReader(source, 0, source.Size()))
	return err
}

// fails returns an error of PostgreSQL, which has no numbers for them.
func fails(state, format string, args ...any) *Error {
	return &Error{State: state, Message: fmt.Sprintf(format, args...)}
}

// noLogin is where a role may connect from that may not.
const noLogin = "nologin"

// own runs all statements: what SQLite is asked for is known there alone.
func (p postgres) own(ctx context.Context, s *Session, t []token) (*Result, error) {
	if s.database == "" {
		s.database = s.user
	}
	state := &s.postgres
	inside := s.conn != nil && !s.conn.GetAutocommit()
	r, err := p.answered(ctx, s, state, t)
	switch {
	case err == nil:
		if s.conn != nil && !s.conn.GetAutocommit() && !state.points && !state.snapshot && s.conn.TxnState("main") == sqlite3.TXN_READ && s.conn.TxnState("temp") != sqlite3.TXN_WRITE {
			err = s.conn.Exec("COMMIT; BEGIN") // who only reads keeps nobody waiting, and sees what others have committed
		}
		return r, err
	case !inside:
		return nil, err
	}
	state.aborted = true
	switch {
	case s.conn == nil || s.conn.GetAutocommit(): // SQLite has undone it already
		if s.enter(context.Background()) == nil {
			_ = s.conn.Exec("BEGIN") // there is none, so it does not fail
		}
	case !state.points:
		_ = s.conn.Exec("ROLLBACK; BEGIN") // nobody waits for what is to be undone
	}
	return nil, err
}

func (p postgres) answered(ctx context.Context, s *Session, state *pgState, t []token) (*Result, error) {
	ended := t[len(t)-1].is(";")
	if ended {
		if t = t[:len(t)-1]; len(t) == 0 {
			return &Result{Hidden: true}, nil
		}
	}
	if last := t[len(t)-1]; last.kind == open {
		return nil, unended(last)
	}
	if at := slices.IndexFunc(t, func(t token) bool { return t.is(";") }); at >= 0 {
		return nil, fails("42601", "cannot insert multiple commands into a prepared statement")
	}
	if state.aborted && !t[0].is("COMMIT", "END", "ROLLBACK", "ABORT") {
		return nil, fails("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	}
	r, err := p.statement(ctx, s, state, t)
	var told *Error
	if errors.As(err, &told) && ended && told.Message == atEnd {
		told.Message, told.Near = `syntax error at or near ";"`, ";"
	}
	return r, err
}

// atEnd is the error for a statement that ends too early.
const atEnd = "syntax error at end of input"

// unended is the error for a quote or a comment that does not end.
func unended(t token) error {
	what := "quoted string"
	switch t.raw[0] {
	case '"':
		what = "quoted identifier"
	case '/':
		what = "/* comment"
	case '$':
		what = "dollar-quoted string"
	}
	e := fails("42601", "unterminated %s at or near \"%s\"", what, t.raw)
	e.Near = t.raw
	return e
}

// syntax is the error for a statement that is wrong from a token on.
func syntax(t []token) error {
	if len(t) == 0 {
		return fails("42601", atEnd)
	}
	e := fails("42601", "syntax error at or near \"%s\"", t[0].raw)
	e.Near = written(t)
	return e
}

// lacking are first words of statements that PostgreSQL has and this has not.
var lacking = []string{"COPY", "EXPLAIN", "PREPARE", "EXECUTE", "DEALLOCATE", "DO", "CALL", "LISTEN", "NOTIFY", "UNLISTEN", "LOCK", "DECLARE", "FETCH", "CLOSE", "MOVE", "COMMENT", "SECURITY", "REINDEX", "CLUSTER", "REFRESH", "IMPORT", "LOAD", "REASSIGN", "MERGE", "VACUUM"}

// statement runs one. It is long because it has a case for each kind.
func (p postgres) statement(ctx context.Context, s *Session, state *pgState, t []token) (*Result, error) {
	second := token{kind: sign}
	if len(t) > 1 {
		second = t[1]
	}
	tag := strings.ToUpper(t[0].text + " " + second.text)
	switch {
	case t[0].is("BEGIN", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"), starts(t, "START", "TRANSACTION"):
		return p.transact(ctx, s, state, t)
	case t[0].is("CREATE", "DROP") && second.is("DATABASE"):
		return &Result{Tag: tag}, p.changeDatabase(s, t)
	case t[0].is("CREATE", "DROP", "ALTER") && second.is("ROLE", "USER"):
		return &Result{Tag: strings.ToUpper(t[0].text) + " ROLE"}, p.changeRole(s, t)
	case t[0].is("GRANT", "REVOKE"):
		if !slices.ContainsFunc(t, func(t token) bool { return t.is("TO", "FROM") }) {
			return nil, syntax(nil)
		}
		if !slices.ContainsFunc(t, func(t token) bool { return t.is("ON") }) {
			tag = " ROLE"
		} else {
			tag = ""
		}
		return &Result{Tag: strings.ToUpper(t[0].text) + tag}, nil
	case t[0].is("SET", "RESET"):
		return &Result{Tag: strings.ToUpper(t[0].text)}, p.set(s, state, t)
	case t[0].is("SHOW"):
		return p.show(s, state, t[1:])
	case t[0].is("ANALYZE", "CHECKPOINT", "DISCARD"):
		return &Result{Tag: strings.ToUpper(t[0].text)}, nil // there is nothing to do
	case t[0].is("TRUNCATE"):
		return p.truncate(ctx, s, t)
	case t[0].is("CREATE") && tableAt(t) > 0:
		return p.createTable(ctx, s, t)
	case t[0].is("CREATE"):
		return p.create(ctx, s, t)
	case t[0].is("DROP"):
		return p.drop(ctx, s, t)
	case starts(t, "ALTER", "TABLE"):
		return p.alterTable(ctx, s, t)
	case t[0].is("ALTER"):
		return nil, unsupported(tag)
	case t[0].is("TABLE") && len(t) == 2:
		return p.data(ctx, s, append([]token{plain("", "SELECT"), plain(" ", "*"), plain(" ", "FROM")}, t[1]))
	case t[0].is("SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "("):
		if t[0].is("INSERT", "UPDATE") && second.is("OR") || t[0].is("INSERT") && !second.is("INTO") {
			return nil, syntax(t[1:])
		}
		return p.data(ctx, s, t)
	case t[0].is(lacking...):
		return nil, unsupported(strings.ToUpper(t[0].text))
	}
	return nil, syntax(t)
}

// transact begins and ends transactions, and savepoints in them.
func (p postgres) transact(ctx context.Context, s *Session, state *pgState, t []token) (*Result, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	inside := !s.conn.GetAutocommit()
	to := slices.IndexFunc(t, func(t token) bool { return t.is("TO") })
	how := strings.ToUpper(t[0].text)
	switch {
	case how == "START", how == "BEGIN":
		tag := "BEGIN"
		if how == "START" {
			tag = "START TRANSACTION"
		}
		if inside {
			return &Result{Tag: tag}, nil
		}
		state.points, state.snapshot = false, slices.ContainsFunc(t, func(t token) bool { return t.is("REPEATABLE", "SERIALIZABLE") })
		return &Result{Tag: tag}, s.conn.Exec("BEGIN")
	case how == "SAVEPOINT", how == "RELEASE", how == "ROLLBACK" && to > 0:
		what := how
		if how == "ROLLBACK" {
			what = "ROLLBACK TO SAVEPOINT"
		}
		last := t[len(t)-1]
		switch {
		case !inside:
			return nil, fails("25P01", "%s can only be used in transaction blocks", what)
		case len(t) < 2 || !last.names():
			return nil, syntax(nil)
		}
		err := s.conn.Exec(strings.TrimSuffix(what, " SAVEPOINT") + " " + named("", folded(last)).raw)
		if err != nil {
			return nil, fails("3B001", "savepoint \"%s\" does not exist", folded(last))
		}
		switch how {
		case "ROLLBACK":
			state.aborted = false
		case "SAVEPOINT":
			state.points = true
		}
		return &Result{Tag: how}, nil
	}
	tag := "COMMIT"
	if how == "ROLLBACK" || how == "ABORT" || state.aborted {
		tag = "ROLLBACK"
	}
	if inside {
		if err := s.conn.Exec(tag); err != nil {
			_ = s.conn.Exec("ROLLBACK") // one that has failed is undone
			return nil, p.told(s, "", err)
		}
	}
	state.aborted = false
	return &Result{Tag: tag}, nil
}

// folded is a name as PostgreSQL takes it: in lower case if it is not in quotes.
func folded(t token) string {
	if t.kind == word {
		return strings.ToLower(t.text)
	}
	return t.text
}

// finished has nothing to add.
func (postgres) finished(*Session, []token, *Result) {}

// translated is asked for nothing: own has run everything.
func (p postgres) translated(s *Session, t []token) (string, map[string]string, error) {
	out, err := p.spelled(s, t)
	return written(out), nil, err
}

// told is an error of SQLite for which the statement is not known token by token.
func (p postgres) told(s *Session, statement string, err error) *Error {
	return p.toldOf(s, tokens(statement, false), "", err)
}

// unnamed is an error that SQLite has no name for.
func (p postgres) unnamed(s *Session, err error) *Error {
	switch {
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return fails("55P03", "canceling statement due to lock timeout")
	case errors.Is(err, sqlite3.INTERRUPT), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fails("57014", "canceling statement due to user request")
	case errors.Is(err, sqlite3.FULL):
		return fails("53100", "could not extend file \"%s\": No space left on device", p.file(s.server, s.database))
	case errors.Is(err, sqlite3.NOMEM), errors.Is(err, sqlite3.TOOBIG):
		return fails("53200", "out of memory")
	case errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, fs.ErrNotExist):
		return fails("58P01", "could not open file \"%s\": No such file or directory", p.file(s.server, s.database))
	}
	return nil
}
