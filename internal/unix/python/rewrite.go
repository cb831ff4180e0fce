package python

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// attributes are the members of modules that are no functions; those are in builtins.
var attributes = []string{"os.environ", "sys.argv", "sys.stdout", "sys.stderr"}

// isKnown reports whether a script may import a module, or a member of one.
func isKnown(name string) bool {
	is := func(member string) bool { return member == name || strings.HasPrefix(member, name+".") }
	for member := range builtins {
		if is(member) && strings.Contains(member, ".") {
			return true
		}
	}
	return slices.ContainsFunc(attributes, is)
}

type patterns struct{ imports, from, as, raises, isNone, isNoNone *regexp.Regexp }

// compiled are the patterns, which no start of an engine needs.
var compiled = sync.OnceValue(func() patterns {
	return patterns{
		imports:  regexp.MustCompile(`^import[ \t]+([\w., \t]+?)[ \t]*(?:;|$)[ \t]*`),
		from:     regexp.MustCompile(`^from[ \t]+(\w+)[ \t]+import[ \t]+([\w, \t]+?)[ \t]*(?:;|$)[ \t]*`),
		as:       regexp.MustCompile(`^(\w+)(?:[ \t]+as[ \t]+(\w+))?$`),
		raises:   regexp.MustCompile(`^raise[ \t]+(\w+(?:\(.*\))?)[ \t]*$`),
		isNone:   regexp.MustCompile(`\bis[ \t]+None\b`),
		isNoNone: regexp.MustCompile(`\bis[ \t]+not[ \t]+None\b`),
	}
})

// rewritten returns the text as Starlark has it, with the lines where they were, and what the names stand for that it imports: a
// module, or a member of one.
func rewritten(text string) (plain string, names map[string]string, err error) {
	text, within, err := stringsOf(text)
	if err != nil {
		return "", nil, err
	}
	names = map[string]string{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if within[i] {
			continue
		}
		rest := strings.TrimLeft(line, " \t")
		indent := line[:len(line)-len(rest)]
		rest, err = importsOf(rest, names)
		if err != nil {
			return "", nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if found := compiled().raises.FindStringSubmatch(rest); found != nil {
			rest = "__raise(" + found[1] + ")"
		}
		lines[i] = indent + rest
	}
	return strings.Join(lines, "\n"), names, nil
}

// importsOf takes the imports from the front of a line.
func importsOf(line string, names map[string]string) (rest string, err error) {
	taken := false
	for {
		module, list := "", ""
		if found := compiled().imports.FindStringSubmatch(line); found != nil {
			list, line = found[1], line[len(found[0]):]
		} else if found := compiled().from.FindStringSubmatch(line); found != nil {
			module, list, line = found[1], found[2], line[len(found[0]):]
		} else {
			break
		}
		taken = true
		for item := range strings.SplitSeq(list, ",") {
			found := compiled().as.FindStringSubmatch(strings.TrimSpace(item))
			if found == nil {
				return "", fmt.Errorf("the import of %q is not known", strings.TrimSpace(item))
			}
			what, name := found[1], found[1]
			if found[2] != "" {
				name = found[2]
			}
			if module != "" {
				what = module + "." + what
			}
			if !isKnown(what) {
				return "", fmt.Errorf("there is no %s", what)
			}
			names[name] = what
		}
	}
	if taken && line == "" {
		return "pass", nil
	}
	return line, nil
}

// stringsOf writes f-strings as sums, and comparisons with None that stand outside of strings with == and !=. It leaves out
// comments, and tells which lines begin within a string.
func stringsOf(text string) (plain string, within map[int]bool, err error) {
	within = map[int]bool{}
	var out, code strings.Builder
	flush := func() {
		part := compiled().isNoNone.ReplaceAllString(code.String(), "!= None")
		out.WriteString(compiled().isNone.ReplaceAllString(part, "== None"))
		code.Reset()
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '#':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i
			}
			i += end
		case c == '"' || c == '\'':
			end, err := endOfString(text, i)
			if err != nil {
				return "", nil, err
			}
			literal := text[i:end]
			for line := strings.Count(text[:i], "\n"); line < strings.Count(text[:end], "\n"); line++ {
				within[line+1] = true
			}
			i = end
			before := code.String()
			if f := strings.TrimRight(before, "fF"); len(before) != len(f)+1 || endsInName(f) {
				flush()
				out.WriteString(literal)
				continue
			}
			code.Reset()
			code.WriteString(before[:len(before)-1])
			flush()
			sum, err := formattedString(literal)
			if err != nil {
				return "", nil, err
			}
			out.WriteString(sum)
		default:
			code.WriteByte(c)
			i++
		}
	}
	flush()
	return out.String(), within, nil
}

func endsInName(s string) bool {
	if s == "" {
		return false
	}
	c := s[len(s)-1]
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// endOfString returns where the string ends that begins at i.
func endOfString(text string, i int) (int, error) {
	quote := text[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], triple) {
		quote = triple
	}
	for at := i + len(quote); at < len(text); at++ {
		switch {
		case text[at] == '\\':
			at++
		case strings.HasPrefix(text[at:], quote):
			return at + len(quote), nil
		case text[at] == '\n' && len(quote) == 1:
			return 0, fmt.Errorf("line %d: a string without an end", 1+strings.Count(text[:i], "\n"))
		}
	}
	return 0, fmt.Errorf("line %d: a string without an end", 1+strings.Count(text[:i], "\n"))
}

// formattedString returns an f-string as a sum of strings.
func formattedString(literal string) (string, error) {
	quote := literal[:1]
	if strings.HasPrefix(literal, strings.Repeat(quote, 3)) || strings.ContainsAny(literal, "\n") {
		return "", fmt.Errorf("an f-string of several lines")
	}
	rest := literal[1 : len(literal)-1]
	terms := []string{quote + quote}
	text := ""
	for rest != "" {
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			text, rest = text+rest[:1], rest[2:]
		case rest[0] == '{':
			inner, after, ok := strings.Cut(rest[1:], "}")
			if !ok || strings.TrimSpace(inner) == "" || strings.ContainsAny(inner, "{:!\\") || strings.HasSuffix(inner, "=") {
				return "", fmt.Errorf("the f-string %s has more than names and terms in it", literal)
			}
			terms = append(terms, quote+text+quote, "str("+inner+")")
			text, rest = "", after
		case rest[0] == '}':
			return "", fmt.Errorf("the f-string %s has a brace too many", literal)
		case rest[0] == '\\' && len(rest) > 1:
			text, rest = text+rest[:2], rest[2:]
		default:
			text, rest = text+rest[:1], rest[1:]
		}
	}
	return "(" + strings.Join(append(terms, quote+text+quote), " + ") + ")", nil
}
