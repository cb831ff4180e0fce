package container

import (
	"context"
	"io"
)

// stdin is the standard input of a container that keeps it open: clients come
// and go, and a reader waits for the next. Reads are of one byte, so that a
// shell which reads a line leaves the rest to the command in it.
type stdin struct {
	r *io.PipeReader
	w *io.PipeWriter
}

func newStdin() *stdin {
	r, w := io.Pipe()
	return &stdin{r, w}
}

func (s *stdin) Read(b []byte) (int, error) {
	if len(b) > 1 {
		b = b[:1]
	}
	return s.r.Read(b)
}

func (s *stdin) end() {
	_ = s.w.Close()
	_ = s.r.Close()
}

// copyFrom feeds what a client sends, until it or ctx ends. A client that ends
// its input ends that of the process, as stdinOnce does.
func (s *stdin) copyFrom(ctx context.Context, from io.Reader) {
	if _, err := io.Copy(s.w, from); err == nil && ctx.Err() == nil {
		_ = s.w.Close()
	}
}

// interruptible returns a reader of one byte at a time that ends with ctx, even
// while from, which cannot be interrupted, blocks. What copies from it ends
// when from does: when its connection is closed.
func interruptible(ctx context.Context, run func(func()), from io.Reader) io.Reader {
	s := newStdin()
	context.AfterFunc(ctx, s.end)
	run(func() {
		_, err := io.Copy(s.w, from)
		_ = s.w.CloseWithError(err)
	})
	return s
}
