package container

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// process is a program that runs in a container. Its fields are guarded by the
// table's lock but for those that never change.
type process struct {
	session *session // in which it runs
	began   time.Time
	end     context.CancelCauseFunc // has it end with a killedBy

	argv   []string
	number int // 0 until somebody asks for it
	place  int // in the order of the begins
}

// killedBy is the number of the signal that a process has been ended by.
type killedBy int

func (killedBy) Error() string { return "killed" }

// table is what runs in a container beside its first process and what its shells
// have in the background. A process has no number before somebody looks: most end
// unseen.
type table struct {
	mu    sync.Mutex
	known map[*process]bool
	begun int
	// workers are the numbers of the processes that the first one has started, if it is a server that does.
	workers []int
}

// add notes a process until remove is called.
func (t *table) add(p *process) (remove func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[*process]bool{}
	}
	t.begun++
	p.place = t.begun
	t.known[p] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.known, p)
	}
}

// becomes says that a process runs another program now, as exec has it.
func (t *table) becomes(p *process, argv []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.argv = argv
}

// begin notes a program that the session runs. It returns the context that the
// program is to run in, which ends when the process is killed, and the process. What
// takes the place of its shell is the shell's process, and what is in the background
// is seen as its job.
func (s *session) begin(ctx context.Context, args []string) (context.Context, *process, func()) {
	root := s.c.root()
	switch {
	case bash.InJob(ctx):
		return ctx, s.process, nothingMore
	case s.process != nil && s.takesOver(ctx):
		root.table.becomes(s.process, args)
		return ctx, s.process, nothingMore
	}
	ctx, end := context.WithCancelCause(ctx)
	p := &process{session: s, argv: args, began: root.cfg.Clock.Now(), end: end}
	remove := root.table.add(p)
	return ctx, p, func() { remove(); end(nil) }
}

func nothingMore() {}

// takesOver reports whether the program that ctx is of runs in the place of its
// shell: it is the last command of sh -c, the operand of exec, or there is no shell.
func (s *session) takesOver(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.single {
		return true
	}
	if s.hooked || !bash.CalledBy(ctx, s.top) {
		return false
	}
	return s.execs || s.final.IsValid() && s.final == interp.HandlerCtx(ctx).Pos
}

// lastCommand is where the command begins that a shell runs in its own place, as it
// is the last one of a script.
func lastCommand(file *syntax.File) (at syntax.Pos) {
	if len(file.Stmts) == 0 {
		return at
	}
	stmt := file.Stmts[len(file.Stmts)-1]
	for {
		if stmt.Background || stmt.Negated || stmt.Coprocess {
			return at
		}
		switch cmd := stmt.Cmd.(type) {
		case *syntax.CallExpr:
			return cmd.Pos()
		case *syntax.BinaryCmd:
			if cmd.Op != syntax.AndStmt && cmd.Op != syntax.OrStmt {
				return at
			}
			stmt = cmd.Y
		default:
			return at
		}
	}
}

// killed returns the exit code of a program whose context a signal has ended.
func killed(ctx context.Context) (code int, ok bool) {
	var by killedBy
	if errors.As(context.Cause(ctx), &by) {
		return 128 + int(by), true
	}
	return 0, false
}

// shown is a process as it is shown and signalled.
type shown struct {
	number, parent int
	of             *Container
	user           User
	argv           []string
	tty            bool
	began          time.Time
	self           bool // it is the one that looks
	titled         bool // it has given itself a title, before the colon of which its name is
	signal         func(name string)
}

// name is that of the program, as killall and pgrep want it.
func (p shown) name() string {
	if len(p.argv) == 0 {
		return ""
	}
	if p.titled {
		before, _, _ := strings.Cut(p.argv[0], ":")
		return before
	}
	return path.Base(p.argv[0])
}

// text is the command line.
func (p shown) text() string { return strings.Join(p.argv, " ") }

// shows returns the processes that a program sees, by number. Of what its own session
// runs in the foreground it sees itself alone: what stands beside it in a pipeline may
// or may not have begun.
func (c *Container) shows(by *process) []shown {
	c = c.root()
	var all []shown
	if n := c.namespace(); n != nil && n.pause {
		all = append(all, shown{number: 1, argv: []string{"/pause"}, of: c, began: c.Started, signal: func(string) {}})
	}
	for _, m := range c.all() {
		all = append(all, m.runs(by)...)
	}
	for _, job := range c.processes.Running() {
		all = append(all, shown{number: job.Process, parent: c.first, of: c, user: c.cfg.User, argv: strings.Fields(job.Text), began: c.Started, signal: func(name string) { job.Kill(name) }})
	}
	slices.SortStableFunc(all, func(a, b shown) int { return a.number - b.number })
	return all
}

// runs returns the container's own processes but for those in the background.
func (c *Container) runs(by *process) []shown {
	first := c.firstShown()
	first.self = by != nil && c.main != nil && by == c.main.process
	all := append([]shown{first}, c.workers()...)
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	known := make([]*process, 0, len(c.table.known))
	for p := range c.table.known {
		if c.main != nil && p == c.main.process || by != nil && p != by && p.session == by.session && p != by.session.process {
			continue
		}
		known = append(known, p)
	}
	slices.SortFunc(known, func(a, b *process) int { return a.place - b.place })
	for _, p := range known {
		all = append(all, shown{number: c.numberLocked(p), parent: c.parentLocked(p), of: c, user: c.cfg.User, argv: p.argv, tty: p.session.tty != nil, began: p.began, self: p == by, signal: p.signal})
	}
	return all
}

// firstShown is the container's first process.
func (c *Container) firstShown() shown {
	argv := c.firstArgv()
	p := shown{number: c.first, of: c, titled: len(argv) == 1 && strings.HasPrefix(argv[0], masterTitle), user: c.cfg.User, argv: argv, tty: c.tty != nil, began: c.Started, signal: c.signalled}
	if c.cfg.Processes != nil {
		p.signal = c.delivered
	}
	return p
}

// numberLocked is the number of a process.
func (c *Container) numberLocked(p *process) int {
	if c.main != nil && p == c.main.process {
		return c.first
	}
	if p.number == 0 {
		p.number = c.processes.Number()
	}
	return p.number
}

func (c *Container) parentLocked(p *process) int {
	if of := p.session.process; of != nil && of != p {
		return c.numberLocked(of)
	}
	if p.session.own {
		return c.first
	}
	return 0
}

// number is that of a process, which may be nil for the first one.
func (c *Container) number(p *process) int {
	c = c.root()
	if p == nil {
		return c.first
	}
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	return c.numberLocked(p)
}

// masterTitle is what nginx calls its first process.
const masterTitle = "nginx: master process "

// firstArgv is what the first process is at the moment.
func (c *Container) firstArgv() []string {
	if c.main != nil && c.main.process != nil {
		c.table.mu.Lock()
		defer c.table.mu.Unlock()
		return c.main.process.argv
	}
	argv := c.cfg.Image.started(c.argv)
	if len(argv) > 0 && path.Base(argv[0]) == "nginx" && c.cfg.Image.kind == "nginx" {
		return []string{masterTitle + strings.Join(argv, " ")}
	}
	return argv
}

// processors is how many processors the nodes say they have, and with them their
// containers.
const processors = 4

// workers are the processes that nginx has for each processor.
func (c *Container) workers() []shown {
	if c.main != nil || c.cfg.Image.kind != "nginx" {
		return nil
	}
	c.table.mu.Lock()
	defer c.table.mu.Unlock()
	for len(c.table.workers) < processors {
		c.table.workers = append(c.table.workers, c.processes.Number())
	}
	user := c.cfg.User
	if user.isRoot() {
		user = User{UID: 101, GID: 101}
	}
	var all []shown
	for _, number := range c.table.workers {
		all = append(all, shown{number: number, parent: c.first, of: c, user: user, argv: []string{"nginx: worker process"}, titled: true, began: c.Started, signal: func(string) {}})
	}
	return all
}

// worker is the number of the one of nginx's processes that answers.
func (c *Container) worker() int {
	if all := c.workers(); len(all) > 0 {
		return all[0].number
	}
	return c.first + 28 // as in a container whose entrypoint has started nginx
}

// handles are the servers that go on after the signals by which they are told to read
// their configuration and to open their logs anew.
var handles = map[string]bool{"nginx": true, "httpd": true, "httpd-foreground": true, "apachectl": true, "redis-server": true, "postgres": true, "mysqld": true, "mariadbd": true}

// signal sends a signal to a process that is not the first one. One that has a trap
// runs it, and a shell at a terminal leaves those alone that it is asked to end by.
func (p *process) signal(name string) {
	number, ok := coreutils.SignalNumber(name)
	if !ok || bash.IsHarmless(name) {
		return
	}
	table := &p.session.c.root().table
	table.mu.Lock()
	program := path.Base(firstWord(p.argv))
	table.mu.Unlock()
	if handles[program] && slices.Contains([]string{"HUP", "USR1", "USR2", "WINCH"}, name) {
		if program == "nginx" {
			p.session.c.tellSignal(name)
		}
		return
	}
	if s := p.session; s.process == p && name != "KILL" {
		if s.signal(name) || s.tty != nil && shells[program] && slices.Contains(ending, name) {
			return
		}
	}
	if p.end != nil {
		p.end(killedBy(number))
	}
}

// signalled sends a signal to the first process from inside of the container: as the
// kernel has it, it gets those alone that it has a handler for.
func (c *Container) signalled(name string) {
	c = c.root()
	if bash.IsHarmless(name) || name == "KILL" {
		return
	}
	c.mu.Lock()
	main := c.main
	c.mu.Unlock()
	nginx := c.is("nginx")
	switch ends := slices.Contains(ending, name); {
	case nginx && main == nil:
		c.tellSignal(name)
		if !ends {
			return
		}
	case main == nil && !ends:
		return
	}
	c.Signal(name)
}

// is reports whether the first process is a program.
func (c *Container) is(name string) bool {
	argv := c.cfg.Image.started(c.root().argv)
	return len(argv) > 0 && path.Base(argv[0]) == name
}

// signalNamed sends a signal to what runs a program, by name and in the order of the
// numbers, but for a program that is itself the sender. It returns how many there are.
func (c *Container) signalNamed(by *process, name, signal string) int {
	n := 0
	for _, p := range c.shows(by) {
		if !p.self && p.name() == name {
			p.signal(signal)
			n++
		}
	}
	return n
}

// enter notes what the container itself or an exec runs, until leave is called. The
// context that it returns ends when the process is killed.
func (s *session) enter(ctx context.Context, argv []string) (_ context.Context, leave func()) {
	root := s.c.root()
	ctx, end := context.WithCancelCause(ctx)
	s.process = &process{session: s, argv: argv, began: root.cfg.Clock.Now(), end: end}
	s.single = !shells[path.Base(argv[0])]
	remove := root.table.add(s.process)
	return ctx, func() { remove(); end(nil) }
}
