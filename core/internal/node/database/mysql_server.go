package database

import (
	"crypto/md5" //nolint:gosec // the same
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // it is a function of MySQL
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	mathrand "math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// stamp is how MySQL writes a time.
const stamp = "2006-01-02 15:04:05"

// NewMySQL returns a server of MySQL. A folder that is empty gets what env asks for, as the entrypoint of the image has it:
// root's password, a database, a user. It fails where the folder cannot be written to.
func NewMySQL(c Config, env func(string) string) (*Server, error) {
	s := newServer(c, mysql{})
	data, err := c.Files.ReadFile(path.Join(c.Dir, usersFile))
	switch {
	case err == nil:
		return s, errors.Join(json.Unmarshal(data, &s.users), s.loadSource())
	case !errors.Is(err, fs.ErrNotExist):
		return s, err
	}
	either := func(name string) string {
		for _, prefix := range []string{"MYSQL_", "MARIADB_"} {
			if value := env(prefix + name); value != "" {
				return value
			}
			if file := env(prefix + name + "_FILE"); file != "" {
				text, _ := c.Files.ReadFile(file) // there is none: the password is empty
				return strings.TrimRight(string(text), "\n")
			}
		}
		return ""
	}
	password := either("ROOT_PASSWORD")
	if either("RANDOM_ROOT_PASSWORD") != "" {
		password = rand.Text()
	}
	s.users = []user{{"root", "%", hashed(password), true}, {"root", "localhost", hashed(password), true}}
	if name := either("USER"); name != "" {
		s.users = append(s.users, user{Name: name, Host: "%", Password: hashed(either("PASSWORD"))})
	}
	for _, name := range []string{"mysql", "performance_schema", "sys", either("DATABASE")} {
		if err := c.Files.MkdirAll(path.Join(c.Dir, name), 0o750); err != nil {
			return s, err
		}
	}
	return s, s.saveUsers()
}

// InitializedMySQL says whether a folder has the files of a server.
func InitializedMySQL(files Files, dir string) bool {
	_, err := files.ReadFile(path.Join(dir, usersFile))
	return err == nil
}

// hashed is what is kept of a password.
func hashed(password string) string {
	if password == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("kubetab " + password))
	return "$A$005$" + hex.EncodeToString(sum[:])
}

func (s *Server) saveUsers() error {
	data, err := json.Marshal(s.users)
	if err != nil {
		return err
	}
	return s.Files.WriteFile(path.Join(s.Dir, usersFile), data, 0o640)
}

// admits looks at the password, and at the database.
func (m mysql) admits(s *Server, in Login) error {
	if err := s.admits(in); err != nil {
		return err
	}
	if in.Database != "" && !m.has(s, in.Database) {
		return unknownDatabase(in.Database)
	}
	return nil
}

func (s *Server) admits(in Login) error {
	host := in.From
	if host == "" {
		host = "localhost"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.users {
		if u.Name == in.User && (u.Host == "%" || u.Host == host || alike(u.Host, host)) && u.Password == hashed(in.Password) {
			return nil
		}
	}
	using := "NO"
	if in.Password != "" {
		using = "YES"
	}
	return refused(1045, "28000", "Access denied for user '%s'@'%s' (using password: %s)", in.User, host, using)
}

// changeUsers is CREATE, ALTER and DROP USER, GRANT, and SET PASSWORD.
func (m mysql) changeUsers(s *Session, t []token) error {
	server := s.server
	server.mu.Lock()
	defer server.mu.Unlock()
	verb := strings.ToUpper(t[0].text)
	begin := 2
	switch {
	case verb == "GRANT":
		to := slices.IndexFunc(t, func(t token) bool { return t.is("TO") })
		if to < 0 {
			return wrongAt(written(t))
		}
		begin = to + 1
	case verb == "SET": // PASSWORD [FOR user] = 'text'
		last := t[len(t)-1]
		if last.is(")") && len(t) > 2 {
			last = t[len(t)-2]
		}
		name := s.user
		if len(t) > 3 && t[2].is("FOR") {
			name = t[3].text
		}
		for i := range server.users {
			if server.users[i].Name == name {
				server.users[i].Password = hashed(last.text)
			}
		}
		return server.saveUsers()
	}
	rest, conditional := after(t[min(begin, len(t)):])
	before := slices.Clone(server.users)
	for len(rest) > 0 && (rest[0].names() || rest[0].kind == text) {
		u := user{Name: rest[0].text, Host: "%"}
		if rest = rest[1:]; len(rest) > 0 && rest[0].kind == variable { // @localhost
			u.Host = strings.TrimPrefix(rest[0].text, "@")
			if rest = rest[1:]; u.Host == "" && len(rest) > 0 {
				u.Host, rest = rest[0].text, rest[1:]
			}
		}
		given := false
		if starts(rest, "IDENTIFIED") {
			at := slices.IndexFunc(rest, func(t token) bool { return t.is("BY") })
			if at < 0 || at+1 >= len(rest) {
				return wrongAt(written(rest))
			}
			u.Password, given = hashed(rest[at+1].text), true
			rest = rest[at+2:]
		}
		if err := server.changeUser(verb, u, given, conditional); err != nil {
			server.users = before
			return err
		}
		if len(rest) == 0 || !rest[0].is(",") {
			break
		}
		rest = rest[1:]
	}
	return server.saveUsers()
}

// changeUser is one of changeUsers. given: a password is.
func (s *Server) changeUser(verb string, u user, given, conditional bool) error {
	at := slices.IndexFunc(s.users, func(one user) bool { return one.Name == u.Name && one.Host == u.Host })
	who := fmt.Sprintf("'%s'@'%s'", u.Name, u.Host)
	switch {
	case verb == "CREATE" && at >= 0 && !conditional:
		return refused(1396, "HY000", "Operation CREATE USER failed for %s", who)
	case verb == "CREATE" && at < 0, verb == "GRANT" && at < 0 && given && strings.HasPrefix(s.Version, "5."):
		s.users = append(s.users, u)
	case verb == "GRANT" && at < 0:
		return refused(1410, "42000", "You are not allowed to create a user with GRANT")
	case at < 0 && !conditional && verb != "CREATE":
		return refused(1396, "HY000", "Operation %s USER failed for %s", verb, who)
	case verb == "DROP" && at >= 0:
		s.users = slices.Delete(s.users, at, at+1)
	case given && at >= 0 && verb != "CREATE":
		s.users[at].Password = u.Password
	}
	return nil
}

// text1 is a function of one text.
func text1(f func(string) string) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		if arg[0].Type() == sqlite3.NULL {
			return
		}
		ctx.ResultText(f(arg[0].Text()))
	}
}

// constant is a function of nothing.
func constant(f func() string) sqlite3.ScalarFunction {
	return func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultText(f()) }
}

// uuid returns a random one, of version 4.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// matched is REGEXP: who matches stands behind the pattern.
func matched(ctx sqlite3.Context, arg ...sqlite3.Value) {
	if arg[0].Type() == sqlite3.NULL || arg[1].Type() == sqlite3.NULL {
		return
	}
	pattern, err := regexp.Compile("(?i)" + arg[0].Text())
	if err != nil {
		ctx.ResultError(err)
		return
	}
	ctx.ResultBool(pattern.MatchString(arg[1].Text()))
}

// sleep is a function that returns 0 after some seconds.
func (s *Session) sleep(ctx sqlite3.Context, arg ...sqlite3.Value) {
	select {
	case <-s.conn.GetInterrupt().Done():
	case <-time.After(time.Duration(min(arg[0].Float(), 3600) * float64(time.Second))):
	}
	ctx.ResultInt(0)
}

func (m mysql) functions(s *Session) error {
	now := func() time.Time { return s.at }
	var errs []error
	for name, f := range map[string]sqlite3.ScalarFunction{
		"now": constant(func() string { return now().Format(stamp) }), "curdate": constant(func() string { return now().Format(time.DateOnly) }),
		"curtime": constant(func() string { return now().Format(time.TimeOnly) }), "version": constant(func() string { return s.server.Version }),
		"uuid": constant(uuid), "user": constant(func() string { return s.user + "@" + map[bool]string{true: "localhost", false: s.from}[s.from == ""] }),
		"current_user": constant(func() string { return s.user + "@%" }),
		"database": func(ctx sqlite3.Context, _ ...sqlite3.Value) {
			if s.database != "" {
				ctx.ResultText(s.database)
			}
		},
		"connection_id":  func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultInt(s.id) },
		"unix_timestamp": func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultInt64(now().Unix()) },
		"rand":           func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultFloat(mathrand.Float64()) },
		"pi":             func(ctx sqlite3.Context, _ ...sqlite3.Value) { ctx.ResultText("3.141593") },
	} {
		errs = append(errs, s.conn.CreateFunction(name, 0, sqlite3.INNOCUOUS, f))
	}
	for name, f := range map[string]sqlite3.ScalarFunction{
		"md5":     text1(func(t string) string { sum := md5.Sum([]byte(t)); return hex.EncodeToString(sum[:]) }),
		"sha1":    text1(func(t string) string { sum := sha1.Sum([]byte(t)); return hex.EncodeToString(sum[:]) }),
		"year":    text1(func(t string) string { return t[:min(4, len(t))] }),
		"reverse": text1(func(t string) string { r := []rune(t); slices.Reverse(r); return string(r) }),
		"sleep":   s.sleep,
		"now":     constant(func() string { return now().Format(stamp) }),
		"floor":   func(ctx sqlite3.Context, arg ...sqlite3.Value) { ctx.ResultInt64(int64(math.Floor(arg[0].Float()))) },
		"ceil":    func(ctx sqlite3.Context, arg ...sqlite3.Value) { ctx.ResultInt64(int64(math.Ceil(arg[0].Float()))) },
	} {
		errs = append(errs, s.conn.CreateFunction(name, 1, sqlite3.INNOCUOUS, f))
	}
	errs = append(errs, s.conn.CreateFunction("regexp", 2, sqlite3.INNOCUOUS|sqlite3.DETERMINISTIC, matched))
	return errors.Join(errs...)
}
