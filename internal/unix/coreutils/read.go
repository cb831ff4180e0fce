package coreutils

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Read is the builtin for a reader that is no file: the interpreter's own would
// read ahead of the line. It reads a line of stdin as args say, prints the
// prompt of -p to prompts, and returns the command that sets the variables.
func Read(prompts io.Writer, stdin io.Reader, args []string) []string {
	var names []string
	raw, end, most, exactly := false, byte('\n'), -1, false
	for rest := args[1:]; len(rest) > 0; {
		arg := rest[0]
		rest = rest[1:]
		if len(arg) < 2 || arg[0] != '-' {
			names = append(names, arg)
			continue
		}
		for i := 1; i < len(arg); i++ {
			if arg[i] == 'r' {
				raw = true
			}
			if strings.IndexByte("adinNptu", arg[i]) < 0 {
				continue
			}
			value := arg[i+1:]
			if value == "" && len(rest) > 0 {
				value, rest = rest[0], rest[1:]
			}
			switch arg[i] {
			case 'p':
				fmt.Fprint(prompts, value)
			case 'd':
				end = (value + "\x00")[0]
			case 'n', 'N':
				n, err := strconv.Atoi(value)
				if err != nil || n < 0 {
					return []string{"false"}
				}
				most, exactly = n, arg[i] == 'N'
			}
			break
		}
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	text, err := readLine(stdin, end, most, exactly)
	if err != nil && text == "" {
		return []string{"false"}
	}
	if !raw {
		text = strings.ReplaceAll(text, "\\", "")
	}
	const blank = " \t\n"
	if !exactly {
		text = strings.Trim(text, blank)
	}
	var assigns []string
	for i, name := range names {
		value := text // the last has all that is left, with the blanks in it
		if end := strings.IndexAny(text, blank); i < len(names)-1 && end >= 0 {
			value, text = text[:end], strings.TrimLeft(text[end:], blank)
		} else {
			text = ""
		}
		quoted, err := syntax.Quote(value, syntax.LangBash)
		if err != nil || !syntax.ValidName(name) {
			return []string{"false"}
		}
		assigns = append(assigns, name+"="+quoted)
	}
	return []string{"eval", strings.Join(assigns, " ")}
}

// readLine reads until the byte end, at most so many characters if most is not
// negative; with exactly, end is one like all others.
func readLine(r io.Reader, end byte, most int, exactly bool) (string, error) {
	var text []byte
	var b [1]byte
	for begun, read := 0, 0; most < 0 || read < most; {
		n, err := r.Read(b[:])
		if n > 0 {
			if b[0] == end && !exactly {
				break
			}
			if text = append(text, b[0]); len(text) > mostMemory {
				return "", ErrMemory
			}
			if utf8.FullRune(text[begun:]) {
				begun, read = len(text), read+1
			}
		}
		if err != nil {
			return string(text), err
		}
	}
	return string(text), nil
}
