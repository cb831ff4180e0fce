package container

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubetab/kubetab/core/internal/node/database"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// socketDir is where the server's socket is.
const socketDir = "/var/run/postgresql"

// noPassword is what a client says that has none and needs one.
const noPassword = "fe_sendauth: no password supplied"

// psqlClient runs the statements of its arguments, of its input, or those that are typed.
func psqlClient(k *call) int {
	if len(k.Args) == 1 && (k.Args[0] == "--version" || k.Args[0] == "-V") {
		fmt.Fprintf(k.Stdout, "psql (PostgreSQL) %s\n", k.session.c.cfg.Image.version())
		return 0
	}
	o, code := k.psqlFlags()
	if code != 0 {
		return code
	}
	if o.list && o.login.Database == "" {
		o.login.Database = "postgres"
	}
	d, why := k.psqlDial(&o)
	if d == nil {
		if why != "" {
			fmt.Fprintln(k.Stderr, "psql: error: "+why)
		}
		return 2
	}
	p := &psql{call: k, o: o, d: d, database: cmp.Or(o.login.Database, o.login.User), variables: map[string]string{}}
	defer func() { p.d.Close() }()
	for _, v := range o.variables {
		name, value, _ := strings.Cut(v, "=")
		p.variables[name] = value
	}
	p.expanded, p.quiet = o.expanded, o.quiet
	_, typed := k.Stdin.(*terminal.Input)
	shown := k.session.tty != nil && k.Stdout == io.Writer(k.session.stdout)
	switch {
	case o.list:
		return p.command(`\l`)
	case len(o.work) > 0:
		return p.works()
	case typed && shown:
		return p.talk()
	}
	script, err := coreutils.ReadAll(k.Stdin)
	if err != nil {
		return k.Fail("%v", err)
	}
	return p.script(string(script), "")
}

// psql is a client that is connected.
type psql struct {
	*call
	o                       psqlOptions
	d                       *dialed
	database                string
	variables               map[string]string
	expanded, quiet, timing bool
	inside, failed          bool // in a transaction; an error has ended what it may do
	talks, quits            bool
	super                   bool
	pending                 string // a statement that is not ended
	depth                   int    // of files that read files
}

// stops says whether an error ends the script.
func (p *psql) stops() bool {
	switch strings.ToLower(p.variables["ON_ERROR_STOP"]) {
	case "1", "on", "true", "yes":
		return true
	}
	return false
}

// works runs what -c and -f say, in order.
func (p *psql) works() (code int) {
	if p.o.oneTx {
		p.quietly("BEGIN")
		defer func() { p.quietly(map[bool]string{true: "COMMIT", false: "ROLLBACK"}[code == 0]) }()
	}
	for _, one := range p.o.work {
		switch {
		case one.file && one.text == "-":
			script, err := coreutils.ReadAll(p.Stdin)
			if err != nil {
				return p.Fail("%v", err)
			}
			code = p.script(string(script), "<stdin>")
		case one.file:
			code = p.file(one.text)
		case strings.HasPrefix(strings.TrimSpace(one.text), `\`):
			code = p.command(strings.TrimSpace(one.text))
		default:
			code = p.at(one.text)
		}
		if code != 0 && p.stops() || p.quits {
			return code
		}
	}
	return code
}

func (p *psql) quietly(statement string) { _, _ = p.d.run(statement) } // what fails is said when it is used

// at runs a text as one: what has several statements is one transaction.
func (p *psql) at(text string) int {
	statements, rest := database.Split(database.PostgreSQL, text)
	if strings.TrimSpace(rest) != "" {
		statements = append(statements, database.Statement{Text: strings.TrimSpace(rest)})
	}
	together := len(statements) > 1 && !p.o.oneTx
	for _, s := range statements {
		if word := strings.ToUpper(strings.Fields(s.Text)[0]); word == "BEGIN" || word == "START" || word == "COMMIT" || word == "ROLLBACK" || word == "END" {
			together = false
		}
	}
	if together {
		p.quietly("BEGIN")
	}
	for _, s := range statements {
		if !p.run(s.Text+s.End, text, "") {
			if together {
				p.quietly("ROLLBACK")
			}
			return 1
		}
	}
	if together {
		p.quietly("COMMIT")
	}
	return 0
}

// file runs a script of the container.
func (p *psql) file(name string) int {
	data, err := p.Files.ReadFile(p.Path(name))
	if err != nil {
		fmt.Fprintf(p.Stderr, "%s%s: %s\n", map[bool]string{true: "", false: "psql: error: "}[p.talks], name, coreutils.Reason(err))
		return 1
	}
	if p.depth++; p.depth > 10 {
		fmt.Fprintln(p.Stderr, name+": too many levels of files")
		return 1
	}
	defer func() { p.depth-- }()
	before := p.pending
	p.pending = ""
	defer func() { p.pending = before }()
	return p.script(string(data), name)
}

// script runs the lines of a file, of which the name stands before errors. Standard input has none.
func (p *psql) script(text, name string) int {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == len(lines)-1 && line == "" {
			break
		}
		at := ""
		if name != "" {
			at = fmt.Sprintf("psql:%s:%d: ", name, i+1)
		}
		if !p.line(line, at) && p.stops() {
			return 3
		}
		if p.quits || p.Err() != nil {
			return 0
		}
	}
	if rest := strings.TrimSpace(p.pending); rest != "" {
		p.pending = ""
		at := ""
		if name != "" {
			at = fmt.Sprintf("psql:%s:%d: ", name, len(lines))
		}
		if !p.run(rest, rest, at) && p.stops() {
			return 3
		}
	}
	return 0
}

// line takes a line of a script, or one that is typed. It reports whether all has worked that it has ended.
func (p *psql) line(line, at string) (works bool) {
	trimmed := strings.TrimSpace(line)
	if strings.TrimSpace(p.pending) == "" {
		switch {
		case strings.HasPrefix(trimmed, `\`):
			return p.command(trimmed) == 0
		case (trimmed == "exit" || trimmed == "quit" || trimmed == "exit;" || trimmed == "quit;") && p.talks:
			p.quits = true
			return true
		case trimmed == "help" && p.talks:
			fmt.Fprint(p.Stdout, "You are using psql, the command-line interface to PostgreSQL.\nType:  \\copyright for distribution terms\n       \\h for help with SQL commands\n       \\? for help with psql commands\n       \\g or terminate with semicolon to execute query\n       \\q to quit\n")
			return true
		}
	}
	expands := p.expanded
	for _, end := range []string{`\gx`, `\g`} {
		if before, ok := strings.CutSuffix(trimmed, end); ok {
			line = before + ";"
			p.expanded = p.expanded || end == `\gx`
			break
		}
	}
	switch trimmed {
	case `\r`, `\reset`:
		p.pending = ""
		fmt.Fprintln(p.Stdout, "Query buffer reset (cleared).")
		return true
	case `\q`:
		p.quits = true
		return true
	}
	statements, rest := database.Split(database.PostgreSQL, p.pending+line+"\n")
	works = true
	for _, s := range statements {
		works = p.run(s.Text+s.End, s.Text+s.End, at) && works
		if !works && p.stops() {
			break
		}
	}
	p.pending, p.expanded = rest, expands
	return works
}

// run runs a statement and prints what has come of it. shown is what errors point into, and at stands before them.
func (p *psql) run(statement, shown, at string) bool {
	clock := p.session.c.cfg.Clock
	began := clock.Now()
	r, told := p.d.run(statement)
	if told != nil {
		p.failed = p.inside
		fmt.Fprint(p.Stderr, at+psqlError(told, shown))
		return false
	}
	if r == nil {
		return false
	}
	p.inside, p.failed = r.Open, false
	if len(r.Columns) > 0 {
		p.print(r, printed{footer: true})
	}
	verb, _, _ := strings.Cut(r.Tag, " ")
	if r.Tag != "" && !p.quiet && !(len(r.Columns) > 0 && (verb == "SELECT" || verb == "SHOW")) {
		fmt.Fprintln(p.Stdout, r.Tag)
	}
	if p.timing {
		fmt.Fprintf(p.Stdout, "Time: %.3f ms\n", float64(clock.Now().Sub(began))/float64(time.Millisecond))
	}
	return true
}

// psqlError is an error as psql prints it, with the line of the statement that it is in.
func psqlError(e *database.Error, statement string) string {
	text := "ERROR:  " + e.Message + "\n"
	at := -1
	switch {
	case strings.HasSuffix(e.Message, "at end of input"):
		at = len(strings.TrimRight(statement, " \n"))
	case e.Near == "":
	case strings.HasSuffix(strings.TrimRight(statement, "; \n"), e.Near):
		at = len(strings.TrimRight(statement, "; \n")) - len(e.Near)
	default:
		at = strings.LastIndex(statement, e.Near)
	}
	if at >= 0 {
		text += pointed(statement, at)
	}
	if e.Detail != "" {
		text += "DETAIL:  " + e.Detail + "\n"
	}
	if e.Hint != "" {
		text += "HINT:  " + e.Hint + "\n"
	}
	return text
}

// pointed is the line of a statement that has a place, cut to what fits, with a caret below the place (reportErrorPosition of libpq).
func pointed(statement string, at int) string {
	const most, right = 60, 10
	number := 1 + strings.Count(statement[:at], "\n")
	begin := strings.LastIndexByte(statement[:at], '\n') + 1
	line, _, _ := strings.Cut(statement[begin:], "\n")
	runes := []rune(strings.ReplaceAll(line, "\t", " "))
	place := utf8.RuneCountInString(statement[begin:at])
	from, to := 0, len(runes)
	if to > most {
		if most >= place+right {
			to = most
		} else {
			to = min(to, place+right)
			from = max(0, to-most)
		}
	}
	prefix, after := fmt.Sprintf("LINE %d: ", number), ""
	if from > 0 {
		prefix += "..."
	}
	if to < len(runes) {
		after = "..."
	}
	return prefix + string(runes[from:to]) + after + "\n" + strings.Repeat(" ", len(prefix)+place-from) + "^\n"
}

// prompt is the one of the next line.
func (p *psql) prompt() string {
	mark := ">"
	if p.super {
		mark = "#"
	}
	state := ""
	switch {
	case p.failed:
		state = "!"
	case p.inside:
		state = "*"
	}
	how := "="
	if strings.TrimSpace(p.pending) != "" {
		how = unfinished(p.pending)
	}
	return p.database + how + state + mark + " "
}

// unfinished is what the prompt says of a statement that goes on: what it is in.
func unfinished(statement string) string {
	quote, depth := byte(0), 0
	for i := 0; i < len(statement); i++ {
		switch c := statement[i]; {
		case quote == '-':
			if c == '\n' {
				quote = 0
			}
		case quote == '*':
			if strings.HasPrefix(statement[i:], "*/") {
				quote = 0
			}
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.HasPrefix(statement[i:], "--"):
			quote = '-'
		case strings.HasPrefix(statement[i:], "/*"):
			quote = '*'
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	switch {
	case quote != 0 && quote != '-':
		return string(quote)
	case depth > 0:
		return "("
	}
	return "-"
}

// knows asks the server who the client is.
func (p *psql) knows() {
	r, told := p.d.run("SELECT usesuper FROM pg_user WHERE usename = current_user")
	p.super = told == nil && len(r.Rows) == 1 && *r.Rows[0][0] == "t"
}

// talk runs what is typed.
func (p *psql) talk() int {
	p.talks = true
	p.knows()
	version := p.session.c.cfg.Image.version()
	if server := p.d.Server().Version; !p.quiet && (p.session.c.cfg.Image.kind == "postgres" && server != version) {
		fmt.Fprintf(p.Stdout, "psql (%s, server %s)\nType \"help\" for help.\n\n", version, server)
	} else if !p.quiet {
		fmt.Fprintf(p.Stdout, "psql (%s)\nType \"help\" for help.\n\n", server)
	}
	read := p.reader()
	for !p.quits {
		line, err := read(p.prompt())
		switch {
		case errors.Is(err, terminal.ErrInterrupted):
			p.pending = ""
			continue
		case err != nil:
			fmt.Fprintln(p.Stdout, `\q`)
			return 0
		}
		p.line(line, "")
	}
	return 0
}
