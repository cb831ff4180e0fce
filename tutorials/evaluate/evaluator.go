package evaluate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/checks"
)

// Config says what an Evaluator works with.
type Config struct {
	// Client reaches the API server as somebody who may do everything.
	Client *rest.Config
	// Requests is the log that sees all requests.
	Requests *requestlog.Log
	// Namespace makes a namespace the terminal's default. Nil means that nobody needs to be told.
	Namespace func(namespace string) error
	// Clock is the cluster's, for `now` and `for`. Nil means the real time.
	Clock clock.WithDelayedExecution
	// Log is told of checks that cannot be looked at. Nil drops it.
	Log func(format string, args ...any)
}

// Evaluator looks at the checks of one lesson at a time. Its methods are safe to call at once.
type Evaluator struct {
	config Config

	begin sync.Mutex // one Begin or End after the other

	mu        sync.Mutex
	running   *run // nil without a lesson
	state     tutorials.State
	followers map[chan struct{}]struct{}
	closed    bool
}

// New returns an evaluator without a lesson, which costs nothing.
func New(c Config) *Evaluator {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	return &Evaluator{config: c, state: noLesson(), followers: map[chan struct{}]struct{}{}}
}

func noLesson() tutorials.State { return tutorials.State{Steps: []tutorials.StepState{}} }

// ErrInvalid is in errors of Begin that come from the lesson and not from the cluster.
var ErrInvalid = errors.New("the lesson is not valid")

var errClosed = errors.New("the evaluator has been closed")

// Begin applies a lesson's start and looks at its checks from then on, in place of those of an earlier lesson. With keep
// the cluster is left as it is. The lesson goes on from Progress. It returns when the lesson is ready. Errors: a check
// that does not compile (ErrInvalid), a manifest that cannot be applied, ctx's.
func (e *Evaluator) Begin(ctx context.Context, b tutorials.Begin, keep bool) error {
	e.begin.Lock()
	defer e.begin.Unlock()
	all, hints, err := checks.Compile(&b.Lesson)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	e.stop()
	r := newRun(e, b, all, hints)
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return errClosed
	}
	e.running = r
	e.mu.Unlock()
	if err := r.start(ctx, keep); err != nil {
		e.stop()
		state := noLesson()
		state.ID, state.Error = b.Lesson.ID, err.Error()
		e.publish(state)
		return err
	}
	return nil
}

// End looks at no checks any more.
func (e *Evaluator) End() {
	e.begin.Lock()
	defer e.begin.Unlock()
	e.stop()
	e.publish(noLesson())
}

// Close ends the lesson and everything that follows it. Nothing can be begun afterwards.
func (e *Evaluator) Close() {
	e.mu.Lock()
	e.closed = true
	r := e.running
	e.mu.Unlock()
	if r != nil {
		r.cancel() // of a Begin that is under way, too
	}
	e.begin.Lock()
	defer e.begin.Unlock()
	e.stop()
}

func (e *Evaluator) stop() {
	e.mu.Lock()
	r := e.running
	e.running = nil
	e.mu.Unlock()
	if r != nil {
		r.stop()
	}
}

// Settle returns when everything that had happened before the call has been looked at, as far as the evaluator has been
// told of it: all requests that have ended, and the changes that the watches have brought.
func (e *Evaluator) Settle(ctx context.Context) error {
	e.mu.Lock()
	r := e.running
	e.mu.Unlock()
	if r == nil {
		return nil
	}
	reached := make(chan struct{})
	r.queue.put(0, func() { close(reached) })
	select {
	case <-reached:
		return nil
	case <-r.ctx.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// State is how the lesson stands. It must not be changed.
func (e *Evaluator) State() tutorials.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state
}

// publish makes a state the present one.
func (e *Evaluator) publish(s tutorials.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state = s
	for wake := range e.followers {
		select {
		case wake <- struct{}{}:
		default: // woken already
		}
	}
}

// Follow returns a channel that is sent to after changes of the state, and what ends it.
func (e *Evaluator) Follow() (wake <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	e.mu.Lock()
	e.followers[c] = struct{}{}
	e.mu.Unlock()
	return c, func() {
		e.mu.Lock()
		delete(e.followers, c)
		e.mu.Unlock()
	}
}
