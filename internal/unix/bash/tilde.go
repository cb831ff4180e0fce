package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// tildes lets ~ stand for the home folder behind a colon of an assignment, too, as in PATH=$PATH:~/bin. The interpreter expands
// that at the beginning of a word, up to a slash. Of others' home folders it knows none.
func (m *mender) tildes(assign *syntax.Assign) {
	if assign.Value == nil {
		return
	}
	var parts []syntax.WordPart
	split := false
	for i, part := range assign.Value.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			parts = append(parts, part)
			continue
		}
		isLast := i == len(assign.Value.Parts)-1
		from := 0
		for at := range len(lit.Value) {
			if lit.Value[at] != '~' || !beginsPath(lit.Value[:at], i == 0) || !endsTilde(lit.Value[at+1:], isLast) {
				continue
			}
			parts = append(parts, &syntax.Lit{ValuePos: lit.ValuePos, ValueEnd: lit.ValueEnd, Value: lit.Value[from:at]},
				&syntax.ParamExp{Dollar: lit.ValuePos, Short: true, Param: &syntax.Lit{ValuePos: lit.ValuePos, ValueEnd: lit.ValueEnd, Value: "HOME"}})
			from, split = at+1, true
		}
		parts = append(parts, &syntax.Lit{ValuePos: lit.ValuePos, ValueEnd: lit.ValueEnd, Value: lit.Value[from:]})
	}
	if split {
		assign.Value.Parts, m.changed = parts, true
	}
}

// beginsPath reports whether what follows text in an assignment is the beginning of a path.
func beginsPath(text string, isFirst bool) bool {
	return strings.HasSuffix(text, ":") && !strings.HasSuffix(text, `\:`) || text == "" && isFirst
}

// endsTilde reports whether ~ with text behind it is the home folder's, and nobody else's.
func endsTilde(text string, isLast bool) bool {
	return text == "" && isLast || strings.HasPrefix(text, ":") || strings.HasPrefix(text, "/")
}
