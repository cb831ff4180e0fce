package container

import (
	"context"
	"io"
	"io/fs"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

// streams are what /dev/stdin, /dev/stdout and /dev/stderr are for a process: its own. For who has none they are the container's.
type streams struct {
	in        io.Reader // nil: empty
	out, errs io.Writer
}

// streamsOf are those of the shell that opens a file with ctx, where a redirection has led them.
func (s *session) streamsOf(ctx context.Context) *streams {
	hc := bash.HandlerCtx(ctx)
	in := hc.Stdin
	if in == nil {
		in = s.input(ctx)
	}
	return &streams{in, hc.Stdout, hc.Stderr}
}

// streams are those of the process of files, nil for none.
func (f files) streams() *streams {
	switch {
	case f.self != nil:
		return &streams{f.self.Stdin, f.self.Stdout, f.self.Stderr}
	case f.shell != nil && f.ctx != nil:
		return f.shell.streamsOf(f.ctx)
	}
	return nil
}

// stream is what a device leads to, nil for a device that is none of the streams.
func (s *streams) stream(d device) io.ReadWriteCloser {
	if s == nil {
		return nil
	}
	switch d {
	case devStdin:
		in := s.in
		if in == nil {
			in = strings.NewReader("")
		}
		return stream{in, io.Discard}
	case devStdout:
		return stream{strings.NewReader(""), s.out}
	case devStderr:
		return stream{strings.NewReader(""), s.errs}
	}
	return nil
}

// stream is an open device that leads to a stream of a process, which goes on when it is closed.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

// open opens the file of a redirection.
func (s *session) open(ctx context.Context, name string, flag int, perm fs.FileMode) (io.ReadWriteCloser, error) {
	return files{Tree: s.c.tree(), shell: s, ctx: ctx}.Open(name, flag, perm)
}
