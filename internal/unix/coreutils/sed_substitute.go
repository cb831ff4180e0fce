package coreutils

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sedSub is what s is to do.
type sedSub struct {
	re    *Pattern // nil: the one that was used last
	with  []sedPart
	nth   int // replaces the nth match, from 1 on
	all   bool
	print bool
	file  string // to write to
}

// sedPart is a part of what s puts in place of a match.
type sedPart struct {
	text  string
	group int  // of the match, if text is empty; -1: none
	fold  byte // U, L and E, from here on; u and l for the next letter; 0: as before
}

var errNoExpression = errors.New("no previous regular expression")

func (r *sedRun) substitute(s *sedSub) error {
	re := r.pick(s.re)
	if re == nil {
		return errNoExpression
	}
	var out strings.Builder
	text := r.pattern.String()
	end, count, done := 0, 0, false
	for _, at := range re.FindAll(text) {
		if count++; count < s.nth || done && !s.all {
			continue
		}
		out.WriteString(text[end:at[0]])
		writeReplacement(&out, s.with, text, at)
		end, done = at[1], true
		if out.Len() > mostMemory {
			return ErrMemory
		}
	}
	if !done {
		return nil
	}
	out.WriteString(text[end:])
	r.pattern.set(out.String())
	r.replaced = true
	if s.print {
		if err := r.print(r.out, r.pattern.String()); err != nil {
			return err
		}
	}
	if s.file != "" {
		return r.print(r.printed[s.file], r.pattern.String())
	}
	return nil
}

// writeReplacement writes what comes in place of a match.
func writeReplacement(out *strings.Builder, with []sedPart, from string, at []int) {
	var fold, first byte
	for _, part := range with {
		switch part.fold {
		case 'u', 'l':
			first = part.fold
		case 'U', 'L', 'E':
			fold = part.fold
		}
		text := part.text
		if part.group >= 0 && 2*part.group+1 < len(at) && at[2*part.group] >= 0 {
			text = from[at[2*part.group]:at[2*part.group+1]]
		}
		if text == "" {
			continue
		}
		switch fold {
		case 'U':
			text = strings.ToUpper(text)
		case 'L':
			text = strings.ToLower(text)
		}
		letter, width := utf8.DecodeRuneInString(text)
		switch first {
		case 'u':
			text = string(unicode.ToUpper(letter)) + text[width:]
		case 'l':
			text = string(unicode.ToLower(letter)) + text[width:]
		}
		first = 0
		out.WriteString(text)
	}
}

// shown is what l prints: what cannot be read is escaped, and longer lines are wrapped.
func shown(text string, width int) string {
	var out strings.Builder
	column := 0
	add := func(s string) {
		if width > 1 && column+len(s) > width-1 {
			out.WriteString("\\\n")
			column = 0
		}
		out.WriteString(s)
		column += len(s)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\\':
			add(`\\`)
		case c >= ' ' && c < 0x7f:
			add(string(c))
		default:
			if letter := strings.IndexByte("\a\b\f\n\r\t\v", c); letter >= 0 {
				add(`\` + "abfnrtv"[letter:letter+1])
				continue
			}
			add(fmt.Sprintf(`\%03o`, c))
		}
	}
	return out.String() + "$\n"
}

// What stands for a character behind a backslash, and the characters.
const (
	sedEscapes = "ntfvar"
	sedEscaped = "\n\t\f\v\a\r"
)

// replacement reads what s puts in place of a match.
func replacement(text string) []sedPart {
	var parts []sedPart
	var literal strings.Builder
	add := func(part sedPart) {
		if literal.Len() > 0 {
			parts = append(parts, sedPart{text: literal.String(), group: -1})
			literal.Reset()
		}
		parts = append(parts, part)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '&':
			add(sedPart{group: 0})
		case c != '\\' || i+1 == len(text):
			literal.WriteByte(c)
		default:
			i++
			switch c := text[i]; {
			case c >= '0' && c <= '9':
				add(sedPart{group: int(c - '0')})
			case strings.IndexByte("ULEul", c) >= 0:
				add(sedPart{group: -1, fold: c})
			default:
				if letter := strings.IndexByte(sedEscapes, c); letter >= 0 {
					c = sedEscaped[letter]
				}
				literal.WriteByte(c)
			}
		}
	}
	add(sedPart{group: -1})
	return parts
}
