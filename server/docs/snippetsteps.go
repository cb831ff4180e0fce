package docs

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/kubetab/kubetab/core/bundle"
)

var (
	anyPrompt = regexp.MustCompile(`^\s*[$>] `)
	// fileWord matches a word of the attribute files: "#id" or an address, and ":NAME" behind it to call it so.
	fileWord = regexp.MustCompile(`^([^:]*(?:://[^:]*(?::\d+[^:]*)?)?)(?::(.*))?$`)
)

// begin reads what the cluster begins with: data-bundle and data-setup of the script.
func (s *snippets) begin(d *Document) error {
	if s.script == nil {
		return nil
	}
	if name := attributeOf(s.script, "data-bundle"); name != "" {
		file, err := s.fetched(s.script, "data-bundle", name)
		if err != nil {
			return err
		}
		if d.bundle, err = bundle.Read(bytes.NewReader(file), bundle.DefaultLimits()); err != nil {
			return s.errorf(s.script, "data-bundle=%q: %w", name, err)
		}
	}
	for _, name := range words(s.script, "data-setup") {
		manifest, err := s.fetched(s.script, "data-setup", name)
		if err != nil {
			return err
		}
		s.steps = append(s.steps, step{
			session: "/setup", line: lineNumber(s.source, offset(s.script)), command: "kubectl apply -f " + name, script: applied(string(manifest)),
		})
	}
	return nil
}

// fetched returns a text that an attribute of n names: "#id" of an element of the page, or an address. A relative address
// is that of a file beside the page's, and nothing is fetched from a network.
func (s *snippets) fetched(n *html.Node, attribute, name string) ([]byte, error) {
	if id, ok := strings.CutPrefix(name, "#"); ok {
		element := s.byID(id)
		if element == nil {
			return nil, s.errorf(n, "%s=%q: no element of the page has the id %q", attribute, name, id)
		}
		if other := s.of(element); other != nil {
			return []byte(other.text()), nil
		}
		return []byte(textContent(element)), nil
	}
	address, err := url.Parse(name)
	switch {
	case err != nil:
		return nil, s.errorf(n, "%s=%q: it is no address", attribute, name)
	case address.Host != "" || address.Scheme != "":
		return nil, s.errorf(n, "%s=%q: nothing is fetched from other hosts: put the file beside the page", attribute, name)
	case strings.HasPrefix(address.Path, "/"):
		return nil, s.errorf(n, "%s=%q: the folder of the site is not known: give an address relative to the page", attribute, name)
	}
	file, err := os.ReadFile(filepath.Join(filepath.Dir(s.path), filepath.FromSlash(address.Path)))
	if err != nil {
		return nil, s.errorf(n, "%s=%q: %w", attribute, name, err)
	}
	return file, nil
}

// of is the snippet of an element <kubetab-snippet>, or nil.
func (s *snippets) of(element *html.Node) *snippet {
	for _, each := range s.all {
		if each.element == element {
			return each
		}
	}
	return nil
}

// isSource reports whether lines of the page have the text of a snippet as a file: by files, data-setup or its address.
func (s *snippets) isSource(of *snippet) bool {
	isNamed := func(word string) bool {
		id, ok := strings.CutPrefix(word, "#")
		element := s.byID(id)
		return ok && element != nil && (element == of.element || element == of.code || element == closest(of.code, pres))
	}
	if s.script != nil && slices.ContainsFunc(words(s.script, "data-setup"), isNamed) {
		return true
	}
	return slices.ContainsFunc(s.all, func(each *snippet) bool {
		if !each.isYAML && of.sample != "" && slices.Contains(namesIn(each.text(), []string{of.sample}), of.sample) {
			return true
		}
		return slices.ContainsFunc(words(each.element, "files"), func(word string) bool { return isNamed(fileWord.FindStringSubmatch(word)[1]) })
	})
}

// play makes the steps of a snippet, and before it those of the snippets that it depends on, each once.
func (s *snippets) play(of *snippet) error {
	if of.isDone {
		return nil
	}
	of.isDone = true // two may depend on each other
	for _, id := range words(of.element, "depends-on") {
		other := s.byID(id)
		if other == nil || s.of(other) == nil {
			return s.errorf(of.element, "depends-on=%q: no <kubetab-snippet> has the id %q", attributeOf(of.element, "depends-on"), id)
		}
		if err := s.play(s.of(other)); err != nil {
			return err
		}
	}
	b := of.block
	if len(b.lines) == 0 {
		return s.errorf(of.code, "the block is empty")
	}
	now := step{session: s.session(of), line: b.number}
	_, isSkipHere := b.marks["skip"]
	_, isSkipBehind := lookup(of.element, "data-skip")
	now.isSkip = isSkipHere || isSkipBehind
	if of.output != nil {
		now.expected = &expected{of.output, 0, len(of.output.lines)}
	}
	text, template := of.text(), attributeOf(of.element, "template")
	if template != "" {
		around, err := s.fetched(of.element, "template", template)
		if err != nil {
			return err
		}
		text = strings.Replace(string(around), "##CODE##", text, 1)
	}
	files, err := s.files(of)
	if err != nil {
		return err
	}
	local := func(lines string) string { return localFiles(lines, s.samples()) }
	switch {
	case of.isYAML:
		now.command, now.script = "kubectl apply -f -", files+applied(text)
	case of.output == nil && template == "" && b.prompted():
		steps := promptSteps(b, now, func(command string) bool { return strings.HasSuffix(command, `\`) })
		for i := range steps {
			steps[i].script = files + local(steps[i].command)
			files = ""
		}
		s.steps = append(s.steps, steps...)
		return nil
	default:
		now.command, now.script = linesOf(of.text()), files+local(linesOf(text))
	}
	s.steps = append(s.steps, now)
	return nil
}

func (of *snippet) text() string { return of.block.text(0, len(of.block.lines)) }

// session is the name of a snippet's shell: its own, unless it says so, or has that of what it depends on.
func (s *snippets) session(of *snippet) string {
	for seen := map[*snippet]bool{}; !seen[of]; {
		seen[of] = true
		name, ok := lookup(of.element, "session")
		if !ok && s.script != nil {
			name = attributeOf(s.script, "data-session")
		}
		if name != "" {
			return name
		}
		var first *snippet
		if ids := words(of.element, "depends-on"); len(ids) > 0 {
			first = s.of(s.byID(ids[0]))
		}
		if first == nil {
			break
		}
		of = first
	}
	return fmt.Sprint("/", slices.Index(s.all, of))
}

// samples are the names of all files that lines may fetch.
func (s *snippets) samples() (names []string) {
	for _, each := range s.all {
		if each.sample != "" {
			names = append(names, each.sample)
		}
	}
	return names
}

// files are lines that write the files which a snippet needs: those of its attribute, and those whose addresses it has.
func (s *snippets) files(of *snippet) (lines string, err error) {
	for _, word := range words(of.element, "files") {
		found := fileWord.FindStringSubmatch(word)
		name := found[2]
		if name == "" {
			name = strings.TrimPrefix(found[1][1+strings.LastIndex(found[1], "/"):], "#")
		}
		if !filepath.IsLocal(name) {
			return "", s.errorf(of.element, "files=%q: the file %q is not within the session's folder", attributeOf(of.element, "files"), name)
		}
		text, err := s.fetched(of.element, "files", found[1])
		if err != nil {
			return "", err
		}
		lines += written(name, string(text))
	}
	if of.isYAML {
		return lines, nil
	}
	for _, name := range namesIn(of.text(), s.samples()) {
		i := slices.IndexFunc(s.all, func(each *snippet) bool { return each.sample == name })
		lines += written(name, s.all[i].text())
	}
	return lines, nil
}

// heredoc is a text as the input of a command, whatever is in it.
func heredoc(text string) string {
	end := "EOF"
	for lines := strings.Split(text, "\n"); slices.Contains(lines, end); {
		end += "_"
	}
	return fmt.Sprintf("<<'%s'\n%s\n%s\n", end, strings.TrimSuffix(text, "\n"), end)
}

// written are lines that write a file.
func written(name, text string) string {
	quoted := "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	return fmt.Sprintf(`mkdir -p "$(dirname %s)" && cat > %s %s`, quoted, quoted, heredoc(text))
}

// applied is a line that applies a manifest.
func applied(manifest string) string { return "kubectl apply -f - " + heredoc(manifest) }

// linesOf are the lines of a text that run: of one with prompts, those behind a prompt.
func linesOf(text string) string {
	lines := strings.Split(text, "\n")
	if !slices.ContainsFunc(lines, prompt.MatchString) {
		return text
	}
	var run []string
	goesOn := false
	for _, l := range lines {
		if goesOn || prompt.MatchString(l) {
			goesOn = strings.HasSuffix(l, `\`)
			run = append(run, anyPrompt.ReplaceAllString(l, ""))
		}
	}
	return strings.Join(run, "\n")
}
