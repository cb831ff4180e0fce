package database

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"

	"github.com/ncruces/go-sqlite3/vfs"
)

// Kinds of servers.
const (
	MySQL      = "mysql"
	PostgreSQL = "postgres"
)

// mostSessions is how many may be connected to a server at once: each has memory of its own.
const mostSessions = 20

// mostStatement is how many bytes a statement may have.
const mostStatement = 1 << 20

// Login is who connects.
type Login struct {
	User     string
	Password string
	Database string // that is used at first; empty: none
	From     string // address of the client; empty: it is where the server is
}

// Server keeps databases, and runs statements for those who are connected. It is safe for concurrent use.
type Server struct {
	Config
	dialect dialect
	disk    *disk
	mu      sync.Mutex
	last    int // connection
	open    map[*Session]bool
	users   []user
	source  source // that it copies
	closed  bool
	running context.Context // until Close
	end     context.CancelFunc
}

// Close ends all sessions.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.end()
	open := s.open
	s.open = map[*Session]bool{}
	s.mu.Unlock()
	for one := range open {
		one.close()
	}
}

// newServer returns a server of a dialect.
func newServer(c Config, d dialect) *Server {
	s := &Server{Config: c, dialect: d, disk: &disk{files: c.Files, locks: map[string]*lock{}}, open: map[*Session]bool{}}
	s.running, s.end = context.WithCancel(context.Background())
	return s
}

// Connect returns a session of the one who connects. The error is an *Error.
func (s *Server) Connect(in Login) (*Session, error) {
	if err := s.dialect.admits(s, in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, s.refuses(1053, "08S01", "Server shutdown in progress", "57P03", "the database system is shutting down")
	case len(s.open) >= mostSessions:
		return nil, s.refuses(1040, "08004", "Too many connections", "53300", "sorry, too many clients already")
	}
	s.last++
	session := &Session{server: s, id: s.last, user: in.User, from: in.From, database: in.Database}
	session.disk = &sessionDisk{disk: s.disk, name: "kubetab-" + rand.Text(), open: map[*openFile]bool{}}
	vfs.Register(session.disk.name, session.disk)
	s.open[session] = true
	return session, nil
}

// refuses is an error as MySQL tells it, or PostgreSQL.
func (s *Server) refuses(code int, state, message, otherState, otherMessage string) *Error {
	if _, ok := s.dialect.(mysql); ok {
		return &Error{Code: code, State: state, Message: message}
	}
	return &Error{State: otherState, Message: otherMessage}
}

// user is somebody who may connect.
type user struct {
	Name     string `json:"name"`
	Host     string `json:"host,omitempty"`
	Password string `json:"password,omitempty"` // what hashed makes of it; empty: none
	Super    bool   `json:"super,omitempty"`
}

// connections says which connection is whose, for SHOW PROCESSLIST.
func (s *Server) connections() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Session, 0, len(s.open))
	for one := range s.open {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *Session) int { return a.id - b.id })
	return all
}
