package docs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// snippets are what embed.js makes run in a page: each element <kubetab-snippet>, and each block that data-selector finds.
// The functions here do what those of web/src/embed do in a browser; docs/embed.md has the attributes.
type snippets struct {
	*tree
	script *html.Node // nil in a page that has it from elsewhere
	all    []*snippet // in the order of their blocks
	steps  []step
}

// snippet is a block that runs.
type snippet struct {
	element  *html.Node // <kubetab-snippet>
	code     *html.Node
	expected *html.Node // nil without
	isYAML   bool
	sample   string // the name that addresses in lines of shell end with; "" without
	isDone   bool

	block, output *block
}

// What embed.js has constants for.
var (
	scripts       = cascadia.MustCompile(`script[src*="embed.js"]`)
	elements      = cascadia.MustCompile("kubetab-snippet")
	pres          = cascadia.MustCompile("pre")
	codes         = cascadia.MustCompile("code")
	paragraphs    = cascadia.MustCompile("p")
	languages     = cascadia.MustCompile(`[class*="language-"], [data-lang], [syntax]`)
	codeSamples   = cascadia.MustCompile(".code-sample")
	downloads     = cascadia.MustCompile("a[download]")
	dataFiles     = cascadia.MustCompile("[data-file]")
	frames        = cascadia.MustCompile(`.code-sample, .highlight, div[class*="language-"], figure, pre, .theme-code-block, .expressive-code`)
	someOutputs   = `code:not([class*="language-"]):not([data-lang]), .language-console, .language-text, .language-none, .language-output`
	languageClass = regexp.MustCompile(`language-(\w+)`)
	yamlBegins    = regexp.MustCompile(`(?m)^(---|apiVersion:|kind:)`)
	sampleName    = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*$`)
)

// Attributes of <kubetab-snippet>: those that say what runs and what is expected, and those for the eye and for the page's
// scripts.
var (
	honoured = []string{"selector", "depends-on", "session", "template", "files", "output"}
	ignored  = []string{
		"init-delay", "output-mode", "output-lines", "editor", "status-running", "status-done", "status-failed", "picture", "eager", "state",
	}
	// And those of the script.
	scriptHonoured = []string{"data-selector", "data-output-selector", "data-setup", "data-bundle", "data-session"}
	scriptIgnored  = []string{"data-init-delay", "data-picture", "data-eager"}
)

// everywhere are attributes that any element of HTML may have.
var everywhere = regexp.MustCompile(`^(id|class|style|lang|dir|title|hidden|translate|slot|role|tabindex|` + offsetName + `|(data|aria)-.*)$`)

// readSnippets makes steps of a page's snippets, in the order in which a reader comes to them. It is false for a page
// without any and without the script. Errors name the line of an attribute that is impossible.
func (d *Document) readSnippets(p *tree) (bool, error) {
	s := &snippets{tree: p, script: cascadia.Query(p.root, scripts)}
	explicit := cascadia.QueryAll(p.root, elements)
	if s.script == nil && len(explicit) == 0 {
		return false, nil
	}
	if err := s.checkScript(); err != nil {
		return true, err
	}
	for _, element := range explicit {
		if err := s.add(element); err != nil {
			return true, err
		}
	}
	if err := s.selectBlocks(); err != nil {
		return true, err
	}
	if len(s.all) == 0 {
		return true, p.errorf(s.script, "nothing of the page runs: data-selector finds no block, and there is no <kubetab-snippet>")
	}
	slices.SortStableFunc(s.all, func(a, b *snippet) int { return cmp.Compare(offset(a.code), offset(b.code)) })
	if err := s.findBlocks(); err != nil {
		return true, err
	}
	if err := s.begin(d); err != nil {
		return true, err
	}
	for _, each := range s.all {
		if each.isYAML && each.expected == nil && s.isSource(each) {
			continue // a file, which other lines apply
		}
		if err := s.play(each); err != nil {
			return true, err
		}
	}
	d.steps = s.steps
	return true, nil
}

// checkScript refuses attributes of the script that embed.js does not know.
func (s *snippets) checkScript() error {
	if s.script == nil {
		return nil
	}
	for _, a := range s.script.Attr {
		if strings.HasPrefix(a.Key, "data-") && !slices.Contains(scriptHonoured, a.Key) && !slices.Contains(scriptIgnored, a.Key) {
			return s.errorf(s.script, "embed.js has no attribute %s: see docs/embed.md", a.Key)
		}
	}
	return nil
}

// add adds the snippet of an element.
func (s *snippets) add(element *html.Node) error {
	for _, a := range element.Attr {
		if !slices.Contains(honoured, a.Key) && !slices.Contains(ignored, a.Key) && !everywhere.MatchString(a.Key) {
			return s.errorf(element, "<kubetab-snippet> has no attribute %s: see docs/embed.md", a.Key)
		}
	}
	code, err := s.blockOf(element)
	if err != nil {
		return err
	}
	expected, err := s.expectedOf(element)
	if err != nil {
		return err
	}
	s.all = append(s.all, &snippet{element: element, code: code, expected: expected})
	return nil
}

// blockOf is embed.js' function of this name.
func (s *snippets) blockOf(element *html.Node) (*html.Node, error) {
	before := previousElement(element)
	if parent := parentElement(element); before == nil && parent != nil {
		before = previousElement(parent)
	}
	var found *html.Node
	selector := attributeOf(element, "selector")
	in, m := s.root, cascadia.Matcher(pres)
	below, isBefore := strings.CutPrefix(selector, "@prev")
	if isBefore {
		in, selector = before, strings.TrimSpace(below)
	}
	if selector != "" {
		var err error
		if m, err = s.selector(element, "selector", selector); err != nil {
			return nil, err
		}
	}
	switch {
	case isBefore && before == nil:
	case isBefore || selector != "":
		found = cascadia.Query(in, m)
	default:
		if found = cascadia.Query(element, pres); found == nil && before != nil {
			found = inOrBelow(before, pres)
		}
	}
	if found == nil {
		return nil, s.errorf(element, "the snippet has no block: neither its selector, nor itself, nor the element before it has one")
	}
	return codeIn(found), nil
}

// inOrBelow is n, if m matches it, or the first element below that m matches.
func inOrBelow(n *html.Node, m cascadia.Matcher) *html.Node {
	if m.Match(n) {
		return n
	}
	return cascadia.Query(n, m)
}

// codeIn is the code of a pre, or n.
func codeIn(n *html.Node) *html.Node {
	if pres.Match(n) {
		return cmp.Or(cascadia.Query(n, codes), n)
	}
	return n
}

// expectedOf is embed.js' function of this name.
func (s *snippets) expectedOf(element *html.Node) (*html.Node, error) {
	output, ok := lookup(element, "output")
	if !ok {
		return nil, nil
	}
	in := nextElement(element)
	if parent := parentElement(element); in == nil && parent != nil {
		in = nextElement(parent)
	}
	selector, isNext := strings.CutPrefix(output, "@next")
	if output != "" && !isNext {
		in = s.root
	}
	if selector = strings.TrimSpace(selector); selector != "" && in != nil {
		m, err := s.selector(element, "output", selector)
		if err != nil {
			return nil, err
		}
		in = cascadia.Query(in, m)
	}
	if in == nil {
		return nil, s.errorf(element, "output=%q: the page has no such element", output)
	}
	return in, nil
}

// selectBlocks adds a snippet for every block that the script's data-selector finds, as embed.js' makeSnippets does.
func (s *snippets) selectBlocks() error {
	if s.script == nil || attributeOf(s.script, "data-selector") == "" {
		return nil
	}
	m, err := s.selector(s.script, "data-selector", attributeOf(s.script, "data-selector"))
	if err != nil {
		return err
	}
	list, ok := lookup(s.script, "data-output-selector")
	if !ok {
		list = someOutputs
	}
	outputs, err := s.selector(s.script, "data-output-selector", list)
	if err != nil {
		return err
	}
	seen := map[*html.Node]bool{}
	for _, found := range cascadia.QueryAll(s.root, m) {
		frame := frameOf(found)
		next := nextElement(frame)
		if seen[frame] || frame.Parent != nil && closest(frame.Parent, elements) != nil || next != nil && elements.Match(next) {
			continue
		}
		seen[frame] = true
		if pre := inOrBelow(frame, pres); pre != nil {
			found = codeIn(pre)
		}
		// What embed.js puts behind the block has no attributes of ours.
		element := &html.Node{Type: html.ElementNode, Data: "kubetab-snippet", Attr: []html.Attribute{{Key: offsetName, Val: attributeOf(found, offsetName)}}}
		s.all = append(s.all, &snippet{element: element, code: found, expected: expectedBehind(frame, m, outputs)})
	}
	return nil
}

// frameOf is embed.js' function of this name: what the code stands in, with its title and buttons.
func frameOf(code *html.Node) *html.Node {
	frame := cmp.Or(closest(code, pres), code)
	for at := parentElement(frame); at != nil; at = parentElement(at) {
		around := parentElement(at)
		if !frames.Match(at) && (around == nil || !codeSamples.Match(around)) {
			break
		}
		frame = at
	}
	return frame
}

// expectedBehind is embed.js' function of this name: the next block, with one paragraph between at most.
func expectedBehind(frame *html.Node, selector, outputs cascadia.Matcher) *html.Node {
	next := nextElement(frame)
	if next != nil && paragraphs.Match(next) {
		next = nextElement(next)
	}
	if next == nil {
		return nil
	}
	pre := inOrBelow(next, pres)
	if pre == nil {
		return nil
	}
	code := codeIn(pre)
	if selector.Match(code) || cascadia.Query(next, selector) != nil || !outputs.Match(code) && !outputs.Match(pre) && !outputs.Match(next) {
		return nil
	}
	return next
}

// findBlocks finds the texts of all snippets and outputs, and what kind of text they are.
func (s *snippets) findBlocks() error {
	starts := map[int]bool{}
	for _, each := range s.all {
		starts[blockStart(each.code)] = true
		if each.expected != nil {
			starts[blockStart(each.expected)] = true
		}
	}
	blocks := map[int]*block{}
	for _, b := range htmlBlocks(s.source, starts) {
		blocks[b.start] = b
	}
	find := func(n *html.Node) (*block, error) {
		b := blocks[blockStart(n)]
		if b == nil {
			return nil, s.errorf(n, "<%s> is no block of its own: it has no end tag, or is in another block", n.Data)
		}
		return b, nil
	}
	for _, each := range s.all {
		var err error
		if each.block, err = find(each.code); err != nil {
			return err
		}
		if each.isYAML = isYAML(each.code, each.block); each.isYAML {
			each.sample = nameOf(each.code)
		}
		if each.expected == nil {
			continue
		}
		if each.output, err = find(each.expected); err != nil {
			return err
		}
	}
	return nil
}

// blockStart is where the block begins that an element is, is in, or has.
func blockStart(n *html.Node) int {
	return offset(cmp.Or(closest(n, pres), cascadia.Query(n, pres), n))
}

// isYAML is embed.js' kindOf.
func isYAML(code *html.Node, b *block) bool {
	name := ""
	if named := closest(code, languages); named != nil {
		if name = attributeOf(named, "data-lang"); name == "" {
			if found := languageClass.FindStringSubmatch(attributeOf(named, "class")); found != nil {
				name = found[1]
			}
		}
	}
	if name == "" {
		return yamlBegins.MatchString(b.text(0, len(b.lines)))
	}
	return name == "yaml" || name == "yml"
}

// nameOf is embed.js' function of this name.
func nameOf(code *html.Node) string {
	name := ""
	if around := closest(code, dataFiles); around != nil {
		name = attributeOf(around, "data-file")
	}
	if sample := closest(code, codeSamples); sample != nil {
		if link := cascadia.Query(sample, downloads); link != nil {
			name = attributeOf(link, "download")
		}
	}
	if !sampleName.MatchString(name) {
		return ""
	}
	return name
}
