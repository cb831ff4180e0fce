package container

import (
	"context"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/internal/node/database"
)

// postgresBox runs a server in a container, whose superuser has the password "pw".
func postgresBox(t *testing.T, image string) (*box, *database.Server) {
	t.Helper()
	b := run(t, image, "sleep", "100000")
	server, err := database.NewPostgres(database.Config{
		Files: databaseFiles{b.tree()}, Dir: "/var/lib/postgresql/data", Version: b.cfg.Image.version(), Hostname: "box", Now: b.clock.Now, Settings: map[string]string{},
	}, func(name string) string { return map[string]string{"POSTGRES_PASSWORD": "pw"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.serve(&Server{Ports: map[int]Listener{5432: {Database: server}}, stopped: server.Close}))
	return b, server
}

// besides is the network of a container beside which a server of databases is, at db.
type besides struct {
	alone
	server *database.Server
}

func (b besides) Lookup(ctx context.Context, name string) ([]string, string, error) {
	if name == "db" {
		return []string{"10.0.0.5"}, name, nil
	}
	return b.alone.Lookup(ctx, name)
}

func (b besides) Connect(ctx context.Context, host string, port Port) (Listener, error) {
	if (host == "db" || host == "10.0.0.5") && port.Number == 5432 {
		return Listener{Database: b.server}, nil
	}
	return b.alone.Connect(ctx, host, port)
}

// asLines are those of an output. Some end with spaces.
func asLines(all ...string) string { return strings.Join(all, "\n") + "\n" }

// Each line finds what those before it have left.
func TestPsql(t *testing.T) {
	b, _ := postgresBox(t, "postgres:18")
	for _, test := range [][2]string{
		{`psql; echo $?`, "psql: error: connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: FATAL:  role \"root\" does not exist\n2\n"},
		{`psql -U postgres -c 'select 1'`, asLines(
			" ?column? ",
			"----------",
			"        1",
			"(1 row)",
			"",
		)},
		{`psql -U postgres -c "create table users (id serial primary key, name varchar(20) not null, email text unique, active boolean default true, created_at timestamp default now(), age int check (age > 0))"`, "CREATE TABLE\n"},
		{`psql -U postgres -c "create table orders (id serial primary key, user_id int not null references users(id) on delete cascade); create index on orders (user_id)"`, "CREATE TABLE\nCREATE INDEX\n"},
		{`psql -U postgres -c "insert into users (name, email) values ('ann','a@x'),('bob',null)"`, "INSERT 0 2\n"},
		{`psql -U postgres -c "select id, name, email, active from users"`, asLines(
			" id | name | email | active ",
			"----+------+-------+--------",
			"  1 | ann  | a@x   | t",
			"  2 | bob  |       | t",
			"(2 rows)",
			"",
		)},
		{`psql -U postgres -x -c "select id, name, 'a long text that is long' as text from users"`, `-[ RECORD 1 ]------------------
id   | 1
name | ann
text | a long text that is long
-[ RECORD 2 ]------------------
id   | 2
name | bob
text | a long text that is long

`},
		{`psql -U postgres -At -c "select id, name, email from users"`, "1|ann|a@x\n2|bob|\n"},
		{`psql -U postgres -t -c "select count(*) from users"`, " 2\n\n"},
		{`psql -U postgres --csv -c "select 1 as a, 'x,y' as b"`, "a,b\n1,\"x,y\"\n"},
		{`psql -U postgres -c "select * from x;"; echo $?`, `ERROR:  relation "x" does not exist
LINE 1: select * from x;
                      ^
1
`},
		{`psql -U postgres -c "select * from"; echo $?`, `ERROR:  syntax error at end of input
LINE 1: select * from
                     ^
1
`},
		{`psql -U postgres -c '\dt' -c '\d users' -c '\d orders' -c '\d'`, asLines(
			"           List of tables",
			" Schema |  Name  | Type  |  Owner   ",
			"--------+--------+-------+----------",
			" public | orders | table | postgres",
			" public | users  | table | postgres",
			"(2 rows)",
			"",
			"                                        Table \"public.users\"",
			"   Column   |            Type             | Collation | Nullable |              Default              ",
			"------------+-----------------------------+-----------+----------+-----------------------------------",
			" id         | integer                     |           | not null | nextval('users_id_seq'::regclass)",
			" name       | character varying(20)       |           | not null | ",
			" email      | text                        |           |          | ",
			" active     | boolean                     |           |          | true",
			" created_at | timestamp without time zone |           |          | now()",
			" age        | integer                     |           |          | ",
			"Indexes:",
			"    \"users_pkey\" PRIMARY KEY, btree (id)",
			"    \"users_email_key\" UNIQUE CONSTRAINT, btree (email)",
			"Check constraints:",
			"    \"users_age_check\" CHECK (age > 0)",
			"Referenced by:",
			"    TABLE \"orders\" CONSTRAINT \"orders_user_id_fkey\" FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE",
			"",
			"                             Table \"public.orders\"",
			" Column  |  Type   | Collation | Nullable |              Default               ",
			"---------+---------+-----------+----------+------------------------------------",
			" id      | integer |           | not null | nextval('orders_id_seq'::regclass)",
			" user_id | integer |           | not null | ",
			"Indexes:",
			"    \"orders_pkey\" PRIMARY KEY, btree (id)",
			"    \"orders_user_id_idx\" btree (user_id)",
			"Foreign-key constraints:",
			"    \"orders_user_id_fkey\" FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE",
			"",
			"              List of relations",
			" Schema |     Name      |   Type   |  Owner   ",
			"--------+---------------+----------+----------",
			" public | orders        | table    | postgres",
			" public | orders_id_seq | sequence | postgres",
			" public | users         | table    | postgres",
			" public | users_id_seq  | sequence | postgres",
			"(4 rows)",
			"",
		)},
		{`psql -U postgres -c '\di' -c '\d nope'`, asLines(
			"                     List of indexes",
			" Schema |        Name        | Type  |  Owner   | Table  ",
			"--------+--------------------+-------+----------+--------",
			" public | orders_pkey        | index | postgres | orders",
			" public | orders_user_id_idx | index | postgres | orders",
			" public | users_email_key    | index | postgres | users",
			" public | users_pkey         | index | postgres | users",
			"(4 rows)",
			"",
			"Did not find any relation named \"nope\".",
		)},
		{`psql -U postgres -c '\l'`, asLines(
			"                                                    List of databases",
			"   Name    |  Owner   | Encoding | Locale Provider |  Collate   |   Ctype    | Locale | ICU Rules |   Access privileges   ",
			"-----------+----------+----------+-----------------+------------+------------+--------+-----------+-----------------------",
			" postgres  | postgres | UTF8     | libc            | en_US.utf8 | en_US.utf8 |        |           | ",
			" template0 | postgres | UTF8     | libc            | en_US.utf8 | en_US.utf8 |        |           | =c/postgres          +",
			"           |          |          |                 |            |            |        |           | postgres=CTc/postgres",
			" template1 | postgres | UTF8     | libc            | en_US.utf8 | en_US.utf8 |        |           | =c/postgres          +",
			"           |          |          |                 |            |            |        |           | postgres=CTc/postgres",
			"(3 rows)",
			"",
		)},
		{`psql -U postgres -c '\du'`, asLines(
			"                             List of roles",
			" Role name |                         Attributes                         ",
			"-----------+------------------------------------------------------------",
			" postgres  | Superuser, Create role, Create DB, Replication, Bypass RLS",
			"",
		)},
		{`psql -U postgres -c '\dn'`, asLines(
			"      List of schemas",
			"  Name  |       Owner       ",
			"--------+-------------------",
			" public | pg_database_owner",
			"(1 row)",
			"",
		)},
		{`psql -U postgres -qc '\conninfo' -t | grep -v PID`, asLines(
			" Database             | postgres",
			" Client User          | postgres",
			" Socket Directory     | /var/run/postgresql",
			" Server Port          | 5432",
			" Options              | ",
			" Protocol Version     | 3.0",
			" Password Used        | false",
			" GSSAPI Authenticated | false",
			" SSL Connection       | false",
			" Superuser            | on",
			" Hot Standby          | off",
			"",
		)},
		{`psql -U postgres -d nope -c 'select 1'; echo $?`, "psql: error: connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: FATAL:  database \"nope\" does not exist\n2\n"},
		{`psql -p 5433 -U postgres -c 'select 1'; echo $?`, `psql: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5433" failed: No such file or directory
	Is the server running locally and accepting connections on that socket?
2
`},
		{`psql postgresql://postgres:pw@localhost:5432/postgres -c 'select current_user'`, asLines(
			" current_user ",
			"--------------",
			" postgres",
			"(1 row)",
			"",
		)},
		{`printf 'select 1;\nselect nope;\nselect 2;\n' | psql -U postgres -At; echo $?`, `1
ERROR:  column "nope" does not exist
LINE 1: select nope;
               ^
2
0
`},
		{`printf 'select 1;\nselect nope;\nselect 2;\n' > /tmp/f.sql; psql -U postgres -At -v ON_ERROR_STOP=1 -f /tmp/f.sql; echo $?`, `1
psql:/tmp/f.sql:2: ERROR:  column "nope" does not exist
LINE 1: select nope;
               ^
3
`},
		{`psql -U postgres -c 'insert into users (name) values (1); select nope'; psql -U postgres -Atc 'select count(*) from users'`, `INSERT 0 1
ERROR:  column "nope" does not exist
LINE 1: insert into users (name) values (1); select nope
                                                    ^
2
`},
		{`PGUSER=postgres PGDATABASE=postgres psql -c 'select 1 as one, 2.5 as two'`, asLines(
			" one | two ",
			"-----+-----",
			"   1 | 2.5",
			"(1 row)",
			"",
		)},
		{`psql --version`, "psql (PostgreSQL) 18.1\n"},
		{`psql -U postgres -z; echo $?`, `psql: invalid option -- 'z'
psql: hint: Try "psql --help" for more information.
1
`},
		{`psql -U postgres -p x; echo $?`, "psql: error: invalid port number: \"x\"\n2\n"},
		{`psql -U postgres -c "select * from users where name = 'x'"`, asLines(
			" id | name | email | active | created_at | age ",
			"----+------+-------+--------+------------+-----",
			"(0 rows)",
			"",
		)},
		{`psql -U postgres -c "\foo"; echo $?`, "invalid command \\foo\n1\n"},
		{`ls /var/lib/postgresql/data /var/lib/postgresql/data/base`, `/var/lib/postgresql/data:
PG_VERSION
base
global
pg_hba.conf

/var/lib/postgresql/data/base:
postgres.sqlite
template0.sqlite
template1.sqlite
`},
	} {
		if got, _ := b.exec(t, "sh", "-c", test[0]); got != test[1] {
			t.Errorf("%s\n got %s\nwant %s", test[0], got, test[1])
		}
	}
}

// What has changed with PostgreSQL 18 is as it was in an older one.
func TestPsqlOfOlderServers(t *testing.T) {
	b, _ := postgresBox(t, "postgres:16")
	for line, want := range map[string]string{
		`psql -U postgres -c '\dt'`:       "Did not find any relations.\n",
		`psql -U postgres -c '\conninfo'`: "You are connected to database \"postgres\" as user \"postgres\" via socket in \"/var/run/postgresql\" at port \"5432\".\n",
	} {
		if got, _ := b.exec(t, "sh", "-c", line); got != want {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

// A client in another container needs the password.
func TestPsqlFromElsewhere(t *testing.T) {
	_, server := postgresBox(t, "postgres:18")
	b, err := tryRunWith(t, func(c *Config) { c.Network = besides{server: server} }, "postgres:18", "sleep", "100000")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range [][2]string{
		{`psql -h 10.0.0.5 -U postgres -c 'select 1'; echo $?`, "psql: error: connection to server at \"10.0.0.5\", port 5432 failed: fe_sendauth: no password supplied\n2\n"},
		{`PGPASSWORD=no psql -h db -U app`, "psql: error: connection to server at \"db\" (10.0.0.5), port 5432 failed: FATAL:  password authentication failed for user \"app\"\n"},
		{`PGHOST=db PGUSER=postgres PGPASSWORD=pw psql -Atc 'select inet_client_addr()'`, "10.0.0.9\n"},
		{`psql -At postgresql://postgres:pw@db/postgres?sslmode=disable -c 'select 1'`, "1\n"},
		{`psql -At "host=db user=postgres password=pw dbname=postgres" -c 'select 1'`, "1\n"},
		{`psql -h other -c 'select 1'; echo $?`, "psql: error: could not translate host name \"other\" to address: Name or service not known\n2\n"},
		{`psql -h db -p 5433`, "psql: error: connection to server at \"db\" (10.0.0.5), port 5433 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n"},
		{`psql -U postgres`, "psql: error: connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: No such file or directory\n\tIs the server running locally and accepting connections on that socket?\n"},
	} {
		if got, _ := b.exec(t, "sh", "-c", test[0]); got != test[1] {
			t.Errorf("%s\n got %q\nwant %q", test[0], got, test[1])
		}
	}
	c := at(t, b, "psql", "-h", "db", "-U", "postgres")
	c.sees("Password for user postgres: ")
	c.types("pw\r")
	if got := c.sees("postgres=# "); strings.Contains(got, "pw") || !strings.HasSuffix(got, "psql (18.1)\r\nType \"help\" for help.\r\n\r\npostgres=# ") {
		t.Errorf("welcomes with %q", got)
	}
	c.types("\x04")
	if code := <-c.code; code != 0 {
		t.Errorf("ends with %d", code)
	}
}

// Somebody types.
func TestPsqlIsTypedAt(t *testing.T) {
	b, _ := postgresBox(t, "postgres:18")
	c := at(t, b, "psql", "-U", "postgres")
	c.sees("postgres=# ")
	for _, test := range [][2]string{
		{"create table t", "postgres-# "},
		{"(a int,", "postgres(# "},
		{"b text);", "CREATE TABLE\r\npostgres=# "},
		{"insert into t values (1, 'x'), (2, null) returning a;", " a \r\n---\r\n 1\r\n 2\r\n(2 rows)\r\n\r\nINSERT 0 2\r\npostgres=# "},
		{"begin;", "BEGIN\r\npostgres=*# "},
		{"update t set a = 3;", "UPDATE 2\r\npostgres=*# "},
		{"select nope from t;", "ERROR:  column \"nope\" does not exist\r\nLINE 1: select nope from t;\r\n               ^\r\npostgres=!# "},
		{"select 1;", "ERROR:  current transaction is aborted, commands ignored until end of transaction block\r\npostgres=!# "},
		{"commit;", "ROLLBACK\r\npostgres=# "},
		{"select 'it", "postgres'# "},
		{"s'; select 2 as b;", " ?column? \r\n----------\r\n it      +\r\n s\r\n(1 row)\r\n\r\n b \r\n---\r\n 2\r\n(1 row)\r\n\r\npostgres=# "},
		{"select a from t order by a \\gx", "-[ RECORD 1 ]\r\na | 1\r\n-[ RECORD 2 ]\r\na | 2\r\n\r\npostgres=# "},
		{"\\x", "Expanded display is on.\r\npostgres=# "},
		{"\\x", "Expanded display is off.\r\npostgres=# "},
		{"\\timing", "Timing is on.\r\npostgres=# "},
		{"\\timing off", "Timing is off.\r\npostgres=# "},
		{"\\nope", "invalid command \\nope\r\nTry \\? for help.\r\npostgres=# "},
		{"\\c nope", "connection to server on socket \"/var/run/postgresql/.s.PGSQL.5432\" failed: FATAL:  database \"nope\" does not exist\r\nPrevious connection kept\r\npostgres=# "},
		{"create database shop;", "CREATE DATABASE\r\npostgres=# "},
		{"create user ann;", "CREATE ROLE\r\npostgres=# "},
		{"\\c shop ann", "You are now connected to database \"shop\" as user \"ann\".\r\nshop=> "},
		{"\\dt", "Did not find any tables.\r\nshop=> "},
		{"select 1", "shop-> "},
		{"\\r", "Query buffer reset (cleared).\r\nshop=> "},
	} {
		c.types(test[0] + "\r")
		if got := c.sees(test[1]); !strings.HasSuffix(got, test[0]+"\r\n"+test[1]) {
			t.Errorf("%s: %q", test[0], got)
		}
	}
	c.types("select (\r")
	c.sees("shop(> ")
	c.types("\x03")
	c.sees("shop=> ")
	c.types("quit\r")
	if code := <-c.code; code != 0 {
		t.Errorf("ends with %d", code)
	}
}

// The programs that do one thing.
func TestPsqlPrograms(t *testing.T) {
	b, server := postgresBox(t, "postgres:18")
	elsewhere, err := tryRunWith(t, func(c *Config) { c.Network = besides{server: server} }, "postgres:18", "sleep", "100000")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		in         *box
		line, want string
	}{
		{b, "createdb -U postgres shop; psql -U postgres -At shop -c 'select current_database()'", "shop\n"},
		{b, "createdb -U postgres shop; echo $?", "createdb: error: database creation failed: ERROR:  database \"shop\" already exists\n1\n"},
		{b, "dropdb -U postgres shop; dropdb -U postgres shop; dropdb -U postgres --if-exists shop; echo $?", "dropdb: error: database removal failed: ERROR:  database \"shop\" does not exist\n0\n"},
		{b, "createuser -U postgres ann; psql -U ann -d postgres -Atc 'select current_user'", "ann\n"},
		{b, "pg_isready; echo $?", "/var/run/postgresql:5432 - accepting connections\n0\n"},
		{b, "pg_isready -q -p 5433; echo $?", "2\n"},
		{elsewhere, "pg_isready -h db", "db:5432 - accepting connections\n"},
		{elsewhere, "pg_isready -h nowhere -U x; echo $?", "nowhere:5432 - no response\n2\n"},
	} {
		if got, _ := test.in.exec(t, "sh", "-c", test.line); got != test.want {
			t.Errorf("%s\n got %q\nwant %q", test.line, got, test.want)
		}
	}
}
