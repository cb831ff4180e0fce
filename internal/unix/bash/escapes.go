package bash

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// escapes quotes what a backslash stands before in words that become one text: the interpreter leaves the backslash there, as
// in a=\$HOME, where it takes it away from those that become fields.
func (m *mender) escapes(node syntax.Node) {
	switch node := node.(type) {
	case *syntax.Assign:
		m.unescape(node.Value, false)
	case *syntax.ArrayElem:
		if node.Index != nil {
			key, _ := node.Index.(*syntax.Word)
			m.unescape(key, false)
			m.unescape(node.Value, false)
		}
	case *syntax.Redirect:
		if node.Hdoc == nil {
			m.unescape(node.Word, false)
		}
		m.quotes(node.Hdoc)
	case *syntax.CaseClause:
		m.unescape(node.Word, false)
	case *syntax.UnaryTest:
		word, _ := node.X.(*syntax.Word)
		m.unescape(word, false)
	case *syntax.BinaryTest:
		word, _ := node.X.(*syntax.Word)
		m.unescape(word, false)
		switch node.Op {
		case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch: // a pattern is on the right
		default:
			word, _ := node.Y.(*syntax.Word)
			m.unescape(word, false)
		}
	case *syntax.DblQuoted:
		m.quotes(&syntax.Word{Parts: node.Parts})
	case *syntax.ParamExp:
		inQuotes := m.quoted[node]
		if node.Exp != nil && !takesPattern(node.Exp.Op) {
			m.unescape(node.Exp.Word, inQuotes)
		}
		if node.Repl != nil {
			m.unescape(node.Repl.With, inQuotes, "/")
		}
	}
}

// takesPattern reports whether what an operator of ${} has is a pattern, of which backslashes are a part.
func takesPattern(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
		syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		return true
	}
	return false
}

// quotes notes which ${} are in double quotes, or in a document.
func (m *mender) quotes(word *syntax.Word) {
	if word == nil {
		return
	}
	for _, part := range word.Parts {
		exp, ok := part.(*syntax.ParamExp)
		if !ok || m.quoted[exp] {
			continue
		}
		m.quoted[exp] = true
		if exp.Exp != nil {
			m.quotes(exp.Exp.Word)
		}
		if exp.Repl != nil {
			m.quotes(exp.Repl.With)
		}
	}
}

// special are the characters before which a backslash is one in double quotes.
const special = "\"\\$`"

// unescape quotes the characters of word behind a backslash; within double quotes, only those that are special there. The
// backslash before one of others is left out.
func (m *mender) unescape(word *syntax.Word, inQuotes bool, others ...string) {
	if word == nil {
		return
	}
	var parts []syntax.WordPart
	changed := false
	for _, part := range word.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			parts = append(parts, part)
			continue
		}
		from := 0
		for at := 0; at < len(lit.Value); at++ {
			if lit.Value[at] != '\\' || at+1 == len(lit.Value) {
				continue
			}
			_, size := utf8.DecodeRuneInString(lit.Value[at+1:])
			escaped := lit.Value[at+1 : at+1+size]
			switch {
			case slices.Contains(others, escaped):
				parts = append(parts, piece(lit, lit.Value[from:at])...)
				from, changed = at+1, true
			case !inQuotes || strings.Contains(special, escaped):
				parts = append(parts, piece(lit, lit.Value[from:at])...)
				parts = append(parts, quote(lit, escaped))
				from, changed = at+1+size, true
			}
			at += size
		}
		parts = append(parts, piece(lit, lit.Value[from:])...)
	}
	if changed {
		word.Parts, m.changed = parts, true
	}
}

// piece returns a piece of a literal, none if it is empty.
func piece(of *syntax.Lit, text string) []syntax.WordPart {
	if text == "" {
		return nil
	}
	return []syntax.WordPart{&syntax.Lit{ValuePos: of.ValuePos, ValueEnd: of.ValueEnd, Value: text}}
}

// quote returns a part that stands for a character, also when it is printed and read again.
func quote(of *syntax.Lit, char string) syntax.WordPart {
	if char != "'" && !strings.Contains(special, char) {
		return &syntax.SglQuoted{Left: of.ValuePos, Right: of.ValueEnd, Value: char}
	}
	if char != "'" {
		char = `\` + char
	}
	return &syntax.DblQuoted{Left: of.ValuePos, Right: of.ValueEnd, Parts: piece(of, char)}
}
