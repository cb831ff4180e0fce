package coreutils

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// Until makes w fail once ctx has ended: a program that was told to end says nothing any more. What it returns has the file
// descriptor of a terminal that w is one of, as os.File has.
func Until(ctx context.Context, w io.Writer) io.Writer { return &mortalWriter{w, ctx} }

type mortalWriter struct {
	io.Writer
	ctx context.Context
}

func (m *mortalWriter) Write(b []byte) (int, error) {
	if m.ctx.Err() != nil {
		return 0, context.Cause(m.ctx)
	}
	return m.Writer.Write(b)
}

func (m *mortalWriter) Fd() uintptr {
	if f, ok := m.Writer.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return terminal.NoDevice
}

// Piped calls broken when what is written goes to a pipe that nobody reads any more: a real program ends by SIGPIPE then.
func Piped(w io.Writer, broken func()) io.Writer { return piped{w, broken} }

type piped struct {
	io.Writer
	broken func()
}

func (p piped) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		p.broken()
	}
	return n, err
}

func (p piped) Fd() uintptr {
	if f, ok := p.Writer.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return terminal.NoDevice
}

// ReadUntil makes r fail once ctx has ended, where it does not wait.
func ReadUntil(ctx context.Context, r io.Reader) io.Reader { return &mortalReader{r, ctx} }

type mortalReader struct {
	io.Reader
	ctx context.Context
}

func (m *mortalReader) Read(b []byte) (int, error) {
	if m.ctx.Err() != nil {
		return 0, context.Cause(m.ctx)
	}
	return m.Reader.Read(b)
}

// FileUntil makes reads of f and writes to it fail once ctx has ended: some files have no end. It can still be closed.
func FileUntil(ctx context.Context, f io.ReadWriteCloser) io.ReadWriteCloser {
	return &mortalFile{ReadUntil(ctx, f), Until(ctx, f), f}
}

type mortalFile struct {
	io.Reader
	io.Writer
	io.Closer
}
