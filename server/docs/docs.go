// Package docs runs the examples of a document and says where the text is no longer true: documentation as a test.
// `kubetab docs check` and `kubetab docs update` are its commands; docs/examples.md describes the markup.
//
//	Markdown or HTML --Parse--> Document --Play--> Report --Update--> the file with what is printed now
//
// In a page with embed.js, examples are the blocks that the script makes run (snippets.go), in the shells that it gives them.
//
// A document has a cluster of its own, an engine in this process, and a terminal for each session that it names. The
// terminal is core/shell, as in the page.
//
// # Invariants
//
//   - Update changes bytes of outputs that differ, and no others.
//   - An update is written only if Parse reads from the new file what the update has put there.
//   - Commands run in this process, with its files. A document is a program: whoever runs one trusts its author.
package docs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/internal/unix/bash"
)

// ErrMarkup is in the errors of Update for an output whose markup leaves no place for another text.
var ErrMarkup = errors.New("the new output cannot be written in place")

// Document is a file with examples.
type Document struct {
	Path   string
	source []byte
	blocks []*block
	steps  []step
	bundle *bundle.Bundle // what the cluster begins with; nil for an empty one
}

// block is one of code, as its document has it.
type block struct {
	language string
	marks    map[string]string // attributes, by names in lower case; words without a value have an empty one
	lines    []line
	start    int // of its element in a page
	number   int // of the document's line that has the block's first line
	// replace returns the change that gives the lines from, up to and without to, another text. Its error is ErrMarkup.
	replace func(from, to int, text []string) (change, error)
}

// line is one of a block, without its end.
type line struct {
	text   string
	number int // in the document, from 1
}

// change is another text for bytes of a document.
type change struct {
	start, end int
	text       string
}

// step is what a reader does with an example: make a file, or run a command.
type step struct {
	session string
	line    int // in the document
	isSkip  bool

	file, text string // a file and what is in it

	command  string
	script   string    // what is run; empty for the command as it is
	expected *expected // nil when the document says nothing
}

// lines are what a shell runs.
func (s *step) lines() string { return cmp.Or(s.script, s.command) }

// expected are the lines of a block that show what a command prints.
type expected struct {
	in       *block
	from, to int
}

func (e *expected) lines() []string {
	var found []string
	for _, l := range e.in.lines[e.from:e.to] {
		found = append(found, l.text)
	}
	return found
}

// Parse reads a document: HTML if path ends with .html or .htm, and Markdown otherwise. In a page with embed.js, the
// examples are what that script makes run; files that its attributes name are read. The error names the line of an example
// that is none.
func Parse(path string, source []byte) (*Document, error) {
	d := &Document{Path: path, source: source}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		p, err := parseTree(path, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if hasSnippets, err := d.readSnippets(p); hasSnippets {
			return d, err
		}
		d.blocks = htmlBlocks(source, nil)
	default:
		d.blocks = markdownBlocks(source)
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	return d, nil
}

var (
	shells   = map[string]bool{"shell": true, "sh": true, "bash": true, "zsh": true}
	consoles = map[string]bool{"console": true, "shell-session": true, "shellsession": true, "sh-session": true, "session": true, "terminal": true}
)

// role is what a block is for.
type role int

const (
	nothing role = iota
	file
	commands // every line is one
	prompts  // lines with a prompt are, and their outputs are below
	output   // of the commands before it
)

// role says what b is for, if before is the role of the block before it.
func (b *block) role(before role) role {
	_, isOutput := b.marks["output"]
	isShell, isConsole := shells[b.language], consoles[b.language]
	switch {
	case isOutput || b.language == "output":
		return output
	case b.fileName() != "":
		return file
	case (isShell || isConsole) && b.prompted():
		return prompts
	case isShell:
		return commands
	case before == commands && (isConsole || b.language == "none"):
		return output // as kubernetes.io writes "the output is similar to this"
	}
	return nothing
}

// fileName is what the block is called, if that can be the name of a file.
func (b *block) fileName() string {
	for _, mark := range []string{"file", "filename", "title", "data-file", "data-title"} {
		name := b.marks[mark]
		isTitle := strings.HasSuffix(mark, "title")
		if name != "" && !(isTitle && (shells[b.language] || !strings.Contains(name, ".") || strings.ContainsAny(name, " \t"))) {
			return name
		}
	}
	return ""
}

// prompt is before a command.
var prompt = regexp.MustCompile(`^\s*\$ `)

func (b *block) prompted() bool {
	return slices.ContainsFunc(b.lines, func(l line) bool { return prompt.MatchString(l.text) })
}

// read makes steps of blocks.
func (d *Document) read() error {
	before := nothing
	for _, b := range d.blocks {
		now := b.role(before)
		_, isSkip := b.marks["skip"]
		of := step{session: b.marks["session"], line: b.number, isSkip: isSkip}
		switch now {
		case file:
			of.file = b.fileName()
			if !filepath.IsLocal(of.file) {
				return fmt.Errorf("%s:%d: the file %q is not within the session's folder", d.Path, of.line, of.file)
			}
			for _, l := range b.lines {
				of.text += l.text + "\n"
			}
			d.steps = append(d.steps, of)
		case commands:
			if of.command = b.text(0, len(b.lines)); strings.TrimSpace(of.command) != "" {
				d.steps = append(d.steps, of)
			}
		case prompts:
			d.steps = append(d.steps, promptSteps(b, of, func(command string) bool { return bash.Incomplete(command) != nil })...)
		case output:
			if last := len(d.steps) - 1; last >= 0 && d.steps[last].command != "" && d.steps[last].expected == nil && (before == commands || before == prompts) {
				if d.steps[last].expected = (&expected{b, 0, len(b.lines)}); isSkip {
					d.steps[last].expected = nil
				}
			}
		}
		before = now
	}
	d.useFiles()
	return nil
}

// useFiles has commands read a document's own files where they would fetch them from an address.
func (d *Document) useFiles() {
	var names []string
	for _, s := range d.steps {
		if s.file != "" && !s.isSkip {
			names = append(names, s.file)
		}
	}
	for i := range d.steps {
		s := &d.steps[i]
		if local := localFiles(s.command, names); local != s.command {
			s.script = local
		}
	}
}

// promptSteps makes steps of a block with prompts. A command goes on in the next line where goesOn says so.
func promptSteps(b *block, of step, goesOn func(command string) bool) (steps []step) {
	for i := 0; i < len(b.lines); {
		if !prompt.MatchString(b.lines[i].text) {
			i++ // before the first prompt
			continue
		}
		next := of
		next.line = b.lines[i].number
		next.command = prompt.ReplaceAllString(b.lines[i].text, "")
		for i++; i < len(b.lines) && goesOn(next.command); i++ {
			next.command += "\n" + strings.TrimPrefix(b.lines[i].text, "> ")
		}
		from := i
		for i < len(b.lines) && !prompt.MatchString(b.lines[i].text) {
			i++
		}
		to := i
		for to > from && strings.TrimSpace(b.lines[to-1].text) == "" {
			to-- // blank lines before the next prompt are for the eye
		}
		if to > from {
			next.expected = &expected{b, from, to}
		}
		steps = append(steps, next)
	}
	return steps
}

func (b *block) text(from, to int) string {
	var text strings.Builder
	for _, l := range b.lines[from:to] {
		text.WriteString(l.text + "\n")
	}
	return strings.TrimRight(text.String(), "\n")
}

// attribute matches name, name=value, name="value" and .class, as they follow a language in Markdown.
var attribute = regexp.MustCompile(`([A-Za-z_][\w.:-]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s,}]+))?`)

// marksOf reads what follows the language of a block.
func marksOf(text string) map[string]string {
	marks := map[string]string{}
	for _, found := range attribute.FindAllStringSubmatch(text, -1) {
		value := found[2]
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			value = value[1 : len(value)-1]
		}
		marks[strings.ToLower(found[1])] = value
	}
	return marks
}

// lineNumber is that of the line with the byte at offset.
func lineNumber(source []byte, offset int) int { return 1 + bytes.Count(source[:offset], []byte("\n")) }
