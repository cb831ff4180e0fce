package docs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// element is one that is open.
type element struct {
	name  string
	marks map[string]string
	// What was said of the block to come: the name of a file, beside which sites put it.
	file string
}

// void elements have no end tag.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true,
}

// lineNumbers are the classes of elements with the number of a line, which is no part of a text: see web/src/embed/source.ts.
var lineNumbers = []string{"ln", "lnt", "lnlinks", "line-numbers", "line-number"}

func (e *element) isLineNumber() bool {
	_, isMarked := e.marks["data-line-number"]
	return isMarked || slices.ContainsFunc(lineNumbers, e.has)
}

// htmlBlocks returns the pre elements of a page, and the elements whose tags begin at starts. Marks and languages are those of the element, of the code element in
// it, and of the elements around it, as generators of sites put them: class="language-shell", data-lang, data-session.
// A name comes from title, from data-file, from the link of Hugo's code samples (.code-sample a[download]), or from the
// title that Docusaurus puts above. It is long because it is one machine over the tokens of a page, with one state.
func htmlBlocks(source []byte, starts map[int]bool) []*block {
	var (
		found   []*block
		open    = []*element{{}}
		current *block
		isTitle bool // within the title of a block to come
		depth   int  // of open, around current
		number  int  // of open, around a line's number in current; 0 without
		at      int
		spans   []span // of current's lines
	)
	begin := func(offset int) {
		current.lines = append(current.lines, line{number: lineNumber(source, offset)})
		spans = append(spans, span{offset, offset})
	}
	add := func(text string, start, end int) {
		last := len(current.lines) - 1
		current.lines[last].text += text
		spans[last].end = end
	}
	tokens := html.NewTokenizer(bytes.NewReader(source))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return found // io.EOF: what is not closed is no block
		}
		start := at
		raw := tokens.Raw()
		at += len(raw)
		switch kind {
		case html.TextToken:
			if isTitle {
				open[len(open)-2].file += string(bytes.TrimSpace(raw))
			}
			if current == nil || number > 0 {
				continue
			}
			for i, piece := range strings.SplitAfter(string(raw), "\n") {
				if i > 0 {
					begin(start)
				}
				add(strings.ReplaceAll(html.UnescapeString(strings.TrimRight(piece, "\r\n")), "\u00a0", " "), start, start+len(strings.TrimRight(piece, "\r\n")))
				start += len(piece)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			e := &element{name: token.Data, marks: map[string]string{}}
			for _, a := range token.Attr {
				e.marks[a.Key] = a.Val
			}
			if token.Data == "br" && current != nil {
				begin(at)
			}
			if file := e.marks["download"]; token.Data == "a" && file != "" {
				if sample := slices.IndexFunc(open, func(e *element) bool { return e.has("code-sample") }); sample >= 0 {
					open[sample].file = file
				}
			}
			if kind == html.SelfClosingTagToken || void[token.Data] {
				continue
			}
			isTitle = strings.Contains(e.marks["class"], "codeBlockTitle")
			if current != nil && token.Data == "code" {
				current.take(e)
				if len(spans) == 1 && current.lines[0].text == "" {
					spans[0] = span{at, at}
				}
			}
			if current != nil && number == 0 && e.isLineNumber() {
				number = len(open)
			}
			if current == nil && (token.Data == "pre" || starts[start]) {
				current, spans = &block{marks: map[string]string{}, start: start, number: lineNumber(source, at)}, nil
				depth = len(open)
				current.take(e)
				for _, around := range slices.Backward(open) {
					current.take(around)
				}
				begin(at)
			}
			open = append(open, e)
		case html.EndTagToken:
			name, _ := tokens.TagName()
			isTitle = false
			i := len(open) - 1
			for i > 0 && open[i].name != string(name) {
				i--
			}
			if i == 0 {
				continue // an end without a beginning
			}
			open = open[:i]
			if i <= number {
				number = 0
			}
			if current != nil && i <= depth {
				current.finish(source, spans)
				found = append(found, current)
				current, number = nil, 0
			}
		}
	}
}

// span is where a line's text is in the source: up to where the next begins there may be markup.
type span struct{ start, end int }

func (e *element) has(class string) bool {
	return slices.Contains(strings.Fields(e.marks["class"]), class)
}

// take adds what an element says of a block, where nearer ones have not said it.
func (b *block) take(e *element) {
	set := func(name, value string) {
		if _, ok := b.marks[name]; !ok {
			b.marks[name] = value
		}
	}
	for name, value := range e.marks {
		switch name {
		case "title", "data-title", "data-file", "data-session", "data-skip", "data-output":
			set(strings.TrimPrefix(name, "data-"), value)
		case "data-lang", "data-language":
			if b.language == "" {
				b.language = strings.ToLower(value)
			}
		}
	}
	for class := range strings.FieldsSeq(e.marks["class"]) {
		for _, prefix := range []string{"language-", "lang-"} {
			if language, ok := strings.CutPrefix(class, prefix); ok && b.language == "" {
				b.language = strings.ToLower(language)
			}
		}
		if class == "skip" || class == "output" {
			set(class, "")
		}
	}
	if e.file != "" {
		set("file", e.file)
	}
}

// finish takes away the empty lines with which a pre begins and ends, and says how to change the others.
func (b *block) finish(source []byte, spans []span) {
	empty := func(l line) bool { return strings.TrimSpace(l.text) == "" }
	for len(b.lines) > 1 && empty(b.lines[0]) {
		b.lines, spans = b.lines[1:], spans[1:]
	}
	for len(b.lines) > 1 && empty(b.lines[len(b.lines)-1]) {
		b.lines, spans = b.lines[:len(b.lines)-1], spans[:len(spans)-1]
	}
	b.number = b.lines[0].number
	if len(b.lines) == 1 && empty(b.lines[0]) {
		b.lines = nil
	}
	b.replace = func(from, to int, lines []string) (change, error) {
		text := escape.Replace(strings.Join(lines, "\n"))
		if len(b.lines) == 0 {
			return change{spans[0].start, spans[0].end, text}, nil
		}
		if to == from {
			return change{}, fmt.Errorf("%w: there is no line to replace", ErrMarkup)
		}
		start, end, isLine, ok := balanced(source, spans[from].start, spans[to-1].end)
		if !ok {
			return change{}, fmt.Errorf("%w: markup goes across its lines", ErrMarkup)
		}
		if isLine && len(lines) > 0 {
			text += "\n"
		}
		return change{start, end, text}, nil
	}
}

// escape is what text needs within an element.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// balanced returns the bytes between start and end, or some more, such that every element that begins in them ends in
// them: end tags at the beginning are left out, and those that close what has been opened are added. isLine says that
// the end of the last line was added, too.
func balanced(source []byte, start, end int) (from, to int, isLine, ok bool) {
	tokens := html.NewTokenizer(bytes.NewReader(source[start:]))
	depth, at := 0, start
	from = start
	for at < end || depth > 0 {
		kind := tokens.Next()
		raw := tokens.Raw()
		switch kind {
		case html.ErrorToken:
			return 0, 0, false, false
		case html.StartTagToken:
			if name, _ := tokens.TagName(); !void[string(name)] {
				depth++
			}
		case html.EndTagToken:
			if depth == 0 {
				if at != from {
					return 0, 0, false, false
				}
				from += len(raw)
			} else {
				depth--
			}
		case html.TextToken:
			if at >= end && strings.Trim(string(raw), "\r\n") != "" {
				return 0, 0, false, false
			}
			if at+len(raw) > end && depth > 0 {
				// The end of the line is within the last line's markup.
				if rest := string(source[end : at+len(raw)]); strings.Trim(rest, "\r\n") != "" {
					return 0, 0, false, false
				}
				isLine = true
			} else if at+len(raw) > end {
				return from, end, isLine, true
			}
		}
		at += len(raw)
	}
	return from, at, isLine, true
}
