package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// What a line may take of the engine's process, which is the API server's as well.
const (
	// memoryLook is how often its memory is looked at, beside its steps.
	memoryLook = 50 * time.Millisecond
	// mostSubstituted is how many bytes $(command) may print.
	mostSubstituted = 128 << 20
	// largeVariable is how many bytes a variable may hold at most that outlives a lack of
	// memory, and bytesPerText what each of its texts takes beside its bytes.
	largeVariable = 1 << 20
	bytesPerText  = 16
)

var (
	errNoMemory = errors.New("cannot allocate memory")
	// kubectlAdvice is said of a line that has run kubectl, after errNoMemory.
	kubectlAdvice  = "kubectl: these objects take more memory at once than a line may: ask for some of them, by name or label; kubectl delete of all of them, or of their namespace, makes room"
	errSubstituted = fmt.Errorf("xrealloc: cannot allocate %d bytes", 2*mostSubstituted)
)

// budget ends a line, or a job, that takes too much.
type budget struct {
	began  time.Time
	end    func(error) // says why, once
	memory *coreutils.Memory
	asks   atomic.Int32 // kubectls that are running

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
	b := &budget{began: time.Now()}
	var once sync.Once
	b.end = func(err error) {
		once.Do(func() {
			cancel(err)
			text := fmt.Sprintf("bash: %v\n", err)
			if errors.Is(err, errNoMemory) && b.asks.Load() > 0 {
				text += kubectlAdvice + "\n"
			}
			fmt.Fprint(errs, text)
		})
	}
	ctx, b.memory = coreutils.WithMemory(ctx, func() {
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
		b.memory.End()
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

// dropLarge unsets the variables that hold largeVariable bytes or more. bash itself ends
// when it can allocate no more, and its variables with it; here the shell stays, and
// the variables of a few terminals would take all memory. Why is said before.
func (k *session) dropLarge(ctx context.Context) {
	if b, _ := ctx.Value(budgetKey{}).(*budget); b != nil {
		b.end(errNoMemory)
	}
	// One that stands in for a shell that was left behind has its Vars from its first run.
	if nothing, err := parse(":", "", nil); err == nil {
		_ = k.runner.Run(context.Background(), nothing) // it succeeds
	}
	for name, v := range k.runner.Vars {
		held := len(v.Str)
		for _, text := range v.List {
			held += len(text) + bytesPerText
		}
		for key, text := range v.Map {
			held += len(key) + len(text) + 2*bytesPerText
		}
		if held < largeVariable {
			continue
		}
		fmt.Fprintf(k.stderr, "bash: %s: unset, it held %d bytes\n", name, held)
		unset, err := parse("unset -v "+name, "", nil)
		if err == nil {
			err = k.runner.Run(context.Background(), unset)
		}
		if err != nil {
			fmt.Fprintf(k.stderr, "bash: %s: %v\n", name, err) // a readonly one stays
		}
	}
}

// asking notes that a kubectl runs for the line of ctx, until done is called.
func asking(ctx context.Context) (done func()) {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b == nil {
		return func() {}
	}
	b.asks.Add(1)
	return func() { b.asks.Add(-1) }
}

// ownedByLine makes the calling goroutine, and those that it starts, work for the
// line of ctx: when they wait for a part of the program that cannot be downloaded, or
// allocate what there is no memory for, the line ends and says why. In the second case
// the goroutine ends, too. release is to be called by the same goroutine.
func ownedByLine(ctx context.Context) (release func()) {
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b == nil {
		return func() {}
	}
	return b.memory.Own(func(err error) { go b.end(err) }) // which may wait for the screen
}

// lineHurries is how long somebody waits for a line before it has to leave the thread to the API server. A cluster that goes on
// after a reload is busy for one or two seconds, in which the first line would get a turn each 24 ms.
const lineHurries = time.Second

// lineSteps is how many commands a statement of it may run until then. A fork bomb has two thousand processes in less than a
// second, and the API server would wait for each of them.
const lineSteps = 200

// hurries has the goroutine that ownedByLine was called by run among all others while the line of ctx is new.
func hurries(ctx context.Context) {
	if b, _ := ctx.Value(budgetKey{}).(*budget); b != nil {
		absent.Hurry(b.began.Add(lineHurries), lineSteps)
	}
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
// the background, where an error would not be seen. Other errors are the command's.
func admit(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b, _ := ctx.Value(budgetKey{}).(*budget)
	if b != nil {
		b.memory.Step(ctx)
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

// substituted is what a command prints that stands in $( ). As in bash, zero bytes are
// left out: the interpreter would look for each of them in the whole text.
type substituted struct {
	*strings.Builder
	end context.CancelCauseFunc
}

func (s *substituted) Write(b []byte) (int, error) {
	text := b
	if bytes.IndexByte(b, 0) >= 0 {
		text = bytes.ReplaceAll(b, []byte{0}, nil)
	}
	if s.Len()+len(text) > mostSubstituted {
		s.end(errSubstituted)
		return 0, errSubstituted
	}
	s.Builder.Write(text) // never fails
	return len(b), nil
}
