package container

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubetab/kubetab/core/internal/node/database"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// psqlWork is what psql is told to run: a command or a file.
type psqlWork struct {
	text string
	file bool
}

// psqlWorks are options that psql does in the order in which they stand.
type psqlWorks struct {
	all  *[]psqlWork
	file bool
}

func (w psqlWorks) String() string { return "" }
func (w psqlWorks) Type() string   { return "string" }
func (w psqlWorks) Set(text string) error {
	*w.all = append(*w.all, psqlWork{text, w.file})
	return nil
}

// psqlOptions are those of clients of PostgreSQL.
type psqlOptions struct {
	login                 database.Login
	host                  string
	port                  int
	work                  []psqlWork
	rest                  []string
	tuples, bare, csv     bool
	quiet, expanded, list bool
	never, always, oneTx  bool
	separator             string
	variables             []string
	exists, superior      bool // options of programs other than psql
}

// osUser is the name of the user that runs the program.
func (k *call) osUser() string {
	if u := k.session.c.cfg.User; !u.isRoot() {
		return k.session.c.tree().userName(u.UID)
	}
	return "root"
}

// psqlFlags parses the arguments, with the variables that stand for options. It prints what is wrong with them, and returns what psql
// exits with then.
func (k *call) psqlFlags() (o psqlOptions, code int) {
	env := func(name string) string { return k.Env.Get(name).String() }
	flags := pflag.NewFlagSet(k.Name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVarP(&o.host, "host", "h", env("PGHOST"), "")
	port := flags.StringP("port", "p", cmp.Or(env("PGPORT"), "5432"), "")
	flags.StringVarP(&o.login.User, "username", "U", env("PGUSER"), "")
	flags.StringVarP(&o.login.Database, "dbname", "d", env("PGDATABASE"), "")
	flags.BoolVarP(&o.never, "no-password", "w", false, "")
	flags.BoolVarP(&o.always, "password", "W", false, "")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "")
	flags.BoolP("echo", "e", false, "")
	if k.Name == "psql" {
		flags.VarP(psqlWorks{&o.work, false}, "command", "c", "")
		flags.VarP(psqlWorks{&o.work, true}, "file", "f", "")
		flags.BoolVarP(&o.tuples, "tuples-only", "t", false, "")
		flags.BoolVarP(&o.bare, "no-align", "A", false, "")
		flags.BoolVar(&o.csv, "csv", false, "")
		flags.BoolVarP(&o.expanded, "expanded", "x", false, "")
		flags.BoolP("no-psqlrc", "X", false, "")
		flags.BoolVarP(&o.list, "list", "l", false, "")
		flags.BoolVarP(&o.oneTx, "single-transaction", "1", false, "")
		flags.StringVarP(&o.separator, "field-separator", "F", "|", "")
		flags.StringArrayVarP(&o.variables, "variable", "v", nil, "")
		flags.StringArrayVar(&o.variables, "set", nil, "")
	} else {
		flags.BoolVar(&o.exists, "if-exists", false, "")
		flags.BoolVarP(&o.superior, "superuser", "s", false, "")
		flags.StringP("owner", "O", "", "")
		flags.StringP("encoding", "E", "", "")
		flags.StringP("timeout", "t", "", "")
	}
	if err := flags.Parse(k.Args); err != nil {
		fmt.Fprintf(k.Stderr, "%s: %s\n%s: hint: Try \"%s --help\" for more information.\n", k.Name, optionError(err), k.Name, k.Name)
		return o, 1
	}
	o.rest = flags.Args()
	words := o.rest
	for _, to := range []struct {
		name  string
		value *string
	}{{"dbname", &o.login.Database}, {"username", &o.login.User}} {
		if k.Name == "psql" && len(words) > 0 && !flags.Changed(to.name) {
			*to.value, words = words[0], words[1:]
		}
	}
	o.login.Password = env("PGPASSWORD")
	if err := o.connection(o.login.Database, port); err != nil {
		fmt.Fprintf(k.Stderr, "%s: error: %v\n", k.Name, err)
		return o, 2
	}
	n, err := strconv.Atoi(*port)
	if err != nil || n < 1 || n > 65535 {
		fmt.Fprintf(k.Stderr, "%s: error: invalid port number: \"%s\"\n", k.Name, *port)
		return o, 2
	}
	if strings.HasPrefix(o.host, "/") {
		o.host = ""
	}
	o.port, o.login.User = n, cmp.Or(o.login.User, k.osUser())
	return o, 0
}

// optionError is what getopt says of an option.
func optionError(err error) string {
	text := err.Error()
	if letter, ok := strings.CutPrefix(text, "unknown shorthand flag: "); ok && len(letter) > 2 {
		return "invalid option -- " + letter[:3]
	}
	if name, ok := strings.CutPrefix(text, "unknown flag: "); ok {
		return "unrecognized option '" + name + "'"
	}
	return text
}

// connection takes the name of a database apart that is a URI, or keywords with values.
func (o *psqlOptions) connection(name string, port *string) error {
	set := func(key, value string) {
		switch key {
		case "host", "hostaddr":
			o.host = value
		case "port":
			*port = value
		case "user":
			o.login.User = value
		case "password":
			o.login.Password = value
		case "dbname":
			o.login.Database = value
		}
	}
	switch {
	case strings.HasPrefix(name, "postgresql://"), strings.HasPrefix(name, "postgres://"):
		u, err := url.Parse(name)
		if err != nil {
			return fmt.Errorf("invalid URI: \"%s\"", name)
		}
		o.login.Database = strings.TrimPrefix(u.Path, "/")
		if u.Hostname() != "" {
			o.host = u.Hostname()
		}
		if u.Port() != "" {
			*port = u.Port()
		}
		if u.User != nil {
			o.login.User = u.User.Username()
			if password, ok := u.User.Password(); ok {
				o.login.Password = password
			}
		}
		for key, values := range u.Query() {
			set(key, values[0])
		}
	case strings.Contains(name, "="):
		o.login.Database = ""
		for _, word := range strings.Fields(name) {
			key, value, ok := strings.Cut(word, "=")
			if !ok {
				return fmt.Errorf("missing \"=\" after \"%s\" in connection info string", word)
			}
			set(key, strings.Trim(value, "'"))
		}
	}
	return nil
}

// at is where a client is told that the server is.
func (k *call) postgresAt(o psqlOptions) string {
	if o.host == "" {
		return fmt.Sprintf("on socket \"%s/.s.PGSQL.%d\"", socketDir, o.port)
	}
	address := ""
	if net.ParseIP(o.host) == nil {
		if o.host == "localhost" {
			address = " (127.0.0.1)"
		} else if all, _, err := k.session.c.cfg.Network.Lookup(k, o.host); err == nil && len(all) > 0 {
			address = " (" + all[0] + ")"
		}
	}
	return fmt.Sprintf("at \"%s\"%s, port %d", o.host, address, o.port)
}

// reason is why a client is not connected.
func (k *call) reason(o psqlOptions, told *database.Error, err error) string {
	failed := "connection to server " + k.postgresAt(o) + " failed: "
	switch {
	case told != nil && told.Message == noPassword:
		return failed + told.Message
	case told != nil:
		return failed + "FATAL:  " + told.Message
	case isUnknownHost(err):
		return fmt.Sprintf("could not translate host name \"%s\" to address: Name or service not known", o.host)
	case o.host == "":
		return failed + "No such file or directory\n\tIs the server running locally and accepting connections on that socket?"
	}
	why := "Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?"
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		why = "Connection timed out\n\tIs the server running on that host and accepting TCP/IP connections?"
	}
	return failed + why
}

// psqlDial connects, and asks for a password if one is needed and somebody is there to type it. Otherwise it says why not.
func (k *call) psqlDial(o *psqlOptions) (*dialed, string) {
	_, typed := k.Stdin.(*terminal.Input)
	typed = typed && k.session.tty != nil
	ask := func() (err error) {
		o.login.Password, err = k.secret("Password for user " + o.login.User + ": ")
		return err
	}
	if o.always && typed {
		if err := ask(); err != nil {
			return nil, ""
		}
	}
	for {
		d, told, err := k.dial(o.host, o.port, o.login)
		switch {
		case told == nil && err == nil:
			return d, ""
		case told != nil && told.Message == noPassword && typed && !o.never && !o.always && o.login.Password == "":
			if err := ask(); err != nil {
				return nil, ""
			}
			if o.login.Password != "" {
				continue
			}
		}
		return nil, k.reason(*o, told, err)
	}
}
