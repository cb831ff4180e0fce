package terminal

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Filter passes on text, line breaks, tabs and colours, and drops every other
// control sequence. A log line or an annotation can hold anything, and some
// sequences make a terminal type, rename its window or speak to the page.
type Filter struct {
	Out io.Writer
	// Cursor lets sequences through that move the cursor and clear the screen,
	// for programs that draw.
	Cursor bool

	state   state
	pending []byte // of an unfinished sequence or character
}

type state int

const (
	inText      state = iota
	inEscape          // after ESC
	inCSI             // after ESC [
	inString          // after ESC ], P, X, ^ or _: up to BEL or ESC \
	atStringEnd       // after ESC in such a string
	inCharset         // after ESC and an intermediate byte
)

// longestCSI is more than any sequence that passes needs.
const longestCSI = 32

// Write passes on what is allowed of b. It returns len(b) unless Out fails.
func (f *Filter) Write(b []byte) (int, error) {
	var out bytes.Buffer
	for _, c := range b {
		f.take(&out, c)
	}
	if out.Len() > 0 {
		if _, err := f.Out.Write(out.Bytes()); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (f *Filter) take(out *bytes.Buffer, c byte) {
	switch f.state {
	case inText:
		f.text(out, c)
	case inEscape:
		switch {
		case c == '[':
			f.state, f.pending = inCSI, append(f.pending[:0], 0x1b, '[')
		case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
			f.state = inString
		case c >= 0x20 && c <= 0x2f:
			f.state = inCharset
		case c == 0x1b:
		default:
			f.state = inText
		}
	case inCharset:
		if c < 0x20 || c > 0x2f {
			f.state = inText
		}
	case inCSI:
		switch {
		case c >= 0x40 && c <= 0x7e:
			if f.pending = append(f.pending, c); f.allowed() {
				out.Write(f.pending)
			}
			f.state, f.pending = inText, f.pending[:0]
		case c >= 0x20 && c <= 0x3f:
			if f.pending = append(f.pending, c); len(f.pending) > longestCSI {
				f.pending = append(f.pending[:2], ' ') // with which nothing is allowed
			}
		case c == 0x1b:
			f.state, f.pending = inEscape, f.pending[:0]
		case c < 0x20: // a terminal would act on it inside the sequence
		default:
			f.state, f.pending = inText, f.pending[:0]
		}
	case inString:
		switch c {
		case 0x07, 0x18, 0x1a:
			f.state = inText
		case 0x1b:
			f.state = atStringEnd
		}
	case atStringEnd:
		if c == '\\' {
			f.state = inText
		} else {
			f.state = inEscape
			f.take(out, c)
		}
	}
}

func (f *Filter) text(out *bytes.Buffer, c byte) {
	if len(f.pending) > 0 || c >= utf8.RuneSelf {
		f.pending = append(f.pending, c)
		f.runes(out)
		return
	}
	switch {
	case c == 0x1b:
		f.state = inEscape
	case c == '\n' || c == '\r' || c == '\t' || c == '\b' || c >= 0x20 && c != 0x7f:
		out.WriteByte(c)
	}
}

// runes takes whole characters off pending.
func (f *Filter) runes(out *bytes.Buffer) {
	for len(f.pending) > 0 && utf8.FullRune(f.pending) {
		r, n := utf8.DecodeRune(f.pending)
		first := f.pending[0]
		f.pending = append(f.pending[:0], f.pending[n:]...)
		switch {
		case r == utf8.RuneError && n == 1 && first < utf8.RuneSelf, n == 1 && first < utf8.RuneSelf:
			// What interrupted a broken character.
			rest := f.pending
			f.pending = nil
			f.take(out, first)
			for _, c := range rest {
				f.take(out, c)
			}
			return
		case r >= 0x80 && r <= 0x9f: // C1: ESC and a letter in one
		case bidi(r):
		default:
			out.WriteRune(r)
		}
	}
}

// bidi are characters that reorder others, so that a line reads as another.
func bidi(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// allowed reports whether the CSI sequence in pending may pass.
func (f *Filter) allowed() bool {
	parameters, last := string(f.pending[2:len(f.pending)-1]), f.pending[len(f.pending)-1]
	if f.Cursor && (last == 'h' || last == 'l') {
		// Cursor keys, wrapping, the cursor itself, the other screen; not the
		// mouse and whatever else makes a terminal type.
		return parameters == "?1" || parameters == "?7" || parameters == "?25" || parameters == "?1049"
	}
	for i := range len(parameters) {
		if c := parameters[i]; (c < '0' || c > '9') && c != ';' && c != ':' {
			return false
		}
	}
	return last == 'm' || f.Cursor && strings.IndexByte("ABCDEFGHJKLMPSTXdfr@", last) >= 0
}

// Plain leaves control characters out of a name that is shown.
func Plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r <= 0x9f {
			return -1
		}
		return r
	}, name)
}
