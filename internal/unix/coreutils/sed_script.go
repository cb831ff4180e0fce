package coreutils

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sedScript is a script of sed, as GNU's documentation has them, but for expressions that refer back (\1) and the commands e
// and M, which run programs.
type sedScript struct {
	commands []*sedCommand
	quiet    bool // it begins with #n
}

// sedCommand is one command with its addresses. It runs where they match.
type sedCommand struct {
	from, to *sedAddress // nil: every line; to is nil for one address
	not      bool
	name     byte
	target   int     // of {, b, t and T: the command to go on with
	text     string  // of a, i and c; the label of b, t and T; the file of r, R, w and W
	number   int     // the exit code of q and Q, the width of l; -1 if there is none
	s        *sedSub // of s
	y        *strings.Replacer

	open bool // the range is
	end  int  // the line that it ends with, if it ends with a number
}

// sedAddress is one of: the line number, each of step lines from there on, the last line, or those that match.
type sedAddress struct {
	kind   byte // n(umber), ~, $, /, and for the end of a range + (so many more lines) and m (the next multiple)
	number int
	step   int
	re     *Pattern // of /; nil: the one that was used last
}

// sedParser reads a script.
type sedParser struct {
	ctx      context.Context // of the program
	script   string
	rest     string // what is still to be read
	extended bool
	groups   int  // of the expression that was read last
	sets     bool // what comes is a regular expression
}

// parseSed reads a script.
//
// The error begins with where it is, as GNU's does: char 3: unexpected `,'.
func parseSed(ctx context.Context, script string, extended bool) (*sedScript, error) {
	p := &sedParser{ctx: ctx, script: script, rest: script, extended: extended}
	all := &sedScript{}
	all.quiet = strings.HasPrefix(script, "#n") // GNU's does not look at the rest of the line
	if err := p.commands(all); err != nil {
		return nil, err
	}
	return all, nil
}

// noLabel is a label that a script has not.
type noLabel string

func (l noLabel) Error() string { return fmt.Sprintf("can't find label for jump to `%s'", string(l)) }

func (p *sedParser) fail(format string, args ...any) error {
	return fmt.Errorf("-e expression #1, char %d: %s", len(p.script)-len(p.rest), fmt.Sprintf(format, args...))
}

func (p *sedParser) skip(chars string) { p.rest = strings.TrimLeft(p.rest, chars) }

// take takes the next character, 0 at the end.
func (p *sedParser) take() byte {
	if p.rest == "" {
		return 0
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c
}

func (p *sedParser) commands(all *sedScript) error {
	var blocks []int
	labels := map[string]int{}
	for {
		p.skip(" \t\n;")
		if p.rest == "" {
			break
		}
		if p.rest[0] == '#' {
			_, p.rest, _ = strings.Cut(p.rest, "\n")
			continue
		}
		c, err := p.command()
		if err != nil {
			return err
		}
		switch c.name {
		case '{':
			blocks = append(blocks, len(all.commands))
		case '}':
			if len(blocks) == 0 {
				return p.fail("unexpected `}'")
			}
			if c.from != nil {
				return p.fail("} doesn't want any addresses")
			}
			all.commands[blocks[len(blocks)-1]].target = len(all.commands)
			blocks = blocks[:len(blocks)-1]
			continue
		case ':':
			if c.from != nil {
				return p.fail(": doesn't want any addresses")
			}
			labels[c.text] = len(all.commands)
			continue
		}
		all.commands = append(all.commands, c)
	}
	if len(blocks) > 0 {
		return errors.New("-e expression #1, char 0: unmatched `{'")
	}
	for _, c := range all.commands {
		if c.name != 'b' && c.name != 't' && c.name != 'T' {
			continue
		}
		at, found := labels[c.text]
		switch {
		case c.text == "":
			at = len(all.commands)
		case !found:
			return noLabel(c.text)
		}
		c.target = at
	}
	return nil
}

func (p *sedParser) command() (*sedCommand, error) {
	c := &sedCommand{number: -1}
	var err error
	if c.from, err = p.address(false); err != nil {
		return nil, err
	}
	p.skip(" \t")
	if c.from != nil && strings.HasPrefix(p.rest, ",") {
		p.take()
		p.skip(" \t")
		if c.to, err = p.address(true); err != nil {
			return nil, err
		}
		if c.to == nil {
			return nil, p.fail("unexpected `,'")
		}
	}
	if from := c.from; from != nil && from.kind == 'n' && from.number == 0 {
		if c.to == nil || c.to.kind != '/' {
			return nil, p.fail("invalid usage of line address 0")
		}
		c.open = true // from before the first line on
	}
	p.skip(" \t")
	for strings.HasPrefix(p.rest, "!") {
		p.take()
		p.skip(" \t")
		if c.not {
			return nil, p.fail("multiple `!'s")
		}
		c.not = true
	}
	switch c.name = p.take(); c.name {
	case 0:
		return nil, p.fail("missing command")
	case '{':
		return c, nil
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F', '}':
	case 'q', 'Q', 'l':
		p.skip(" \t")
		if digits := p.digits(); digits != "" {
			c.number, _ = strconv.Atoi(digits)
		}
	case 'a', 'i', 'c':
		c.text, err = p.text()
		return c, err
	case ':', 'b', 't', 'T':
		p.skip(" \t")
		end := strings.IndexAny(p.rest+"\n", labelEnds(c.name))
		c.text, p.rest = p.rest[:end], p.rest[end:]
		if c.name == ':' && c.text == "" {
			return nil, p.fail("\":\" lacks a label")
		}
		if c.name == ':' {
			return c, nil
		}
	case 'r', 'R', 'w', 'W':
		c.text, err = p.file()
		return c, err
	case 's':
		c.s, err = p.substitute()
	case 'y':
		c.y, err = p.translate()
	default:
		return nil, p.fail("unknown command: `%c'", c.name)
	}
	if err != nil {
		return nil, err
	}
	if c.s != nil && c.s.file != "" { // whose name has taken the line
		return c, nil
	}
	p.skip(" \t")
	if p.rest != "" && strings.IndexByte("};#\n", p.rest[0]) < 0 {
		p.take()
		return nil, p.fail("extra characters after command")
	}
	return c, nil
}

// labelEnds are the characters that a label ends with: spaces belong to those that are defined, as GNU has it.
func labelEnds(command byte) string {
	if command == ':' {
		return "\n;"
	}
	return "\n; \t}"
}

func (p *sedParser) digits() string {
	end := strings.IndexFunc(p.rest+".", func(r rune) bool { return r < '0' || r > '9' })
	digits := p.rest[:end]
	p.rest = p.rest[end:]
	return digits
}

func (p *sedParser) file() (string, error) {
	p.skip(" \t")
	name, rest, _ := strings.Cut(p.rest, "\n")
	if name == "" {
		return "", p.fail("missing filename in r/R/w/W commands")
	}
	p.rest = rest
	return name, nil
}

// address reads one, nil if there is none.
func (p *sedParser) address(isEnd bool) (*sedAddress, error) {
	if p.rest == "" {
		return nil, nil
	}
	number := func() int {
		n, err := strconv.Atoi(p.digits())
		if err != nil {
			return 0
		}
		return n
	}
	mark := byte('/')
	switch c := p.rest[0]; {
	case c == '$':
		p.take()
		return &sedAddress{kind: '$'}, nil
	case c >= '0' && c <= '9':
		a := &sedAddress{kind: 'n', number: number()}
		if !isEnd && strings.HasPrefix(p.rest, "~") {
			p.take()
			if a.step = number(); a.step > 0 {
				a.kind = '~'
			}
		}
		return a, nil
	case isEnd && (c == '+' || c == '~'):
		p.take()
		a := &sedAddress{kind: c, number: number()}
		if c == '~' {
			a.kind = 'm'
		}
		return a, nil
	case c == '\\' && len(p.rest) > 1:
		p.take()
		mark = p.rest[0]
	case c != '/':
		return nil, nil
	}
	p.sets = true
	parts, err := p.delimited(mark, 1)
	if err != nil {
		return nil, p.fail("unterminated address regex")
	}
	flags := ""
	for strings.HasPrefix(p.rest, "I") || strings.HasPrefix(p.rest, "M") {
		flags += string(p.take())
	}
	re, err := p.expression(parts[0], flags)
	return &sedAddress{kind: '/', re: re}, err
}

// text is what a, i and c add: what follows in the line, and in further ones where a backslash stands before the end.
func (p *sedParser) text() (string, error) {
	p.skip(" \t")
	if p.rest == "" {
		return "", p.fail("expected \\ after `a', `c' or `i'")
	}
	if p.rest[0] == '\\' {
		p.take()
		if line := strings.TrimLeft(p.rest, " \t"); strings.HasPrefix(line, "\n") {
			p.rest = line[1:]
		}
	}
	var text strings.Builder
	for begins := true; ; begins = false {
		switch c := p.take(); {
		case c == 0 || c == '\n':
			return text.String() + "\n", nil
		case c == '\\' && p.rest != "":
			next := p.take()
			if letter := strings.IndexByte(sedEscapes, next); letter >= 0 && !begins {
				next = sedEscaped[letter]
			}
			text.WriteByte(next)
		default:
			text.WriteByte(c)
		}
	}
}

// delimited reads n parts that end with mark, which stands before the first.
func (p *sedParser) delimited(mark byte, n int) ([]string, error) {
	s, sets := p.rest[1:], p.sets
	var parts []string
	var part strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == mark:
			i++
			part.WriteByte(mark)
		case s[i] == '\\' && i+1 < len(s):
			part.WriteString(s[i : i+2])
			i++
		case s[i] == '[' && sets && len(parts) == 0: // where mark is one of the characters
			end := i + setEnd(s[i:])
			if end == i { // nothing closes it, nor another one
				sets = false
				part.WriteByte('[')
				continue
			}
			part.WriteString(strings.ReplaceAll(s[i:end], `\`+string(mark), string(mark)))
			i = end - 1
		case s[i] == mark:
			parts = append(parts, part.String())
			part.Reset()
			if len(parts) == n {
				p.rest = s[i+1:]
				return parts, nil
			}
		default:
			part.WriteByte(s[i])
		}
	}
	p.rest = ""
	return nil, errors.New("unterminated")
}

// expression compiles a pattern with the flags I and M of GNU's, nil if it is empty.
func (p *sedParser) expression(pattern, flags string) (*Pattern, error) {
	if pattern == "" {
		return nil, nil
	}
	// A point stands for the newlines of several lines, too.
	re, err := CompilePattern(p.ctx, "(?s"+strings.ToLower(flags)+")"+posix(pattern, p.extended), true)
	if err != nil {
		return nil, p.fail("bad regular expression %q", pattern)
	}
	p.groups = re.re.NumSubexp()
	return re, nil
}

func (p *sedParser) substitute() (*sedSub, error) {
	p.sets = true
	if p.rest == "" {
		return nil, p.fail("unterminated `s' command")
	}
	parts, err := p.delimited(p.rest[0], 2)
	if err != nil {
		return nil, p.fail("unterminated `s' command")
	}
	s := &sedSub{nth: 1}
	flags := ""
	numbered := false
	for done := false; !done && p.rest != ""; {
		switch c := p.rest[0]; {
		case c == 'g' && s.all, c == 'p' && s.print:
			p.take()
			return nil, p.fail("multiple `%c' options to `s' command", c)
		case c == 'g':
			s.all = true
		case c == 'p':
			s.print = true
		case c == 'I' || c == 'i' || c == 'M' || c == 'm':
			flags += string(c)
		case c >= '0' && c <= '9':
			digits := p.digits()
			if s.nth, _ = strconv.Atoi(digits); s.nth == 0 || numbered {
				return nil, p.fail("number option to `s' command may not be zero")
			}
			numbered = true
			continue
		case c == 'w':
			p.take()
			if s.file, err = p.file(); err != nil {
				return nil, err
			}
			done = true
			continue
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			p.take()
			return nil, p.fail("unknown option to `s'")
		default:
			done = true
			continue
		}
		p.take()
	}
	if s.re, err = p.expression(parts[0], flags); err != nil {
		return nil, err
	}
	s.with = replacement(parts[1])
	for _, part := range s.with {
		if s.re != nil && part.group > p.groups {
			return nil, p.fail("invalid reference \\%d on `s' command's RHS", part.group)
		}
	}
	return s, nil
}

func (p *sedParser) translate() (*strings.Replacer, error) {
	p.sets = false
	if p.rest == "" {
		return nil, p.fail("unterminated `y' command")
	}
	parts, err := p.delimited(p.rest[0], 2)
	if err != nil {
		return nil, p.fail("unterminated `y' command")
	}
	escapes := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
	from, to := []rune(escapes.Replace(parts[0])), []rune(escapes.Replace(parts[1]))
	if len(from) != len(to) {
		return nil, p.fail("strings for `y' command are different lengths")
	}
	var pairs []string
	for i := range from {
		pairs = append(pairs, string(from[i]), string(to[i]))
	}
	return strings.NewReplacer(pairs...), nil
}
