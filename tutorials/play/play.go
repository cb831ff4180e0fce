// Package play plays lessons as a learner would who does what the solution says, and as one who takes the wrong turns that
// a lesson names, and tells where a lesson does not do what it says. It is what tests run, and what `make lesson` does
// while a lesson is being written.
//
// The shell takes the environment of the process, so that at most one Desk of a process may be in use at a time.
package play

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/core/shell"
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/evaluate"
	"github.com/kubetab/kubetab/tutorials/load"
)

// nodes is how many a page's cluster has, too.
const nodes = 2

// Cluster is an engine for lessons.
type Cluster struct {
	engine   *core.Engine
	requests *requestlog.Log
	clock    *clock.Clock
	tokens   map[string]string
}

// Start starts an engine with the settings of a lesson, nil for the usual ones, and waits until it is ready. Errors:
// those of core.New, and ctx's.
func Start(ctx context.Context, settings *tutorials.Engine) (*Cluster, error) {
	c := &Cluster{requests: requestlog.New(requestlog.Options{}), clock: clock.New(nil), tokens: map[string]string{}}
	for _, p := range core.People {
		c.tokens[p.Name] = "token-of-" + p.Name
	}
	config := core.Config{Nodes: nodes, Requests: c.requests, Clock: c.clock, DefaultUser: core.People[0].User()}
	config.Admit(c.tokens)
	if settings != nil {
		config.EmulatedVersion, config.RuntimeConfig, config.FeatureGates = settings.EmulatedVersion, settings.RuntimeConfig, settings.FeatureGates
	}
	var err error
	if c.engine, err = core.New(context.WithoutCancel(ctx), config); err != nil {
		return nil, err
	}
	if err := c.engine.Ready(ctx); err != nil {
		return nil, errors.Join(err, c.engine.Close())
	}
	return c, nil
}

// Close ends the engine.
func (c *Cluster) Close() error { return c.engine.Close() }

// Desk is where somebody works on a lesson: a terminal with its files, and the evaluator.
type Desk struct {
	evaluator *evaluate.Evaluator
	shell     *shell.Shell
	session   *shell.Session
	home      string
	lesson    *load.Lesson
	printed   printed
}

// Sit prepares a desk with its files below dir, and begins a lesson at it. Errors: a manifest of start/ that cannot be
// applied, and those of files.
func (c *Cluster) Sit(ctx context.Context, dir string, l *load.Lesson) (*Desk, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &Desk{home: filepath.Join(dir, "home"), lesson: l}
	d.shell, err = shell.New(shell.Config{API: c.engine.Handler(), Tokens: c.tokens, Home: d.home, Temp: filepath.Join(dir, "tmp"), Listener: listener})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	if d.session, err = d.shell.NewSession(&d.printed); err != nil {
		return nil, errors.Join(err, d.shell.Close())
	}
	if l.Clock != nil && l.Clock.Paused {
		c.clock.Pause()
	}
	d.evaluator = evaluate.New(evaluate.Config{Client: c.engine.RESTConfig(), Requests: c.requests, Clock: c.clock, Namespace: d.shell.SetNamespace})
	for _, f := range append(l.Files[:len(l.Files):len(l.Files)], l.Solution...) {
		name := filepath.Join(d.home, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(f.Text), 0o644)); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	if err := d.evaluator.Begin(ctx, l.Begin(), false); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close ends the terminal with what runs in it, and the evaluator.
func (d *Desk) Close() error {
	d.evaluator.Close()
	d.session.Close()
	return d.shell.Close()
}

// printed is what the terminal has printed since it was last taken, at most its end.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const mostPrinted = 8 << 10

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b)
	if over := p.text.Len() - mostPrinted; over > mostPrinted {
		p.text.Next(over)
	}
	return len(b), nil
}

func (p *printed) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.text.Reset()
	text := p.text.String()
	return text[max(0, len(text)-mostPrinted):]
}

// Run runs command lines one after another and returns what they printed, each behind its line.
func (d *Desk) Run(ctx context.Context, lines []string) (transcript string, err error) {
	var out strings.Builder
	d.printed.take()
	for _, line := range lines {
		code := d.session.Run(ctx, line)
		fmt.Fprintf(&out, "$ %s\n%s", line, d.printed.take())
		if code != 0 {
			fmt.Fprintf(&out, "(exit %d)\n", code)
		}
		if ctx.Err() != nil {
			return out.String(), fmt.Errorf("%q did not end: %w", line, context.Cause(ctx))
		}
	}
	return out.String(), nil
}

// Until waits until the state is as wanted. The error says that ctx has ended first.
func (d *Desk) Until(ctx context.Context, wanted func(tutorials.State) bool) (tutorials.State, error) {
	wake, stop := d.evaluator.Follow()
	defer stop()
	for {
		s := d.evaluator.State()
		if wanted(s) {
			return s, nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return s, context.Cause(ctx)
		}
	}
}

// Player plays passes of lessons.
type Player struct {
	// Patience is how long a check or a hint may take after the lines that bring it, and a line to end: a minute if 0.
	Patience time.Duration
	// Temp returns an empty folder for a desk.
	Temp func() string
}

// Passes is how often a lesson is played: by its solution, and once for each wrong turn.
func Passes(l *load.Lesson) int {
	n := 1
	for _, step := range l.All() {
		n += len(step.Wrong)
	}
	return n
}

// Play plays one pass of a lesson: 0 is the solution, the others are wrong turns in their order. The cluster must not have
// seen the lesson before. The error says what the lesson promises and does not do.
func (p *Player) Play(ctx context.Context, c *Cluster, l *load.Lesson, pass int) (err error) {
	if p.Patience == 0 {
		p.Patience = time.Minute
	}
	begin, cancel := p.patience(ctx)
	defer cancel()
	d, err := c.Sit(begin, p.Temp(), l)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.evaluator.Settle(begin); err != nil {
		return err
	}
	if err := compare(d.evaluator.State(), -1, "after the start"); err != nil {
		return err
	}
	steps := l.All()
	if pass == 0 {
		for i := range steps {
			if err := p.solve(ctx, d, steps, i); err != nil {
				return err
			}
		}
		return nil
	}
	for i, step := range steps {
		if pass > len(step.Wrong) {
			pass -= len(step.Wrong)
			if err := p.solve(ctx, d, steps, i); err != nil {
				return err
			}
			continue
		}
		return p.turn(ctx, d, i, step.Wrong[pass-1])
	}
	return fmt.Errorf("there is no pass %d", pass)
}

func (p *Player) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, p.Patience, fmt.Errorf("waited for %v", p.Patience))
}

// solve plays the solution of a step.
func (p *Player) solve(ctx context.Context, d *Desk, steps []tutorials.Step, i int) error {
	ctx, cancel := p.patience(ctx)
	defer cancel()
	step := steps[i]
	transcript, err := d.Run(ctx, step.Solution)
	if err != nil {
		return fmt.Errorf("step %s: %w\n%s", step.ID, err, transcript)
	}
	s, err := d.Until(ctx, func(s tutorials.State) bool { return s.Error != "" || s.Steps[i].Done })
	switch {
	case s.Error != "":
		return fmt.Errorf("step %s: %s", step.ID, s.Error)
	case err != nil:
		return fmt.Errorf("step %s: its solution does not make it done: %w\nnot true: %s\n%s", step.ID, err, strings.Join(open(s.Steps[i]), "; "), transcript)
	}
	if err := d.evaluator.Settle(ctx); err != nil {
		return err
	}
	if err := compare(d.evaluator.State(), i, "after the solution of "+step.ID); err != nil {
		return fmt.Errorf("%w\n%s", err, transcript)
	}
	return nil
}

// turn takes a wrong turn.
func (p *Player) turn(ctx context.Context, d *Desk, i int, w tutorials.Wrong) error {
	ctx, cancel := p.patience(ctx)
	defer cancel()
	transcript, err := d.Run(ctx, w.Lines)
	if err != nil {
		return fmt.Errorf("wrong turn to %s: %w\n%s", w.Hint, err, transcript)
	}
	s, err := d.Until(ctx, func(s tutorials.State) bool {
		for _, hint := range s.Steps[i].Hints {
			if hint == w.Hint {
				return true
			}
		}
		return false
	})
	if err != nil {
		return fmt.Errorf("step %s: the wrong turn does not bring the hint %s: %w\nhints: %s; %s\n%s", s.Steps[i].ID, w.Hint, err, strings.Join(s.Steps[i].Hints, ", "), s.Error, transcript)
	}
	return nil
}

// compare checks that steps up to last are done, that no check of a later one is true, and that there is no hint.
func compare(s tutorials.State, last int, when string) error {
	var wrong []string
	if !s.Ready || s.Error != "" {
		wrong = append(wrong, fmt.Sprintf("ready: %t %s", s.Ready, s.Error))
	}
	for i, step := range s.Steps {
		if i <= last && !step.Done {
			wrong = append(wrong, "step "+step.ID+" is not done any more")
		}
		for _, c := range step.Checks {
			switch {
			case c.Error != "":
				wrong = append(wrong, fmt.Sprintf("check %s cannot be looked at: %s", c.ID, c.Error))
			case i > last && c.Done:
				wrong = append(wrong, fmt.Sprintf("check %s of step %s is true: %s", c.ID, step.ID, c.Seen))
			case c.Failed:
				wrong = append(wrong, "check "+c.ID+" has failed")
			}
		}
		for _, hint := range step.Hints {
			wrong = append(wrong, fmt.Sprintf("hint %s of step %s is shown", hint, step.ID))
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", when, strings.Join(wrong, "; "))
}

// open are the checks that are not true.
func open(s tutorials.StepState) []string {
	var list []string
	for _, c := range s.Checks {
		if !c.Done {
			list = append(list, strings.TrimSpace(c.ID+" "+c.Error))
		}
	}
	return list
}
