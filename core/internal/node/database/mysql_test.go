package database

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/vfs"
)

// mysqlOn starts a server on files.
func mysqlOn(t *testing.T, files *osFiles, env map[string]string, settings map[string]string) *Server {
	t.Helper()
	if settings == nil {
		settings = map[string]string{}
	}
	now := func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	s, err := NewMySQL(Config{Files: files, Dir: "/var/lib/mysql", Version: "8.4.7", Hostname: "mysql-0", Now: now, Settings: settings}, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func connected(t *testing.T, s *Server, in Login) *Session {
	t.Helper()
	session, err := s.Connect(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

// rowsOf are the names of a result's columns, if it has any, and its rows, each with | between its texts.
func rowsOf(r *Result) (lines []string) {
	if r.Columns != nil {
		var names []string
		for _, c := range r.Columns {
			names = append(names, c.Name)
		}
		lines = append(lines, strings.Join(names, "|"))
	}
	for _, row := range r.Rows {
		var all []string
		for _, cell := range row {
			if cell == nil {
				all = append(all, "NULL")
			} else {
				all = append(all, *cell)
			}
		}
		lines = append(lines, strings.Join(all, "|"))
	}
	return lines
}

// answer runs a statement, and returns its rows, how many rows it has changed, or its error.
func answer(s *Session, statement string) string {
	r, err := s.Run(context.Background(), statement)
	var told *Error
	switch {
	case errors.As(err, &told):
		return fmt.Sprintf("%d %s %s", told.Code, told.State, told.Message)
	case err != nil:
		return err.Error()
	case len(r.Columns) == 0:
		return fmt.Sprint(r.Affected)
	}
	return strings.Join(rowsOf(r), "\n")
}

func TestMySQLStatements(t *testing.T) {
	s := connected(t, mysqlOn(t, newFiles(t), map[string]string{"MYSQL_ROOT_PASSWORD": "x", "MYSQL_DATABASE": "shop"}, map[string]string{"server_id": "100"}), Login{User: "root", Password: "x"})
	for _, test := range mysqlStatements {
		if got := answer(s, test[0]); got != test[1] {
			t.Errorf("%s\n got %q\nwant %q", test[0], got, test[1])
		}
	}
}

// FuzzMySQL runs statements, of which none may do more than fail.
func FuzzMySQL(f *testing.F) {
	for _, test := range mysqlStatements {
		f.Add(test[0])
	}
	f.Fuzz(func(t *testing.T, statement string) {
		s := connected(t, mysqlOn(t, newFiles(t), map[string]string{"MYSQL_DATABASE": "shop"}, nil), Login{User: "root", Database: "shop"})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = s.Run(ctx, "CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(5))")
		if _, err := s.Run(ctx, statement); err != nil && !errors.As(err, new(*Error)) {
			t.Errorf("%q: %v", statement, err)
		}
		all, rest := Split(MySQL, statement)
		if len(all) == 0 && rest == "" && len(tokens(statement, true)) > 0 && strings.Trim(statement, "; \n") != "" && !strings.ContainsAny(statement, ";\\") {
			t.Errorf("%q splits into nothing", statement)
		}
	})
}

// mysqlStatements are run one after the other, and their results.
var mysqlStatements = [][2]string{
	{"SHOW DATABASES", "Database\ninformation_schema\nmysql\nperformance_schema\nshop\nsys"},
	{"CREATE TABLE x (a INT)", "1046 3D000 No database selected"},
	{"SELECT * FROM x", "1046 3D000 No database selected"},
	{"USE none", "1049 42000 Unknown database 'none'"},
	{"CREATE DATABASE test", "1"},
	{"CREATE DATABASE test", "1007 HY000 Can't create database 'test'; database exists"},
	{"CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4", "1"},
	{"CREATE DATABASE `../x`", "1102 42000 Incorrect database name '../x'"},
	{"CREATE TABLE test.messages (message VARCHAR(250))", "0"},
	{"INSERT INTO test.messages VALUES ('hello')", "1"},
	{"SELECT * FROM test.messages", "message\nhello"},
	{"SELECT @@server_id,NOW()", "@@server_id|NOW()\n100|2026-11-30 12:00:00"},
	{"SELECT * FROM nodb.messages", "1049 42000 Unknown database 'nodb'"},
	{"SELECT * FROM test.none", "1146 42S02 Table 'test.none' doesn't exist"},
	{"USE shop", "0"},
	{"SELECT DATABASE(), USER(), VERSION(), \"hello\", 1+1 AS two", "DATABASE()|USER()|VERSION()|hello|two\nshop|root@localhost|8.4.7|hello|2"},
	{"SELECT 1", "1\n1"},
	{"CREATE TABLE `items` (\n  `id` INT(11) UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'the \"key\"', -- counts\n  `name` VARCHAR(5) CHARACTER SET utf8 NOT NULL,\n  price DECIMAL(10,2) DEFAULT '1.50', kind ENUM('a', 'b') DEFAULT 'a', n INT,\n  made TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,\n  PRIMARY KEY (`id`), UNIQUE KEY `u` (`name`), KEY k (n)\n) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4", "0"},
	{"CREATE TABLE items (a INT)", "1050 42S01 Table 'items' already exists"},
	{"INSERT INTO items (name, n) VALUES ('one', 1), (\"it\\'s\", 2)", "2"},
	{"SELECT id, name, price, kind, made FROM items", "id|name|price|kind|made\n1|one|1.50|a|2026-11-30 12:00:00\n2|it's|1.50|a|2026-11-30 12:00:00"},
	{"SELECT LAST_INSERT_ID()", "LAST_INSERT_ID()\n2"},
	{"INSERT INTO items (name) VALUES ('ONE')", "1062 23000 Duplicate entry for key 'items.name'"},
	{"INSERT IGNORE INTO items (name) VALUES ('ONE')", "0"},
	{"INSERT INTO items (name, n) VALUES ('one', 5) ON DUPLICATE KEY UPDATE n = VALUES(n)", "1"},
	{"SELECT n FROM items WHERE name = 'One' && n <=> 5", "n\n5"},
	{"INSERT INTO items (name) VALUES ('toolong')", "1406 22001 Data too long for column 'name' at row 1"},
	{"INSERT INTO items (name, n) VALUES ('x', 'y')", "1366 HY000 Incorrect integer value for column 'n' at row 1"},
	{"INSERT INTO items (name, kind) VALUES ('x', 'c')", "1265 01000 Data truncated for column 'kind' at row 1"},
	{"INSERT INTO items (name) VALUES (NULL)", "1048 23000 Column 'name' cannot be null"},
	{"INSERT INTO items (n) VALUES (3)", "1364 HY000 Field 'name' doesn't have a default value"},
	{"INSERT INTO items VALUES (1)", "1136 21S01 Column count doesn't match value count at row 1"},
	{"SELECT none FROM items", "1054 42S22 Unknown column 'none' in 'field list'"},
	{"SELECT none(1)", "1305 42000 FUNCTION shop.none does not exist"},
	{"SELEC 1", "1064 42000 You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'SELEC 1' at line 1"},
	{"SELECT * FORM items", "1064 42000 You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'FORM items' at line 1"},
	{"SELECT 'x", "1064 42000 You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near ''x' at line 1"},
	{"UPDATE items SET n = n + 1 WHERE n > 1", "2"},
	{"SELECT COUNT(*), MAX(n) FROM items", "COUNT(*)|MAX(n)\n2|6"},
	{"SHOW TABLES", "Tables_in_shop\nitems"},
	{"SHOW TABLES FROM test LIKE 'mess%'", "Tables_in_test (mess%)\nmessages"},
	{"DESCRIBE items", "Field|Type|Null|Key|Default|Extra\nid|int|NO|PRI|NULL|auto_increment\nname|varchar(5)|NO|UNI|NULL|\nprice|decimal(10,2)|YES||1.50|\nkind|text|YES||a|\nn|int|YES||NULL|\nmade|timestamp|YES||CURRENT_TIMESTAMP|DEFAULT_GENERATED"},
	{"DESC none", "1146 42S02 Table 'shop.none' doesn't exist"},
	{"SHOW CREATE TABLE test.messages", "Table|Create Table\nmessages|CREATE TABLE `messages` (\n  `message` varchar(250) DEFAULT NULL\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"},
	{"SHOW VARIABLES LIKE 'server_id'", "Variable_name|Value\nserver_id|100"},
	{"BEGIN", "0"},
	{"DELETE FROM items", "2"},
	{"ROLLBACK", "0"},
	{"SELECT i.name, m.message FROM items i JOIN test.messages m ON i.id = 1", "name|message\none|hello"},
	{"ALTER TABLE items ADD COLUMN extra TEXT", "0"},
	{"TRUNCATE TABLE items", "0"},
	{"SELECT COUNT(*) FROM items", "COUNT(*)\n0"},
	{"CREATE TABLE child (id INT PRIMARY KEY, item INT, FOREIGN KEY (item) REFERENCES items(id))", "0"},
	{"INSERT INTO child VALUES (1, 9)", "1452 23000 Cannot add or update a child row: a foreign key constraint fails"},
	{"DROP TABLE child", "0"},
	{"DROP TABLE none", "1051 42S02 Unknown table 'shop.none'"},
	{"DROP DATABASE shop", "0"},
	{"SHOW TABLES", "1046 3D000 No database selected"},
	{"CREATE USER 'app'@'%' IDENTIFIED BY 'secret'", "0"},
	{"CREATE USER 'app'@'%' IDENTIFIED BY 'secret'", "1396 HY000 Operation CREATE USER failed for 'app'@'%'"},
	{"GRANT ALL PRIVILEGES ON test.* TO 'app'@'%'", "0"},
	{"GRANT ALL ON *.* TO 'other'@'%'", "1410 42000 You are not allowed to create a user with GRANT"},
	{"SELECT User, Host FROM mysql.user ORDER BY User, Host", "User|Host\napp|%\nroot|%\nroot|localhost"},
	// What would leave the server's files, or do something else than it says.
	{"ATTACH 'file:/etc/passwd?vfs=os' AS x", "1064 42000 You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'ATTACH 'file:/etc/passwd?vfs=os' AS x' at line 1"},
	{"PRAGMA journal_mode", "1064 42000 You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'PRAGMA journal_mode' at line 1"},
	{"SELECT * FROM pragma_database_list", "1235 0A000 this server is simulated: it has no such statement"},
	{"SELECT eval('DROP TABLE messages')", "1305 42000 FUNCTION eval does not exist"},
	{"CREATE PROCEDURE p() SELECT 1", "1235 0A000 this server is simulated: it has no CREATE"},
	{"SET @x = 1", "1235 0A000 this server is simulated: it has no variables"},
	{"SELECT hex(zeroblob(100000000))", "1041 HY000 Out of memory; check if mysqld or some other process uses all available memory"},
}

// What has been committed is there when a server begins on the same files, with the password of the first one.
func TestMySQLKeepsWhatIsOnItsVolume(t *testing.T) {
	files := newFiles(t)
	first := mysqlOn(t, files, map[string]string{"MYSQL_ROOT_PASSWORD": "old", "MYSQL_DATABASE": "d", "MYSQL_USER": "u", "MYSQL_PASSWORD": "p"}, nil)
	s := connected(t, first, Login{User: "u", Password: "p", Database: "d", From: "10.0.0.1"})
	for _, statement := range []string{"CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "BEGIN", "INSERT INTO t VALUES (2)"} {
		if got := answer(s, statement); got != "0" && got != "1" {
			t.Fatalf("%s: %s", statement, got)
		}
	}
	first.Close()
	if got := answer(s, "SELECT 1"); !strings.HasPrefix(got, "2013 ") {
		t.Errorf("the server has ended: %s", got)
	}
	second := mysqlOn(t, files, map[string]string{"MYSQL_ROOT_PASSWORD": "new"}, nil)
	for _, in := range []struct {
		Login
		want string
	}{
		{Login{User: "root", Password: "new"}, "Access denied for user 'root'@'localhost' (using password: YES)"},
		{Login{User: "root", From: "10.0.0.1"}, "Access denied for user 'root'@'10.0.0.1' (using password: NO)"},
		{Login{User: "nobody", Password: "old"}, "Access denied for user 'nobody'@'localhost' (using password: YES)"},
		{Login{User: "root", Password: "old", Database: "e"}, "Unknown database 'e'"},
	} {
		if _, err := second.Connect(in.Login); err == nil || err.Error() != in.want {
			t.Errorf("%+v: %v, want %s", in.Login, err, in.want)
		}
	}
	if got := answer(connected(t, second, Login{User: "root", Password: "old", Database: "d"}), "SELECT * FROM t"); got != "a\n1" {
		t.Errorf("after a restart: %q", got)
	}
}

// Two sessions see each other's changes when they are committed, and one waits for the other.
func TestMySQLTransactionsOfTwo(t *testing.T) {
	server := mysqlOn(t, newFiles(t), map[string]string{"MYSQL_DATABASE": "d"}, nil)
	a, b := connected(t, server, Login{User: "root", Database: "d"}), connected(t, server, Login{User: "root", Database: "d"})
	run := func(s *Session, statement, want string) {
		t.Helper()
		if got := answer(s, statement); got != want {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
	run(a, "CREATE TABLE t (a INT)", "0")
	run(a, "START TRANSACTION", "0")
	run(a, "INSERT INTO t VALUES (1)", "1")
	run(b, "SELECT * FROM t", "a")
	done := make(chan string)
	go func() { done <- answer(b, "INSERT INTO t VALUES (2)") }()
	select {
	case got := <-done:
		t.Fatalf("it did not wait: %s", got)
	case <-time.After(5 * betweenTries):
	}
	run(a, "COMMIT", "0")
	if got := <-done; got != "1" {
		t.Errorf("after it has waited: %s", got)
	}
	run(a, "SELECT * FROM t", "a\n1\n2")
}

// It is the same time for all rows of a statement and, in PostgreSQL, for all statements of a transaction.
func TestTimeOfAStatement(t *testing.T) {
	moment := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	c := Config{Files: newFiles(t), Dir: "/data", Version: "8.4.7", Settings: map[string]string{}, Now: func() time.Time {
		moment = moment.Add(time.Second)
		return moment
	}}
	m, err := NewMySQL(c, func(name string) string { return map[string]string{"MYSQL_DATABASE": "d"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	c.Files = newFiles(t)
	p, err := NewPostgres(c, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	for _, test := range []struct {
		s     *Session
		times string // of the statements
	}{{connected(t, m, Login{User: "root", Database: "d"}), "3"}, {connected(t, p, Login{User: "postgres"}), "2"}} {
		for _, statement := range []string{"CREATE TABLE t (a INT, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)", "INSERT INTO t (a) VALUES (1), (2)", "BEGIN", "INSERT INTO t (a) VALUES (3)", "INSERT INTO t (a) VALUES (4)", "COMMIT"} {
			if _, err := test.s.Run(context.Background(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		if got := answer(test.s, "SELECT COUNT(DISTINCT at) AS n FROM t"); got != "n\n"+test.times {
			t.Errorf("%T: %q", test.s.server.dialect, got)
		}
	}
}

// A statement that does not end gives way, and ends with its context.
func TestMySQLEndlessStatement(t *testing.T) {
	s := connected(t, mysqlOn(t, newFiles(t), nil, nil), Login{User: "root"})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Run(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n")
	if err == nil || err.Error() != "Query execution was interrupted" {
		t.Errorf("it ends with %v", err)
	}
	if got := answer(s, "SELECT 1"); got != "1\n1" {
		t.Errorf("afterwards: %q", got)
	}
	done := make(chan string)
	go func() {
		done <- answer(s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n")
	}()
	s.server.Close()
	if got := <-done; !strings.HasPrefix(got, "1317 ") && !strings.HasPrefix(got, "2013 ") {
		t.Errorf("its server has ended: %q", got)
	}
}

// A disk without room refuses a change, and keeps what is there.
func TestMySQLWithoutRoom(t *testing.T) {
	files := newFiles(t)
	s := connected(t, mysqlOn(t, files, map[string]string{"MYSQL_DATABASE": "d"}, nil), Login{User: "root", Database: "d"})
	for _, statement := range []string{"CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('kept')"} {
		answer(s, statement)
	}
	files.room = 64 << 10
	if got := answer(s, "INSERT INTO t VALUES ('"+strings.Repeat("x", 200_000)+"')"); !strings.HasPrefix(got, "1021 HY000 Disk full (/var/lib/mysql/d)") {
		t.Errorf("without room: %q", got)
	}
	if got := answer(s, "SELECT * FROM t"); got != "a\nkept" {
		t.Errorf("afterwards: %q", got)
	}
}

// A statement has so much memory, and no more.
func TestMySQLMemory(t *testing.T) {
	s := connected(t, mysqlOn(t, newFiles(t), nil, nil), Login{User: "root"})
	const rows = "WITH RECURSIVE n(i, t) AS (SELECT 1, hex(zeroblob(500000)) UNION SELECT i + 1, t FROM n WHERE i < %d) SELECT COUNT(*) FROM n"
	if got := answer(s, fmt.Sprintf(rows, 3)); got != "COUNT(*)\n3" {
		t.Errorf("3 MB: %q", got)
	}
	if got := answer(s, fmt.Sprintf(rows, 2*mostMemory/1_000_000)); !strings.HasPrefix(got, "1041 HY000 Out of memory") {
		t.Errorf("twice as much as there is: %q", got)
	}
	for _, statement := range []string{"CREATE DATABASE d", "USE d", "CREATE TABLE t (a TEXT)", "BEGIN", "INSERT INTO t VALUES ('undone')"} {
		answer(s, statement)
	}
	if got := answer(s, fmt.Sprintf(rows, 2*mostMemory/1_000_000)); !strings.HasPrefix(got, "1041 HY000 Out of memory") {
		t.Errorf("in a transaction: %q", got)
	}
	other := connected(t, s.server, Login{User: "root", Database: "d"}) // which would wait for a lock that is still held
	if got := answer(other, "INSERT INTO t VALUES ('kept')"); got != "1" {
		t.Errorf("afterwards, in another session: %q", got)
	}
	if got := answer(s, "SELECT * FROM t"); got != "a\nkept" {
		t.Errorf("afterwards: %q", got)
	}
}

// A file is not copied while somebody writes to it, and not written anew while somebody reads it.
func TestStill(t *testing.T) {
	d := &disk{files: newFiles(t), locks: map[string]*lock{}}
	opened, _, err := d.Open("/f", vfs.OPEN_MAIN_DB|vfs.OPEN_CREATE|vfs.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		level       vfs.LockLevel
		read, write bool
	}{{vfs.LOCK_NONE, true, true}, {vfs.LOCK_SHARED, true, false}, {vfs.LOCK_RESERVED, true, false}, {vfs.LOCK_EXCLUSIVE, false, false}} {
		if err := opened.Lock(step.level); err != nil {
			t.Fatal(err)
		}
		for alone, want := range map[bool]bool{false: step.read, true: step.write} {
			ran := false
			done, err := d.still("/f", alone, func() error { ran = true; return nil })
			if done != want || ran != want || err != nil {
				t.Errorf("locked at %v, alone %v: %v, %v, want %v", step.level, alone, done, err, want)
			}
		}
	}
	if err := opened.Close(); err != nil || len(d.locks) != 0 {
		t.Errorf("closed: %v, %d locks", err, len(d.locks))
	}
}

// Where the folder cannot be written to, no server begins; and one that is told to be read-only takes no changes.
func TestMySQLThatTakesNoChanges(t *testing.T) {
	files := newFiles(t)
	if err := files.WriteFile("/var", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewMySQL(Config{Files: files, Dir: filepath.Join("/var", "lib")}, func(string) string { return "" }); err == nil {
		t.Error("a server without a folder begins")
	}
	s := connected(t, mysqlOn(t, newFiles(t), nil, map[string]string{"super_read_only": "ON"}), Login{User: "root"})
	if got := answer(s, "CREATE DATABASE x"); got != "1290 HY000 The MySQL server is running with the --super-read-only option so it cannot execute this statement" {
		t.Errorf("a change: %q", got)
	}
}

func TestSplit(t *testing.T) {
	script := "SELECT ';'; -- a ; comment\nSELECT `a;b`\\G\n\n/* x; */ INSERT INTO t VALUES ('it''s; \\'');\nUPDATE t"
	all, rest := Split(MySQL, script)
	want := []Statement{{"SELECT ';'", ";", 1}, {"-- a ; comment\nSELECT `a;b`", `\G`, 1}, {"/* x; */ INSERT INTO t VALUES ('it''s; \\'')", ";", 4}}
	if fmt.Sprint(all) != fmt.Sprint(want) || rest != "\nUPDATE t" {
		t.Errorf("splits into %v and %q", all, rest)
	}
}

// A replica shows what its source has, keeps it while the source is away, and takes no changes where it is told so.
func TestMySQLReplica(t *testing.T) {
	primary := mysqlOn(t, newFiles(t), map[string]string{"MYSQL_ALLOW_EMPTY_PASSWORD": "1"}, nil)
	there := connected(t, primary, Login{User: "root"})
	files := newFiles(t)
	replica := mysqlOn(t, files, nil, map[string]string{"super_read_only": "ON"})
	away := false
	dial := func(_ context.Context, host string, port int) (*Server, error) {
		if away || host != "mysql-0.mysql" || port != 3306 {
			return nil, errors.New("connection refused")
		}
		return primary, nil
	}
	replica.Dial = dial
	here := connected(t, replica, Login{User: "root"})
	run := func(s *Session, statement, want string) {
		t.Helper()
		if got := answer(s, statement); got != want {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
	run(here, "START SLAVE", "1200 HY000 The server is not configured as replica; fix in config file or with CHANGE REPLICATION SOURCE TO")
	run(here, "CHANGE MASTER TO MASTER_LOG_FILE='mysql-bin.000003', MASTER_LOG_POS=154, MASTER_HOST='mysql-0.mysql', MASTER_USER='root', MASTER_PASSWORD='', MASTER_CONNECT_RETRY=10", "0")
	run(here, "START SLAVE", "0")
	for _, statement := range []string{"CREATE DATABASE test", "CREATE TABLE test.messages (message VARCHAR(250))", "INSERT INTO test.messages VALUES ('hello')"} {
		answer(there, statement)
	}
	run(here, "SELECT * FROM test.messages", "message\nhello")
	run(there, "INSERT INTO test.messages VALUES ('again')", "1")
	run(here, "SELECT COUNT(*) FROM test.messages", "COUNT(*)\n2")
	run(here, "USE test", "0")
	run(there, "INSERT INTO test.messages VALUES ('third')", "1")
	run(here, "SELECT COUNT(*) FROM messages", "COUNT(*)\n3")
	run(here, "INSERT INTO messages VALUES ('no')", "1290 HY000 The MySQL server is running with the --super-read-only option so it cannot execute this statement")
	away = true
	run(here, "SELECT COUNT(*) FROM messages", "COUNT(*)\n3")
	if got := answer(here, "SHOW SLAVE STATUS"); !strings.Contains(got, "|Connecting|Yes|NULL|error connecting to master 'root@mysql-0.mysql:3306'") {
		t.Errorf("its source is away: %q", got)
	}
	replica.Close()
	again := mysqlOn(t, files, nil, nil)
	again.Dial, away = dial, false
	run(there, "DROP DATABASE test", "0")
	run(connected(t, again, Login{User: "root"}), "SHOW DATABASES", "Database\ninformation_schema\nmysql\nperformance_schema\nsys")
}
