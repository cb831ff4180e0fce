package container

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/core/internal/node/database"
)

const psqlHelp = `General
  \g [(OPTIONS)] [FILE]  execute query (and send result to file or |pipe)
  \gx [(OPTIONS)] [FILE] as \g, but forces expanded output mode
  \q                     quit psql

Help
  \? [commands]          show help on backslash commands

Query Buffer
  \r                     reset (clear) the query buffer

Input/Output
  \echo [-n] [STRING]    write string to standard output (-n for no newline)
  \i FILE                execute commands from file

Informational
  \d[S+]                 list tables, views, and sequences
  \d[S+]  NAME           describe table, view, sequence, or index
  \di[S+] [PATTERN]      list indexes
  \dn[S+] [PATTERN]      list schemas
  \ds[S+] [PATTERN]      list sequences
  \dt[S+] [PATTERN]      list tables
  \du[S+] [PATTERN]      list roles
  \dv[S+] [PATTERN]      list views
  \l[+]   [PATTERN]      list databases

Formatting
  \a                     toggle between unaligned and aligned output mode
  \t [on|off]            show only rows
  \x [on|off|auto]       toggle expanded output

Connection
  \c[onnect] {[DBNAME|- USER|- HOST|- PORT|-] | conninfo}
                         connect to new database
  \conninfo              display information about current connection

Operating System
  \timing [on|off]       toggle timing of commands

Variables
  \set [NAME [VALUE]]    set internal variable, or list all if no parameters
`

// switched is what a command makes of a setting: the other one, or what it says.
func switched(before bool, words []string) bool {
	if len(words) > 1 {
		return words[1] == "on" || words[1] == "true" || words[1] == "1"
	}
	return !before
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// command runs a command of the client's own. It is long because there are many.
func (p *psql) command(line string) int {
	words := strings.Fields(strings.TrimRight(line, ";"))
	if len(words) == 0 {
		return 0
	}
	name := words[0]
	argument := ""
	if len(words) > 1 {
		argument = strings.Trim(words[1], "'")
	}
	plain := strings.TrimRight(strings.TrimRight(name, "+"), "S")
	switch {
	case name == `\q` || name == `\quit`:
		p.quits = true
	case name == `\?` || name == `\h` || name == `\help`:
		fmt.Fprint(p.Stdout, psqlHelp)
	case name == `\x`:
		p.expanded = switched(p.expanded, words)
		p.says("Expanded display is " + onOff(p.expanded) + ".")
	case name == `\timing`:
		p.timing = switched(p.timing, words)
		p.says("Timing is " + onOff(p.timing) + ".")
	case name == `\t`:
		p.o.tuples = switched(p.o.tuples, words)
		p.says("Tuples only is " + onOff(p.o.tuples) + ".")
	case name == `\a`:
		p.o.bare = !p.o.bare
		p.says("Output format is " + map[bool]string{true: "unaligned", false: "aligned"}[p.o.bare] + ".")
	case name == `\echo` || name == `\qecho`:
		fmt.Fprintln(p.Stdout, strings.Trim(strings.TrimSpace(strings.TrimPrefix(line, name)), "'"))
	case name == `\set` && len(words) > 1:
		p.variables[words[1]] = strings.Trim(strings.Join(words[2:], " "), "'")
	case name == `\i` || name == `\include`:
		if argument == "" {
			return p.wrong(name + ": missing required argument")
		}
		return p.file(argument)
	case name == `\c` || name == `\connect`:
		return p.reconnect(words[1:])
	case name == `\conninfo`:
		p.connectionInfo()
	case name == `\r` || name == `\reset`:
		p.says("Query buffer reset (cleared).")
	case name == `\encoding`:
		fmt.Fprintln(p.Stdout, "UTF8")
	case plain == `\l` || name == `\list`:
		return p.databases()
	case plain == `\du` || plain == `\dg`:
		return p.roles()
	case plain == `\dn`:
		return p.ask("SELECT schema_name AS \"Name\", schema_owner AS \"Owner\" FROM information_schema.schemata WHERE schema_name = 'public'", printed{title: "List of schemas", footer: true})
	case plain == `\dx`:
		return p.ask("SELECT extname AS \"Name\", extversion AS \"Version\", 'pg_catalog' AS \"Schema\", 'PL/pgSQL procedural language' AS \"Description\" FROM pg_extension", printed{title: "List of installed extensions", footer: true})
	case plain == `\d` && argument != "":
		return p.describe(argument)
	case plain == `\d`, plain == `\dt`, plain == `\dv`, plain == `\ds`, plain == `\di`:
		return p.relations(strings.TrimPrefix(plain, `\d`), argument)
	default:
		if p.talks {
			return p.wrong("invalid command " + name + "\nTry \\? for help.")
		}
		return p.wrong("invalid command " + name)
	}
	return 0
}

func (p *psql) says(text string) {
	if !p.quiet {
		fmt.Fprintln(p.Stdout, text)
	}
}

func (p *psql) wrong(text string) int {
	fmt.Fprintln(p.Stderr, text)
	return 1
}

// ask prints the result of a query of the client's own.
func (p *psql) ask(query string, how printed) int {
	r, told := p.d.run(query)
	if told != nil {
		p.failed = p.inside
		return p.wrong(strings.TrimSuffix(psqlError(told, ""), "\n"))
	}
	p.print(r, how)
	return 0
}

// texts are the rows of a query of the client's own. There are none if it fails, which is said.
func (p *psql) texts(query string) ([][]string, bool) {
	r, told := p.d.run(query)
	if told != nil {
		p.failed = p.inside
		p.wrong(strings.TrimSuffix(psqlError(told, ""), "\n"))
		return nil, false
	}
	var all [][]string
	for _, row := range r.Rows {
		all = append(all, cells(row, ""))
	}
	return all, true
}

// table makes a result of texts.
func tableOfTexts(columns []string, rows [][]string) *database.Result {
	r := &database.Result{}
	for _, c := range columns {
		r.Columns = append(r.Columns, database.Column{Name: c})
	}
	for _, row := range rows {
		one := make([]*string, len(row))
		for i := range row {
			one[i] = &row[i]
		}
		r.Rows = append(r.Rows, one)
	}
	return r
}

// major is the server's version.
func (p *psql) major() int {
	text, _, _ := strings.Cut(p.d.Server().Version, ".")
	n, _ := strconv.Atoi(text) // 0 is old
	return n
}

func (p *psql) databases() int {
	rows, ok := p.texts("SELECT datname, datdba FROM pg_database ORDER BY datname")
	if !ok {
		return 1
	}
	columns := []string{"Name", "Owner", "Encoding", "Locale Provider", "Collate", "Ctype", "Locale", "ICU Rules", "Access privileges"}
	older := p.major() < 17
	if older {
		columns = []string{"Name", "Owner", "Encoding", "Collate", "Ctype", "Access privileges"}
	}
	var all [][]string
	for _, row := range rows {
		rights := ""
		if strings.HasPrefix(row[0], "template") {
			rights = "=c/" + row[1] + "\n" + row[1] + "=CTc/" + row[1]
		}
		if older {
			all = append(all, []string{row[0], row[1], "UTF8", "en_US.utf8", "en_US.utf8", rights})
		} else {
			all = append(all, []string{row[0], row[1], "UTF8", "libc", "en_US.utf8", "en_US.utf8", "", "", rights})
		}
	}
	p.print(tableOfTexts(columns, all), printed{title: "List of databases", footer: true})
	return 0
}

func (p *psql) roles() int {
	rows, ok := p.texts("SELECT rolname, rolsuper, rolcanlogin FROM pg_roles ORDER BY rolname")
	if !ok {
		return 1
	}
	var all [][]string
	for _, row := range rows {
		var attributes []string
		if row[1] == "t" {
			attributes = append(attributes, "Superuser")
		}
		if row[1] == "t" && len(all) == 0 || row[0] == "postgres" {
			attributes = []string{"Superuser", "Create role", "Create DB", "Replication", "Bypass RLS"}
		}
		if row[2] == "f" {
			attributes = append(attributes, "Cannot login")
		}
		all = append(all, []string{row[0], strings.Join(attributes, ", ")})
	}
	p.print(tableOfTexts([]string{"Role name", "Attributes"}, all), printed{title: "List of roles"})
	return 0
}

// globbed says whether a name is one that a pattern of psql stands for.
func globbed(pattern, name string) bool {
	pattern = strings.ToLower(strings.TrimPrefix(pattern, "public."))
	if pattern == "" || pattern == name {
		return true
	}
	before, after, ok := strings.Cut(pattern, "*")
	return ok && len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && (strings.Contains(after, "*") || strings.HasSuffix(name, after))
}

// relations lists those of some kinds: t, v, s, i; none is tables, views and sequences.
func (p *psql) relations(kind, pattern string) int {
	owner, ok := p.texts("SELECT datdba FROM pg_database LIMIT 1")
	if !ok {
		return 1
	}
	tables, ok1 := p.texts("SELECT table_name, table_type FROM information_schema.tables")
	sequences, ok2 := p.texts("SELECT column_default FROM information_schema.columns WHERE column_default LIKE 'nextval(%'")
	own, ok3 := p.texts("SELECT sequencename FROM pg_sequences")
	indexes, ok4 := p.texts("SELECT indexname, tablename FROM pg_indexes")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return 1
	}
	for _, s := range sequences {
		own = append(own, []string{strings.SplitN(s[0], "'", 3)[1]})
	}
	var rows [][]string
	add := func(letter, name, what, table string) {
		if (kind == letter || kind == "" && letter != "i") && globbed(pattern, name) && !slices.ContainsFunc(rows, func(r []string) bool { return r[1] == name }) {
			row := []string{"public", name, what, owner[0][0]}
			if kind == "i" {
				row = append(row, table)
			}
			rows = append(rows, row)
		}
	}
	for _, t := range tables {
		if t[1] == "VIEW" {
			add("v", t[0], "view", "")
		} else {
			add("t", t[0], "table", "")
		}
	}
	for _, s := range own {
		add("s", s[0], "sequence", "")
	}
	for _, i := range indexes {
		add("i", i[0], "index", i[1])
	}
	slices.SortFunc(rows, func(a, b []string) int { return cmp.Compare(a[1], b[1]) })
	what := "relations"
	if p.major() >= 18 {
		what = cmp.Or(map[string]string{"t": "tables", "v": "views", "s": "sequences", "i": "indexes"}[kind], what)
	}
	switch {
	case len(rows) == 0 && pattern != "":
		return p.wrong(fmt.Sprintf("Did not find any %s named \"%s\".", strings.Replace(what, "relations", "relation", 1), pattern))
	case len(rows) == 0:
		return p.wrong("Did not find any " + what + ".")
	}
	columns := []string{"Schema", "Name", "Type", "Owner"}
	if kind == "i" {
		columns = append(columns, "Table")
	}
	p.print(tableOfTexts(columns, rows), printed{title: "List of " + what, footer: true})
	return 0
}

// describe shows a table or a view.
func (p *psql) describe(name string) int {
	name = strings.Trim(strings.TrimPrefix(name, "public."), `"`)
	said := "'" + strings.ReplaceAll(name, "'", "''") + "'"
	columns, ok := p.texts("SELECT column_name, data_type, character_maximum_length, is_nullable, column_default, table_name FROM information_schema.columns WHERE lower(table_name) = lower(" + said + ") ORDER BY ordinal_position")
	if !ok {
		return 1
	}
	if len(columns) == 0 {
		return p.wrong(fmt.Sprintf("Did not find any relation named \"%s\".", name))
	}
	name = columns[0][5]
	var rows [][]string
	for _, c := range columns {
		of, required := c[1], ""
		if c[2] != "" {
			of += "(" + c[2] + ")"
		}
		if c[3] == "NO" {
			required = "not null"
		}
		rows = append(rows, []string{c[0], of, "", required, c[4]})
	}
	kind := "Table"
	if found, ok := p.texts("SELECT table_type FROM information_schema.tables WHERE table_name = " + said); ok && len(found) > 0 && found[0][0] == "VIEW" {
		kind = "View"
	}
	p.print(tableOfTexts([]string{"Column", "Type", "Collation", "Nullable", "Default"}, rows), printed{title: kind + " \"public." + name + "\"", below: p.keys(name)})
	return 0
}

// keys are the lines below a table: indexes, conditions, and what it refers to.
func (p *psql) keys(table string) (lines []string) {
	constraints, ok := p.texts("SELECT conname, contype, conrelid, condef FROM pg_constraint")
	if !ok {
		return nil
	}
	indexes, ok := p.texts("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = '" + strings.ReplaceAll(table, "'", "''") + "' ORDER BY indexname")
	if !ok {
		return nil
	}
	section := func(title string, all []string) {
		if len(all) > 0 {
			lines = append(append(lines, title), all...)
		}
	}
	var primary, other, checks, foreign, referenced []string
	for _, i := range indexes {
		_, columns, _ := strings.Cut(i[1], " USING ")
		line := "    \"" + i[0] + "\" "
		at := slices.IndexFunc(constraints, func(c []string) bool { return c[0] == i[0] && c[2] == table })
		switch {
		case at >= 0 && constraints[at][1] == "p":
			primary = append(primary, line+"PRIMARY KEY, "+columns)
			continue
		case at >= 0:
			line += "UNIQUE CONSTRAINT, "
		case strings.HasPrefix(i[1], "CREATE UNIQUE"):
			line += "UNIQUE, "
		}
		other = append(other, line+columns)
	}
	for _, c := range constraints {
		switch {
		case c[1] == "c" && c[2] == table:
			checks = append(checks, "    \""+c[0]+"\" "+c[3])
		case c[1] == "f" && c[2] == table:
			foreign = append(foreign, "    \""+c[0]+"\" "+c[3])
		}
		if c[1] == "f" && (strings.Contains(c[3], "REFERENCES "+table+"(") || strings.HasSuffix(c[3], "REFERENCES "+table)) {
			referenced = append(referenced, "    TABLE \""+c[2]+"\" CONSTRAINT \""+c[0]+"\" "+c[3])
		}
	}
	section("Indexes:", append(primary, other...))
	section("Check constraints:", checks)
	section("Foreign-key constraints:", foreign)
	section("Referenced by:", referenced)
	return lines
}

// reconnect is \c.
func (p *psql) reconnect(words []string) int {
	o := p.o
	o.login.Database = p.database
	for i, word := range words {
		word = strings.Trim(word, `"'`)
		if word == "-" {
			continue
		}
		switch i {
		case 0:
			o.login.Database = word
		case 1:
			o.login.User = word
		case 2:
			o.host = word
		}
	}
	d, why := p.psqlDial(&o)
	if d == nil {
		if why != "" {
			p.wrong(why)
		}
		if p.talks {
			p.wrong("Previous connection kept")
		}
		return 1
	}
	p.d.Close()
	p.d, p.o.login, p.o.host, p.database, p.inside, p.failed = d, o.login, o.host, o.login.Database, false, false
	p.knows()
	p.says(fmt.Sprintf("You are now connected to database \"%s\" as user \"%s\".", p.database, p.o.login.User))
	return 0
}

// connectionInfo is \conninfo.
func (p *psql) connectionInfo() {
	if p.major() < 18 {
		where := "via socket in \"" + socketDir + "\""
		if p.o.host != "" {
			where = "on host \"" + p.o.host + "\""
		}
		fmt.Fprintf(p.Stdout, "You are connected to database \"%s\" as user \"%s\" %s at port \"%d\".\n", p.database, p.o.login.User, where, p.o.port)
		return
	}
	place, used := []string{"Socket Directory", socketDir}, "false"
	if p.o.host != "" {
		place = []string{"Host", p.o.host}
	}
	if p.o.login.Password != "" && p.o.host != "" && p.o.host != "localhost" && p.o.host != "127.0.0.1" {
		used = "true"
	}
	super := "off"
	if p.knows(); p.super {
		super = "on"
	}
	p.print(tableOfTexts([]string{"Parameter", "Value"}, [][]string{
		{"Database", p.database}, {"Client User", p.o.login.User}, place, {"Server Port", strconv.Itoa(p.o.port)}, {"Options", ""}, {"Protocol Version", "3.0"},
		{"Password Used", used}, {"GSSAPI Authenticated", "false"}, {"Backend PID", strconv.Itoa(p.d.ID() + 60)}, {"SSL Connection", "false"}, {"Superuser", super}, {"Hot Standby", "off"},
	}), printed{title: "Connection Information", footer: true})
}

func sqlName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
