package docs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// markdownBlocks returns the fenced blocks of a document.
func markdownBlocks(source []byte) []*block {
	var found []*block
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails as the function does: never
		if fenced, ok := n.(*ast.FencedCodeBlock); ok && entering && fenced.Info != nil {
			found = append(found, markdownBlock(source, fenced))
		}
		return ast.WalkContinue, nil
	})
	return found
}

func markdownBlock(source []byte, n *ast.FencedCodeBlock) *block {
	info := n.Info.Segment
	words := string(info.Value(source))
	end := strings.IndexAny(words, " \t{")
	if end < 0 {
		end = len(words)
	}
	b := &block{language: strings.ToLower(words[:end]), marks: marksOf(words[end:])}
	if b.language == "" { // ```{.shell}
		for word := range strings.FieldsSeq(strings.Trim(words, "{} ")) {
			if class, ok := strings.CutPrefix(word, "."); ok && b.language == "" {
				b.language = strings.ToLower(class)
			}
		}
	}
	// The first line follows the fence; an empty block has none.
	at := info.Stop
	if end := bytes.IndexByte(source[at:], '\n'); end >= 0 {
		at += end + 1
	} else {
		at = len(source)
	}
	b.number = lineNumber(source, at)
	type place struct{ start, end int }
	var places []place
	prefix, isPrefixed := "", false // of lines in lists and quotes
	ending := "\n"
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		start := 1 + bytes.LastIndexByte(source[:segment.Start], '\n')
		content := string(segment.Value(source))
		if strings.HasSuffix(content, "\r\n") {
			ending = "\r\n"
		}
		content = strings.TrimRight(content, "\r\n")
		if !isPrefixed && strings.TrimSpace(content) != "" {
			prefix, isPrefixed = string(source[start:segment.Start]), true
		}
		b.lines = append(b.lines, line{content, b.number + i})
		places = append(places, place{start, segment.Stop})
	}
	b.replace = func(from, to int, lines []string) (change, error) {
		c := change{start: at, end: at}
		if from < len(places) {
			c.start, c.end = places[from].start, places[from].start
		}
		if to > from {
			c.end = places[to-1].end
		}
		for _, l := range lines {
			if fence := strings.TrimSpace(l); strings.HasPrefix(fence, "```") || strings.HasPrefix(fence, "~~~") {
				return change{}, fmt.Errorf("%w: line %q ends the block", ErrMarkup, l)
			}
			c.text += strings.TrimRight(prefix+l, " ") + ending
		}
		return c, nil
	}
	return b
}
