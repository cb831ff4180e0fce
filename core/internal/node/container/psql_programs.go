package container

import (
	"cmp"
	"fmt"
	"strings"
)

// administer runs a statement in the database postgres, for programs that do one thing.
func (k *call) administer(o psqlOptions, prefix, statement string) int {
	o.login.Database = "postgres"
	d, why := k.psqlDial(&o)
	if d == nil {
		fmt.Fprintln(k.Stderr, k.Name+": error: "+why)
		return 1
	}
	defer d.Close()
	if _, told := d.run(statement); told != nil {
		fmt.Fprintf(k.Stderr, "%s: error: %s: ERROR:  %s\n", k.Name, prefix, told.Message)
		if told.Detail != "" {
			fmt.Fprintln(k.Stderr, "DETAIL:  "+told.Detail)
		}
		return 1
	}
	return 0
}

// createDB is createdb.
func createDB(k *call) int {
	o, code := k.psqlFlags()
	if code != 0 {
		return 1
	}
	name := cmp.Or(o.login.Database, o.login.User)
	if len(o.rest) > 0 {
		name = o.rest[0]
	}
	return k.administer(o, "database creation failed", "CREATE DATABASE "+sqlName(name))
}

// dropDB is dropdb.
func dropDB(k *call) int {
	o, code := k.psqlFlags()
	if code != 0 {
		return 1
	}
	if len(o.rest) == 0 {
		fmt.Fprintf(k.Stderr, "%s: error: missing required argument database name\n%s: hint: Try \"%s --help\" for more information.\n", k.Name, k.Name, k.Name)
		return 1
	}
	exists := ""
	if o.exists {
		exists = "IF EXISTS "
	}
	return k.administer(o, "database removal failed", "DROP DATABASE "+exists+sqlName(o.rest[0]))
}

// createUser is createuser.
func createUser(k *call) int {
	o, code := k.psqlFlags()
	if code != 0 {
		return 1
	}
	name := o.login.User
	if len(o.rest) > 0 {
		name = o.rest[0]
	}
	how := " LOGIN"
	if o.superior {
		how += " SUPERUSER"
	}
	return k.administer(o, "creation of new role failed", "CREATE ROLE "+sqlName(name)+how)
}

// pgIsReady is pg_isready. It needs no role and no password.
func pgIsReady(k *call) int {
	o, code := k.psqlFlags()
	if code != 0 {
		return 3
	}
	where := fmt.Sprintf("%s:%d", cmp.Or(o.host, socketDir), o.port)
	d, told, err := k.dial(o.host, o.port, o.login)
	if d != nil {
		d.Close()
	}
	answer := "accepting connections"
	switch {
	case err != nil:
		answer, code = "no response", 2
	case told != nil && strings.HasPrefix(told.State, "57"):
		answer, code = "rejecting connections", 1
	}
	if !o.quiet {
		fmt.Fprintln(k.Stdout, where+" - "+answer)
	}
	return code
}
