package terminal

import (
	"bytes"
	"context"
	"sync"
)

// Output returns a writer for what commands print: filtered, with a carriage
// return before each newline while the terminal is cooked.
func (t *TTY) Output() *Output {
	return &Output{tty: t, ctx: context.Background(), shared: &filtering{filter: Filter{Out: t}}}
}

// Output writes to a terminal. Several commands of a pipeline may use it.
type Output struct {
	tty    *TTY
	ctx    context.Context
	shared *filtering
}

// filtering is what all writers of one Output share: a sequence that one of them
// begins another may end.
type filtering struct {
	mu     sync.Mutex
	filter Filter
}

// Until returns the same output for a command that ends with ctx: writes fail
// from then on, with ctx's cause, also those that wait for the screen.
func (o *Output) Until(ctx context.Context) *Output { return &Output{o.tty, ctx, o.shared} }

func (o *Output) Write(b []byte) (int, error) {
	o.shared.mu.Lock()
	defer o.shared.mu.Unlock()
	o.tty.mu.Lock()
	raw := o.tty.raw
	o.tty.mu.Unlock()
	filter := &o.shared.filter
	filter.Cursor = raw // a program that draws, such as the shell of an exec -it
	filter.Out = until{o.tty, o.ctx}
	text := b
	if !raw {
		text = bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
	}
	if _, err := filter.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// until writes to a terminal until ctx ends.
type until struct {
	tty *TTY
	ctx context.Context
}

func (u until) Write(b []byte) (int, error) { return u.tty.write(u.ctx, b) }

// TTY returns the terminal that is written to.
func (o *Output) TTY() *TTY { return o.tty }
