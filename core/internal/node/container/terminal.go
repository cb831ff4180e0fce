package container

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// errInterrupted is what ^C ends a command with.
var errInterrupted = errors.New("interrupted")

// sit connects the session's terminal, if it has one, with its streams, until the returned function is called. That waits until all
// has been shown.
func (s *session) sit() (leave func()) {
	if s.tty == nil {
		return func() {}
	}
	if keys := s.stdin; keys != nil {
		if s, ok := keys.(*stdin); ok {
			keys = s.r // as many at once as come
		}
		s.c.cfg.Go(func() { typeAll(s.tty, keys) })
	}
	shown := make(chan struct{})
	screen := s.stdout
	s.c.cfg.Go(func() {
		defer close(shown)
		showAll(s.tty, screen)
	})
	s.stdout = lines{s.tty}
	s.stderr = s.stdout
	return func() {
		s.tty.Close()
		<-shown
	}
}

// typeAll types what comes from a client, until that ends. What the terminal has no room for is dropped: behind it may be a ^C.
func typeAll(to *terminal.TTY, from io.Reader) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		_ = to.Type(now, b[:n])
		if err != nil {
			to.End()
			return
		}
	}
}

// showAll shows what is printed, until the terminal is closed. Where nobody looks any more, what prints need not wait for that.
func showAll(from *terminal.TTY, screen io.Writer) {
	for position := int64(0); ; {
		b, end, err := from.Next(context.Background(), position)
		if err != nil {
			return
		}
		position = end
		if _, err := screen.Write(b); err != nil {
			screen = io.Discard
		}
	}
}

// lines is what commands print to at a terminal: their lines end with CR LF.
type lines struct{ tty *terminal.TTY }

func (l lines) Write(b []byte) (int, error) {
	if _, err := l.tty.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// attend runs what ^C ends, unless the script has a trap for that, and returns its exit code and whether ^C came. What it leaves
// in the background goes on.
func (s *session) attend(ctx context.Context, run func(context.Context) int) (code int, interrupted bool) {
	if s.tty == nil {
		return run(ctx), false
	}
	running, interrupt := context.WithCancelCause(ctx)
	s.tty.Foreground(func() {
		if !s.signal("INT") {
			interrupt(errInterrupted)
		}
	})
	s.tty.Raw(false) // after it is known what ^C does, for there may be one already
	code = run(running)
	s.tty.Foreground(nil)
	s.tty.Raw(true)
	if errors.Is(context.Cause(running), errInterrupted) {
		return int(trapped("INT")), true
	}
	return code, false
}
