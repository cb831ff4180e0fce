package database

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// admits looks at the role, at its password, and at the database.
func (p postgres) admits(s *Server, in Login) error {
	s.mu.Lock()
	at := slices.IndexFunc(s.users, func(u user) bool { return u.Name == in.User })
	var u user
	if at >= 0 {
		u = s.users[at]
	}
	s.mu.Unlock()
	switch trusted := in.From == "" || p.trusts(s); {
	case !trusted && in.Password == "":
		return fails("28000", "fe_sendauth: no password supplied")
	case !trusted && (at < 0 || u.Password != hashed(in.Password)):
		return fails("28P01", "password authentication failed for user \"%s\"", in.User)
	case at < 0:
		return fails("28000", "role \"%s\" does not exist", in.User)
	case u.Host == noLogin:
		return fails("28000", "role \"%s\" is not permitted to log in", in.User)
	}
	name := in.Database
	if name == "" {
		name = in.User
	}
	switch {
	case name == "template0":
		return fails("55000", "database \"template0\" is not currently accepting connections")
	case !p.has(s, name):
		return fails("3D000", "database \"%s\" does not exist", name)
	}
	return nil
}

// trusts says whether pg_hba.conf lets everybody in without a password.
func (postgres) trusts(s *Server) bool {
	data, _ := s.Files.ReadFile(path.Join(s.Dir, "pg_hba.conf")) // there is none: nobody
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) >= 5 && f[0] == "host" && f[1] == "all" && f[2] == "all" && (f[3] == "all" || f[3] == "0.0.0.0/0") {
			return f[4] == "trust"
		}
	}
	return false
}

// changeDatabase is CREATE DATABASE and DROP DATABASE.
func (p postgres) changeDatabase(s *Session, t []token) error {
	creates := t[0].is("CREATE")
	rest, conditional := after(t[2:])
	if len(rest) == 0 || !rest[0].names() || creates && conditional {
		return syntax(t[2:])
	}
	name, has := folded(rest[0]), false
	has = p.has(s.server, name)
	if s.conn != nil && !s.conn.GetAutocommit() {
		return fails("25001", "%s DATABASE cannot run inside a transaction block", strings.ToUpper(t[0].text))
	}
	if creates {
		from := "template1"
		if at := slices.IndexFunc(rest, func(t token) bool { return t.is("TEMPLATE") }); at > 0 {
			of := rest[at+1:]
			if len(of) > 0 && of[0].is("=") {
				of = of[1:]
			}
			if len(of) == 0 {
				return syntax(nil)
			}
			if from = folded(of[0]); !p.has(s.server, from) {
				return fails("3D000", "template database \"%s\" does not exist", from)
			}
		}
		switch {
		case has:
			return fails("42P04", "database \"%s\" already exists", name)
		case name == "" || len(name) > 63:
			return fails("42602", "invalid name \"%s\"", name)
		}
		if err := p.makeDatabase(s.server, name, from); err != nil {
			_ = s.server.Files.Remove(p.file(s.server, name), false) // half of it is of no use
			return fails("53100", "could not create file \"%s\": No space left on device", p.file(s.server, name))
		}
		return nil
	}
	users := 0
	for _, c := range s.server.connections() {
		if c != s && c.database == name {
			users++
		}
	}
	switch {
	case !has && conditional:
		return nil
	case !has:
		return fails("3D000", "database \"%s\" does not exist", name)
	case name == s.database:
		return fails("55006", "cannot drop the currently open database")
	case strings.HasPrefix(name, "template"):
		return fails("42809", "cannot drop a template database")
	case users > 0:
		e := fails("55006", "database \"%s\" is being accessed by other users", name)
		if e.Detail = "There is 1 other session using the database."; users > 1 {
			e.Detail = fmt.Sprintf("There are %d other sessions using the database.", users)
		}
		return e
	}
	return s.server.Files.Remove(p.file(s.server, name), false)
}

// changeRole is CREATE, ALTER and DROP of roles.
func (p postgres) changeRole(s *Session, t []token) error {
	verb := strings.ToUpper(t[0].text)
	login := t[1].is("USER")
	rest, conditional := after(t[2:])
	if len(rest) == 0 || !rest[0].names() {
		return syntax(rest)
	}
	name := folded(rest[0])
	server := s.server
	server.mu.Lock()
	defer server.mu.Unlock()
	at := slices.IndexFunc(server.users, func(u user) bool { return u.Name == name })
	switch {
	case verb == "CREATE" && at >= 0:
		return fails("42710", "role \"%s\" already exists", name)
	case verb != "CREATE" && at < 0 && conditional:
		return nil
	case verb != "CREATE" && at < 0:
		return fails("42704", "role \"%s\" does not exist", name)
	case verb == "DROP" && name == s.user:
		return fails("55006", "current user cannot be dropped")
	case verb == "DROP":
		server.users = slices.Delete(slices.Clone(server.users), at, at+1)
		return p.saveRoles(server)
	}
	u := user{Name: name, Host: noLogin}
	if login {
		u.Host = ""
	}
	if verb == "ALTER" {
		u = server.users[at]
	}
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i].is("WITH", "ENCRYPTED", "INHERIT", "NOINHERIT", "CREATEDB", "NOCREATEDB", "CREATEROLE", "NOCREATEROLE", "REPLICATION", "NOREPLICATION", "BYPASSRLS", "NOBYPASSRLS"):
		case rest[i].is("SUPERUSER", "NOSUPERUSER"):
			u.Super = rest[i].is("SUPERUSER")
		case rest[i].is("LOGIN"):
			u.Host = ""
		case rest[i].is("NOLOGIN"):
			u.Host = noLogin
		case rest[i].is("PASSWORD") && i+1 < len(rest) && (rest[i+1].kind == text || rest[i+1].is("NULL")):
			if u.Password = ""; rest[i+1].kind == text {
				u.Password = hashed(rest[i+1].text)
			}
			i++
		case rest[i].is("VALID", "CONNECTION", "IN", "ROLE", "ADMIN", "SET", "RESET", "RENAME"):
			return unsupported(verb + " ROLE ... " + strings.ToUpper(rest[i].text))
		default:
			return syntax(rest[i:])
		}
	}
	if verb == "ALTER" {
		server.users[at] = u
	} else {
		server.users = append(server.users, u)
	}
	return p.saveRoles(server)
}

func (postgres) rolesFile(s *Server) string { return path.Join(s.Dir, "global", "roles.json") }

func (p postgres) saveRoles(s *Server) error {
	data, err := json.Marshal(s.users)
	if err != nil {
		return err
	}
	return s.Files.WriteFile(p.rolesFile(s), data, 0o600)
}
