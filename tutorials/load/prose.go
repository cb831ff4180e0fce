package load

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/kubetab/kubetab/tutorials"
)

// Prose is en.md or zh.md.
type Prose struct {
	// Intro are the blocks before the first section.
	Intro []Block `json:"intro"`
	// Sections are in the order of the steps; the challenge is last.
	Sections []Section `json:"sections"`
}

// Section is the text of a step.
type Section struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Blocks []Block `json:"blocks"`
}

// How long the text of a step may be: words of English, characters of Chinese. Code does not count.
const (
	mostWords      = 100
	mostCharacters = 220
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAttribute()))

// languages that code may be in.
var languages = []string{"sh", "http", "yaml", "json", "text", "js", "go", "cel", "diff"}

type document struct {
	*reader
	id, file string
	source   []byte
	sections []Section
	intro    []Block
	// pending is what becomes the next HTML block.
	pending bytes.Buffer
	words   int
}

func (r *reader) prose(id, language string, l *tutorials.Lesson) *Prose {
	file := id + "/" + language + ".md"
	source, err := fs.ReadFile(r.fs, file)
	if err != nil {
		r.problem(file, 0, "the file is missing: every text is in %s", strings.Join(Languages, " and "))
		return nil
	}
	d := &document{reader: r, id: id, file: file, source: source}
	root := markdown.Parser().Parse(text.NewReader(source))
	d.refuse(root)
	var ids []string
	var headings []int
	finish := func(line int) {
		d.flush()
		d.tooLong(language, line)
	}
	sectionLine := 1
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			finish(sectionLine)
			sectionLine = d.line(n)
			if h.Level == 1 {
				continue
			}
			section := Section{Title: d.plain(n)}
			if value, ok := n.AttributeString("id"); ok {
				if b, ok := value.([]byte); ok {
					section.ID = string(b)
				}
			}
			if section.ID == "" {
				d.problem(file, d.line(n), "the section %q has no id: put {#id-of-the-step} behind it", section.Title)
			}
			ids, headings = append(ids, section.ID), append(headings, d.line(n))
			d.sections = append(d.sections, section)
			continue
		}
		d.block(n)
	}
	finish(sectionLine)

	var want []string
	for _, step := range l.All() {
		want = append(want, step.ID)
		if !slices.Contains(ids, step.ID) {
			r.problem(file, 0, "there is no section {#%s} for the step", step.ID)
		}
	}
	for i, id := range ids {
		switch {
		case !slices.Contains(want, id):
			r.problem(file, headings[i], "lesson.yaml has no step %q", id)
		case slices.Index(ids, id) != i:
			r.problem(file, headings[i], "there are two sections {#%s}", id)
		}
	}
	if len(ids) == len(want) && !slices.Equal(ids, want) {
		r.problem(file, headings[0], "the sections are not in the order of the steps: %s", strings.Join(want, ", "))
	}
	return &Prose{Intro: d.intro, Sections: d.sections}
}

// block adds a block of the top level.
func (d *document) block(n ast.Node) {
	if code, ok := n.(*ast.FencedCodeBlock); ok {
		d.flush()
		d.add(d.code(code))
		return
	}
	if image := pictureIn(n); image != nil {
		d.pending.WriteString(d.picture(image))
		return
	}
	if err := markdown.Renderer().Render(&d.pending, d.source, n); err != nil {
		d.problem(d.file, d.line(n), "%v", err)
	}
	d.words += d.count(n)
}

func (d *document) flush() {
	if html := strings.TrimSpace(d.pending.String()); html != "" {
		d.add(Block{HTML: html})
	}
	d.pending.Reset()
}

func (d *document) add(b Block) {
	if len(d.sections) == 0 {
		d.intro = append(d.intro, b)
		return
	}
	last := &d.sections[len(d.sections)-1]
	last.Blocks = append(last.Blocks, b)
}

// code reads a block with what its first line says.
func (d *document) code(n *ast.FencedCodeBlock) Block {
	line := d.line(n)
	b := Block{line: line}
	var info string
	if n.Info != nil {
		info = string(n.Info.Segment.Value(d.source))
	}
	words := strings.Fields(info)
	if len(words) == 0 {
		d.problem(d.file, line, "a code block needs a language: %s", strings.Join(languages, ", "))
	} else {
		b.Language = words[0]
		if !slices.Contains(languages, b.Language) {
			d.problem(d.file, line, "a code block cannot be in %q, but in %s", b.Language, strings.Join(languages, ", "))
		}
		for _, word := range words[1:] {
			name, isFile := strings.CutPrefix(word, "open=")
			rows, isTable := strings.CutPrefix(word, "table=")
			switch {
			case isTable && b.Language == "text" && len(words) == 2:
				b.Kind, b.Language, b.File = "table", "", rows
			case word == "run" || word == "put":
				b.Actions = append(b.Actions, word)
			case isFile && name != "":
				b.Actions, b.File = append(b.Actions, "open"), name
			default:
				d.problem(d.file, line, "a code block cannot have %q: there are run, put and open=NAME, and for text table=NAME", word)
			}
		}
	}
	var out strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		out.Write(segment.Value(d.source))
	}
	b.Text = strings.TrimSuffix(out.String(), "\n")
	if b.Text == "" {
		d.problem(d.file, line, "the code block is empty")
	}
	if b.Kind == "table" {
		d.table(b)
	}
	return b
}

// Cells are the cells of a line of a table, the heads or a row: they are separated by " | ".
func Cells(line string) []string { return strings.Split(line, " | ") }

// table checks that the file of a table is there, and that each row has as many cells as there are heads; and of its
// translation to the document's language, if it has one, that it has as many rows, too.
func (d *document) table(b Block) {
	rows, err := fs.ReadFile(d.fs, d.id+"/files/"+b.File)
	if err != nil {
		d.problem(d.file, b.line, "there is no file files/%s with the rows of the table", b.File)
		return
	}
	want := d.rows(b, b.File, rows)
	translation := translationOf(b.File, strings.TrimSuffix(path.Base(d.file), ".md"))
	if rows, err := fs.ReadFile(d.fs, d.id+"/files/"+translation); err == nil {
		if n := d.rows(b, translation, rows); n != want {
			d.problem(d.id+"/files/"+translation, 0, "the translation has %d rows, and %s has %d", n, b.File, want)
		}
	}
}

// rows checks the rows of a table, which are in the file of that name, and returns how many there are.
func (d *document) rows(b Block, name string, text []byte) int {
	heads := len(Cells(b.Text))
	rows := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, row := range rows {
		if n := len(Cells(row)); n != heads {
			d.problem(d.id+"/files/"+name, i+1, "a row has %d cells, and the table has %d heads", n, heads)
		}
	}
	return len(rows)
}

// refuse looks for what must not be in a text, at any depth.
func (d *document) refuse(root ast.Node) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails only if the function does
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML:
			d.problem(d.file, d.line(n), "HTML is not allowed: write Markdown")
		case *ast.List:
			if n.IsOrdered() && n.Start != 1 { // the page would count from 1
				d.problem(d.file, d.line(n), `a list begins with %d: a sentence that does begins with %d\.`, n.Start, n.Start)
			}
		case *ast.CodeBlock:
			d.problem(d.file, d.line(n), "an indented code block has no language: use ```")
		case *ast.FencedCodeBlock:
			if n.Parent().Kind() != ast.KindDocument {
				d.problem(d.file, d.line(n), "a code block stands by itself, not in a list or quotation")
			}
		case *ast.Link:
			n.Destination = []byte(d.link(n, string(n.Destination)))
		case *ast.Image:
			if pictureIn(n.Parent()) != n || n.Parent().Parent().Kind() != ast.KindDocument {
				d.problem(d.file, d.line(n), "a picture stands by itself, not in a line of text, a list or a quotation")
			}
		}
		return ast.WalkContinue, nil
	})
}

var (
	addressPattern = regexp.MustCompile(`^#/lesson/([a-z0-9-]+/[a-z0-9-]+)(?:/([a-z0-9-]+))?$`)
	// hosts are those that a text may lead to.
	hosts = []string{"https://kubernetes.io/", "https://github.com/kubernetes/", "https://www.rfc-editor.org/"}
)

// headings are those of steps, with their ids.
var headings = regexp.MustCompile(`(?m)^## .*\{#([a-z0-9-]+)\}\s*$`)

// link refuses an address that leads nowhere. It returns the address as the page has it, in which steps have numbers.
func (d *document) link(n ast.Node, address string) string {
	if m := addressPattern.FindStringSubmatch(address); m != nil {
		if !d.known[m[1]] {
			d.problem(d.file, d.line(n), "dead link: there is no lesson %s", m[1])
			return address
		}
		if m[2] == "" {
			return address
		}
		other, err := fs.ReadFile(d.fs, m[1]+"/en.md")
		if err != nil {
			return address // said of that lesson
		}
		for i, heading := range headings.FindAllSubmatch(other, -1) {
			if string(heading[1]) == m[2] {
				return fmt.Sprintf("#/lesson/%s/%d", m[1], i+1)
			}
		}
		d.problem(d.file, d.line(n), "dead link: lesson %s has no step %s", m[1], m[2])
		return address
	}
	if !slices.ContainsFunc(hosts, func(host string) bool { return strings.HasPrefix(address, host) }) {
		d.problem(d.file, d.line(n), "dead link: %s is neither #/lesson/part/lesson/step nor below %s", address, strings.Join(hosts, ", "))
	}
	return address
}

// tooLong looks at the section that ends.
func (d *document) tooLong(language string, line int) {
	most, unit := mostWords, "words"
	if language == "zh" {
		most, unit = mostCharacters, "characters"
	}
	if d.words > most {
		d.problem(d.file, line, "%d %s are too many for a step: at most %d", d.words, unit, most)
	}
	d.words = 0
}

// count counts words, of Chinese characters.
func (d *document) count(n ast.Node) int {
	plain := d.plain(n)
	han := 0
	for _, c := range plain {
		if unicode.Is(unicode.Han, c) {
			han++
		}
	}
	if han > 0 {
		return han
	}
	return len(strings.Fields(plain))
}

// plain is the text of a node without marks.
func (d *document) plain(n ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails only if the function does
		if !entering {
			if n.Type() == ast.TypeBlock {
				out.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Segment.Value(d.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(out.String())
}

// line is where a node begins.
func (d *document) line(n ast.Node) int {
	for at := n; at != nil; at = at.Parent() {
		start := -1
		switch v := at.(type) {
		case *ast.Text:
			start = v.Segment.Start
		case *ast.RawHTML:
			if v.Segments.Len() > 0 {
				start = v.Segments.At(0).Start
			}
		case *ast.FencedCodeBlock:
			if v.Info != nil {
				start = v.Info.Segment.Start
			} else if v.Lines().Len() > 0 {
				return 1 + bytes.Count(d.source[:v.Lines().At(0).Start], []byte("\n")) - 1
			}
		default:
			if at.Type() == ast.TypeBlock && at.Lines() != nil && at.Lines().Len() > 0 {
				start = at.Lines().At(0).Start
			}
		}
		if start < 0 && at == n {
			if first := n.FirstChild(); first != nil {
				if line := d.line1(first); line > 0 {
					return line
				}
			}
		}
		if start >= 0 {
			return 1 + bytes.Count(d.source[:start], []byte("\n"))
		}
	}
	return 0
}

// line1 is where a text in n begins, 0 if there is none.
func (d *document) line1(n ast.Node) int {
	for ; n != nil; n = n.FirstChild() {
		if t, ok := n.(*ast.Text); ok {
			return 1 + bytes.Count(d.source[:t.Segment.Start], []byte("\n"))
		}
	}
	return 0
}

// alike checks that the code of all languages is the same.
func (r *reader) alike(id string, texts map[string]*Prose) {
	first := texts[Languages[0]]
	for _, language := range Languages[1:] {
		other := texts[language]
		if first == nil || other == nil || len(first.Sections) != len(other.Sections) {
			continue // said already
		}
		file := id + "/" + language + ".md"
		for i, section := range first.Sections {
			mine, theirs := codeOf(section), codeOf(other.Sections[i])
			if !slices.EqualFunc(mine, theirs, func(a, b Block) bool { return a.offer() == b.offer() }) {
				r.problem(file, 0, "section %s: its code blocks are %s, and in %s.md %s", section.ID, shownOffers(theirs), Languages[0], shownOffers(mine))
				continue
			}
			for j, b := range mine {
				if b.Text != theirs[j].Text && !b.isTranslated() {
					r.problem(file, theirs[j].line, "section %s: the code is not that of %s.md:%d", section.ID, Languages[0], b.line)
				}
			}
		}
	}
}

// codeOf are the code blocks and tables of a section.
func codeOf(s Section) []Block {
	return slices.DeleteFunc(slices.Clone(s.Blocks), func(b Block) bool { return b.HTML != "" })
}

// offer is what a code block is and what can be done with it.
func (b Block) offer() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", cmp.Or(b.Language, b.Kind), strings.Join(b.Actions, " "), b.File))
}

// isTranslated reports whether the text of a code block or table is in the reader's language: heads and plain text are.
func (b Block) isTranslated() bool { return b.Kind == "table" || b.Language == "text" }

func shownOffers(list []Block) string {
	if len(list) == 0 {
		return "none"
	}
	var offers []string
	for _, b := range list {
		offers = append(offers, b.offer())
	}
	return strings.Join(offers, "; ")
}
