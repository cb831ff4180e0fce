package coreutils

import (
	"fmt"
	"io"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Read is the builtin for a reader that is no file: the interpreter's own would
// read ahead of the line. It reads a line of stdin as args say, prints the
// prompt of -p to prompts, and returns the command that sets the variables.
func Read(prompts io.Writer, stdin io.Reader, args []string) []string {
	var names []string
	raw := false
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-r":
			raw = true
		case args[i] == "-p" && i+1 < len(args):
			i++
			fmt.Fprint(prompts, args[i])
		case strings.HasPrefix(args[i], "-"):
		default:
			names = append(names, args[i])
		}
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	text, err := readLine(stdin)
	if err != nil && text == "" {
		return []string{"false"}
	}
	if !raw {
		text = strings.ReplaceAll(text, "\\", "")
	}
	fields := strings.Fields(text)
	var assigns []string
	for i, name := range names {
		value := ""
		switch {
		case i == len(names)-1 && i < len(fields):
			value = strings.Join(fields[i:], " ")
		case i < len(fields):
			value = fields[i]
		}
		quoted, err := syntax.Quote(value, syntax.LangBash)
		if err != nil || !syntax.ValidName(name) {
			return []string{"false"}
		}
		assigns = append(assigns, name+"="+quoted)
	}
	return []string{"eval", strings.Join(assigns, " ")}
}

func readLine(r io.Reader) (string, error) {
	var text []byte
	var b [1]byte
	for {
		n, err := r.Read(b[:])
		if n > 0 {
			if b[0] == '\n' {
				return string(text), nil
			}
			text = append(text, b[0])
		}
		if err != nil {
			return string(text), err
		}
	}
}
