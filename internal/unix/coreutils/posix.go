package coreutils

import (
	"strings"
	"unicode/utf8"
)

// posix turns a regular expression of POSIX, basic or extended, with what GNU adds to both, into one of package regexp. What
// is wrong with it is left for that to find. Expressions that refer back (\1) are unknown to it, too.
func posix(pattern string, extended bool) string {
	r := &expression{rest: pattern, extended: extended, begins: true, first: true}
	for r.rest != "" {
		r.next()
	}
	r.write("")
	return r.out.String()
}

// expression is one on its way from POSIX to package regexp.
type expression struct {
	rest     string
	extended bool
	out      strings.Builder
	begins   bool // nothing has come since the beginning, or since ( or |, but perhaps ^: what repeats has nothing to repeat
	first    bool // nor a ^
	depth    int  // of (
	repeated byte // what has come last and is not written yet, if it repeats
}

// mostName is how many bytes the name of a class, such as [:alpha:], or the bounds of an interval are looked for in.
const mostName = 24

const operators = "(){}+?|"

func (r *expression) next() {
	c := r.rest[0]
	switch {
	case c == '[':
		r.bracket()
		return
	case c == '\\' && len(r.rest) > 1:
		next := r.rest[1]
		switch is := strings.IndexByte(operators, next) >= 0; {
		case is && !r.extended:
			r.rest = r.rest[2:]
			r.operator(next)
		case is:
			r.rest = r.rest[2:]
			r.literal(next)
		default:
			r.escaped()
		}
		return
	}
	_, width := utf8.DecodeRuneInString(r.rest)
	text := r.rest[:width]
	r.rest = r.rest[width:]
	switch {
	case c == '*', r.extended && strings.IndexByte(operators, c) >= 0:
		r.operator(c)
	case c == '^' && (r.extended || r.first):
		r.write("^")
		r.first = false
	case c == '$' && (r.extended || r.rest == "" || strings.HasPrefix(r.rest, `\)`) || strings.HasPrefix(r.rest, `\|`)):
		r.atom("$")
	case strings.IndexByte(operators, c) >= 0 || c == '^' || c == '$':
		r.literal(c)
	default:
		r.atom(text)
	}
}

// atom writes something that can be repeated.
func (r *expression) atom(text string) {
	r.write(text)
	r.begins, r.first = false, false
}

func (r *expression) write(text string) {
	if r.repeated != 0 {
		r.out.WriteByte(r.repeated)
	}
	r.out.WriteString(text)
	r.repeated = 0
}

func (r *expression) literal(c byte) { r.atom(`\` + string(c)) }

// operator writes what has a meaning here, whether it was written with a backslash or without.
func (r *expression) operator(c byte) {
	switch {
	case c == '(':
		r.depth++
		r.write(string(c))
		r.begins, r.first = true, true
	case c == '|':
		r.write(string(c))
		r.begins, r.first = true, true
	case c == ')' && r.depth == 0 && r.extended, c == '}':
		r.literal(c)
	case c == ')':
		r.depth--
		r.atom(")")
	case r.begins && r.extended && c != '{': // repeats nothing, and is nothing
	case r.begins:
		r.literal(c)
	case c == '{':
		r.interval()
	case r.repeated != 0 && r.extended: // package regexp takes a+? for something else
		if c != r.repeated {
			r.repeated = '*'
		}
	default:
		r.write("")
		r.repeated = c
	}
}

// interval reads what is behind {.
func (r *expression) interval() {
	end := `\}`
	if r.extended {
		end = "}"
	}
	bounds, _, closed := strings.Cut(r.rest[:min(len(r.rest), mostName)], end)
	if !closed || bounds == "" || strings.Trim(bounds, "0123456789,") != "" || strings.Count(bounds, ",") > 1 {
		r.literal('{')
		return
	}
	r.rest = r.rest[len(bounds)+len(end):]
	if bounds[0] == ',' {
		bounds = "0" + bounds
	}
	r.write("{" + bounds + "}")
}

// escaped reads a backslash and what it stands before that is no operator.
func (r *expression) escaped() {
	_, width := utf8.DecodeRuneInString(r.rest[1:])
	text := r.rest[1 : 1+width]
	r.rest = r.rest[1+width:]
	switch c := text[0]; {
	case c == '<', c == '>':
		r.atom(`\b`) // the start of a word, or its end
	case c == '`':
		r.atom(`\A`)
	case c == '\'':
		r.atom(`\z`)
	case strings.IndexByte("wWsSbBntfrv123456789", c) >= 0: // numbers are refused
		r.atom(`\` + text)
	case c >= utf8.RuneSelf, 'a' <= c|0x20 && c|0x20 <= 'z', c == '0':
		r.atom(text)
	default:
		r.literal(c)
	}
}

// bracket reads a set of characters, in which a backslash is one of them, but for \n and \t.
func (r *expression) bracket() {
	var set strings.Builder
	set.WriteByte('[')
	s := r.rest[1:]
	if strings.HasPrefix(s, "^") {
		set.WriteByte('^')
		s = s[1:]
	}
	for first := true; s != ""; first = false {
		c := s[0]
		switch {
		case c == ']' && !first:
			r.rest = s[1:]
			r.atom(set.String() + "]")
			return
		case c == '[' && len(s) > 1 && strings.IndexByte(":.=", s[1]) >= 0:
			name, _, closed := strings.Cut(s[2:min(len(s), mostName)], s[1:2]+"]")
			if closed && s[1] == ':' {
				set.WriteString("[:" + name + ":]")
			} else if closed {
				set.WriteString(`\` + strings.TrimPrefix(name, `\`))
			}
			if closed {
				s = s[len(name)+4:]
				continue
			}
			set.WriteString(`\[`)
		case c == '\\' && len(s) > 1 && (s[1] == 'n' || s[1] == 't'):
			set.WriteString(s[:2])
			s = s[1:]
		case c == '\\', c == '[', c == ']':
			set.WriteString(`\` + string(c))
		default:
			set.WriteByte(c)
		}
		s = s[1:]
	}
	r.atom(r.rest) // not closed: it is refused
	r.rest = ""
}

// setEnd returns where a set of characters ends that s begins with, or 0 if it does not.
func setEnd(s string) int {
	at := 1
	if strings.HasPrefix(s[at:], "^") {
		at++
	}
	for first := true; at < len(s); first = false {
		if s[at] == ']' && !first {
			return at + 1
		}
		if strings.HasPrefix(s[at:], "[:") {
			if name, _, closed := strings.Cut(s[at+2:min(len(s), at+mostName)], ":]"); closed {
				at += len(name) + 3
			}
		}
		at++
	}
	return 0
}
