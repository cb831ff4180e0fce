package load

import (
	"strings"
	"testing"
	"testing/fstest"
)

// withPicture returns the specimen with a picture in its first step.
func withPicture(markdown, svg string) fstest.MapFS {
	from := specimen()
	en := from["part/one/en.md"]
	en.Data = []byte(strings.Replace(string(en.Data), "Do [this]", markdown+"\n\nDo [this]", 1))
	from["part/one/a.svg"] = &fstest.MapFile{Data: []byte(svg)}
	return from
}

func TestPictureBecomesPartOfTheText(t *testing.T) {
	const svg = `<!-- a -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 90" fill="none" stroke="currentColor">
  <g class="ink-get ink-code"><path d="M0 0h9"/></g><g>
  </g>
  <text x="1" y="2">a &lt; b
    &amp; c</text>
</svg>
`
	l, err := One(withPicture(`![A "small" one's](a.svg)`, svg), "part/one")
	if err != nil {
		t.Fatal(err)
	}
	const want = `<svg viewBox='0 0 400 90' role='img' aria-label='A &#34;small&#34; one&#39;s'>` +
		`<g class='ink-get ink-code'><path d='M0 0h9'/></g><g/><text x='1' y='2'>a &lt; b &amp; c</text></svg>` +
		`<p>Do <a href="#/lesson/part/one/1">this</a>.</p>`
	if got := l.Texts["en"].Sections[0].Blocks[0].HTML; got != want {
		t.Errorf("the text is\n%s\nand should be\n%s", got, want)
	}
}

func TestPicturesAreRefused(t *testing.T) {
	const alone, sound = `![a](a.svg)`, `<svg viewBox="0 0 1 1"></svg>`
	for _, c := range []struct{ name, markdown, svg, want string }{
		{"another folder", `![a](../a.svg)`, sound, "part/one/en.md:7: a picture is an SVG in the lesson's folder"},
		{"another kind", `![a](a.png)`, sound, "a picture is an SVG"},
		{"none", `![a](b.svg)`, sound, "there is no picture b.svg"},
		{"no description", `![](a.svg)`, sound, "the picture a.svg has no description"},
		{"in a line", `See ![a](a.svg).`, sound, "a picture stands by itself"},
		{"in a list", `- ![a](a.svg)`, sound, "a picture stands by itself"},
		{"empty", alone, "", "part/one/a.svg:1: the picture is no XML: EOF"},
		{"no XML", alone, "<svg viewBox=\"0 0 1 1\">\n<g></svg>", "part/one/a.svg:2: the picture is no XML"},
		{"no svg", alone, `<g></g>`, "a picture cannot have <g> here"},
		{"no box", alone, `<svg></svg>`, "<svg> needs a viewBox"},
		{"a width", alone, `<svg viewBox="0 0 1 1" width="10"></svg>`, "<svg> cannot have width"},
		{"a script", alone, "<svg viewBox=\"0 0 1 1\">\n<script/></svg>", "part/one/a.svg:2: a picture cannot have <script> here"},
		{"HTML", alone, `<svg viewBox="0 0 1 1"><foreignObject/></svg>`, "a picture cannot have <foreignObject> here"},
		{"an event", alone, `<svg viewBox="0 0 1 1"><g onclick="a"/></svg>`, "<g> cannot have onclick"},
		{"another name", alone, `<svg viewBox="0 0 1 1" xmlns:a="b"/>`, "<svg> cannot have a"},
		{"a colour", alone, `<svg viewBox="0 0 1 1"><path fill="#000"/></svg>`, "fill is none, currentColor or comes from a class"},
		{"a class", alone, `<svg viewBox="0 0 1 1"><path class="button"/></svg>`, "there is no class button"},
		{"a document type", alone, `<!DOCTYPE svg><svg viewBox="0 0 1 1"/>`, "a picture begins with <svg>"},
		{"too large", alone, `<svg viewBox="0 0 1 1"><path d="` + strings.Repeat("h1", mostPicture/2) + `"/></svg>`, "and 4096 is allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := One(withPicture(c.markdown, c.svg), "part/one"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is\n%v\nand should have\n%s", err, c.want)
			}
		})
	}
}
