package docs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// tree is a document in HTML as a browser has it.
type tree struct {
	path   string
	source []byte
	root   *html.Node
}

// offsetName is an attribute that parseTree gives each element: where its tag begins in the source. The package html does
// not tell.
const offsetName = "kubetab-offset"

func parseTree(path string, source []byte) (*tree, error) {
	var marked bytes.Buffer
	at := 0
	for tokens := html.NewTokenizer(bytes.NewReader(source)); ; {
		kind := tokens.Next()
		raw := tokens.Raw()
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			name := bytes.IndexAny(raw, " \t\r\n\f/>")
			fmt.Fprintf(&marked, `%s %s="%d" %s`, raw[:name], offsetName, at, raw[name:])
		} else {
			marked.Write(raw)
		}
		at += len(raw)
		if kind == html.ErrorToken {
			break // io.EOF
		}
	}
	root, err := html.Parse(&marked)
	return &tree{path, source, root}, err
}

// offset is where the tag of n begins in the source; -1 for an element that has none.
func offset(n *html.Node) int {
	at, err := strconv.Atoi(attributeOf(n, offsetName))
	if err != nil {
		return -1
	}
	return at
}

// errorf is an error with the line of n's tag.
func (p *tree) errorf(n *html.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", p.path, lineNumber(p.source, max(offset(n), 0)), fmt.Errorf(format, args...))
}

// selector reads the CSS selector in an attribute of n, or in a part of that.
func (p *tree) selector(n *html.Node, name, text string) (cascadia.Matcher, error) {
	found, err := cascadia.ParseGroup(text)
	if err != nil {
		return nil, p.errorf(n, "%s=%q: %q is no selector: %w", name, attributeOf(n, name), text, err)
	}
	return found, nil
}

// byID returns the element with an id, or nil.
func (p *tree) byID(id string) *html.Node {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && attributeOf(n, "id") == id {
			return n
		}
	}
	return nil
}

func lookup(n *html.Node, name string) (value string, ok bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func attributeOf(n *html.Node, name string) string {
	value, _ := lookup(n, name)
	return value
}

// words are those of an attribute that is a list.
func words(n *html.Node, name string) []string { return strings.Fields(attributeOf(n, name)) }

// closest is n or the nearest element around it that m matches, or nil.
func closest(n *html.Node, m cascadia.Matcher) *html.Node {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && m.Match(n) {
			return n
		}
	}
	return nil
}

// nextElement is the element behind n, in the same parent; nil without.
func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// previousElement is the element before n, in the same parent; nil without.
func previousElement(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil && n.Type != html.ElementNode; n = n.PrevSibling {
	}
	return n
}

// parentElement is nil for the root.
func parentElement(n *html.Node) *html.Node {
	if n.Parent == nil || n.Parent.Type != html.ElementNode {
		return nil
	}
	return n.Parent
}

// textContent is all text in n.
func textContent(n *html.Node) string {
	var text strings.Builder
	for each := range n.Descendants() {
		if each.Type == html.TextNode {
			text.WriteString(each.Data)
		}
	}
	return text.String()
}
