package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// Ctrl-C brings the prompt back within a second, whatever runs. A program ends at
// its next read or write, because its streams and files fail once its context has
// ended, and so does a search of grep, sed and awk (coreutils.Pattern). What else reads and
// writes nothing - a pattern of bash or jq on a long line - is left behind after a while:
// natively it goes on by itself, unseen, and ends when it is done (endsWith).
// Each level waits longer than the one below it: kubectl, programs, the line.
const (
	programPatience = 400 * time.Millisecond
	linePatience    = 600 * time.Millisecond
)

// errLeft is what attend fails with when it leaves f behind.
var errLeft = errors.New("left behind")

// attend runs f on a goroutine of its own, and waits for it until patience is over after the end of ctx. The errors are
// errLeft, and a *coreutils.Fault when f has panicked. A goroutine that was ended because there is no memory is left
// behind, too: f is left in the middle.
func attend[T any](ctx context.Context, patience time.Duration, f func() T) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		defer close(done)
		var o outcome
		o.err = coreutils.Survive(func() { o.result = f() })
		done <- o
	}()
	ended := func(o outcome, is bool) (T, error) {
		if !is {
			return o.result, errLeft
		}
		return o.result, o.err
	}
	select {
	case o, is := <-done:
		return ended(o, is)
	case <-ctx.Done():
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case o, is := <-done:
		return ended(o, is)
	case <-wait.C:
		return ended(outcome{}, false)
	}
}

// endsWith has the calling goroutine, and those that it has started, end with ctx where they calculate: what is left
// behind would go on beside the API server, for minutes. done is to be called by the same goroutine when it has ended its
// work.
func endsWith(ctx context.Context) (done func()) {
	stop := context.AfterFunc(ctx, absent.Ender())
	return func() { stop() }
}

// until makes w fail once ctx has ended.
func until(ctx context.Context, w io.Writer) io.Writer {
	if screen, ok := w.(*tty.Output); ok {
		return screen.Until(ctx)
	}
	return coreutils.Until(ctx, w)
}

// readUntil makes r fail once ctx has ended. That of a terminal does so by itself.
func readUntil(ctx context.Context, r io.Reader) io.Reader {
	if _, screen := r.(*tty.Input); screen {
		return r
	}
	return coreutils.ReadUntil(ctx, r)
}

// mortalFiles are those of the process, for a command that ends with ctx.
type mortalFiles struct {
	files
	ctx context.Context
}

func (m mortalFiles) Open(name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	if m.ctx.Err() != nil {
		return nil, context.Cause(m.ctx)
	}
	f, err := m.files.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return coreutils.FileUntil(m.ctx, f), nil
}

func (m mortalFiles) Stat(name string, follow bool) (fs.FileInfo, error) {
	if m.ctx.Err() != nil {
		return nil, context.Cause(m.ctx) // find, du and rm -r go through many
	}
	return m.files.Stat(name, follow)
}

func (m mortalFiles) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return m.files.WriteFile(name, data, perm)
}
