package container

import (
	"bytes"
	"io"
)

// terminal is the line discipline of a tty: it echoes what is typed, lets a
// line be corrected, and turns newlines of the output into CR LF. The client's
// own terminal is in raw mode.
type terminal struct {
	in   io.Reader
	out  io.Writer
	line []byte // typed and not yet entered
	next []byte // entered and not yet read
	eof  bool
}

func newTerminal(in io.Reader, out io.Writer) *terminal { return &terminal{in: in, out: out} }

// output returns the writer for what processes print.
func (t *terminal) output() io.Writer { return crlf{t.out} }

type crlf struct{ io.Writer }

func (w crlf) Write(b []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (t *terminal) echo(s string) { _, _ = io.WriteString(t.out, s) }

func (t *terminal) Read(b []byte) (int, error) {
	for len(t.next) == 0 {
		if t.eof {
			return 0, io.EOF
		}
		var c [1]byte
		if _, err := t.in.Read(c[:]); err != nil {
			return 0, err
		}
		switch c[0] {
		case '\r', '\n':
			t.echo("\r\n")
			t.next, t.line = append(t.line, '\n'), nil
		case 0x7f, '\b':
			if len(t.line) > 0 {
				t.line = t.line[:len(t.line)-1]
				t.echo("\b \b")
			}
		case 0x03: // ^C
			t.echo("^C\r\n")
			t.next, t.line = []byte{'\n'}, nil
		case 0x04: // ^D
			if len(t.line) == 0 {
				t.eof = true
			}
		case 0x15: // ^U
			for range t.line {
				t.echo("\b \b")
			}
			t.line = nil
		default:
			t.line = append(t.line, c[0])
			t.echo(string(c[:]))
		}
	}
	n := copy(b, t.next)
	t.next = t.next[n:]
	return n, nil
}
