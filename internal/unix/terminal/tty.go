package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// ErrClosed is what readers and writers get once the TTY has been closed.
var ErrClosed = errors.New("the terminal is closed")

// mostOutput is how many bytes may wait for the screen before writers wait.
const mostOutput = 256 << 10

// mostInput is how many bytes may wait to be read; who types more waits until half of that is free.
const mostInput = 16 << 20

// longestLine is after how many bytes a line is read though it has not been entered.
const longestLine = 512 << 10

// typedAhead is how many bytes may wait that somebody has typed for what comes next; more is a paste.
const typedAhead = 4 << 10

// mostSent is how many of the last bytes that were taken can be had again.
const mostSent = 64 << 10

// TTY is a terminal with its line discipline. Its methods may be called at once.
type TTY struct {
	fd uintptr

	mu        sync.Mutex
	changed   chan struct{} // closed and made anew with every change
	closed    bool
	columns   int
	rows      int
	raw       bool
	line      []byte // cooked: typed and not yet entered, with keyLiteral before what has been typed so
	literal   bool   // the line ends with a keyLiteral whose character comes
	ready     []byte // to be read; while cooked with keyLiteral as in the line
	ends      int    // position in ready, plus one, where a reader is to see its end; 0 for none
	room      int    // mostInput, or less in tests
	full      bool   // somebody waits for room
	over      bool   // nobody types any more
	thrown    int    // how often a paste has been thrown away
	interrupt func() // for ^C while cooked; nil when nothing runs
	output    []byte
	taken     int64  // how many bytes of output have been taken
	sent      []byte // the last of them
}

// New returns a terminal of the size.
func New(columns, rows int) *TTY {
	t := &TTY{changed: make(chan struct{}), columns: columns, rows: rows, raw: true, room: mostInput}
	t.fd = register(t)
	return t
}

func (t *TTY) changeLocked() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Size returns columns and rows.
func (t *TTY) Size() (columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns, t.rows
}

// Resize sets what Size returns.
func (t *TTY) Resize(columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns, t.rows = columns, rows
	t.changeLocked()
}

// Changed is closed at the next change of anything: size, input, output.
func (t *TTY) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Close ends all reads and writes.
func (t *TTY) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	unregister(t.fd)
	t.changeLocked()
}

// Raw switches between raw (true) and cooked, and returns what it was. What has
// been typed and not yet entered goes along.
func (t *TTY) Raw(raw bool) (before bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.raw
	if raw == before {
		return before
	}
	t.raw = raw
	if raw {
		t.ready = append(t.ready, t.line...)
		t.line, t.literal, t.ends = nil, false, 0
	} else {
		typed := t.ready
		t.ready = nil
		t.cookLocked(typed)
	}
	t.changeLocked()
	return before
}

// Foreground says what ^C does while the terminal is cooked; nil for nothing.
// It returns what ^C has done before. The function must not call the terminal.
func (t *TTY) Foreground(interrupt func()) (before func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, t.interrupt = t.interrupt, interrupt
	return before
}

// Type takes what has been typed or pasted. While there is no room it waits for who reads. As in other terminals, ^C throws a
// paste away that waits to be read, here and in calls under way, unless the terminal is raw for a program. Errors: ErrClosed, and
// ctx's cause.
func (t *TTY) Type(ctx context.Context, b []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	forProgram := t.raw && t.interrupt != nil
	if bytes.IndexByte(b, 0x03) >= 0 && !forProgram && t.waitingLocked() > typedAhead {
		t.forgetLocked()
		t.thrown++
		t.roomLocked()
	}
	for thrown := t.thrown; len(b) > 0 && thrown == t.thrown; {
		if t.closed {
			return ErrClosed
		}
		if n := min(len(b), t.room-t.waitingLocked()); n >= min(len(b), t.room/2) {
			t.feedLocked(b[:n])
			b = b[n:]
			continue
		}
		t.full = true
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		t.mu.Lock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// End says that nobody types any more: who reads finds the end of input behind what waits.
func (t *TTY) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready, t.line = append(t.ready, t.line...), nil
	t.over = true
	t.changeLocked()
}

// Reprompt has the prompt drawn again: see KeyReprompt.
func (t *TTY) Reprompt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.feedLocked([]byte(KeyReprompt))
	}
}

// forgetLocked throws away what has been typed and not read.
func (t *TTY) forgetLocked() { t.line, t.literal, t.ready, t.ends = nil, false, nil, 0 }

func (t *TTY) feedLocked(b []byte) {
	if t.raw {
		t.ready = append(t.ready, b...)
	} else {
		t.cookLocked(b)
	}
	t.changeLocked()
}

// waitingLocked returns how many bytes wait to be read.
func (t *TTY) waitingLocked() int { return len(t.ready) + len(t.line) }

// roomLocked tells those who wait for room when there is enough.
func (t *TTY) roomLocked() {
	if t.full && t.waitingLocked() <= t.room/2 {
		t.full = false
		t.changeLocked()
	}
}

// cookLocked is the line discipline.
func (t *TTY) cookLocked(b []byte) {
	for _, c := range b {
		switch {
		case t.literal:
			t.takeLocked(c)
			t.literal = false
			continue
		case c == keyLiteral:
			t.line = append(t.line, c)
			t.literal = true
			continue
		}
		switch c {
		case '\r', '\n':
			t.echoLocked("\r\n")
			t.ready = append(append(t.ready, t.line...), '\n')
			t.line = nil
		case 0x7f, '\b':
			t.eraseLocked()
		case 0x03: // ^C
			t.echoLocked("^C\r\n")
			t.forgetLocked()
			if t.interrupt != nil {
				t.interrupt()
			}
		case 0x04: // ^D
			t.ready = append(t.ready, t.line...)
			if len(t.line) == 0 {
				t.ends = len(t.ready) + 1
			}
			t.line = nil
		case 0x15: // ^U
			for len(t.line) > 0 {
				t.eraseLocked()
			}
		case 0x1a, 0x1c, 0x11, 0x13: // ^Z, ^\, ^Q, ^S: there are no jobs to stop
		default:
			t.takeLocked(c)
		}
	}
}

// takeLocked puts a character into the line.
func (t *TTY) takeLocked(c byte) {
	t.line = append(t.line, c)
	if len(t.line) >= longestLine {
		t.ready, t.line = append(t.ready, t.line...), nil // not between keyLiteral and its character
	}
	if c < 0x20 && c != '\t' {
		t.echoLocked(caret(c))
	} else {
		t.echoLocked(string([]byte{c}))
	}
}

func (t *TTY) eraseLocked() {
	if len(t.line) == 0 {
		return
	}
	r, n := utf8.DecodeLastRune(t.line)
	t.line = t.line[:len(t.line)-n]
	cells := max(width(r), 1)
	if r < 0x20 && r != '\t' {
		cells = len(caret(byte(r)))
	}
	if before := len(bytes.TrimRight(t.line, string(rune(keyLiteral)))); (len(t.line)-before)%2 == 1 {
		t.line = t.line[:len(t.line)-1]
	}
	for range cells {
		t.echoLocked("\b \b")
	}
}

// echoLocked never waits: what is typed is short.
func (t *TTY) echoLocked(s string) { t.output = append(t.output, s...) }

// read waits for input. It returns io.EOF at ^D, after Close and when ctx ends.
func (t *TTY) read(ctx context.Context, b []byte) (int, error) {
	for {
		t.mu.Lock()
		changed := t.changed
		switch {
		case t.closed || ctx.Err() != nil:
			t.mu.Unlock()
			return 0, io.EOF
		case t.ends == 1:
			t.ends = 0
			t.mu.Unlock()
			return 0, io.EOF
		case len(t.ready) > 0:
			most := len(t.ready)
			if t.ends > 0 {
				most = t.ends - 1
			}
			if line := bytes.IndexByte(t.ready[:most], '\n'); line >= 0 && !t.raw {
				most = line + 1 // the next line may be for somebody else
			}
			n := t.takeReadyLocked(b, most)
			t.roomLocked()
			t.mu.Unlock()
			return n, nil
		case t.over:
			t.mu.Unlock()
			return 0, io.EOF
		}
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// takeReadyLocked moves what is ready to b, of the first most bytes, and returns how many bytes of b that takes.
func (t *TTY) takeReadyLocked(b []byte, most int) (n int) {
	from := 0
	for ; n < len(b) && from < most; n++ {
		if t.ready[from] == keyLiteral && !t.raw && from+1 < most {
			from++
		}
		b[n] = t.ready[from]
		from++
	}
	t.ready = t.ready[from:]
	if t.ends > 0 {
		t.ends -= from
	}
	return n
}

// text takes printable characters, of those that have been typed, up to the first other key.
func (t *TTY) text() []rune {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text []rune
	for n := 0; ; n += utf8.RuneLen(text[len(text)-1]) {
		r, _ := utf8.DecodeRune(t.ready[n:])
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			t.ready = t.ready[n:]
			t.roomLocked()
			return text
		}
		text = append(text, r)
	}
}

// Input returns a reader of what is typed until ctx ends.
func (t *TTY) Input(ctx context.Context) *Input { return &Input{t, ctx} }

// Input reads from a terminal.
type Input struct {
	tty *TTY
	ctx context.Context
}

func (i *Input) Read(b []byte) (int, error) { return i.tty.read(i.ctx, b) }

// TTY returns the terminal that is read from.
func (i *Input) TTY() *TTY { return i.tty }

// Write puts bytes on the screen as they are. It waits while too many wait.
func (t *TTY) Write(b []byte) (int, error) { return t.write(context.Background(), b) }

// write is Write that fails once ctx has ended, with its cause.
func (t *TTY) write(ctx context.Context, b []byte) (int, error) {
	for {
		t.mu.Lock()
		if t.closed {
			t.mu.Unlock()
			return 0, ErrClosed
		}
		if ctx.Err() != nil {
			t.mu.Unlock()
			return 0, context.Cause(ctx)
		}
		if len(t.output) < mostOutput {
			t.output = append(t.output, b...)
			t.changeLocked()
			t.mu.Unlock()
			return len(b), nil
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// Next waits for output after the first from bytes that the terminal has ever printed. It returns that output and how many
// bytes there are up to its end, where the next call goes on.
//
// Any number of readers may read the same output, because one that is gone may have taken what it has never shown. The last
// 64 KB can be had again; Reach tells where they begin. Errors: ErrClosed once there is no more, and ctx's.
func (t *TTY) Next(ctx context.Context, from int64) ([]byte, int64, error) {
	for {
		t.mu.Lock()
		from = t.reachLocked(from)
		switch {
		case from < t.taken:
			out, end := slices.Clone(t.sent[int64(len(t.sent))-(t.taken-from):]), t.taken
			t.mu.Unlock()
			return out, end, nil
		case len(t.output) > 0:
			out := t.output
			t.output = nil
			t.taken += int64(len(out))
			t.keepLocked(out)
			end := t.taken
			t.changeLocked()
			t.mu.Unlock()
			return out, end, nil
		}
		closed, changed := t.closed, t.changed
		t.mu.Unlock()
		if closed {
			return nil, from, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, from, context.Cause(ctx)
		}
	}
}

// Reach returns where Next begins that is asked for what comes after the first from bytes: there, or at the first byte that
// can be had again, or at what nobody has taken yet.
func (t *TTY) Reach(from int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reachLocked(from)
}

func (t *TTY) reachLocked(from int64) int64 {
	return max(t.taken-int64(len(t.sent)), min(from, t.taken))
}

// keepLocked keeps the end of what is taken.
func (t *TTY) keepLocked(out []byte) {
	t.sent = append(t.sent, out[max(0, len(out)-mostSent):]...)
	if len(t.sent) > 2*mostSent {
		t.sent = t.sent[:copy(t.sent, t.sent[len(t.sent)-mostSent:])]
	}
}

// Interrupt does what ^C does while a command runs.
func (t *TTY) Interrupt() {
	t.mu.Lock()
	interrupt := t.interrupt
	t.mu.Unlock()
	if interrupt != nil {
		interrupt()
	}
}
