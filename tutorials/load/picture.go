package load

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// A picture becomes part of the page, so that its lines have the colours of the page's theme. What it may be made of is
// on these lists; web/src/page/lessons/text/html.tsx has the same, and lesson-text.css the inks.
var (
	drawn     = strings.Fields("svg g path line rect circle ellipse polyline polygon text tspan")
	drawnWith = strings.Fields("viewBox class d x y x1 y1 x2 y2 dx dy r rx ry cx cy width height points transform text-anchor fill stroke stroke-width stroke-dasharray")
	// inks are classes: of a colour, and code for text in the face of code.
	inks = strings.Fields("ink-code ink-faint ink-card ink-accent ink-good ink-warn ink-bad ink-get ink-watch ink-create ink-patch ink-delete ink-owner-0 ink-owner-1 ink-owner-2 ink-owner-3")
	// plain are the values of fill and stroke: colours come from inks.
	plain = []string{"none", "currentColor"}
)

// mostPicture is how large a picture may be, in bytes, without the spaces between its elements.
const mostPicture = 4 << 10

// pictureIn is the picture that a paragraph consists of; nil when it is text.
func pictureIn(n ast.Node) *ast.Image {
	if n.Kind() != ast.KindParagraph || n.ChildCount() != 1 {
		return nil
	}
	image, _ := n.FirstChild().(*ast.Image)
	return image
}

// picture returns the SVG that an image names, as it stands in the page. What is wrong with it is noted.
func (d *document) picture(n *ast.Image) string {
	name, line := string(n.Destination), d.line(n)
	if path.Ext(name) != ".svg" || strings.Contains(name, "/") {
		d.problem(d.file, line, "a picture is an SVG in the lesson's folder, not %s", name)
		return ""
	}
	description := d.plain(n)
	if description == "" {
		d.problem(d.file, line, "the picture %s has no description", name)
	}
	file := d.id + "/" + name
	source, err := fs.ReadFile(d.fs, file)
	if err != nil {
		d.problem(d.file, line, "there is no picture %s", name)
		return ""
	}
	svg, line, err := draw(source, description)
	if err != nil {
		d.problem(file, line, "%v", err)
	} else if len(svg) > mostPicture {
		d.problem(file, 0, "the picture has %d bytes, and %d is allowed", len(svg), mostPicture)
	}
	return svg
}

var space = regexp.MustCompile(`\s+`)

// draw writes the SVG anew with what is allowed in it. The error is of the line that is returned. The SVG is a text in the
// lesson's JSON, which has a budget: an empty element has no end tag, and JSON does not escape the quotes of attributes.
func draw(source []byte, description string) (svg string, line int, err error) {
	var out strings.Builder
	in := xml.NewDecoder(bytes.NewReader(source))
	depth := 0
	open := false // the last start tag has no end yet
	end := func() {
		if open {
			out.WriteString(">")
		}
		open = false
	}
	for {
		line, _ = in.InputPos()
		token, err := in.Token()
		if errors.Is(err, io.EOF) && out.Len() > 0 {
			return out.String(), 0, nil
		}
		if err != nil {
			return "", line, fmt.Errorf("the picture is no XML: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			tag, err := startOf(token, depth, description)
			if err != nil {
				return "", line, err
			}
			end()
			out.WriteString(tag)
			open = true
			depth++
		case xml.EndElement:
			if open {
				out.WriteString("/>")
			} else {
				out.WriteString("</" + token.Name.Local + ">")
			}
			open = false
			depth--
		case xml.CharData:
			if text := space.ReplaceAllString(string(token), " "); text != " " && depth > 0 {
				end()
				out.WriteString(html.EscapeString(text))
			}
		case xml.Comment:
		default:
			return "", line, errors.New("a picture begins with <svg>, and has no instructions")
		}
	}
}

// startOf is the start tag of an element, without its last character.
func startOf(e xml.StartElement, depth int, description string) (string, error) {
	name := e.Name.Local
	if !slices.Contains(drawn, name) || (name == "svg") != (depth == 0) {
		return "", fmt.Errorf("a picture cannot have <%s> here: it is an <svg> of %s", name, strings.Join(drawn[1:], ", "))
	}
	tag := "<" + name
	hasBox := false
	for _, a := range e.Attr {
		switch key := a.Name.Local; {
		case key == "xmlns": // the page's parser knows what an svg is
			continue
		case depth == 0 && (key == "fill" && a.Value == "none" || key == "stroke" && a.Value == "currentColor"): // as lesson-text.css has it
			continue
		case a.Name.Space != "" || !slices.Contains(drawnWith, key):
			return "", fmt.Errorf("<%s> cannot have %s: there are %s", name, key, strings.Join(drawnWith, ", "))
		case key == "class":
			for _, ink := range strings.Fields(a.Value) {
				if !slices.Contains(inks, ink) {
					return "", fmt.Errorf("there is no class %s: there are %s", ink, strings.Join(inks, ", "))
				}
			}
		case (key == "fill" || key == "stroke") && !slices.Contains(plain, a.Value):
			return "", fmt.Errorf("%s is %s or comes from a class, so that it can be seen in both themes", key, strings.Join(plain, ", "))
		case depth == 0 && key != "viewBox" && key != "fill" && key != "stroke":
			return "", fmt.Errorf("<svg> cannot have %s: it is as wide as the text", key)
		}
		hasBox = hasBox || a.Name.Local == "viewBox"
		tag += fmt.Sprintf(` %s='%s'`, a.Name.Local, html.EscapeString(a.Value))
	}
	if depth == 0 {
		if !hasBox {
			return "", errors.New("<svg> needs a viewBox, best of 400 units in width: they are as many pixels on a phone")
		}
		tag += fmt.Sprintf(` role='img' aria-label='%s'`, html.EscapeString(description))
	}
	return tag, nil
}
