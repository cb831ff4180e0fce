package container

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// terminal is the line discipline of a tty: it echoes what is typed, lets a
// line be corrected, and turns newlines of the output into CR LF. The client's
// own terminal is in raw mode.
type terminal struct {
	keys *keys
	out  io.Writer
	line []byte // typed and not yet entered
	next []byte // entered and not yet read
	eof  bool
}

// newTerminal returns a terminal whose screen is out. What is typed comes to its keys.
func newTerminal(out io.Writer) *terminal { return &terminal{keys: newKeys(), out: out} }

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

// Read reads lines. ^D in an empty one is the end of what this reader has, and not of the next.
func (t *terminal) Read(b []byte) (int, error) {
	for len(t.next) == 0 {
		if t.eof {
			t.eof = false
			return 0, io.EOF
		}
		c, err := t.keys.next()
		if err != nil {
			t.line = nil
			return 0, err
		}
		switch c {
		case '\r', '\n':
			t.echo("\r\n")
			t.next, t.line = append(t.line, '\n'), nil
		case 0x7f, '\b':
			if len(t.line) > 0 {
				t.line = t.line[:len(t.line)-1]
				t.echo("\b \b")
			}
		case interruptKey: // nothing runs that it would interrupt
			t.echo("^C\r\n")
			t.next, t.line = []byte{'\n'}, nil
		case 0x04: // ^D
			t.eof = len(t.line) == 0
			t.next, t.line = t.line, nil
		case 0x15: // ^U
			for range t.line {
				t.echo("\b \b")
			}
			t.line = nil
		default:
			t.line = append(t.line, c)
			t.echo(string([]byte{c}))
		}
	}
	n := copy(b, t.next)
	t.next = t.next[n:]
	return n, nil
}

// take takes what a client types, until that ends. ^C does not wait until somebody reads it: it interrupts what runs, and
// throws away what was typed for that.
func (t *terminal) take(from io.Reader) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		typed := b[:n]
		for i := bytes.IndexByte(typed, interruptKey); i >= 0; i = bytes.IndexByte(typed, interruptKey) {
			if !t.interrupt() {
				t.keys.add(typed[:i+1])
			}
			typed = typed[i+1:]
		}
		t.keys.add(typed)
		if err != nil {
			t.keys.end(err)
			return
		}
	}
}

const interruptKey = 0x03

// mostTyped is how many keys may wait to be read. More are dropped, as by other terminals: behind them may be a ^C.
const mostTyped = 16 << 20

// errInterrupted is what ^C ends a command with.
var errInterrupted = errors.New("interrupted")

// keys are those that were typed and have not been read.
type keys struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []byte
	err     error // why no more come
	thrown  int   // how often they were thrown away

	foreground func() (ends bool) // interrupts what runs, and reports whether that ends; nil for nothing
	ending     bool               // what runs in the foreground, which has nothing more to read
}

func newKeys() *keys {
	k := &keys{}
	k.changed.L = &k.mu
	return k
}

// add drops what is too much, and what comes behind the end.
func (k *keys) add(typed []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil && len(k.waiting)+len(typed) <= mostTyped {
		k.waiting = append(k.waiting, typed...)
		k.changed.Broadcast()
	}
}

// next waits for a key. Errors: io.EOF for who is interrupted, and what end was called with.
func (k *keys) next() (byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for thrown := k.thrown; len(k.waiting) == 0; k.changed.Wait() {
		if k.thrown != thrown || k.ending {
			return 0, io.EOF
		}
		if k.err != nil {
			return 0, k.err
		}
	}
	c := k.waiting[0]
	k.waiting = k.waiting[1:]
	return c, nil
}

// end says that no more come: who reads finds err, after what waits.
func (k *keys) end(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
	k.changed.Broadcast()
}

// interrupt is ^C: it interrupts what runs in the foreground, and throws away what that has not read. It reports false where
// nothing runs. Who reads goes on when it is done, and not with the next command of what was interrupted.
func (t *terminal) interrupt() bool {
	t.keys.mu.Lock()
	defer t.keys.mu.Unlock()
	if t.keys.foreground == nil {
		return false
	}
	t.interruptLocked()
	t.keys.waiting = nil
	return true
}

func (t *terminal) interruptLocked() {
	t.echo("^C\r\n")
	t.keys.ending = t.keys.foreground()
	t.keys.thrown++
	t.keys.changed.Broadcast()
}

// attend says what ^C interrupts from now on, and nil that nothing runs. If there is one already, it is that.
func (t *terminal) attend(interrupt func() (ends bool)) {
	k := t.keys
	k.mu.Lock()
	defer k.mu.Unlock()
	k.foreground, k.ending = interrupt, false
	if i := bytes.LastIndexByte(k.waiting, interruptKey); i >= 0 && interrupt != nil {
		k.waiting = k.waiting[i+1:]
		t.interruptLocked()
	}
}
