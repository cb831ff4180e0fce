// Package database is what the simulated servers of MySQL and PostgreSQL do with statements. SQLite runs them, on files of the
// container, so that what is stored is where the server's own files would be: in the container, or on its volume. Two dialects
// translate what differs, answer themselves what SQLite has no word for (SHOW, USE, CREATE DATABASE, roles), and say what is
// wrong as their servers do. What they cannot do they refuse: nothing is taken for done that was not.
package database

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Files are those of the container that the server runs in. Names are absolute paths.
type Files interface {
	// OpenFile opens a file for reading and writing; it makes one where create is set. Errors are those of package fs, and
	// syscall.ENOSPC.
	OpenFile(name string, create bool) (File, error)
	ReadFile(name string) ([]byte, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error)
	MkdirAll(name string, perm fs.FileMode) error
	Remove(name string, all bool) error
}

// File is an open file. One goroutine at a time uses it.
type File interface {
	io.ReaderAt // io.EOF where it ends before b does
	io.WriterAt // at a place that is not beyond the end; syscall.ENOSPC where there is no room
	io.Closer
	Size() int64
	Truncate(size int64) error // to no more than it has
}

// Config is what a Server is made of.
type Config struct {
	Files    Files
	Dir      string           // where its files are
	Version  string           // of the server it stands for: 8.4.7
	Hostname string           // of the container
	Address  string           // of the container; empty: none is known
	Now      func() time.Time // the cluster's clock
	// Dial returns the server at a port of a host, for one that copies another; nil: there is no network.
	Dial     func(ctx context.Context, host string, port int) (*Server, error)
	Settings map[string]string // what its files of settings and its command line say, by name
}

// Result is what a statement has led to.
type Result struct {
	Columns  []Column    // none: it returns no rows, not even the names of columns
	Rows     [][]*string // one text for each column; nil is NULL
	Affected int64       // rows that it has changed
	Matched  int64       // rows that an UPDATE has looked at
	Tag      string      // what PostgreSQL calls it: INSERT 0 1
	Database string      // the one that is used from now on
	Open     bool        // a transaction is
	Hidden   bool        // nothing is said of it
}

// Column is one of a Result.
type Column struct {
	Name     string
	Numeric  bool // written to the right
	Nullable bool // it is a column of a table that may be NULL
}

// Error is one that the server tells its client.
type Error struct {
	Code    int    // MySQL's
	State   string // SQLSTATE: 42S02
	Message string
	Detail  string
	Hint    string
	Near    string // the statement from the token on that is wrong, where that is known
}

func (e *Error) Error() string { return e.Message }

// dialect is what a kind of server does its own way.
type dialect interface {
	// admits says why somebody may not connect.
	admits(s *Server, in Login) error
	// file is where a database of that name is kept.
	file(s *Server, name string) string
	// own runs a statement that SQLite has no word for, and returns nil, nil for any other.
	own(ctx context.Context, s *Session, t []token) (*Result, error)
	// translated is a statement as SQLite takes it, with the texts of its columns that have changed with it, by what they are now.
	translated(s *Session, t []token) (sql string, columns map[string]string, err error)
	// told is an error of SQLite as the server tells it.
	told(s *Session, statement string, err error) *Error
	// functions are those that SQLite does not have.
	functions(s *Session) error
	// finished completes the result of a statement.
	finished(s *Session, t []token, r *Result)
	// quotes says whether "a" is a text, as 'a' is, and \ quotes in texts.
	quotes() bool
}

func unsupported(what string) error {
	return &Error{Code: 1235, State: "0A000", Message: fmt.Sprintf("this server is simulated: it has no %s", what)}
}
