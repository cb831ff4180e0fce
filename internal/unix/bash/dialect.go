package bash

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Dialect is the shell that an interpreter prints like. All of them understand bash's language.
type Dialect int

const (
	Bash Dialect = iota
	Ash          // busybox's sh
	Dash         // Debian's sh, whose echo expands backslashes. Its messages are busybox's here, which have no numbers of lines.
)

// name is how the shell calls itself in messages.
func (c *Config) name() string { return cmp.Or(c.Name, "bash") }

// opening returns the error of a file that a redirection names, worded as the shell does: the interpreter prints it. Errors
// that are no *fs.PathError end the script, and are returned as they are.
func (c *Config) opening(name string, flag int, err error) error {
	failed, ok := err.(*fs.PathError)
	if !ok {
		return err
	}
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	op, text := c.name()+":", coreutils.Reason(failed.Err)
	switch {
	case c.Dialect == Bash:
	case flag&os.O_CREATE != 0:
		op += " can't create"
		if missing {
			text = "nonexistent directory"
		}
	default:
		op += " can't open"
		if missing {
			text = "no such file"
		}
	}
	return &fs.PathError{Op: op, Path: name, Err: reason{failed.Err, text}}
}

// reason is an error with the text that a shell has for it.
type reason struct {
	error
	text string
}

func (r reason) Error() string { return r.text }
func (r reason) Unwrap() error { return r.error }

// escaped returns a text as echo prints it where it expands backslashes. ended says that \c has ended all output.
func escaped(d Dialect, text string) (expanded string, ended bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), false
		}
		if after == "" {
			b.WriteByte('\\')
			return b.String(), false
		}
		letter := after[0]
		text = after[1:]
		number := func(base, most int) (n rune, ok bool) {
			at := 0
			for at < min(len(text), most) {
				digit := strings.IndexByte("0123456789abcdef", text[at]|0x20)
				if text[at] < 'A' {
					digit = strings.IndexByte("0123456789", text[at])
				}
				if digit < 0 || digit >= base {
					break
				}
				n, at = n*rune(base)+rune(digit), at+1
			}
			text = text[at:]
			return n, at > 0
		}
		if at := strings.IndexByte(`abfnrtv\`, letter); at >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v\\"[at])
			continue
		}
		n, ok := rune(0), false
		switch {
		case letter == 'c':
			return b.String(), true
		case letter == '0':
			n, _ = number(8, 3)
			b.WriteByte(byte(n))
			continue
		case letter == 'e', letter == 'E' && d == Bash:
			b.WriteByte('\x1b')
			continue
		case letter == 'x' && d != Dash:
			if n, ok = number(16, 2); ok {
				b.WriteByte(byte(n))
				continue
			}
		case letter == 'u' && d == Bash, letter == 'U' && d == Bash:
			if n, ok = number(16, map[byte]int{'u': 4, 'U': 8}[letter]); ok {
				b.WriteRune(n)
				continue
			}
		}
		b.WriteByte('\\')
		b.WriteByte(letter)
	}
}

// echoed returns what runs in the place of echo: the interpreter's takes no options in one word. It is nil where the
// interpreter's does the same.
func (c *Config) echoed(args []string) []string {
	newline, expands := true, c.Dialect == Dash
	rest := args
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		letters := rest[0][1:]
		if strings.Trim(letters, "neE") != "" || c.Dialect == Dash && letters != "n" {
			break
		}
		for _, letter := range letters {
			switch letter {
			case 'n':
				newline = false
			default:
				expands = letter == 'e'
			}
		}
		rest = rest[1:]
	}
	text := strings.Join(rest, " ")
	begins := len(rest) > 0 && strings.HasPrefix(rest[0], "-")
	if len(rest) == len(args) && !begins && !(expands && strings.Contains(text, `\`)) {
		return nil
	}
	ended := false
	if expands {
		text, ended = escaped(c.Dialect, text)
	}
	if newline && !ended {
		text += "\n"
	}
	return printing(text)
}

// printing returns a command that prints a text. Nothing is not written: printf would write it.
func printing(text string) []string {
	if text == "" {
		return []string{"builtin", "true"}
	}
	return []string{"builtin", "printf", "%s", text}
}
