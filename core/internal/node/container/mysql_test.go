package container

import (
	"strings"
	"testing"
)

// mysqlBox runs a server with root's password "pw" and the database shop.
func mysqlBox(t *testing.T, image string, change func(*Config)) *box {
	t.Helper()
	b, err := tryRunWith(t, func(c *Config) {
		c.Env = append(c.Env, "MYSQL_ROOT_PASSWORD=pw", "MYSQL_DATABASE=shop")
		change(c)
	}, image)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const insecure = "mysql: [Warning] Using a password on the command line interface can be insecure.\n"

func TestMySQLClient(t *testing.T) {
	b := mysqlBox(t, "mysql:8.4", func(*Config) {})
	for _, test := range [][2]string{
		{`mysql -ppw <<EOF
CREATE DATABASE test;
CREATE TABLE test.messages (message VARCHAR(250), n INT);
INSERT INTO test.messages VALUES ('hello', 1), ("a	b", NULL);
EOF`, insecure},
		{`mysql -u root -ppw -e "SELECT * FROM test.messages"`, insecure + "message\tn\nhello\t1\na\\tb\tNULL\n"},
		{`MYSQL_PWD=pw mysql -h 127.0.0.1 -P 3306 test -Ne 'select message from messages limit 1'`, "hello\n"},
		{`MYSQL_PWD=pw mysql -t -D test -e 'select message, n from messages limit 1; select 1 where 0'`, "+---------+------+\n| message | n    |\n+---------+------+\n| hello   |    1 |\n+---------+------+\n"},
		{`export MYSQL_PWD=pw; echo 'use test
select n from messages limit 1\G' | mysql`, "*************************** 1. row ***************************\nn: 1\n"},
		{`mysql; echo $?`, "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: NO)\n1\n"},
		{`mysql --user=root --password=no; echo $?`, insecure + "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)\n1\n"},
		{`MYSQL_PWD=pw mysql none`, "ERROR 1049 (42000): Unknown database 'none'\n"},
		{`printf 'select 1;\n\nselect none;\nselect 2;' | MYSQL_PWD=pw mysql; echo $?`, "1\n1\nERROR 1054 (42S22) at line 3: Unknown column 'none' in 'field list'\n1\n"},
		{`MYSQL_PWD=pw mysql -f -Ne 'select none; select 2'`, "ERROR 1054 (42S22) at line 1: Unknown column 'none' in 'field list'\n2\n"},
		{`mysql -P 3307 -h 127.0.0.1 -ppw`, insecure + "ERROR 2003 (HY000): Can't connect to MySQL server on '127.0.0.1:3307' (111)\n"},
		{`mysqladmin -ppw ping; mysqladmin ping`, strings.Replace(insecure, "mysql:", "mysqladmin:", 1) + "mysqld is alive\nmysqld is alive\n"},
		{`export MYSQL_PWD=pw; mysqladmin create new; mysqladmin create new; mysqladmin drop new; mysqladmin no`, "mysqladmin: create failed; error: 'Can't create database 'new'; database exists'\nmysqladmin: Unknown command: 'no'\n"},
		{`ls /var/lib/mysql /var/lib/mysql/test`, "/var/lib/mysql:\nmysql\nperformance_schema\nshop\nsys\ntest\n\n/var/lib/mysql/test:\ntables.sqlite\n"},
		{`MYSQL_PWD=pw mysqldump test > /tmp/dump && MYSQL_PWD=pw mysql shop < /tmp/dump && MYSQL_PWD=pw mysql shop -Ne 'select * from messages'`, "hello\t1\na\\tb\tNULL\n"},
		{`MYSQL_PWD=pw mysqldump none; echo $?`, "-- MySQL dump  Distrib 8.4.0, for Linux (x86_64)\n--\n-- Host: localhost    Database: none\n-- ------------------------------------------------------\nmysqldump: Got error: 1049: Unknown database 'none' when selecting the database\n2\n"},
		{`mv /usr/bin/mysql /usr/bin/mysql.off; mysql -e 'select 1'; echo $?`, "sh: mysql: not found\n127\n"},
	} {
		if got, _ := b.exec(t, "sh", "-c", test[0]); got != test[1] {
			t.Errorf("%s\n got %q\nwant %q", test[0], got, test[1])
		}
	}
	if got, code := b.exec(t, "mysql", "-e", "select 1"); code == 0 {
		t.Errorf("a client that has been moved away says %q", got)
	}
}

// Somebody types at the client of a server.
func TestMySQLMonitor(t *testing.T) {
	b := mysqlBox(t, "mysql:8.4", func(*Config) {})
	c := at(t, b, "mysql", "-p")
	c.sees("Enter password: ")
	c.types("pw\r")
	if got := c.sees("mysql> "); strings.Contains(got, "pw") || !strings.Contains(got, "Your MySQL connection id is 1\r\nServer version: 8.4.0 MySQL Community Server - GPL\r\n") {
		t.Errorf("welcomes with %q", got)
	}
	for _, test := range [][2]string{
		{"use shop", "Database changed\r\nmysql> "},
		{"create table t", "    -> "},
		{"(a int);", "Query OK, 0 rows affected (0.00 sec)\r\n\r\nmysql> "},
		{"insert into t values (1), (2);", "Query OK, 2 rows affected (0.00 sec)\r\nRecords: 2  Duplicates: 0  Warnings: 0\r\n\r\nmysql> "},
		{"select * from t; select * from t where a > 2;", "+------+\r\n| a    |\r\n+------+\r\n|    1 |\r\n|    2 |\r\n+------+\r\n2 rows in set (0.00 sec)\r\n\r\nEmpty set (0.00 sec)\r\n\r\nmysql> "},
		{"update t set a = 3 where a = 1;", "Query OK, 1 row affected (0.00 sec)\r\nRows matched: 1  Changed: 1  Warnings: 0\r\n\r\nmysql> "},
		{"select * from none;", "ERROR 1146 (42S02): Table 'shop.none' doesn't exist\r\n\r\nmysql> "},
		{"select 'it", "    -> "},
		{"\x03", "^C\r\nmysql> "},
		{"", "mysql> "},
	} {
		c.types(test[0] + "\r")
		if strings.HasPrefix(test[0], "\x03") {
			c.sees("mysql> ")
			continue
		}
		if got := c.sees(test[1]); !strings.HasSuffix(got, test[0]+"\r\n"+test[1]) {
			t.Errorf("%s: %q", test[0], got)
		}
	}
	c.types("exit\r")
	if got := c.sees("Bye\r\n"); got == "" || <-c.code != 0 {
		t.Errorf("leaves with %q", got)
	}
}
