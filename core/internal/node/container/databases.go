package container

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/core/internal/node/database"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// databaseFiles are those of a container as a server of databases wants them.
type databaseFiles struct{ *Tree }

// databaseFile is an open one.
type databaseFile struct{ *Handle }

func (f databaseFiles) OpenFile(name string, create bool) (database.File, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	h, err := f.Open(name, flag, 0o640)
	if err != nil {
		return nil, err
	}
	return databaseFile{h}, nil
}

func (f databaseFile) ReadAt(b []byte, at int64) (int, error) {
	f.at = int(at)
	n := 0
	for n < len(b) {
		some, err := f.Read(b[n:])
		if n += some; err != nil {
			return n, err
		}
	}
	return n, nil
}

func (f databaseFile) WriteAt(b []byte, at int64) (int, error) {
	f.at = int(at)
	n, err := f.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

func (f databaseFile) Size() int64 {
	f.tree.disk.mu.RLock()
	defer f.tree.disk.mu.RUnlock()
	return int64(f.file.data.size)
}

// dialed is a connection of a client to a server of databases.
type dialed struct {
	*database.Session
	ctx context.Context
}

// dial connects to a server of databases. The first error is what the server says; the second is that there is none.
func (k *call) dial(host string, port int, in database.Login) (*dialed, *database.Error, error) {
	local := host == "" || host == "localhost" || host == "127.0.0.1"
	l, ok := k.session.c.root().Listening(Port{Number: port})
	if !local || !ok {
		in.From = k.session.c.cfg.IP
		if _, _, err := k.session.c.cfg.Network.Lookup(k, host); err != nil && !local && net.ParseIP(host) == nil {
			return nil, nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		var err error
		if l, err = k.session.c.cfg.Network.Connect(k, cmp.Or(strings.Replace(host, "localhost", "127.0.0.1", 1), "127.0.0.1"), Port{Number: port}); err != nil {
			return nil, nil, err
		}
	}
	if l.Database == nil {
		return nil, nil, errors.New("it speaks another protocol")
	}
	session, err := l.Database.Connect(in)
	var told *database.Error
	if errors.As(err, &told) {
		return nil, told, nil
	}
	return &dialed{session, k}, nil, nil
}

// run runs a statement.
func (d *dialed) run(statement string) (*database.Result, *database.Error) {
	result, err := d.Run(d.ctx, statement)
	var told *database.Error
	errors.As(err, &told)
	return result, told
}

// isUnknownHost says whether a name is nobody's.
func isUnknownHost(err error) bool {
	var unknown *net.DNSError
	return errors.As(err, &unknown)
}

// anyEnv says whether one of these variables is set.
func anyEnv(env []string, prefix string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return lookupEnv(env, prefix+name) != "" })
}

// mysqlServer starts a server of MySQL, or says why it cannot. One without files is to be told a password, as the image has it.
func (c *Container) mysqlServer(args, env []string) *Server {
	settings := c.mysqlSettings(args)
	config := c.databaseConfig(settings, cmp.Or(strings.TrimRight(settings["datadir"], "/"), mysqlDir))
	if !database.InitializedMySQL(config.Files, config.Dir) && !anyEnv(env, "MYSQL_", "ROOT_PASSWORD", "ROOT_PASSWORD_FILE", "ALLOW_EMPTY_PASSWORD", "RANDOM_ROOT_PASSWORD") &&
		!anyEnv(env, "MARIADB_", "ROOT_PASSWORD", "ROOT_PASSWORD_FILE", "ALLOW_EMPTY_ROOT_PASSWORD", "RANDOM_ROOT_PASSWORD") {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{c.stamp("2006-01-02 15:04:05+00:00") + " [ERROR] [Entrypoint]: Database is uninitialized and password option is not specified", "    You need to specify one of the following as an environment variable:", "    - MYSQL_ROOT_PASSWORD", "    - MYSQL_ALLOW_EMPTY_PASSWORD", "    - MYSQL_RANDOM_ROOT_PASSWORD"}}
	}
	server, err := database.NewMySQL(config, func(name string) string { return lookupEnv(env, name) })
	at := c.stamp("2006-01-02T15:04:05.000000Z")
	port := 3306
	if n, err := strconv.Atoi(settings["port"]); err == nil {
		port = n
	}
	if err != nil {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{at + " 0 [ERROR] [MY-010187] [Server] Could not open the data directory: " + err.Error(), at + " 0 [ERROR] [MY-010119] [Server] Aborting"}}
	}
	return &Server{
		Errors: true, Ports: map[int]Listener{port: {Database: server}}, stopped: server.Close,
		Lines: []string{at + " 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '" + config.Version + "'  socket: '/var/run/mysqld/mysqld.sock'  port: " + strconv.Itoa(port) + "  MySQL Community Server - GPL."},
	}
}

func (c *Container) databaseConfig(settings map[string]string, dir string) database.Config {
	return database.Config{
		Files: databaseFiles{c.tree()}, Dir: dir, Version: c.cfg.Image.version(), Hostname: c.cfg.Hostname, Address: c.cfg.IP, Now: c.cfg.Clock.Now, Settings: settings, Dial: c.dialDatabase,
	}
}

// postgresMoved is what the image says from version 18 on where something is mounted at the folder of earlier ones.
const postgresMoved = `Error: in 18+, these Docker images are configured to store database data in a
       format which is compatible with "pg_ctlcluster" (specifically, using
       major-version-specific directory names).

       Counter to that, there appears to be PostgreSQL data in:
         /var/lib/postgresql/data (unused mount/volume)

       The suggested container configuration for 18+ is to place a single mount
       at /var/lib/postgresql.`

// postgresServer starts a server of PostgreSQL, or says why it cannot. One without files is to be told a password, as the image has it.
func (c *Container) postgresServer(args, env []string) *Server {
	settings := map[string]string{}
	for i, arg := range args {
		if option, ok := strings.CutPrefix(arg, "--"); ok {
			setting(settings, option)
		} else if arg == "-c" && i+1 < len(args) {
			setting(settings, args[i+1])
		}
	}
	version := c.cfg.Image.version()
	major, _, _ := strings.Cut(version, ".")
	dir := cmp.Or(lookupEnv(env, "PGDATA"), "/var/lib/postgresql/data")
	if n, err := strconv.Atoi(major); err == nil && n >= 18 && lookupEnv(env, "PGDATA") == "" {
		if _, err := c.tree().Stat(dir, true); err == nil {
			return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: strings.Split(postgresMoved, "\n")}
		}
		dir = "/var/lib/postgresql/" + major + "/docker"
	}
	config := c.databaseConfig(settings, strings.TrimRight(dir, "/"))
	if !database.Initialized(config.Files, config.Dir) && !anyEnv(env, "POSTGRES_", "PASSWORD", "PASSWORD_FILE") && lookupEnv(env, "POSTGRES_HOST_AUTH_METHOD") != "trust" {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{"Error: Database is uninitialized and superuser password is not specified.", "       You must specify POSTGRES_PASSWORD to a non-empty value for the", "       superuser. For example, \"-e POSTGRES_PASSWORD=password\" on \"docker run\"."}}
	}
	server, err := database.NewPostgres(config, func(name string) string { return lookupEnv(env, name) })
	at := c.stamp("2006-01-02 15:04:05.000 UTC")
	if err != nil {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{at + " [1] FATAL:  could not open the data directory: " + err.Error()}}
	}
	return &Server{
		Errors: true, Ports: map[int]Listener{5432: {Database: server}}, stopped: server.Close,
		Lines: []string{at + " [1] LOG:  starting PostgreSQL " + version + " on x86_64-pc-linux-gnu", at + " [1] LOG:  database system is ready to accept connections"},
	}
}

// dialDatabase connects a server to another, which it copies.
func (c *Container) dialDatabase(ctx context.Context, host string, port int) (*database.Server, error) {
	l, err := c.cfg.Network.Connect(ctx, host, Port{Number: port})
	if err == nil && l.Database == nil {
		err = errors.New("it speaks another protocol")
	}
	return l.Database, err
}

// mysqlSettings are what the section mysqld of the server's files says, and its command line.
func (c *Container) mysqlSettings(args []string) map[string]string {
	all := map[string]string{}
	names := []string{"/etc/my.cnf", "/etc/mysql/my.cnf"}
	for _, dir := range []string{"/etc/mysql/conf.d", "/etc/mysql/mysql.conf.d"} {
		entries, _ := c.tree().ReadDir(dir) // none if it is not there
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".cnf") {
				names = append(names, dir+"/"+e.Name())
			}
		}
	}
	for _, name := range names {
		data, _ := c.tree().ReadFile(name) // the same
		section := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				section = strings.Trim(line, "[]")
			} else if line != "" && section == "mysqld" && !strings.HasPrefix(line, "#") {
				setting(all, line)
			}
		}
	}
	for _, arg := range args {
		if option, ok := strings.CutPrefix(arg, "--"); ok {
			setting(all, option)
		}
	}
	return all
}

// setting keeps name=value.
func setting(all map[string]string, line string) {
	name, value, ok := strings.Cut(line, "=")
	if value = strings.Trim(strings.TrimSpace(value), `"'`); !ok {
		value = "ON"
	}
	all[strings.ReplaceAll(strings.TrimSpace(name), "-", "_")] = value
}

// reader returns what shows a prompt and reads a line that is typed, which can be edited. The errors are those of terminal.Editor.
func (k *call) reader() func(prompt string) (string, error) {
	tty := k.session.tty
	editor := &terminal.Editor{TTY: tty}
	return func(prompt string) (string, error) {
		before, raw := tty.Foreground(nil), tty.Raw(true) // in a line, ^C is a key
		line, err := editor.ReadLine(k, prompt)
		tty.Foreground(before)
		tty.Raw(raw)
		if n := len(editor.History); err == nil && strings.TrimSpace(line) != "" && (n == 0 || editor.History[n-1] != line) {
			editor.History = append(editor.History[max(0, n-mostHistory):], line)
		}
		return line, err
	}
}

// secret reads a line that is not shown. It fails where nobody types, or ^C is.
func (k *call) secret(prompt string) (string, error) {
	in, typed := k.Stdin.(*terminal.Input)
	if !typed || k.session.tty == nil {
		line, err := coreutils.ReadLine(bufio.NewReader(k.Stdin), '\n')
		return strings.TrimRight(line, "\r\n"), err
	}
	tty := k.session.tty
	defer tty.Raw(tty.Raw(true))
	fmt.Fprint(k.Stdout, prompt)
	var line []byte
	one := make([]byte, 1)
	for {
		if n, err := in.Read(one); n == 0 || err != nil {
			return "", cmp.Or(err, io.EOF)
		}
		switch c := one[0]; {
		case c == '\r' || c == '\n':
			fmt.Fprint(k.Stdout, "\r\n")
			return string(line), nil
		case c == 3 || c == 4:
			fmt.Fprint(k.Stdout, "\r\n")
			return "", terminal.ErrInterrupted
		case (c == 8 || c == 127) && len(line) > 0:
			line = line[:len(line)-1]
		case c >= ' ':
			line = append(line, c)
		}
	}
}
