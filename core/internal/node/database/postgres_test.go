package database

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// newPostgres returns a server on files, started with variables as NAME=value.
func newPostgres(t *testing.T, files Files, env ...string) *Server {
	t.Helper()
	s, err := NewPostgres(Config{Files: files, Dir: "/data", Version: "18.1", Hostname: "box", Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC) }, Settings: map[string]string{}}, func(name string) string {
		for _, one := range env {
			if value, ok := strings.CutPrefix(one, name+"="); ok {
				return value
			}
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// replied is the result of a statement in a line: its columns, its rows, its tag; or its error.
func replied(s *Session, statement string) string {
	r, err := s.Run(context.Background(), statement)
	var told *Error
	if errors.As(err, &told) {
		text := told.State + " " + told.Message
		if told.Near != "" {
			text += " [" + told.Near + "]"
		}
		return text
	}
	return strings.Join(append(rowsOf(r), r.Tag), "; ")
}

// Each statement finds what those before it have left.
func TestPostgresStatements(t *testing.T) {
	c := connected(t, newPostgres(t, newFiles(t), "POSTGRES_PASSWORD=secret"), Login{User: "postgres"})
	for _, test := range []struct{ statement, want string }{
		// What it is called, and what it is.
		{"SELECT 1, 'a' AS b, now(), version()", "?column?|b|now|version; 1|a|2026-01-02 03:04:05.000006+00|PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc (Debian 14.2.0-19) 14.2.0, 64-bit; SELECT 1"},
		{"select count(*), max(1)+1, 'x'::text, '5'::int, true, 1=1, not true, cast('7' as integer), current_user, current_timestamp, pg_is_in_recovery()", "count|?column?|text|int4|?column?|?column?|?column?|int4|current_user|current_timestamp|pg_is_in_recovery; 1|2|x|5|t|t|f|7|postgres|2026-01-02 03:04:05.000006+00|f; SELECT 1"},
		{"select coalesce(null, 2), greatest(1,null,3), case when true then 1 end, (select max(1)), exists (select 1)", "coalesce|greatest|case|max|exists; 2|3|1|1|t; SELECT 1"},
		{"select date '2024-01-01', '2024-01-01'::date, now()::date, 'it''s', E'a\\\\nb', 'a' || 1", "date|date|now|?column?|?column?|?column?; 2024-01-01|2024-01-01|2026-01-02|it's|a\\nb|a1; SELECT 1"},
		{"select md5('a'), upper('a'), length('abc'), substring('abcdef', 2, 3), left('abc', -1), split_part('a,b', ',', 2), initcap('hello world')", "md5|upper|length|substring|left|split_part|initcap; 0cc175b9c0f1b6a831c399e269772661|A|3|bcd|ab|b|Hello World; SELECT 1"},
		{`select -5::int, (1+2)::text, 3 + '4'::int, 10/3, '{"a":1}'::json->>'a'`, "?column?|text|?column?|?column?|?column?; -5|3|7|3|1; SELECT 1"},
		{"select current_database(), current_schema(), session_user, user", "current_database|current_schema|session_user|user; postgres|public|postgres|postgres; SELECT 1"},
		{"SELECT generate_series(1,3)", "generate_series; 1; 2; 3; SELECT 3"},
		{"select i, i*2 as d from generate_series(1,2) as i", "i|d; 1|2; 2|4; SELECT 2"},
		{"select g.n from generate_series(1,2) g(n)", "n; 1; 2; SELECT 2"},
		{"select * from (values (1,'a'),(2,'b')) as v(id, name) where id = 1", "id|name; 1|a; SELECT 1"},
		{"with recursive r(n) as (select 1 union all select n+1 from r where n < 5) select sum(n) from r", "sum; 15; SELECT 1"},
		{"values (1,'a'),(2,'b')", "column1|column2; 1|a; 2|b; SELECT 2"},
		{"SHOW server_version", "server_version; 18.1; SHOW"},
		{"SHOW nope", `42704 unrecognized configuration parameter "nope"`},
		{"SET work_mem = '8MB'", "SET"},
		{"SHOW work_mem", "work_mem; 8MB; SHOW"},
		{"SET nope = 1", `42704 unrecognized configuration parameter "nope"`},
		{"SET max_connections = 5", `55P02 parameter "max_connections" cannot be changed without restarting the server`},
		// Tables.
		{"create table Users (id serial primary key, name varchar(5) not null, email text unique, active boolean default true, created_at timestamp default now(), price numeric(10,2), age integer check (age > 0), at timestamptz default current_timestamp)", "CREATE TABLE"},
		{"insert into users (name, email, price, age) values ('ann', 'a@x', 9.5, 3), ('bob', 'b@x', 10, 4) returning id, name", "id|name; 1|ann; 2|bob; INSERT 0 2"},
		{"SELECT * FROM public.users", "id|name|email|active|created_at|price|age|at; 1|ann|a@x|t|2026-01-02 03:04:05.000006|9.50|3|2026-01-02 03:04:05.000006+00; 2|bob|b@x|t|2026-01-02 03:04:05.000006|10.00|4|2026-01-02 03:04:05.000006+00; SELECT 2"},
		{"INSERT INTO users (name) VALUES ('toolong')", "22001 value too long for type character varying(5)"},
		{"INSERT INTO users (name, age) VALUES ('x', 'abc')", `22P02 invalid input syntax for type integer: "abc"`},
		{"INSERT INTO users (name, age) VALUES ('x', 3000000000)", "22003 integer out of range"},
		{"INSERT INTO users (name, at) VALUES ('x', 'never')", `22007 invalid input syntax for type timestamp with time zone: "never"`},
		{"INSERT INTO users (name, age) VALUES ('x', -1)", `23514 new row for relation "users" violates check constraint "users_age_check"`},
		{"INSERT INTO users (name, email) VALUES ('x', 'a@x')", `23505 duplicate key value violates unique constraint "users_email_key"`},
		{"INSERT INTO users (id, name) VALUES (1, 'x')", `23505 duplicate key value violates unique constraint "users_pkey"`},
		{"INSERT INTO users (email) VALUES ('q')", `23502 null value in column "name" of relation "users" violates not-null constraint`},
		{"INSERT INTO users (name, email) VALUES ('x')", "42601 INSERT has more target columns than expressions [email) VALUES ('x')]"},
		{"INSERT INTO users (name) VALUES ('x', 'y')", "42601 INSERT has more expressions than target columns ['y')]"},
		{"INSERT INTO users (nope) VALUES ('x')", `42703 column "nope" of relation "users" does not exist [nope) VALUES ('x')]`},
		{"INSERT INTO users (name, email) VALUES ('y', 'a@x') ON CONFLICT (email) DO UPDATE SET name = excluded.name", "INSERT 0 1"},
		{"INSERT INTO users (name, email) VALUES ('y', 'a@x') ON CONFLICT DO NOTHING", "INSERT 0 0"},
		{"INSERT INTO users VALUES (DEFAULT, 'def'), (DEFAULT, 'ddd', DEFAULT, false)", "42601 VALUES lists must all be the same length"},
		{"INSERT INTO users VALUES (DEFAULT, 'def', DEFAULT, true), (DEFAULT, 'ddd', DEFAULT, false)", "INSERT 0 2"},
		{"UPDATE users SET active = false WHERE name = 'bob'", "UPDATE 1"},
		{"UPDATE users SET active = DEFAULT WHERE name = 'ddd' RETURNING name, active", "name|active; ddd|t; UPDATE 1"},
		{"select name, active, active and true as both from users where active order by id", "name|active|both; y|t|t; def|t|t; ddd|t|t; SELECT 3"},
		{"select name from users u where u.active = 'f' or name = 't' or active <> 'true'", "name; bob; SELECT 1"},
		{"INSERT INTO users (name, active) VALUES ('x', 'yes')", "0A000 this server is simulated: it has no text for a boolean, write TRUE or FALSE"},
		{"INSERT INTO users (name, active) VALUES ('x', 'maybe')", `22P02 invalid input syntax for type boolean: "maybe"`},
		{"select name from users where name ilike 'B%' or name ~ '^y' or name ~* 'DEF' order by 1", "name; bob; def; y; SELECT 3"},
		{"select name from users where name like 'B%' or name !~ '.' and id::text = '2'", "name; SELECT 0"},
		{"select name from users order by id offset 3", "name; ddd; SELECT 1"},
		{"DELETE FROM users WHERE name IN ('def', 'ddd')", "DELETE 2"},
		{"create table orders (id bigint generated always as identity primary key, user_id int references users(id) on delete cascade, no int generated by default as identity)", "CREATE TABLE"},
		{"insert into orders (user_id) values (1), (2) returning *", "id|user_id|no; 1|1|1; 2|2|2; INSERT 0 2"},
		{"insert into orders (user_id) values (99)", `23503 insert or update on table "orders" violates foreign key constraint "orders_user_id_fkey"`},
		{"truncate users", "0A000 cannot truncate a table referenced in a foreign key constraint"},
		{"drop table users", "2BP01 cannot drop table users because other objects depend on it"},
		{"drop table users, orders", "DROP TABLE"},
		{"create table p (a int, b text, primary key (a, b), constraint u unique (b))", "CREATE TABLE"},
		{"insert into p values (1, 'x')", "INSERT 0 1"},
		{"insert into p values (1, 'x')", `23505 duplicate key value violates unique constraint "u"`},
		{"insert into p values (null, 'x')", `23502 null value in column "a" of relation "p" violates not-null constraint`},
		{"create index on p (b)", "CREATE INDEX"},
		{"create unique index pi on p (a)", "CREATE INDEX"},
		{"insert into p values (1, 'y')", `23505 duplicate key value violates unique constraint "pi"`},
		{"create view v as select a, count(*) from p group by a", "CREATE VIEW"},
		{"select * from v", "a|count; 1|1; SELECT 1"},
		{"drop table p", "2BP01 cannot drop table p because other objects depend on it"},
		{"alter table p add column c int", "ALTER TABLE"},
		{"alter table p add column d boolean not null default false", "ALTER TABLE"},
		{"alter table p add column e int not null", `23502 column "e" of relation "p" contains null values`},
		{"alter table p rename column c to cc", "ALTER TABLE"},
		{"alter table p drop column zz", `42703 column "zz" of relation "p" does not exist`},
		{"select column_name, data_type, column_default, is_nullable from information_schema.columns where table_name = 'p'", "column_name|data_type|column_default|is_nullable; a|integer|NULL|NO; b|text|NULL|NO; cc|integer|NULL|YES; d|boolean|false|NO; SELECT 4"},
		{"select indexname, indexdef from pg_indexes", "indexname|indexdef; p_b_idx|CREATE INDEX p_b_idx ON public.p USING btree (b); p_pkey|CREATE UNIQUE INDEX p_pkey ON public.p USING btree (a, b); pi|CREATE UNIQUE INDEX pi ON public.p USING btree (a); u|CREATE UNIQUE INDEX u ON public.p USING btree (b); SELECT 4"},
		{"select conname, contype, condef from pg_constraint", "conname|contype|condef; p_pkey|p|PRIMARY KEY (a, b); u|u|UNIQUE (b); SELECT 2"},
		{"drop table p cascade", "DROP TABLE"},
		{"create table big as select i as id, 'n' || i as name, i > 1 as more from generate_series(1,100) i", "SELECT 100"},
		{"select * from big where id < 3", "id|name|more; 1|n1|f; 2|n2|t; SELECT 2"},
		{"truncate table big restart identity", "TRUNCATE TABLE"},
		{"create sequence sq start 5", "CREATE SEQUENCE"},
		{"select nextval('sq'), nextval('sq')", "nextval|nextval; 5|6; SELECT 1"},
		{"create table t2 (a int, b)", `42601 syntax error at or near ")" [)]`},
		{"create table t3 (a nosuch)", `42704 type "nosuch" does not exist [nosuch]`},
		{"create table t3 (a int,)", `42601 syntax error at or near ")" [)]`},
		{"create table big (a int)", `42P07 relation "big" already exists`},
		{"create table if not exists big (a int)", "CREATE TABLE"},
		{"drop table nope", `42P01 table "nope" does not exist`},
		{"drop table if exists nope", "DROP TABLE"},
		{"select tablename from pg_catalog.pg_tables where schemaname = 'public'", "tablename; big; SELECT 1"},
		{"select datname, usename, state from pg_stat_activity", "datname|usename|state; postgres|postgres|active; SELECT 1"},
		// Databases and roles.
		{"create database shop", "CREATE DATABASE"},
		{"create database shop", `42P04 database "shop" already exists`},
		{"select datname from pg_database order by 1", "datname; postgres; shop; template0; template1; SELECT 4"},
		{"drop database postgres", "55006 cannot drop the currently open database"},
		{"drop database shop", "DROP DATABASE"},
		{"drop database if exists shop", "DROP DATABASE"},
		{"drop database shop", `3D000 database "shop" does not exist`},
		{"create user ann with password 'x'", "CREATE ROLE"},
		{"create role ann", `42710 role "ann" already exists`},
		{"alter role ann superuser", "ALTER ROLE"},
		{"drop role ann", "DROP ROLE"},
		{"drop role ann", `42704 role "ann" does not exist`},
		{"GRANT ALL ON DATABASE postgres TO postgres", "GRANT"},
		// What is wrong.
		{"SELECT * FROM nope", `42P01 relation "nope" does not exist [nope]`},
		{"SELECT nope FROM big", `42703 column "nope" does not exist [nope FROM big]`},
		{"SELECT b.nope FROM big b", "42703 column b.nope does not exist [b.nope FROM big b]"},
		{"SELECT q.name FROM big b", `42P01 missing FROM-clause entry for table "q" [q.name FROM big b]`},
		{"selec 1", `42601 syntax error at or near "selec" [selec 1]`},
		{"select 1 from", "42601 syntax error at end of input"},
		{"select 1 from;", `42601 syntax error at or near ";" [;]`},
		{"select nope(1)", "42883 function nope() does not exist [nope(1)]"},
		{"select 'abc'::int", `22P02 invalid input syntax for type integer: "abc"`},
		{"select 10/0", "22012 division by zero"},
		{"select * from x.y", `42P01 relation "x.y" does not exist [x.y]`},
		{`select "abc"`, `42703 column "abc" does not exist ["abc"]`},
		{"select 1; select 2", "42601 cannot insert multiple commands into a prepared statement"},
		{"select 'unclosed", `42601 unterminated quoted string at or near "'unclosed" ['unclosed]`},
		{`select "unclosed`, `42601 unterminated quoted identifier at or near ""unclosed" ["unclosed]`},
		{"select /* 1", `42601 unterminated /* comment at or near "/* 1" [/* 1]`},
		{"select $$x", `42601 unterminated dollar-quoted string at or near "$$x" [$$x]`},
		{"UPDATE nope SET a = 1", `42P01 relation "nope" does not exist [nope SET a = 1]`},
		// What it has not.
		{"EXPLAIN SELECT 1", "0A000 this server is simulated: it has no EXPLAIN"},
		{"select extract(year from now())", "0A000 this server is simulated: it has no function extract()"},
		{"select * from big where id = any(array[1,2])", "0A000 this server is simulated: it has no function any()"},
		{"copy big from '/x'", "0A000 this server is simulated: it has no COPY"},
		{"create schema x", "0A000 this server is simulated: it has no CREATE SCHEMA"},
		{"create extension x", "0A000 this server is simulated: it has no CREATE EXTENSION"},
		// What is SQLite's own.
		{"attach 'x' as y", `42601 syntax error at or near "attach" [attach 'x' as y]`},
		{"pragma table_info(big)", `42601 syntax error at or near "pragma" [pragma table_info(big)]`},
		{"vacuum into '/tmp/x'", "0A000 this server is simulated: it has no VACUUM"},
		{"select * from sqlite_schema", `42P01 relation "sqlite_schema" does not exist [sqlite_schema]`},
		{`select * from "sqlite_schema"`, `42P01 relation "sqlite_schema" does not exist ["sqlite_schema"]`},
		{"select * from pragma_table_info('big')", "42883 function pragma_table_info() does not exist [pragma_table_info('big')]"},
		{"select load_extension('x')", "42883 function load_extension() does not exist [load_extension('x')]"},
		{"select * from main.big", `42P01 relation "main.big" does not exist [main.big]`},
		{"insert or replace into big values (1)", `42601 syntax error at or near "or" [or replace into big values (1)]`},
		{"replace into big values (1)", `42601 syntax error at or near "replace" [replace into big values (1)]`},
		{"select $1", "42P02 there is no parameter $1 [$1]"},
		{"select :a", `42601 syntax error at or near ":" [:a]`},
		{"delete from pg_database", `42501 permission denied: "pg_database" is a system catalog`},
		{"create table pg_x (a int)", `42602 unacceptable name "pg_x"`},
		{"create virtual table x using fts5(a)", `42601 syntax error at or near "virtual" [virtual table x using fts5(a)]`},
		{"create table x using fts5(a)", `42601 syntax error at or near "using" [using fts5(a)]`},
		// Transactions.
		{"begin", "BEGIN"},
		{"insert into big (name) values ('tx')", "INSERT 0 1"},
		{"select nope from big", `42703 column "nope" does not exist [nope from big]`},
		{"select 1", "25P02 current transaction is aborted, commands ignored until end of transaction block"},
		{"commit", "ROLLBACK"},
		{"select count(*) from big", "count; 0; SELECT 1"},
		{"begin", "BEGIN"},
		{"insert into big (name) values ('tx')", "INSERT 0 1"},
		{"savepoint a", "SAVEPOINT"},
		{"insert into big (nope) values (1)", `42703 column "nope" of relation "big" does not exist [nope) values (1)]`},
		{"rollback to a", "ROLLBACK"},
		{"create database x", "25001 CREATE DATABASE cannot run inside a transaction block"},
		{"rollback to savepoint a", "ROLLBACK"},
		{"end", "COMMIT"},
		{"select count(*) from big", "count; 1; SELECT 1"},
		{"savepoint a", "25P01 SAVEPOINT can only be used in transaction blocks"},
	} {
		if got := replied(c, test.statement); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.statement, got, test.want)
		}
	}
}

func refusal(t *testing.T, s *Server, in Login) string {
	t.Helper()
	session, err := s.Connect(in)
	var told *Error
	if errors.As(err, &told) {
		return told.State + " " + told.Message
	}
	session.Close()
	return ""
}

func TestPostgresAdmits(t *testing.T) {
	s := newPostgres(t, newFiles(t), "POSTGRES_USER=app", "POSTGRES_PASSWORD=secret", "POSTGRES_DB=shop")
	admin := connected(t, s, Login{User: "app", Database: "shop"})
	for _, statement := range []string{"CREATE ROLE idle PASSWORD 'x'", "CREATE USER ann PASSWORD 'a'"} {
		if got := replied(admin, statement); got != "CREATE ROLE" {
			t.Fatal(got)
		}
	}
	for _, test := range []struct {
		in   Login
		want string
	}{
		{Login{User: "app", Password: "secret", Database: "shop", From: "10.0.0.1"}, ""},
		{Login{User: "app", Password: "secret", From: "10.0.0.1"}, `3D000 database "app" does not exist`},
		{Login{User: "app", Password: "no", Database: "shop", From: "10.0.0.1"}, `28P01 password authentication failed for user "app"`},
		{Login{User: "app", Database: "shop", From: "10.0.0.1"}, "28000 fe_sendauth: no password supplied"},
		{Login{User: "nobody", Password: "x", Database: "shop", From: "10.0.0.1"}, `28P01 password authentication failed for user "nobody"`},
		{Login{User: "ann", Password: "a", Database: "shop", From: "10.0.0.1"}, ""},
		{Login{User: "root"}, `28000 role "root" does not exist`},
		{Login{User: "idle", Database: "shop"}, `28000 role "idle" is not permitted to log in`},
		{Login{User: "app", Database: "template0"}, `55000 database "template0" is not currently accepting connections`},
		{Login{User: "app", Database: "../global/roles"}, `3D000 database "../global/roles" does not exist`},
	} {
		if got := refusal(t, s, test.in); got != test.want {
			t.Errorf("%+v\n got %s\nwant %s", test.in, got, test.want)
		}
	}
	trusting := newPostgres(t, newFiles(t), "POSTGRES_HOST_AUTH_METHOD=trust")
	if got := refusal(t, trusting, Login{User: "postgres", From: "10.0.0.1"}); got != "" {
		t.Errorf("who is trusted is told %s", got)
	}
}

// A server that starts again on its folder has everything, and the password of then.
func TestPostgresStartsAgain(t *testing.T) {
	files := newFiles(t)
	if Initialized(files, "/data") {
		t.Error("an empty folder is initialised")
	}
	s := newPostgres(t, files, "POSTGRES_PASSWORD=old")
	c := connected(t, s, Login{User: "postgres"})
	for _, statement := range []string{`CREATE DATABASE "My/../Shop"`, "CREATE TABLE t (id SERIAL PRIMARY KEY, at DATE DEFAULT CURRENT_DATE)", "INSERT INTO t DEFAULT VALUES", "CREATE USER ann PASSWORD 'a'", "BEGIN", "INSERT INTO t DEFAULT VALUES"} {
		if got := replied(c, statement); strings.Contains(got, " does ") {
			t.Errorf("%s: %s", statement, got)
		}
	}
	s.Close()
	if _, err := c.Run(context.Background(), "COMMIT"); err == nil {
		t.Error("a server that has ended commits")
	}
	again := newPostgres(t, files, "POSTGRES_PASSWORD=new", "POSTGRES_USER=other")
	if !Initialized(files, "/data") {
		t.Error("the folder is not initialised")
	}
	if got := refusal(t, again, Login{User: "postgres", Password: "new", From: "10.0.0.1"}); !strings.HasPrefix(got, "28P01") {
		t.Errorf("the new password: %q", got)
	}
	c = connected(t, again, Login{User: "postgres", Password: "old", From: "10.0.0.1"})
	for _, test := range [][2]string{
		{"SELECT * FROM t", "id|at; 1|2026-01-02; SELECT 1"},
		{"SELECT rolname FROM pg_roles ORDER BY rolname", "rolname; ann; postgres; SELECT 2"},
		{"SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY datname", "datname; My/../Shop; postgres; SELECT 2"},
		{"SELECT inet_client_addr()", "inet_client_addr; 10.0.0.1; SELECT 1"},
	} {
		if got := replied(c, test[0]); got != test[1] {
			t.Errorf("%s: %s", test[0], got)
		}
	}
	other := connected(t, again, Login{User: "postgres", Database: "My/../Shop"})
	if got := replied(c, `DROP DATABASE "My/../Shop"`); !strings.HasPrefix(got, "55006") {
		t.Errorf("drops what is used: %s", got)
	}
	other.Close()
	if got := replied(c, `DROP DATABASE "My/../Shop"`); got != "DROP DATABASE" {
		t.Error(got)
	}
}

// Who wants what another one changes waits until that one has committed.
func TestPostgresWaits(t *testing.T) {
	s := newPostgres(t, newFiles(t), "POSTGRES_PASSWORD=x")
	a, b := connected(t, s, Login{User: "postgres"}), connected(t, s, Login{User: "postgres"})
	replied(a, "CREATE TABLE t (n int)")
	replied(a, "INSERT INTO t VALUES (1)")
	replied(a, "BEGIN")
	replied(a, "UPDATE t SET n = n + 1")
	if got := replied(b, "SELECT n FROM t"); got != "n; 1; SELECT 1" {
		t.Errorf("sees what is not committed: %s", got)
	}
	done := make(chan string, 1)
	go func() { done <- replied(b, "UPDATE t SET n = n + 10") }()
	if got := replied(a, "UPDATE t SET n = n + 1"); got != "UPDATE 1" {
		t.Error(got)
	}
	select {
	case got := <-done:
		t.Errorf("has not waited: %s", got)
	default:
	}
	if got := replied(a, "COMMIT"); got != "COMMIT" {
		t.Error(got)
	}
	if got := <-done; got != "UPDATE 1" {
		t.Error(got)
	}
	if got := replied(a, "SELECT n FROM t"); got != "n; 13; SELECT 1" {
		t.Error(got)
	}
}

// Who only reads in a transaction keeps nobody waiting, and neither does one that an error has ended.
func TestPostgresReadsCommitted(t *testing.T) {
	s := newPostgres(t, newFiles(t), "POSTGRES_PASSWORD=x")
	a, b := connected(t, s, Login{User: "postgres"}), connected(t, s, Login{User: "postgres"})
	for _, step := range []struct {
		by              *Session
		statement, want string
	}{
		{a, "CREATE TABLE t (n int)", "CREATE TABLE"},
		{a, "INSERT INTO t VALUES (1)", "INSERT 0 1"},
		{a, "BEGIN", "BEGIN"},
		{a, "SELECT n FROM t", "n; 1; SELECT 1"},
		{b, "UPDATE t SET n = 2", "UPDATE 1"},
		{a, "SELECT n FROM t", "n; 2; SELECT 1"},
		{a, "UPDATE t SET n = 3", "UPDATE 1"},
		{a, "SELECT nope", `42703 column "nope" does not exist [nope]`},
		{b, "UPDATE t SET n = n + 10", "UPDATE 1"},
		{a, "COMMIT", "ROLLBACK"},
		{a, "SELECT n FROM t", "n; 12; SELECT 1"},
		{a, "ROLLBACK", "ROLLBACK"},
	} {
		if got := replied(step.by, step.statement); got != step.want {
			t.Errorf("%s\n got %s\nwant %s", step.statement, got, step.want)
		}
	}
}

// What takes too long is ended, and what is too much is refused; the session goes on.
func TestPostgresBounds(t *testing.T) {
	c := connected(t, newPostgres(t, newFiles(t), "POSTGRES_PASSWORD=x"), Login{User: "postgres"})
	for _, statement := range []string{
		"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r", "SELECT count(*) FROM generate_series(1, 1000000000000)", "SELECT pg_sleep(1000)",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, err := c.Run(ctx, statement)
		cancel()
		var told *Error
		if !errors.As(err, &told) || told.State != "57014" {
			t.Errorf("%s: %v", statement, err)
		}
	}
	for _, statement := range []string{"SELECT repeat('x', 1000000000)", "SELECT repeat('x', 100000) FROM generate_series(1, 1000)", "SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), "SELECT lpad('x', 2000000000)"} {
		if got := replied(c, statement); strings.HasSuffix(got, "SELECT 1") && len(got) > mostText {
			t.Errorf("%.40s: %d bytes", statement, len(got))
		}
	}
	if got := replied(c, "SELECT 1"); got != "?column?; 1; SELECT 1" {
		t.Error(got)
	}
}

// Whatever comes in has an answer.
func FuzzPostgres(f *testing.F) {
	for _, statement := range []string{"SELECT 1::", "INSERT INTO t (", "CREATE TABLE x (a int default", "CREATE TABLE x (a varchar(", "SELECT a.", "ALTER TABLE t ADD", "DROP", "SELECT CAST(1 AS", "SELECT generate_series(", "UPDATE", "DELETE FROM", "CREATE INDEX ON", "SELECT 1 ~", ")", "(", "SELECT (1", "SET", "SHOW", "GRANT", "CREATE", "BEGIN; COMMIT", "TRUNCATE", "ROLLBACK TO", "SELECT * FROM (VALUES (1)) AS v(", "INSERT INTO t VALUES (DEFAULT", "::int", "SELECT \"\"", "CREATE TABLE t (a int generated", "CREATE SEQUENCE", "ALTER TABLE t RENAME", "CREATE VIEW v", "x'", "E'"} {
		f.Add(statement)
	}
	s, err := NewPostgres(Config{Files: &osFiles{dir: f.TempDir()}, Dir: "/data", Version: "18.1", Now: time.Now, Settings: map[string]string{}}, func(string) string { return "" })
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, statement string) {
		c, err := s.Connect(Login{User: "postgres"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = c.Run(ctx, "CREATE TABLE IF NOT EXISTS t (a int)")
		_, _ = c.Run(ctx, statement)
	})
}
