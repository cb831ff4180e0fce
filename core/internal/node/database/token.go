package database

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind int

const (
	word     kind = iota // a name or a keyword that stands as it is
	quoted               // a name in quotes
	text                 // in quotes, or dollars
	number               //
	variable             // @@name or @name
	sign                 // anything else, a character or an operator
	open                 // a quote or a comment that does not end
)

// token is a piece of a statement.
type token struct {
	kind  kind
	text  string // without quotes
	raw   string // as it was written
	space string // that stands before it, comments as well
}

// is says whether the token is one of these keywords or signs, which are in upper case.
func (t token) is(words ...string) bool {
	if t.kind != word && t.kind != sign {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(t.text, w) {
			return true
		}
	}
	return false
}

// names says whether the token can be a name.
func (t token) names() bool { return t.kind == word || t.kind == quoted }

// starts says whether the tokens begin with these keywords.
func starts(t []token, words ...string) bool {
	if len(t) < len(words) {
		return false
	}
	for i, w := range words {
		if !t[i].is(w) {
			return false
		}
	}
	return true
}

// written is the statement that tokens make.
func written(t []token) string {
	var b strings.Builder
	for _, one := range t {
		b.WriteString(one.space)
		b.WriteString(one.raw)
	}
	return strings.TrimSpace(b.String())
}

// named returns a token that is a name whatever stands in it.
func named(space, name string) token {
	return token{kind: quoted, text: name, raw: `"` + strings.ReplaceAll(name, `"`, `""`) + `"`, space: space}
}

// said returns a token that is a text whatever stands in it.
func said(space, s string) token {
	return token{kind: text, text: s, raw: `'` + strings.ReplaceAll(s, `'`, `''`) + `'`, space: space}
}

// plain returns a token that stands as it is.
func plain(space, s string) token { return token{kind: word, text: s, raw: s, space: space} }

// scan returns the next token of s, and how many bytes it and what stands before it take. There is none at the end. mysql: "a" is a text, \
// quotes in texts, and # begins a comment.
func scan(s string, mysql bool) (token, int) {
	at := 0
	for at < len(s) {
		r, n := utf8.DecodeRuneInString(s[at:])
		rest := s[at:]
		switch {
		case unicode.IsSpace(r):
			at += n
			continue
		case strings.HasPrefix(rest, "--") && (!mysql || len(rest) == 2 || unicode.IsSpace(rune(rest[2]))), mysql && r == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				return token{}, 0
			}
			at += end
			continue
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return token{kind: open, raw: rest, space: s[:at]}, len(s)
			}
			at += end + 4
			continue
		}
		t, n := scanOne(rest, r, mysql)
		t.space, t.raw = s[:at], rest[:n]
		return t, at + n
	}
	return token{}, 0
}

// scanOne returns the token that s begins with, which is no space, and its length.
func scanOne(s string, first rune, mysql bool) (token, int) {
	inName := func(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	length := func(of string, is func(rune) bool) int {
		if n := strings.IndexFunc(of, func(r rune) bool { return !is(r) }); n >= 0 {
			return n
		}
		return len(of)
	}
	switch {
	case first == '\'', first == '"' && mysql:
		return scanQuoted(s, text, mysql)
	case first == '"', first == '`' && mysql:
		return scanQuoted(s, quoted, false)
	case first == '$' && !mysql:
		if mark, _, ok := strings.Cut(s[1:], "$"); ok && length(mark, inName) == len(mark) {
			mark = "$" + mark + "$"
			end := strings.Index(s[len(mark):], mark)
			if end < 0 {
				return token{kind: open}, len(s)
			}
			return token{kind: text, text: s[len(mark) : len(mark)+end]}, end + 2*len(mark)
		}
	case first == '@' && mysql:
		n := 1
		if strings.HasPrefix(s, "@@") {
			n = 2
		}
		n += length(s[n:], func(r rune) bool { return r == '.' || inName(r) })
		return token{kind: variable, text: s[:n]}, n
	case unicode.IsDigit(first):
		n := length(s, func(r rune) bool { return r == '.' || inName(r) })
		return token{kind: number, text: s[:n]}, n
	case inName(first):
		n := length(s, inName)
		return token{kind: word, text: s[:n]}, n
	}
	for _, operator := range operators {
		if strings.HasPrefix(s, operator) {
			return token{kind: sign, text: operator}, len(operator)
		}
	}
	_, n := utf8.DecodeRuneInString(s) // 1 for what is no UTF-8
	return token{kind: sign, text: s[:n]}, n
}

// operators are those of more than one character.
var operators = []string{"::", "<=>", "<=", ">=", "<>", "!=", "||", "&&", ":=", "->>", "->"}

// escapes are what stands behind a backslash in a text of MySQL.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '0': "\x00", 'b': "\b", 'Z': "\x1a", '%': `\%`, '_': `\_`}

// scanQuoted returns what stands in quotes, of which two are one.
func scanQuoted(s string, as kind, backslash bool) (token, int) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			b.WriteByte(quote)
			i++
		case s[i] == quote:
			return token{kind: as, text: b.String()}, i + 1
		case s[i] == '\\' && backslash && i+1 < len(s):
			i++
			if e, ok := escapes[s[i]]; ok {
				b.WriteString(e)
			} else {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return token{kind: open}, len(s)
}

// tokens are those of a statement, without what ends it.
func tokens(s string, mysql bool) []token {
	var all []token
	for {
		t, n := scan(s, mysql)
		if n == 0 {
			return all
		}
		all, s = append(all, t), s[n:]
	}
}

// Statement is one of a script.
type Statement struct {
	Text string
	End  string // what ended it: ";", `\G`, `\g`, or nothing at the end of the script
	Line int    // of the script that it begins in; the first is 1
}

// Split returns the statements of a script that are complete, and what is left: one that is not ended, or nothing. dialect is
// MySQL or PostgreSQL.
func Split(dialect, script string) (all []Statement, rest string) {
	mysql := dialect == MySQL
	begun, at, line := 0, 0, 1
	for {
		t, n := scan(script[at:], mysql)
		if n == 0 || t.kind == open {
			break
		}
		end := ""
		switch {
		case t.is(";"):
			end = ";"
		case mysql && t.is(`\`) && at+n < len(script) && strings.ContainsRune("Gg", rune(script[at+n])):
			end = script[at+n-1 : at+n+1]
			n++
		}
		at += n
		if end == "" {
			continue
		}
		one := script[begun : at-len(end)]
		if trimmed := strings.TrimSpace(one); trimmed != "" {
			before := one[:strings.Index(one, trimmed)]
			all = append(all, Statement{Text: trimmed, End: end, Line: line + strings.Count(before, "\n")})
		}
		line += strings.Count(script[begun:at], "\n")
		begun = at
	}
	if len(tokens(script[begun:], mysql)) == 0 {
		return all, ""
	}
	return all, script[begun:]
}
