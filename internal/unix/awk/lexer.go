package awk

import (
	"fmt"
	"strings"
)

type kind int

const (
	end kind = iota
	newline
	number
	text
	regex
	name
	function // a builtin's name
	keyword
	operator
)

type token struct {
	kind  kind
	value string
	// calls is set for a name with a parenthesis right behind it.
	calls bool
}

var keywords = map[string]bool{
	"BEGIN": true, "END": true, "if": true, "else": true, "while": true, "for": true, "do": true, "in": true, "next": true, "exit": true,
	"nextfile": true, "break": true, "continue": true, "delete": true, "print": true, "printf": true, "function": true, "func": true, "getline": true, "return": true,
}

var operators = []string{
	"**=", "+=", "-=", "*=", "/=", "%=", "^=", ">>", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "!~", "**",
	"+", "-", "*", "/", "%", "^", "=", "<", ">", "!", "~", "?", ":", ",", ";", "{", "}", "(", ")", "[", "]", "$", "|",
}

// lex splits a program. A slash begins a regular expression where no operand
// stands before it.
func lex(source string) ([]token, error) {
	var tokens []token
	operand := false // the token before ends an operand
	add := func(k kind, value string) {
		tokens = append(tokens, token{kind: k, value: value})
		operand = k == number || k == text || k == regex || k == name || k == function || k == operator && (value == ")" || value == "]" || value == "$")
	}
	for i := 0; i < len(source); {
		c := source[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '\\' && i+1 < len(source) && source[i+1] == '\n':
			i += 2
		case c == '#':
			for i < len(source) && source[i] != '\n' {
				i++
			}
		case c == '\n':
			add(newline, "\n")
			i++
		case c == '"':
			value, n, err := quoted(source[i:], '"')
			if err != nil {
				return nil, err
			}
			add(text, unescape(value))
			i += n
		case c == '/' && !operand:
			value, n, err := quoted(source[i:], '/')
			if err != nil {
				return nil, err
			}
			add(regex, strings.ReplaceAll(value, `\/`, "/"))
			i += n
		case digit(c) || c == '.' && i+1 < len(source) && digit(source[i+1]):
			n := len(source[i:]) - len(strings.TrimLeft(source[i:], "0123456789."))
			if rest := source[i+n:]; len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') && (digit(rest[1]) || len(rest) > 2 && (rest[1] == '-' || rest[1] == '+') && digit(rest[2])) {
				n += 2
				for i+n < len(source) && digit(source[i+n]) {
					n++
				}
			}
			add(number, source[i:i+n])
			i += n
		case letter(c):
			n := 1
			for i+n < len(source) && (letter(source[i+n]) || digit(source[i+n])) {
				n++
			}
			word := source[i : i+n]
			i += n
			switch {
			case keywords[word]:
				add(keyword, word)
			case builtins[word].call != nil:
				add(function, word)
			default:
				add(name, word)
				tokens[len(tokens)-1].calls = i < len(source) && source[i] == '('
			}
		default:
			found := ""
			for _, o := range operators {
				if strings.HasPrefix(source[i:], o) {
					found = o
					break
				}
			}
			if found == "" {
				return nil, fmt.Errorf("syntax error at %q", source[i:i+1])
			}
			i += len(found)
			found = strings.ReplaceAll(found, "**", "^")
			add(operator, found)
		}
	}
	add(end, "end of program")
	return tokens, nil
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// quoted returns what stands between two marks, and how long it is with them.
func quoted(s string, mark byte) (value string, n int, err error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case mark:
			return s[1:i], i + 1, nil
		case '\n':
			return "", 0, fmt.Errorf("unterminated %s", s[:i])
		}
	}
	return "", 0, fmt.Errorf("unterminated %s", s)
}

// unescape replaces the escapes of a string. One that is not known stays.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch at := strings.IndexByte(`"\/abfnrtv`, s[i]); {
		case at >= 0:
			b.WriteByte("\"\\/\a\b\f\n\r\t\v"[at])
		case s[i] >= '0' && s[i] <= '7':
			n, end := 0, i+3
			for ; i < min(end, len(s)) && s[i] >= '0' && s[i] <= '7'; i++ {
				n = n*8 + int(s[i]-'0')
			}
			i--
			b.WriteByte(byte(n))
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
