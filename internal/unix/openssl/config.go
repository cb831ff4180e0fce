package openssl

import (
	"errors"
	"fmt"
	"strings"
)

// mostValue is how many bytes a value of a configuration may have: variables could double it line by line.
const mostValue = 64 << 10

// setting is a line of a configuration: NAME = VALUE.
type setting struct{ name, value string }

// config is a file in the format of openssl.cnf: sections with settings in their order.
type config map[string][]setting

// defaultSection is that of the lines before the first section. What other sections do not say is looked for there.
const defaultSection = "default"

// configError is what is wrong with a line of a configuration.
type configError struct {
	line int
	text string
}

func (e configError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

// parseConfig reads a configuration. env returns environment variables, which are those of $ENV::NAME. The error is a configError.
func parseConfig(text string, env func(string) (string, bool)) (config, error) {
	c := config{defaultSection: nil}
	section, at, begun := defaultSection, 0, ""
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		at++
		line = begun + strings.TrimRight(line, "\r\n")
		if begun = ""; strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, `\\`) {
			begun = strings.TrimSuffix(line, `\`)
			continue
		}
		line = strings.TrimSpace(uncommented(line))
		if line == "" {
			continue
		}
		if line[0] == '[' {
			inner, _, closed := strings.Cut(line[1:], "]")
			if !closed {
				return nil, configError{at, "missing close square bracket"}
			}
			if section = strings.TrimSpace(inner); c[section] == nil {
				c[section] = []setting{}
			}
			continue
		}
		if strings.HasPrefix(line, ".") {
			return nil, configError{at, strings.Fields(line)[0] + " is not there"}
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return nil, configError{at, "missing equal sign"}
		}
		into, key := section, strings.TrimSpace(key)
		if other, rest, qualified := strings.Cut(key, "::"); qualified {
			into, key = other, rest
		}
		value, err := c.expand(section, strings.TrimSpace(value), env)
		if err != nil {
			return nil, configError{at, err.Error()}
		}
		c[into] = append(c[into], setting{key, value})
	}
	return c, nil
}

// uncommented returns a line without the comment at its end.
func uncommented(line string) string {
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '#':
			return line[:i]
		}
	}
	return line
}

// expand returns a value without its quotes and with the values of variables. Errors: a variable that has none, and a value that
// is too long.
func (c config) expand(section, text string, env func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch char := text[i]; char {
		case '\'', '"', '`':
			end := strings.IndexByte(text[i+1:], char)
			if end < 0 {
				end = len(text) - i - 1
			}
			b.WriteString(text[i+1 : i+1+end])
			i += end + 1
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(unescaped(text[i]))
			}
		case '$':
			variable, length := variableIn(text[i+1:])
			value, is := c.variable(section, variable, env)
			if !is {
				return "", fmt.Errorf("variable has no value: %s", variable)
			}
			b.WriteString(value)
			i += length
		default:
			b.WriteByte(char)
		}
		if b.Len() > mostValue {
			return "", errors.New("variable expansion too long")
		}
	}
	return b.String(), nil
}

// unescaped is the character that c stands for behind a backslash.
func unescaped(c byte) byte {
	if escaped, is := map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b'}[c]; is {
		return escaped
	}
	return c
}

// variableIn returns the name of a variable behind $, and how many bytes of text it takes.
func variableIn(text string) (variable string, length int) {
	for _, brackets := range []string{"{}", "()"} {
		if strings.HasPrefix(text, brackets[:1]) {
			if end := strings.IndexByte(text, brackets[1]); end > 0 {
				return text[1:end], end + 1
			}
		}
	}
	isPart := func(c rune) bool {
		return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == ':'
	}
	rest := strings.TrimLeftFunc(text, isPart)
	return text[:len(text)-len(rest)], len(text) - len(rest)
}

func (c config) variable(section, variable string, env func(string) (string, bool)) (string, bool) {
	if other, rest, qualified := strings.Cut(variable, "::"); qualified {
		section, variable = other, rest
	}
	if section == "ENV" {
		return env(variable)
	}
	return c.get(section, variable)
}

// get returns the last value of a name in a section, or else in the default one.
func (c config) get(section, name string) (string, bool) {
	for _, in := range []string{section, defaultSection} {
		for i := len(c[in]) - 1; i >= 0; i-- {
			if c[in][i].name == name {
				return c[in][i].value, true
			}
		}
	}
	return "", false
}

// config reads the file of an option. The error is that of read, or says the line.
func (r *run) config(file string) (config, error) {
	data, err := r.read(file)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(string(data), func(name string) (string, bool) {
		v := r.Env.Get(name)
		return v.String(), v.IsSet()
	})
	if at := (configError{}); errors.As(err, &at) {
		return nil, fmt.Errorf("%s: Error on line %d of config file %q\n%s", r.name, at.line, file, at.text)
	}
	return c, err
}
