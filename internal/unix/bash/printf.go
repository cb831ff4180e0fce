package bash

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// formatted returns what runs in the place of printf: the interpreter's knows neither its options nor most of its formats.
func (c *Config) formatted(hc interp.HandlerContext, with func(...string) []string, args []string) []string {
	name, sets := "", false
	if len(args) > 0 {
		if name, sets = strings.CutPrefix(args[0], "-v"); sets {
			args = args[1:]
		}
	}
	if sets && name == "" {
		if len(args) == 0 {
			return c.refused(hc.Stderr, "printf: -v: option requires an argument")
		}
		name, args = args[0], args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 { // which the interpreter's says
		return with(args...)
	}
	if variable, _, _ := strings.Cut(name, "["); sets && (!syntax.ValidName(variable) || !indexes(name)) {
		return c.refused(hc.Stderr, "printf: `%s': not a valid identifier", name)
	}
	f := &formatter{args: args[1:], now: c.Now, fail: func(format string, args ...any) {
		fmt.Fprintf(hc.Stderr, c.name()+": printf: "+format+"\n", args...)
	}}
	if f.now == nil {
		f.now = time.Now
	}
	text := f.all(args[0])
	if sets {
		value, _, _ := strings.Cut(text, "\x00")
		word, err := syntax.Quote(value, syntax.LangBash)
		if err != nil {
			return c.refused(hc.Stderr, "printf: %v", err)
		}
		set := name + "=" + word
		if f.failed {
			set += "; false"
		}
		return []string{"eval", set}
	}
	if f.failed {
		_, _ = io.WriteString(hc.Stdout, text)
		return []string{"false"}
	}
	return with("%s", text)
}

// Bounds of what a format can ask for, in bytes.
const (
	widest   = 1 << 12 // of a field
	mostText = 64 << 20
)

// formatter formats arguments as bash's printf does.
type formatter struct {
	args   []string // that have not been used
	now    func() time.Time
	fail   func(format string, args ...any) // tells what is wrong
	failed bool                             // something was
	ends   bool                             // \c of %b has ended the text
	used   bool                             // an argument has been
	out    strings.Builder
}

func (f *formatter) wrong(format string, args ...any) {
	f.failed = true
	f.fail(format, args...)
}

func (f *formatter) next() (arg string, isThere bool) {
	f.used = true
	if len(f.args) == 0 {
		return "", false
	}
	arg, f.args = f.args[0], f.args[1:]
	return arg, true
}

// all applies the format until all arguments are used.
func (f *formatter) all(format string) string {
	for {
		f.used = false
		if !f.once(format) || f.ends || !f.used || len(f.args) == 0 {
			return f.out.String()
		}
		if f.out.Len() > mostText {
			f.wrong("%v", coreutils.ErrMemory)
			return f.out.String()
		}
	}
}

// field is what stands between % and the letter.
type field struct {
	flags     string // of -+ #0
	width     int
	precision int // -1: none
}

// once applies the format once, and reports whether it is well formed.
func (f *formatter) once(format string) bool {
	for i := 0; i < len(format); {
		switch format[i] {
		case '\\':
			n, _ := f.escape(&f.out, format[i:], false)
			i += n
			continue
		case '%':
		default:
			f.out.WriteByte(format[i])
			i++
			continue
		}
		start := i
		i++
		if strings.HasPrefix(format[i:], "%") {
			f.out.WriteByte('%')
			i++
			continue
		}
		p := field{precision: -1}
		for ; i < len(format) && strings.IndexByte("-+ #0'", format[i]) >= 0; i++ {
			p.flags += format[i : i+1]
		}
		var ok bool
		if p.width, i, ok = f.number(format, i); !ok {
			return false
		}
		if p.width < 0 {
			p.flags, p.width = p.flags+"-", -p.width
		}
		if i < len(format) && format[i] == '.' {
			if p.precision, i, ok = f.number(format, i+1); !ok {
				return false
			}
		}
		for i < len(format) && strings.IndexByte("hlLjzt", format[i]) >= 0 {
			i++
		}
		if i == len(format) {
			f.wrong("`%s': missing format character", format[start:])
			return false
		}
		verb := format[i]
		i++
		if verb == '(' {
			end := strings.Index(format[i:], ")T")
			if end < 0 {
				f.wrong("`%c': invalid format character", '(')
				return false
			}
			f.pad(p, f.time(format[i:i+end]))
			i += end + len(")T")
			continue
		}
		if !f.conversion(verb, p) {
			f.wrong("`%c': invalid format character", verb)
			return false
		}
		if f.ends {
			return true
		}
	}
	return true
}

// number reads a width or a precision: digits, or * for an argument.
func (f *formatter) number(format string, i int) (n, end int, ok bool) {
	if i < len(format) && format[i] == '*' {
		arg, _ := f.next()
		n, end = int(max(min(f.integer(arg), math.MaxInt32), math.MinInt32)), i+1
	} else {
		for end = i; end < len(format) && format[end] >= '0' && format[end] <= '9'; end++ {
			n = min(n*10+int(format[end]-'0'), math.MaxInt32)
		}
	}
	if n > widest || n < -widest {
		f.wrong("the width %d is too large", n)
		return 0, end, false
	}
	return n, end, true
}

// conversion writes the next argument as a letter says, and reports whether there is such a letter.
func (f *formatter) conversion(verb byte, p field) bool {
	switch verb {
	case 's':
		arg, _ := f.next()
		f.pad(p, arg)
	case 'c':
		arg, _ := f.next()
		f.pad(field{flags: p.flags, width: p.width, precision: -1}, (arg + "\x00")[:1])
	case 'b':
		arg, _ := f.next()
		f.pad(p, f.unescaped(arg))
	case 'q', 'Q':
		arg, _ := f.next()
		if verb == 'Q' && p.precision >= 0 {
			arg, p.precision = arg[:min(p.precision, len(arg))], -1
		}
		f.pad(p, shellWord(arg))
	case 'n': // sets a variable to how much has been printed, which nobody uses
		f.next()
	case 'd', 'i':
		arg, _ := f.next()
		f.sprintf(p, 'd', f.integer(arg))
	case 'u':
		arg, _ := f.next()
		f.sprintf(field{strings.NewReplacer("+", "", " ", "").Replace(p.flags), p.width, p.precision}, 'd', uint64(f.integer(arg)))
	case 'o', 'x', 'X':
		arg, _ := f.next()
		n := uint64(f.integer(arg))
		if n == 0 {
			p.flags = strings.ReplaceAll(p.flags, "#", "")
		}
		f.sprintf(p, verb, n)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		arg, _ := f.next()
		if p.precision < 0 {
			p.precision = 6
		}
		f.sprintf(p, verb, f.float(arg))
	case 'a', 'A':
		arg, _ := f.next()
		f.sprintf(p, map[byte]byte{'a': 'x', 'A': 'X'}[verb], f.float(arg))
	default:
		return false
	}
	return true
}

func (f *formatter) sprintf(p field, verb byte, value any) {
	format := "%" + strings.ReplaceAll(p.flags, "'", "")
	if p.width > 0 {
		format += strconv.Itoa(p.width)
	}
	if p.precision >= 0 {
		format += "." + strconv.Itoa(p.precision)
	}
	fmt.Fprintf(&f.out, format+string(verb), value)
}

// pad writes a text in a field: its sizes are bytes, as bash has them.
func (f *formatter) pad(p field, text string) {
	if p.precision >= 0 {
		text = text[:min(p.precision, len(text))]
	}
	space := strings.Repeat(" ", max(p.width-len(text), 0))
	if strings.Contains(p.flags, "-") {
		f.out.WriteString(text + space)
	} else {
		f.out.WriteString(space + text)
	}
}

// integer is the number that an argument says: decimal, octal, hexadecimal, or that of the character behind a quote.
func (f *formatter) integer(arg string) int64 {
	if arg != "" && (arg[0] == '\'' || arg[0] == '"') {
		r, _ := utf8.DecodeRuneInString(arg[1:])
		if len(arg) == 1 {
			r = 0
		}
		return int64(r)
	}
	text := strings.TrimLeft(arg, " \t\n")
	end := 0
	if end < len(text) && (text[end] == '-' || text[end] == '+') {
		end++
	}
	base, digits := 10, "0123456789"
	switch rest := strings.ToLower(text[end:]); {
	case len(rest) > 2 && strings.HasPrefix(rest, "0x") && strings.IndexByte("0123456789abcdef", rest[2]) >= 0:
		base, digits = 16, "0123456789abcdefABCDEF"
		text = text[:end] + text[end+2:]
	case strings.HasPrefix(rest, "0"):
		base, digits = 8, "01234567"
	}
	begin := end
	for end < len(text) && strings.IndexByte(digits, text[end]) >= 0 {
		end++
	}
	if end < len(text) || begin == end && arg != "" {
		f.wrong("%s: invalid number", arg)
	}
	if begin == end {
		return 0
	}
	n, err := strconv.ParseInt(text[:end], base, 64)
	if err == nil {
		return n
	}
	if u, err := strconv.ParseUint(text[:end], base, 64); err == nil {
		return int64(u)
	}
	f.fail("warning: %s: Numerical result out of range", arg)
	if n > 0 && base != 10 {
		return -1
	}
	return n
}

// float is the number that an argument says.
func (f *formatter) float(arg string) float64 {
	if arg != "" && (arg[0] == '\'' || arg[0] == '"') {
		return float64(f.integer(arg))
	}
	text := strings.TrimLeft(arg, " \t\n")
	if text == "" {
		if arg != "" {
			f.wrong("%s: invalid number", arg)
		}
		return 0
	}
	for end := len(text); end > 0; end-- {
		if strings.Contains(text[:end], "_") {
			continue
		}
		n, err := strconv.ParseFloat(text[:end], 64)
		if err != nil && !math.IsInf(n, 0) {
			if whole, failed := strconv.ParseInt(text[:end], 0, 64); failed == nil && len(text[:end]) > 2 {
				n, err = float64(whole), nil // 0x1F
			}
		}
		if err == nil || math.IsInf(n, 0) {
			if end < len(text) {
				f.wrong("%s: invalid number", arg)
			}
			return n
		}
	}
	f.wrong("%s: invalid number", arg)
	return 0
}

// time is the time that the next argument says, in seconds since 1970: now for -1 and for none, as for -2, when the shell began.
func (f *formatter) time(format string) string {
	now := f.now()
	if arg, isThere := f.next(); isThere {
		if n := f.integer(arg); n >= 0 {
			now = time.Unix(n, 0)
		}
	}
	if format == "" {
		format = "%X"
	}
	return coreutils.Strftime(now.UTC(), format)
}

// unescaped is what %b makes of an argument: the escapes of echo -e.
func (f *formatter) unescaped(arg string) string {
	var out strings.Builder
	for i := 0; i < len(arg) && !f.ends; {
		if arg[i] != '\\' {
			out.WriteByte(arg[i])
			i++
			continue
		}
		n, ends := f.escape(&out, arg[i:], true)
		i += n
		f.ends = ends
	}
	return out.String()
}

// escape writes what a backslash and what is behind it stand for, and returns how long it is. In an argument of %b, octal
// numbers may begin with 0, and \c ends the text.
func (f *formatter) escape(out *strings.Builder, text string, inArgument bool) (n int, ends bool) {
	if len(text) == 1 {
		out.WriteByte('\\')
		return 1, false
	}
	digits := func(at, most int, base int) (value int64, end int) {
		end = at
		for end < len(text) && end < at+most {
			if _, err := strconv.ParseUint(text[end:end+1], base, 8); err != nil {
				break
			}
			end++
		}
		value, _ = strconv.ParseInt(text[at:end], base, 64)
		return value, end
	}
	c := text[1]
	switch at := strings.IndexByte(`abeEfnrtv\'"?`, c); {
	case at >= 0 && (!inArgument || c != '\'' && c != '"' && c != '?'):
		out.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[at])
		return 2, false
	case c == 'c' && inArgument:
		return 2, true
	case c >= '0' && c <= '7':
		most := 3
		if inArgument && c == '0' {
			most = 4
		}
		value, end := digits(1, most, 8)
		out.WriteByte(byte(value))
		return end, false
	case c == 'x':
		value, end := digits(2, 2, 16)
		if end > 2 {
			out.WriteByte(byte(value))
			return end, false
		}
		f.wrong("missing hex digit for \\x")
	case c == 'u' || c == 'U':
		most := 4
		if c == 'U' {
			most = 8
		}
		if value, end := digits(2, most, 16); end > 2 {
			out.WriteRune(rune(value))
			return end, false
		}
		f.wrong("missing unicode digit for \\%c", c)
	}
	out.WriteString(text[:2])
	return 2, false
}

// shellWord is a word that a shell reads as the text.
func shellWord(text string) string {
	if text == "" {
		return "''"
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			word, err := syntax.Quote(text, syntax.LangBash)
			if err != nil { // a NUL, which no argument has
				return text
			}
			return word
		}
	}
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if strings.IndexByte(" !\"$&'()*,;<>?[\\]^`{|}", c) >= 0 || c == '#' && i == 0 || c == '~' && (i == 0 || text[i-1] == ':' || text[i-1] == '=') {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}
