// Package play plays lessons: as a learner who follows the solution, and as a learner who takes the wrong turns that a
// lesson names. It reports where a lesson does not do what it says. Tests run it, and so does `make lesson` while a lesson
// is being written.
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
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/core/resume"
	"github.com/kubetab/kubetab/core/shell"
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/evaluate"
	"github.com/kubetab/kubetab/tutorials/load"
)

// nodes is how many a page's cluster has, too.
const nodes = 2

// Cluster is an engine for lessons, which can be restarted with other settings.
type Cluster struct {
	store    *etcd.DB
	identity []byte
	requests *requestlog.Log
	clock    *clock.Clock
	tokens   map[string]string
	settings *tutorials.Engine
	engine   *core.Engine
}

// Start starts an engine with the settings of a lesson, nil for the usual ones, and waits until it is ready. Errors:
// those of core.New, and ctx's.
func Start(ctx context.Context, settings *tutorials.Engine) (*Cluster, error) {
	identity, err := resume.NewIdentity()
	if err != nil {
		return nil, err
	}
	store, err := etcd.Open(etcd.Options{Observe: request.TrackStorageLatency})
	if err != nil {
		return nil, err
	}
	c := &Cluster{store: store, identity: identity, requests: requestlog.New(requestlog.Options{}), clock: clock.New(nil), tokens: map[string]string{}}
	for _, p := range people.All {
		c.tokens[p.Name] = "token-of-" + p.Name
	}
	if err := c.start(ctx, settings); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return c, nil
}

// start starts the engine. There is none when it fails.
func (c *Cluster) start(ctx context.Context, settings *tutorials.Engine) error {
	config := configOf(settings)
	config.Store, config.Resume.Identity, config.Requests, config.Clock = c.store, c.identity, c.requests, c.clock
	config.Nodes, config.DefaultUser = nodes, people.All[0].User()
	config.Admit(c.tokens)
	engine, err := core.New(context.WithoutCancel(ctx), config)
	if err != nil {
		return err
	}
	if err := engine.Ready(ctx); err != nil {
		return errors.Join(err, engine.Close())
	}
	c.engine, c.settings = engine, settings
	return nil
}

func configOf(settings *tutorials.Engine) core.Config {
	if settings == nil {
		return core.Config{}
	}
	return core.Config{EmulatedVersion: settings.EmulatedVersion, RuntimeConfig: settings.RuntimeConfig, FeatureGates: settings.FeatureGates}
}

// Close ends the engine.
func (c *Cluster) Close() error {
	var err error
	if c.engine != nil {
		err = c.engine.Close()
	}
	return errors.Join(err, c.store.Close())
}

// Desk is where somebody works on a lesson: a terminal with its files, and the evaluator.
type Desk struct {
	cluster   *Cluster
	evaluator *evaluate.Evaluator
	shell     *shell.Shell
	session   *shell.Session
	dir       string
	home      string
	lesson    *load.Lesson
	printed   printed
	faults    faults
}

// Sit prepares a desk with its files below dir, and begins a lesson at it. Errors: a manifest of start/ that cannot be
// applied, and those of files.
func (c *Cluster) Sit(ctx context.Context, dir string, l *load.Lesson) (*Desk, error) {
	d := &Desk{cluster: c, dir: dir, home: filepath.Join(dir, "home"), lesson: l}
	if l.Clock != nil && l.Clock.Paused {
		c.clock.Pause()
	}
	for _, f := range append(l.Files[:len(l.Files):len(l.Files)], l.Solution...) {
		name := filepath.Join(d.home, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(f.Text), 0o644)); err != nil {
			return nil, err
		}
	}
	if err := d.open(); err != nil {
		return nil, err
	}
	if err := d.evaluator.Begin(ctx, l.Begin(), false); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open gives the desk a terminal and an evaluator at the engine that there is.
func (d *Desk) open() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c := d.cluster
	d.shell, err = shell.New(shell.Config{API: c.engine.Handler(), Tokens: c.tokens, Home: d.home, Temp: filepath.Join(d.dir, "tmp"), Listener: listener, Outside: c.engine.Outside(), Node: node("http://" + listener.Addr().String())})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if d.session, err = d.shell.NewSession(&d.printed); err != nil {
		return errors.Join(err, d.shell.Close())
	}
	d.evaluator = evaluate.New(evaluate.Config{Client: c.engine.RESTConfig(), Requests: c.requests, Clock: c.clock, Namespace: d.shell.SetNamespace, Log: d.faults.add})
	return nil
}

// Restart starts the engine again with other settings, as the page does when a learner wants it: the objects, the files and
// what has been done of the lesson are kept, and the terminal begins anew. Errors: those of core.New, after which the desk
// can only be left.
func (d *Desk) Restart(ctx context.Context, settings *tutorials.Engine) error {
	steps := d.evaluator.State().Steps
	if err := d.Close(); err != nil {
		return err
	}
	engine := d.cluster.engine
	d.cluster.engine = nil
	if err := engine.Close(); err != nil {
		return err
	}
	// It has the address of the terminal that has ended, and what kubectl has kept of that one's API.
	if err := os.RemoveAll(filepath.Join(d.home, ".kube")); err != nil {
		return err
	}
	if err := d.cluster.start(ctx, settings); err != nil {
		return err
	}
	if err := d.open(); err != nil {
		return err
	}
	begin := d.lesson.Begin()
	begin.Progress = steps
	return d.evaluator.Begin(ctx, begin, true)
}

// Close ends the terminal with what runs in it, and the evaluator. To close it twice is harmless.
func (d *Desk) Close() error {
	if d.shell == nil {
		return nil
	}
	d.evaluator.Close()
	d.session.Close()
	err := d.shell.Close()
	d.shell = nil
	return err
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

// faults are what the evaluator could not do. A learner's page says nothing of it, and a lesson may seem to work.
type faults struct {
	mu   sync.Mutex
	text []string
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text = append(f.text, fmt.Sprintf(format, args...))
}

// err is nil where there are none.
func (f *faults) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.text == nil {
		return nil
	}
	return fmt.Errorf("the evaluator says: %s", strings.Join(f.text, "; "))
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

// turn is a wrong turn, and the step that it belongs to.
type turn struct {
	step int
	tutorials.Wrong
}

// play is one pass of a lesson: the wrong turns that are taken, each before the solution of its step, and whether the pass
// goes on to the end of the lesson or ends with its turn.
type play struct {
	turns []turn
	whole bool
}

// plays are the passes of a lesson: its solution; all wrong turns from which the solution goes on; and each of the others.
func plays(l *load.Lesson) []play {
	passes := []play{{whole: true}}
	together := play{whole: true}
	var alone []play
	for i, step := range l.All() {
		for _, w := range step.Wrong {
			if one := (turn{i, w}); w.Alone {
				alone = append(alone, play{turns: []turn{one}})
			} else {
				together.turns = append(together.turns, one)
			}
		}
	}
	if together.turns != nil {
		passes = append(passes, together)
	}
	return append(passes, alone...)
}

// Passes is how often a lesson is played, until its solution and each of its wrong turns have been seen. The first is its
// solution.
func Passes(l *load.Lesson) int { return len(plays(l)) }

// Play plays one pass of a lesson, from 0 to Passes-1: the first is the solution alone. The cluster must not have seen the
// lesson before. The error says what the lesson promises and does not do.
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
	defer func() { err = errors.Join(err, d.Close(), d.faults.err()) }()
	if err := d.evaluator.Settle(begin); err != nil {
		return err
	}
	if err := compare(d.evaluator.State(), -1, "after the start"); err != nil {
		return err
	}
	passes := plays(l)
	if pass >= len(passes) {
		return fmt.Errorf("there is no pass %d", pass)
	}
	for i, step := range l.All() {
		ended, err := p.step(ctx, d, i, step, passes[pass])
		if ended || err != nil {
			return err
		}
	}
	return nil
}

// step plays a step in a pass: the wrong turns of it that are to be taken, and its solution. It reports whether the pass has
// ended with one of them.
func (p *Player) step(ctx context.Context, d *Desk, i int, step tutorials.Step, pass play) (ended bool, err error) {
	for _, early := range []bool{true, false} {
		if !early {
			if err := p.restart(ctx, d, step); err != nil {
				return false, err
			}
		}
		for _, one := range pass.turns {
			if one.step != i || one.Early != early {
				continue
			}
			if err := p.turn(ctx, d, i, one.Wrong); err != nil || !pass.whole {
				return true, err
			}
		}
	}
	return false, p.solve(ctx, d, i, step, len(pass.turns) == 0)
}

func (p *Player) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, p.Patience, fmt.Errorf("waited for %v", p.Patience))
}

// solve plays the solution of a step. Where nothing else has been done (alone), exactly the checks up to it are true then.
func (p *Player) solve(ctx context.Context, d *Desk, i int, step tutorials.Step, alone bool) error {
	ctx, cancel := p.patience(ctx)
	defer cancel()
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
	if !alone {
		return nil
	}
	if err := d.evaluator.Settle(ctx); err != nil {
		return err
	}
	if err := compare(d.evaluator.State(), i, "after the solution of "+step.ID); err != nil {
		return fmt.Errorf("%w\n%s", err, transcript)
	}
	return nil
}

// restart starts the engine that a step asks for, if it does.
func (p *Player) restart(ctx context.Context, d *Desk, step tutorials.Step) error {
	if step.Engine == nil {
		return nil
	}
	ctx, cancel := p.patience(ctx)
	defer cancel()
	if err := d.Restart(ctx, step.Engine); err != nil {
		return fmt.Errorf("step %s: restart the engine: %w", step.ID, err)
	}
	return nil
}

// turn takes a wrong turn. Its hint must come with it, and not have been there before.
func (p *Player) turn(ctx context.Context, d *Desk, i int, w tutorials.Wrong) error {
	if s := d.evaluator.State(); slices.Contains(s.Steps[i].Hints, w.Hint) {
		return fmt.Errorf("step %s: the hint %s is there before its wrong turn", s.Steps[i].ID, w.Hint)
	}
	ctx, cancel := p.patience(ctx)
	defer cancel()
	transcript, err := d.Run(ctx, w.Lines)
	if err != nil {
		return fmt.Errorf("wrong turn to %s: %w\n%s", w.Hint, err, transcript)
	}
	s, err := d.Until(ctx, func(s tutorials.State) bool { return slices.Contains(s.Steps[i].Hints, w.Hint) })
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
