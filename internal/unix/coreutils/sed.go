package coreutils

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// sedLine is a line on its way through a script.
type sedLine struct {
	text    string
	row     int
	last    bool
	deleted bool
	quit    bool
	before  []string // printed before the line itself
	after   []string // and after it
}

// sedCommand is one command with its addresses.
type sedCommand struct {
	from, to func(*sedLine) bool // nil: every line; to is nil for one address
	not      bool
	inside   bool // the range is open
	do       func(*sedLine)
}

// sed edits line by line, so that it can be behind a watch.
func sed(k *Call) int {
	var scripts, files []string
	quiet, extended, inPlace := false, false, false
	for i := 0; i < len(k.Args); i++ {
		switch arg := k.Args[i]; {
		case (arg == "-e" || arg == "--expression") && i+1 < len(k.Args):
			i++
			scripts = append(scripts, k.Args[i])
		case len(arg) > 1 && arg[0] == '-' && arg[1] != '-':
			for _, letter := range arg[1:] {
				switch letter {
				case 'n':
					quiet = true
				case 'E', 'r':
					extended = true
				case 'i':
					inPlace = true
				case 'u', 's', 'z':
				case 'e':
					if i+1 < len(k.Args) {
						i++
						scripts = append(scripts, k.Args[i])
					}
				default:
					return k.Fail("unknown option -- '%c'", letter)
				}
			}
		default:
			files = append(files, arg)
		}
	}
	if scripts == nil {
		if len(files) == 0 {
			return k.Fail("no script")
		}
		scripts, files = files[:1], files[1:]
	}
	commands, err := parseSed(k, strings.Join(scripts, "\n"), extended)
	if err != nil {
		return k.Fail("-e expression #1: %v", err)
	}
	if !inPlace {
		row := 0
		return k.each(files, func(_ string, r io.Reader) error { return edit(commands, quiet, r, k.Stdout, &row) })
	}
	code := 0
	for _, name := range files {
		data, err := k.Files.ReadFile(k.Path(name))
		if err == nil {
			var out bytes.Buffer
			row := 0
			if err = edit(commands, quiet, bytes.NewReader(data), &out, &row); err == nil {
				err = k.Files.WriteFile(k.Path(name), out.Bytes(), 0o644)
			}
		}
		if err != nil {
			code = k.Fail("can't read %s: %s", name, Reason(err))
		}
	}
	return code
}

// edit runs the commands on each line of r. It reads one line ahead only where
// a command asks which line is the last.
func edit(commands []*sedCommand, quiet bool, r io.Reader, w io.Writer, row *int) error {
	in := bufio.NewReader(r)
	for {
		text, err := ReadLine(in, '\n')
		if text == "" && err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		*row++
		line := &sedLine{text: strings.TrimSuffix(text, "\n"), row: *row}
		if asksForLast(commands) {
			_, err := in.Peek(1)
			line.last = err != nil
		}
		for _, c := range commands {
			if c.matches(line) {
				c.do(line)
			}
			if line.deleted || line.quit {
				break
			}
		}
		out := line.before
		if !quiet && !line.deleted {
			out = append(out, line.text)
		}
		for _, text := range append(out, line.after...) {
			if _, err := io.WriteString(w, text+"\n"); err != nil {
				return err
			}
		}
		if line.quit {
			return nil
		}
	}
}

func asksForLast(commands []*sedCommand) bool {
	for _, c := range commands {
		if c.from != nil && c.from(&sedLine{row: -1, last: true}) {
			return true
		}
		if c.to != nil && c.to(&sedLine{row: -1, last: true}) {
			return true
		}
	}
	return false
}

func (c *sedCommand) matches(line *sedLine) bool {
	matched := true
	switch {
	case c.from == nil:
	case c.to == nil:
		matched = c.from(line)
	case c.inside:
		c.inside = !c.to(line)
	default:
		if matched = c.from(line); matched {
			c.inside = !c.to(line)
		}
	}
	return matched != c.not
}

// parseSed reads commands: s, d, p, q, a, i, c, y and =, each with up to two
// addresses, apart by newlines and semicolons.
func parseSed(ctx context.Context, script string, extended bool) ([]*sedCommand, error) {
	var all []*sedCommand
	p := &sedParser{ctx: ctx, rest: script, extended: extended}
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\n;}")
		if p.rest == "" {
			return all, nil
		}
		c, err := p.command()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
}

type sedParser struct {
	ctx      context.Context // of the program
	rest     string
	extended bool
}

func (p *sedParser) command() (*sedCommand, error) {
	c := &sedCommand{}
	var err error
	var first int
	if c.from, first, err = p.address(0); err != nil {
		return nil, err
	}
	if c.from != nil && strings.HasPrefix(p.rest, ",") {
		p.rest = strings.TrimLeft(p.rest[1:], " ")
		if c.to, _, err = p.address(first); err != nil {
			return nil, err
		}
		if c.to == nil {
			return nil, errors.New("unexpected `,'")
		}
	}
	p.rest = strings.TrimLeft(p.rest, " \t")
	if strings.HasPrefix(p.rest, "!") {
		c.not = true
		p.rest = strings.TrimLeft(p.rest[1:], " \t")
	}
	if p.rest == "" {
		return nil, errors.New("missing command")
	}
	name := p.rest[0]
	p.rest = p.rest[1:]
	switch name {
	case 'd':
		c.do = func(l *sedLine) { l.deleted = true }
	case 'p':
		c.do = func(l *sedLine) { l.before = append(l.before, l.text) }
	case 'q':
		c.do = func(l *sedLine) { l.quit = true }
	case '=':
		c.do = func(l *sedLine) { l.before = append(l.before, strconv.Itoa(l.row)) }
	case 'a', 'i', 'c':
		text := p.text()
		c.do = func(l *sedLine) {
			switch name {
			case 'a':
				l.after = append(l.after, text)
			case 'i':
				l.before = append(l.before, text)
			case 'c':
				l.before, l.deleted = append(l.before, text), true
			}
		}
	case 's':
		c.do, err = p.substitute()
	case 'y':
		c.do, err = p.translate()
	default:
		err = fmt.Errorf("unknown command: `%c'", name)
	}
	return c, err
}

// address reads one, or none. first is the line that a range begins at, for an
// end that is relative to it (+2).
func (p *sedParser) address(first int) (func(*sedLine) bool, int, error) {
	switch {
	case p.rest == "":
		return nil, 0, nil
	case p.rest[0] == '$':
		p.rest = p.rest[1:]
		return func(l *sedLine) bool { return l.last }, 0, nil
	case p.rest[0] >= '0' && p.rest[0] <= '9', p.rest[0] == '+' && first > 0:
		relative := p.rest[0] == '+'
		digits := strings.TrimLeft(p.rest, "+")
		end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(digits)
		}
		n, err := strconv.Atoi(digits[:end])
		if err != nil {
			return nil, 0, errors.New("unknown address")
		}
		p.rest = digits[end:]
		if relative {
			n += first
		}
		if first > 0 {
			return func(l *sedLine) bool { return l.row >= n }, 0, nil
		}
		return func(l *sedLine) bool { return l.row == n }, n, nil
	case p.rest[0] == '/':
		parts, err := p.delimited('/', 1)
		if err != nil {
			return nil, 0, err
		}
		flags := ""
		if strings.HasPrefix(p.rest, "I") {
			flags, p.rest = "(?i)", p.rest[1:]
		}
		re, err := p.expression(parts[0], flags)
		if err != nil {
			return nil, 0, err
		}
		return func(l *sedLine) bool { return re.Match(l.text) }, 0, nil
	}
	return nil, 0, nil
}

// text is what a, i and c add: the rest of the line.
func (p *sedParser) text() string {
	line, rest, _ := strings.Cut(p.rest, "\n")
	line = strings.TrimLeft(line, " \t")
	if line == `\` { // the text is in the next line
		line, rest, _ = strings.Cut(rest, "\n")
	}
	p.rest = rest
	return strings.TrimPrefix(line, `\`)
}

// delimited reads n parts that end with mark, the first of which stands before
// the first.
func (p *sedParser) delimited(mark byte, n int) ([]string, error) {
	s := p.rest[1:]
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
	return nil, fmt.Errorf("unterminated `%c%s'", mark, s)
}

// expression compiles a pattern. In basic ones the meaning of (, ), {, }, +, ?
// and | with and without a backslash is the other way round.
func (p *sedParser) expression(pattern, flags string) (*Pattern, error) {
	if !p.extended {
		pattern = basic(pattern)
	}
	re, err := CompilePattern(p.ctx, flags+pattern, false)
	if err != nil {
		return nil, fmt.Errorf("bad regular expression %q", pattern)
	}
	return re, nil
}

// basic turns a basic regular expression of POSIX, with what GNU adds to it, into
// one of package regexp.
func basic(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '[': // a class: as it is
			end := i + 1
			for end < len(pattern) && (pattern[end] != ']' || end == i+1 || end == i+2 && pattern[i+1] == '^') {
				end++
			}
			end = min(end, len(pattern)-1)
			b.WriteString(pattern[i : end+1])
			i = end
		case c == '\\' && i+1 < len(pattern) && strings.IndexByte("(){}+?|", pattern[i+1]) >= 0:
			i++
			b.WriteByte(pattern[i])
		case c == '\\' && i+1 < len(pattern) && (pattern[i+1] == '<' || pattern[i+1] == '>'):
			b.WriteString(`\b`) // the start of a word, or its end
			i++
		case c == '\\' && i+1 < len(pattern):
			b.WriteString(pattern[i : i+2])
			i++
		case strings.IndexByte("(){}+?|", c) >= 0, c == '*' && (b.Len() == 0 || b.String() == "^"):
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

var sedReference = regexp.MustCompile(`\\[0-9]|\\n|\\t|\\.|&|\$`)

func (p *sedParser) substitute() (func(*sedLine), error) {
	if p.rest == "" {
		return nil, errors.New("unterminated `s' command")
	}
	parts, err := p.delimited(p.rest[0], 2)
	if err != nil {
		return nil, errors.New("unterminated `s' command")
	}
	all, print, flags, nth := false, false, "", 0
	for p.rest != "" && strings.IndexByte("gpIi0123456789", p.rest[0]) >= 0 {
		switch c := p.rest[0]; c {
		case 'g':
			all = true
		case 'p':
			print = true
		case 'I', 'i':
			flags = "(?i)"
		default:
			nth = nth*10 + int(c-'0')
		}
		p.rest = p.rest[1:]
	}
	re, err := p.expression(parts[0], flags)
	if err != nil {
		return nil, err
	}
	with := sedReference.ReplaceAllStringFunc(parts[1], func(s string) string {
		switch {
		case s == "&":
			return "${0}"
		case s == "$":
			return "$$"
		case s == `\n`:
			return "\n"
		case s == `\t`:
			return "\t"
		case s[1] >= '0' && s[1] <= '9':
			return "${" + s[1:] + "}"
		}
		return strings.ReplaceAll(s[1:], "$", "$$")
	})
	return func(l *sedLine) {
		var out []byte
		end, count := 0, 0
		for _, at := range re.FindAll(l.text) {
			count++
			if count < nth || !all && count > max(nth, 1) {
				continue
			}
			out = append(out, l.text[end:at[0]]...)
			out = re.Expand(out, with, l.text, at)
			end = at[1]
		}
		if count < max(nth, 1) {
			return
		}
		l.text = string(append(out, l.text[end:]...))
		if print {
			l.before = append(l.before, l.text)
		}
	}, nil
}

func (p *sedParser) translate() (func(*sedLine), error) {
	if p.rest == "" {
		return nil, errors.New("unterminated `y' command")
	}
	parts, err := p.delimited(p.rest[0], 2)
	if err != nil {
		return nil, errors.New("unterminated `y' command")
	}
	from, to := []rune(parts[0]), []rune(parts[1])
	if len(from) != len(to) {
		return nil, errors.New("strings for `y' command are different lengths")
	}
	var pairs []string
	for i := range from {
		pairs = append(pairs, string(from[i]), string(to[i]))
	}
	replacer := strings.NewReplacer(pairs...)
	return func(l *sedLine) { l.text = replacer.Replace(l.text) }, nil
}
