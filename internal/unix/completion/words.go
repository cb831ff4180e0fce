// Package completion finds what Tab offers at the prompt of a shell.
package completion

import (
	"slices"
	"strings"
)

// Word is one as it stands in a line.
type Word struct {
	Text     string // without quotes
	Raw      int    // how many bytes of the line it takes
	Quote    byte   // that is open at its end, or 0
	Redirect bool   // a redirect is before it
}

// Split returns the words of the simple command that line ends in, and the last of them, at which the cursor is, apart. Variable
// assignments before the command are left out.
func Split(line string) (words []string, last Word) {
	var text strings.Builder
	start, quoted := -1, byte(0)
	redirect := false
	end := func() {
		if start >= 0 {
			if !redirect {
				words = append(words, text.String())
			}
			redirect = false
		}
		start = -1
		text.Reset()
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted != 0:
			switch {
			case c == quoted:
				quoted = 0
			case c == '\\' && quoted == '"' && i+1 < len(line):
				i++
				text.WriteByte(line[i])
			default:
				text.WriteByte(c)
			}
		case c == '\'' || c == '"':
			if start < 0 {
				start = i
			}
			quoted = c
		case c == '\\' && i+1 < len(line):
			if start < 0 {
				start = i
			}
			i++
			text.WriteByte(line[i])
		case c == ' ' || c == '\t':
			end()
		case c == '|' || c == ';' || c == '&' || c == '(' || c == '`' || c == '\n' || c == '{' && start < 0:
			end()
			words, redirect = nil, false
		case c == '>' || c == '<':
			end()
			redirect = true
		default:
			if start < 0 {
				start = i
			}
			text.WriteByte(c)
		}
	}
	for len(words) > 0 && (assignment(words[0]) || slices.Contains([]string{"do", "then", "else", "time", "!", "if", "while"}, words[0])) {
		words = words[1:]
	}
	last = Word{Quote: quoted, Redirect: redirect}
	if start >= 0 {
		last.Text, last.Raw = text.String(), len(line)-start
	}
	return words, last
}

func assignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) < 0
}

// Escape puts backslashes before what a shell would take for its own in a word that is not within quotes.
func Escape(word string) string {
	var b strings.Builder
	for _, r := range word {
		if strings.ContainsRune(" \t'\"\\$`&|;<>()*?[]{}!#~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
