package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/core/coreutils"
	"github.com/kubetab/kubetab/internal/absent"
)

// What a line may take of the engine's process, which is the API server's as well.
const (
	// memoryLook is how often its memory is looked at, beside its steps.
	memoryLook = 50 * time.Millisecond
	// mostSubstituted is how many bytes $(command) may print.
	mostSubstituted = 128 << 20
)

var (
	errNoMemory    = errors.New("cannot allocate memory")
	errSubstituted = fmt.Errorf("xrealloc: cannot allocate %d bytes", 2*mostSubstituted)
)

// budget ends a line, or a job, that takes too much.
type budget struct {
	end    func(error) // says why, once
	memory *coreutils.Memory

	mu    sync.Mutex
	timer *time.Timer
	done  bool
}

type budgetKey struct{}

// withBudget returns a context that ends when its line takes too much, which is
// told to errs, and what must be called when the line is done. What the line has
// left in the background goes on with the context.
func withBudget(ctx context.Context, errs io.Writer) (bounded context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	b := &budget{}
	var once sync.Once
	b.end = func(err error) {
		once.Do(func() {
			cancel(err)
			fmt.Fprintf(errs, "bash: %v\n", err)
		})
	}
	ctx, b.memory = coreutils.WithMemory(ctx, 0, func() {
		cancel(errNoMemory)
		go b.end(errNoMemory) // which may wait for the screen
	})
	b.mu.Lock()
	b.timer = time.AfterFunc(memoryLook, b.look)
	b.mu.Unlock()
	return context.WithValue(ctx, budgetKey{}, b), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.done = true
		b.timer.Stop()
	}
}

func (b *budget) look() {
	over := b.memory.Look()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !over && !b.done {
		b.timer.Reset(memoryLook)
	}
}

// ownedByLine makes the calling goroutine, and those that it starts, work for the
// line of ctx: when they wait for a part of the program that cannot be downloaded,
// the line ends and says why. release is to be called by the same goroutine.
func ownedByLine(ctx context.Context) (release func()) {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b == nil {
		return func() {}
	}
	return absent.Own(func(err error) { go b.end(err) }) // which may wait for the screen
}

// overspent reports whether the line of ctx was ended because it took too much, or
// could not be run. It has said so then.
func overspent(ctx context.Context) bool {
	err := context.Cause(ctx)
	if missing := (*absent.Error)(nil); errors.As(err, &missing) {
		return true
	}
	return errors.Is(err, errNoMemory) || errors.Is(err, coreutils.ErrFork)
}

// admit ends the line of ctx when there are too many processes: some of them are in
// the background, where nobody hears of an error. Other errors are the command's.
func admit(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b != nil {
		b.memory.Step()
	}
	err := coreutils.Admit(name)
	for until := time.Now().Add(forkPatience); errors.Is(err, coreutils.ErrFork) && time.Now().Before(until); err = coreutils.Admit(name) {
		select {
		case <-time.After(forkRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if errors.Is(err, coreutils.ErrFork) && b != nil {
		b.end(err)
	}
	return err
}

// As bash, a command that finds too many processes tries again for a while: those
// of a line that was ended are about to go.
const (
	forkPatience = time.Second
	forkRetry    = 50 * time.Millisecond
)

// substituted is what a command prints that stands in $( ).
type substituted struct {
	*strings.Builder
	end context.CancelCauseFunc
}

func (s *substituted) Write(b []byte) (int, error) {
	if s.Len()+len(b) > mostSubstituted {
		s.end(errSubstituted)
		return 0, errSubstituted
	}
	return s.Builder.Write(b)
}
