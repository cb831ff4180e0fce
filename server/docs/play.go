package docs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/core/shell"
	"github.com/kubetab/kubetab/internal/locked"
	"github.com/kubetab/kubetab/internal/unix/bash"
)

// Options say how a document is run. The zero value works.
type Options struct {
	// Patience is how long a command that only reads is run again while it prints something else than the document
	// says: controllers take their time, and readers do. 0 means 10 s.
	Patience time.Duration
	// Timeout is how long a command may take; 0 means 1 minute.
	Timeout time.Duration
}

const (
	nodes = 2 // as many as a page's cluster has
	again = 100 * time.Millisecond

	// The home folder, temporary folder and server of a page's terminal, which outputs show instead of this process's.
	pageHome, pageTemp, pageServer = "/home/kubetab", "/tmp", "127.0.0.1:6443"
)

// Outcome is what became of an example.
type Outcome string

// Outcomes of an example.
const (
	True    Outcome = "true"    // it prints what the document says
	Ran     Outcome = "ran"     // the document has no output for it, or it is a file
	Differs Outcome = "differs" // it prints something else
	Failed  Outcome = "failed"  // the document does not say so, and it has an exit code other than 0 or has not ended
	Skipped Outcome = "skipped" // the document wants it so
)

// Finding is what became of one example.
type Finding struct {
	Path    string
	Line    int    // of the command, from 1
	Command string // or the name of a file
	Outcome Outcome
	// Why is a unified diff, or the output of a command that failed. It ends with a line break.
	Why string

	step    *step
	printed []string
}

// Report is what became of a document's examples, in their order.
type Report []Finding

// IsTrue reports whether the document is.
func (r Report) IsTrue() bool { return r.Count(Differs)+r.Count(Failed) == 0 }

// Count is how many examples have an outcome.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, f := range r {
		if f.Outcome == o {
			n++
		}
	}
	return n
}

// Play runs the examples of d in a new cluster, from the first to the last. Errors: the engine cannot be started, files
// cannot be written, or ctx has ended.
func (d *Document) Play(ctx context.Context, o Options) (report Report, err error) {
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if !d.hasCommands() {
		return nil, nil
	}
	p, err := sitDown(ctx, d.bundle)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path, err)
	}
	defer func() { err = errors.Join(err, p.close()) }()
	for i := range d.steps {
		f, err := p.play(ctx, d, &d.steps[i], o)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.Path, d.steps[i].line, err)
		}
		report = append(report, f)
	}
	return report, nil
}

func (d *Document) hasCommands() bool {
	for _, s := range d.steps {
		if s.command != "" && !s.isSkip {
			return true
		}
	}
	return false
}

// player has a cluster and its terminals.
type player struct {
	dir, home string
	engine    *core.Engine
	shell     *shell.Shell
	sessions  map[string]*session
	stands    *strings.Replacer // what a page's terminal has
}

// session is a terminal of a document.
type session struct {
	*shell.Session
	printed *locked.Buffer
}

// sitDown starts a cluster, empty or with what is in from.
func sitDown(ctx context.Context, from *bundle.Bundle) (_ *player, err error) {
	p := &player{sessions: map[string]*session{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.dir, err = os.MkdirTemp("", "kubetab-docs-"); err != nil {
		return nil, err
	}
	// The shell asks the system where it is, and gets the name without links.
	if p.dir, err = filepath.EvalSymlinks(p.dir); err != nil {
		return nil, err
	}
	p.home = filepath.Join(p.dir, "home")
	temp := filepath.Join(p.dir, "tmp")
	tokens := map[string]string{}
	for _, person := range people.All {
		tokens[person.Name] = "token-of-" + person.Name
	}
	config := core.Config{Nodes: nodes, Clock: clock.New(nil), DefaultUser: people.All[0].User()}
	config.Admit(tokens)
	if from != nil {
		if _, err := config.Open(from); err != nil {
			return nil, err
		}
	}
	if p.engine, err = core.New(context.WithoutCancel(ctx), config); err != nil {
		return nil, err
	}
	if err := p.engine.Ready(ctx); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.shell, err = shell.New(shell.Config{API: p.engine.Handler(), Tokens: tokens, Listener: listener, Home: p.home, Temp: temp, Outside: p.engine.Outside()})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	p.stands = strings.NewReplacer(p.home, pageHome, temp, pageTemp, listener.Addr().String(), pageServer)
	return p, nil
}

func (p *player) close() error {
	var errs []error
	for _, s := range p.sessions {
		s.Close()
	}
	if p.shell != nil {
		errs = append(errs, p.shell.Close())
	}
	if p.engine != nil {
		errs = append(errs, p.engine.Close())
	}
	if p.dir != "" {
		errs = append(errs, os.RemoveAll(p.dir))
	}
	return errors.Join(errs...)
}

func (p *player) session(name string) (*session, error) {
	if s := p.sessions[name]; s != nil {
		return s, nil
	}
	out := &locked.Buffer{}
	s, err := p.shell.NewSession(out)
	if err != nil {
		return nil, err
	}
	p.sessions[name] = &session{s, out}
	return p.sessions[name], nil
}

func (p *player) play(ctx context.Context, d *Document, s *step, o Options) (Finding, error) {
	f := Finding{Path: d.Path, Line: s.line, Command: s.command, Outcome: Ran, step: s}
	if f.Command == "" {
		f.Command = s.file
	}
	if s.isSkip {
		f.Outcome = Skipped
		return f, nil
	}
	if s.file != "" {
		name := filepath.Join(p.home, filepath.FromSlash(s.file))
		return f, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(s.text), 0o644))
	}
	in, err := p.session(s.session)
	if err != nil {
		return f, err
	}
	code, ended, err := p.run(ctx, in, s, &f, o)
	switch {
	case err != nil:
		return f, err
	case !ended:
		f.Outcome, f.Why = Failed, fmt.Sprintf("%sit has not ended after %v\n", joined(f.printed), o.Timeout)
	case s.expected == nil:
		if code != 0 {
			f.Outcome, f.Why = Failed, fmt.Sprintf("%sexit code %d\n", joined(f.printed), code)
		}
	case holds(s.expected.lines(), f.printed):
		f.Outcome = True
	default:
		f.Outcome, f.Why = Differs, unified(d.Path, s.expected.number(), s.expected.lines(), f.printed)
	}
	return f, nil
}

// number returns the number of the document's line that has the first line of e.
func (e *expected) number() int {
	if e.from < len(e.in.lines) {
		return e.in.lines[e.from].number
	}
	return e.in.number
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// run runs the command of s. If its last part only reads, run repeats that part as long as it prints something else
// than expected. ended is false for a command that takes longer than o.Timeout. The error is that of ctx.
func (p *player) run(ctx context.Context, in *session, s *step, f *Finding, o Options) (code int, ended bool, err error) {
	first, last := split(s.lines())
	once := func(script string) (int, string, bool) {
		limited, cancel := context.WithTimeout(ctx, o.Timeout)
		defer cancel()
		code := in.Run(limited, script)
		return code, in.printed.Take(), limited.Err() == nil
	}
	before := ""
	if first != "" {
		code, before, ended = once(first)
		f.printed = p.lines(before)
		if !ended || last == "" {
			return code, ended, ctx.Err()
		}
	}
	deadline := time.NewTimer(o.Patience)
	defer deadline.Stop()
	next := time.NewTicker(again)
	defer next.Stop()
	for {
		var text string
		code, text, ended = once(last)
		f.printed = p.lines(before + text)
		isAsSaid := code == 0
		if s.expected != nil {
			isAsSaid = holds(s.expected.lines(), f.printed)
		}
		if !ended || isAsSaid {
			return code, ended, ctx.Err()
		}
		select {
		case <-ctx.Done():
			return code, ended, ctx.Err()
		case <-deadline.C:
			return code, ended, nil
		case <-next.C:
		}
	}
}

// lines returns the lines of text as a page's terminal shows them.
func (p *player) lines(text string) []string {
	text = strings.TrimRight(p.stands.Replace(text), "\n")
	if text == "" {
		return nil
	}
	found := strings.Split(text, "\n")
	for i, l := range found {
		found[i] = strings.TrimRight(l, " \t\r")
	}
	return found
}

// split parts a script into what may change something, and statements at its end that only read.
func split(script string) (first, last string) {
	file, err := bash.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return script, "" // the shell says what is wrong
	}
	from := len(script)
	for i := len(file.Stmts) - 1; i >= 0 && onlyReads(file.Stmts[i]); i-- {
		from = int(file.Stmts[i].Pos().Offset())
	}
	return strings.TrimSpace(script[:from]), script[from:]
}

// readers are programs that change nothing, and what kubectl's commands must be to change nothing.
var (
	readers = map[string]bool{
		"awk": true, "cat": true, "column": true, "cut": true, "echo": true, "grep": true, "head": true, "jq": true, "ls": true, "printf": true,
		"pwd": true, "sort": true, "tail": true, "tr": true, "uniq": true, "wc": true, "test": true, "[": true,
	}
	readingCommands = map[string]bool{
		"get": true, "describe": true, "logs": true, "events": true, "top": true, "explain": true, "api-resources": true, "api-versions": true,
		"version": true, "cluster-info": true, "wait": true, "diff": true,
	}
)

// onlyReads reports whether a statement can be run again. It knows kubectl and filters; all else counts as changing something.
func onlyReads(stmt *syntax.Stmt) bool {
	reads := !stmt.Background
	syntax.Walk(stmt, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Op != syntax.RdrIn && n.Op != syntax.Hdoc && n.Op != syntax.WordHdoc && n.Op != syntax.DplOut {
				reads = false
			}
		case *syntax.Assign, *syntax.FuncDecl, *syntax.DeclClause:
			reads = false
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			var words []string
			for _, arg := range n.Args {
				words = append(words, arg.Lit()) // empty for what is not plain
			}
			name := path.Base(words[0])
			isKubectl := (name == "kubectl" || name == "k") && readingKubectl(words[1:])
			if !isKubectl && !readers[name] {
				reads = false
			}
		}
		return reads
	})
	return reads
}

func readingKubectl(words []string) bool {
	for i, word := range words {
		switch {
		case word == "-w" || word == "--watch" || word == "-f" && i > 0 && words[0] == "logs":
			return false
		case word == "rollout":
			return i+1 < len(words) && (words[i+1] == "status" || words[i+1] == "history")
		case word == "auth":
			return i+1 < len(words) && (words[i+1] == "can-i" || words[i+1] == "whoami")
		case word == "config":
			return i+1 < len(words) && (words[i+1] == "view" || strings.HasPrefix(words[i+1], "get-") || words[i+1] == "current-context")
		}
	}
	for i, word := range words {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if i > 0 && (words[i-1] == "-n" || words[i-1] == "--namespace" || words[i-1] == "--context" || words[i-1] == "--as") {
			continue
		}
		return readingCommands[word]
	}
	return false
}
