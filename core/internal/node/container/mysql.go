package container

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubetab/kubetab/core/internal/node/database"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// mysqlOptions are those of a client of MySQL.
type mysqlOptions struct {
	login            database.Login
	host             string
	port             int
	given            bool // a password is
	execute          string
	bare, silent     bool
	table, vertical  bool
	batch, raw       bool
	force            bool
	rest             []string
	databases, whole bool
}

// mysqlFlags parses the arguments. It prints what is wrong with them.
func (k *call) mysqlFlags() (o mysqlOptions, ok bool) {
	o.login.User = "root" // as which everyone is known in these containers
	var args []string
	asks := false
	for i, arg := range k.Args {
		long, isLong := strings.CutPrefix(arg, "--password")
		value, hasValue := strings.CutPrefix(long, "=")
		switch {
		case arg == "--":
			args = append(args, k.Args[i:]...)
		case isLong && (long == "" || hasValue):
			o.login.Password, o.given, asks = value, hasValue, !hasValue
			continue
		case strings.HasPrefix(arg, "-p") && !strings.HasPrefix(arg, "--") && (i == 0 || !slices.Contains([]string{"-u", "-h", "-D", "-e", "-P"}, k.Args[i-1])):
			o.login.Password, o.given, asks = arg[2:], arg != "-p", arg == "-p"
			continue
		}
		args = append(args, arg)
	}
	flags := pflag.NewFlagSet(k.Name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVarP(&o.login.User, "user", "u", o.login.User, "")
	flags.StringVarP(&o.host, "host", "h", k.Env.Get("MYSQL_HOST").String(), "")
	flags.IntVarP(&o.port, "port", "P", 3306, "")
	flags.StringVarP(&o.login.Database, "database", "D", "", "")
	flags.StringVarP(&o.execute, "execute", "e", "", "")
	flags.BoolVarP(&o.bare, "skip-column-names", "N", false, "")
	flags.CountP("silent", "s", "")
	flags.BoolVarP(&o.table, "table", "t", false, "")
	flags.BoolVarP(&o.vertical, "vertical", "E", false, "")
	flags.BoolVarP(&o.batch, "batch", "B", false, "")
	flags.BoolVarP(&o.raw, "raw", "r", false, "")
	flags.BoolVarP(&o.force, "force", "f", false, "")
	flags.BoolVar(&o.whole, "all-databases", false, "")
	flags.BoolVar(&o.databases, "databases", false, "")
	for _, name := range []string{"protocol", "socket", "ssl-mode", "default-character-set", "connect-timeout", "defaults-file", "ssl"} {
		flags.String(name, "", "")
	}
	for _, name := range []string{"no-auto-rehash", "skip-ssl", "single-transaction", "no-tablespaces", "quick", "verbose", "get-server-public-key", "routines", "events", "triggers", "wait"} {
		flags.Bool(name, false, "")
	}
	flags.BoolP("skip-auto-rehash", "A", false, "")
	if err := flags.Parse(args); err != nil {
		return o, k.Fail("[ERROR] %v", err) == 0
	}
	o.silent, o.rest = flags.Changed("silent"), flags.Args()
	if !o.given && !asks {
		o.login.Password = k.Env.Get("MYSQL_PWD").String()
	}
	switch {
	case asks:
		var err error
		if o.login.Password, err = k.secret("Enter password: "); err != nil {
			return o, false
		}
	case o.given && !strings.HasPrefix(k.Name, "mariadb"):
		fmt.Fprintf(k.Stderr, "%s: [Warning] Using a password on the command line interface can be insecure.\n", k.Name)
	}
	return o, true
}

// mysqlDial connects, or prints why it cannot.
func (k *call) mysqlDial(o mysqlOptions) *dialed {
	d, told, err := k.dial(o.host, o.port, o.login)
	problem := ""
	switch {
	case told != nil:
		problem = mysqlError(told, 0)
	case err == nil:
		return d
	case o.host == "" || o.host == "localhost":
		problem = "ERROR 2002 (HY000): Can't connect to local MySQL server through socket '/var/run/mysqld/mysqld.sock' (2)"
	case isUnknownHost(err):
		problem = fmt.Sprintf("ERROR 2005 (HY000): Unknown MySQL server host '%s' (-2)", o.host)
	case isTimeout(err):
		problem = fmt.Sprintf("ERROR 2003 (HY000): Can't connect to MySQL server on '%s:%d' (110)", o.host, o.port)
	default:
		problem = fmt.Sprintf("ERROR 2003 (HY000): Can't connect to MySQL server on '%s:%d' (111)", o.host, o.port)
	}
	switch {
	case strings.HasSuffix(k.Name, "admin"):
		_, reason, _ := strings.Cut(problem, ": ")
		fmt.Fprintf(k.Stderr, "%s: connect to server at '%s' failed\nerror: '%s'\n", k.Name, cmp.Or(o.host, "localhost"), reason)
	case strings.HasSuffix(k.Name, "dump"):
		_, reason, _ := strings.Cut(strings.TrimPrefix(problem, "ERROR "), " ")
		fmt.Fprintf(k.Stderr, "%s: Got error: %s%s when trying to connect\n", k.Name, strings.Fields(problem)[1], strings.TrimPrefix(reason, "("+strings.Trim(strings.Fields(problem)[2], "():")+")"))
	default:
		fmt.Fprintln(k.Stderr, problem)
	}
	return nil
}

// mysqlError is an error as the client prints it. line is that of the script; 0 is none.
func mysqlError(e *database.Error, line int) string {
	at := ""
	if line > 0 {
		at = fmt.Sprintf(" at line %d", line)
	}
	return fmt.Sprintf("ERROR %d (%s)%s: %s", e.Code, e.State, at, e.Message)
}

// mysqlAdmin is mysqladmin: whether the server is there, and a few things about it.
func mysqlAdmin(k *call) int {
	o, ok := k.mysqlFlags()
	if !ok {
		return 1
	}
	if slices.Contains(o.rest, "ping") {
		d, told, err := k.dial(o.host, o.port, o.login)
		switch {
		case told != nil && told.Code == 1045: // it is there all the same
			fmt.Fprintln(k.Stdout, "mysqld is alive")
			return 0
		case told == nil && err == nil:
			d.Close()
			fmt.Fprintln(k.Stdout, "mysqld is alive")
			return 0
		}
	}
	d := k.mysqlDial(o)
	if d == nil {
		return 1
	}
	defer d.Close()
	for i := 0; i < len(o.rest); i++ {
		word, statement, argument := o.rest[i], "", ""
		if takes := word == "create" || word == "drop" || word == "password"; takes && i+1 < len(o.rest) {
			i++
			argument = o.rest[i]
		}
		switch word {
		case "ping": // it has answered
			continue
		case "version":
			fmt.Fprintf(k.Stdout, "%s  Ver %s for Linux on x86_64 (MySQL Community Server - GPL)\n", k.Name, k.session.c.cfg.Image.version())
			continue
		case "create", "drop":
			statement = strings.ToUpper(word) + " DATABASE `" + strings.ReplaceAll(argument, "`", "``") + "`"
		case "password":
			statement = "SET PASSWORD = '" + strings.ReplaceAll(argument, "'", "''") + "'"
		case "processlist":
			statement = "SHOW PROCESSLIST"
		default:
			return k.Fail("Unknown command: '%s'", word)
		}
		r, told := d.run(statement)
		if told != nil {
			return k.Fail("%s failed; error: '%s'", word, told.Message)
		}
		if len(r.Columns) > 0 {
			fmt.Fprint(k.Stdout, mysqlTable(r))
		}
	}
	return 0
}

// mysqlClient runs the statements of its arguments, of its input, or those that are typed.
func mysqlClient(k *call) int {
	if len(k.Args) == 1 && (k.Args[0] == "--version" || k.Args[0] == "-V") {
		fmt.Fprintf(k.Stdout, "%s  Ver %s for Linux on x86_64 (MySQL Community Server - GPL)\n", k.Name, k.session.c.cfg.Image.version())
		return 0
	}
	o, ok := k.mysqlFlags()
	if !ok {
		return 1
	}
	if len(o.rest) > 0 {
		o.login.Database = o.rest[0]
	}
	_, typed := k.Stdin.(*terminal.Input)
	shown := k.session.tty != nil && k.Stdout == io.Writer(k.session.stdout)
	d := k.mysqlDial(o)
	if d == nil {
		return 1
	}
	defer d.Close()
	m := &mysqlMonitor{call: k, o: o, d: d, database: o.login.Database}
	m.table = o.table || shown && !o.batch && !o.silent
	switch {
	case o.execute != "":
		return m.script(o.execute)
	case typed && shown && !o.batch:
		return m.talk()
	}
	script, err := coreutils.ReadAll(k.Stdin)
	if err != nil {
		return k.Fail("%v", err)
	}
	return m.script(string(script))
}

// mysqlMonitor is a client that is connected.
type mysqlMonitor struct {
	*call
	o        mysqlOptions
	d        *dialed
	table    bool // results are drawn
	talks    bool // somebody types
	database string
}

// script runs statements until one fails.
func (m *mysqlMonitor) script(text string) int {
	statements, rest := database.Split(database.MySQL, useLines(text))
	if strings.TrimSpace(rest) != "" {
		statements = append(statements, database.Statement{Text: strings.TrimSpace(rest), Line: 1 + strings.Count(text[:max(0, len(text)-len(rest))], "\n")})
	}
	code := 0
	for _, one := range statements {
		if m.run(one) {
			continue
		}
		if code = 1; !m.o.force {
			break
		}
	}
	return code
}

// useLines ends lines such as "use test", which need no semicolon.
func useLines(script string) string {
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		if words := strings.Fields(line); len(words) == 2 && strings.EqualFold(words[0], "use") && !strings.HasSuffix(words[1], ";") {
			lines[i] = line + ";"
		}
	}
	return strings.Join(lines, "\n")
}

// run runs a statement and prints its result. It reports whether it has worked.
func (m *mysqlMonitor) run(s database.Statement) bool {
	clock := m.session.c.cfg.Clock
	began := clock.Now()
	r, told := m.d.run(s.Text)
	if told != nil && m.Err() == nil { // who has been ended says nothing
		line := s.Line
		if m.talks {
			line = 0
		}
		fmt.Fprintln(m.Stderr, mysqlError(told, line))
		if m.talks {
			fmt.Fprintln(m.Stderr)
		}
	}
	if told != nil {
		return false
	}
	took := fmt.Sprintf(" (%.2f sec)", clock.Now().Sub(began).Seconds())
	changed := r.Database != m.database
	m.database = r.Database
	switch {
	case len(r.Columns) > 0 && (m.o.vertical || s.End == `\G`):
		fmt.Fprint(m.Stdout, mysqlVertical(r))
	case len(r.Columns) > 0 && m.table:
		if len(r.Rows) > 0 {
			fmt.Fprint(m.Stdout, mysqlTable(r))
		}
	case len(r.Columns) > 0:
		m.plain(r)
	}
	if !m.talks || r.Hidden {
		return true
	}
	verb := strings.ToUpper(strings.Fields(s.Text)[0])
	switch {
	case verb == "USE" && !changed, changed && verb == "USE":
		fmt.Fprintln(m.Stdout, "Database changed")
		return true
	case len(r.Columns) > 0 && len(r.Rows) == 0:
		fmt.Fprintf(m.Stdout, "Empty set%s\n\n", took)
	case len(r.Columns) > 0:
		fmt.Fprintf(m.Stdout, "%s in set%s\n\n", count(int64(len(r.Rows)), "row"), took)
	default:
		fmt.Fprintf(m.Stdout, "Query OK, %s affected%s\n", count(r.Affected, "row"), took)
		switch {
		case verb == "UPDATE":
			fmt.Fprintf(m.Stdout, "Rows matched: %d  Changed: %d  Warnings: 0\n", r.Matched, r.Affected)
		case verb == "INSERT" && r.Affected > 1:
			fmt.Fprintf(m.Stdout, "Records: %d  Duplicates: 0  Warnings: 0\n", r.Affected)
		}
		fmt.Fprintln(m.Stdout)
	}
	return true
}

const mysqlWelcome = `Welcome to the %s monitor.  Commands end with ; or \g.
Your MySQL connection id is %d
Server version: %s

Copyright (c) 2000, 2026, Oracle and/or its affiliates.

Oracle is a registered trademark of Oracle Corporation and/or its
affiliates. Other names may be trademarks of their respective
owners.

Type 'help;' or '\h' for help. Type '\c' to clear the current input statement.

`

// talk runs what is typed.
func (m *mysqlMonitor) talk() int {
	m.talks = true
	maria := strings.HasPrefix(m.Name, "mariadb") || strings.Contains(m.session.c.cfg.Image.Name, "mariadb")
	name, version, prompt := "MySQL", m.d.Server().Version+" MySQL Community Server - GPL", func() string { return "mysql> " }
	if maria {
		name, version = "MariaDB", m.d.Server().Version+"-MariaDB mariadb.org binary distribution"
		prompt = func() string { return "MariaDB [" + cmp.Or(m.database, "(none)") + "]> " }
	}
	fmt.Fprintf(m.Stdout, mysqlWelcome, name, m.d.ID(), version)
	read := m.reader()
	text := ""
	for {
		ask := prompt()
		if text != "" {
			ask = strings.Repeat(" ", len(ask)-3) + "-> "
		}
		line, err := read(ask)
		switch {
		case errors.Is(err, terminal.ErrInterrupted):
			text = ""
			continue
		case err != nil:
			fmt.Fprintln(m.Stdout, "Bye")
			return 0
		}
		if strings.HasSuffix(strings.TrimSpace(line), `\c`) {
			text = ""
			fmt.Fprintln(m.Stdout)
			continue
		}
		if done, quits := m.command(text, line); quits {
			fmt.Fprintln(m.Stdout, "Bye")
			return 0
		} else if done {
			continue
		}
		statements, rest := database.Split(database.MySQL, useLines(text+line+"\n"))
		for _, one := range statements {
			m.run(one)
		}
		text = rest
	}
}

// command runs a line that is a command of the client's own: the statement before it has not begun.
func (m *mysqlMonitor) command(before, line string) (done, quits bool) {
	words := strings.Fields(strings.TrimRight(strings.TrimSpace(line), ";"))
	if len(words) == 0 || before != "" {
		return len(words) == 0 && before == "" && !strings.Contains(line, ";"), false
	}
	switch strings.ToLower(words[0]) {
	case "quit", "exit", `\q`:
		return true, len(words) == 1
	case "help", `\h`, "?", `\?`:
		fmt.Fprint(m.Stdout, "\nList of all client commands:\nclear     (\\c) Clear the current input statement.\nexit      (\\q) Exit. Same as quit.\nhelp      (\\h) Display this help.\nsource    (\\.) Execute an SQL script file. Takes a file name as an argument.\nstatus    (\\s) Get status information from the server.\nuse       (\\u) Use another database. Takes database name as argument.\n\n")
		return true, false
	case "status", `\s`:
		fmt.Fprintf(m.Stdout, "--------------\n%s  Ver %s for Linux on x86_64\n\nConnection id:\t\t%d\nCurrent database:\t%s\nCurrent user:\t\t%s\nServer version:\t\t%s\n--------------\n\n", m.Name, m.d.Server().Version, m.d.ID(), m.database, m.o.login.User, m.d.Server().Version)
		return true, false
	case "source", `\.`:
		if len(words) < 2 {
			return true, false
		}
		script, err := m.Files.ReadFile(m.Path(words[1]))
		if err != nil {
			fmt.Fprintf(m.Stderr, "ERROR: \nFailed to open file '%s', error: 2\n", words[1])
			return true, false
		}
		m.script(string(script))
		return true, false
	}
	return false, false
}
