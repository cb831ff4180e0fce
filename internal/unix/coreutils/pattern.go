package coreutils

import (
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/kubetab/kubetab/internal/absent"
)

// Pattern is a regular expression of a program. Its searches end with the program's context, and find nothing from then on:
// a search through 64 MB, for a pattern that repeats something a thousand times, would take a processor for twenty minutes
// after Ctrl-C.
type Pattern struct {
	ctx     context.Context
	re      *regexp.Regexp
	size    int    // of the pattern: what a search does for each character at most
	literal string // each match begins with it

	// For a search that begins within a text: the character before it comes first, which ^ and \b look at. In from,
	// a match begins anywhere behind that, in here at once.
	from, here *regexp.Regexp
	longest    bool
}

// mostSteps is how many steps a search may take that is not looked after. All searches for what is in a text take at most
// that number for each character.
const mostSteps = 1 << 14

// CompilePattern is regexp.Compile for a program that ends with ctx. longest has matches be the longest, as POSIX wants it.
func CompilePattern(ctx context.Context, expr string, longest bool) (*Pattern, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if longest {
		re.Longest()
	}
	p := &Pattern{ctx: ctx, re: re, longest: longest}
	if absent.CanEnd {
		return p, nil
	}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		if program, err := syntax.Compile(tree.Simplify()); err == nil {
			p.size = len(program.Inst)
		}
	}
	p.literal, _ = re.LiteralPrefix()
	return p, nil
}

// plain reports whether a search needs nobody to look after it.
func (p *Pattern) plain(text string) bool {
	return absent.CanEnd || len(text) <= mostSteps/max(p.size, 1)
}

// Match is regexp.Regexp.MatchString.
func (p *Pattern) Match(text string) bool {
	if p.plain(text) {
		return p.re.MatchString(text)
	}
	if !strings.Contains(text, p.literal) {
		return false
	}
	r, release := p.reader(text)
	defer release()
	return p.re.MatchReader(r) && p.ctx.Err() == nil
}

// Find is regexp.Regexp.FindStringIndex.
func (p *Pattern) Find(text string) []int {
	if p.plain(text) {
		return p.re.FindStringIndex(text)
	}
	if at := p.search(text, 0); at != nil {
		return at[:2]
	}
	return nil
}

// FindAll is regexp.Regexp.FindAllStringSubmatchIndex.
func (p *Pattern) FindAll(text string) (all [][]int) {
	if p.plain(text) {
		return p.re.FindAllStringSubmatchIndex(text, -1)
	}
	for pos, end := 0, -1; pos <= len(text); {
		at := p.search(text, pos)
		if at == nil {
			return all
		}
		isNext := at[1] != pos || at[0] != end // an empty match is none where the one before it has ended
		if at[1] > pos {
			pos = at[1]
		} else if _, width := utf8.DecodeRuneInString(text[pos:]); width > 0 {
			pos += width
		} else {
			pos = len(text) + 1
		}
		if end = at[1]; isNext {
			all = append(all, at)
		}
	}
	return all
}

// ReplaceAll is regexp.Regexp.ReplaceAllStringFunc.
func (p *Pattern) ReplaceAll(text string, with func(string) string) string {
	if p.plain(text) {
		return p.re.ReplaceAllStringFunc(text, with)
	}
	var out strings.Builder
	last := 0
	for _, at := range p.FindAll(text) {
		out.WriteString(text[last:at[0]])
		out.WriteString(with(text[at[0]:at[1]]))
		last = at[1]
	}
	out.WriteString(text[last:])
	return out.String()
}

// Split is regexp.Regexp.Split into all parts.
func (p *Pattern) Split(text string) (parts []string) {
	if p.plain(text) {
		return p.re.Split(text, -1)
	}
	begin, end := 0, 0
	for _, at := range p.FindAll(text) {
		if end = at[0]; at[1] != 0 {
			parts = append(parts, text[begin:end])
		}
		begin = at[1]
	}
	if end != len(text) {
		parts = append(parts, text[begin:])
	}
	return parts
}

// Expand is regexp.Regexp.ExpandString.
func (p *Pattern) Expand(to []byte, with, text string, match []int) []byte {
	return p.re.ExpandString(to, with, text, match)
}

// search returns the first match at pos or behind it.
func (p *Pattern) search(text string, pos int) []int {
	skipped := strings.Index(text[pos:], p.literal)
	if skipped < 0 {
		return nil
	}
	if pos += skipped; pos == 0 {
		return p.ask(p.re, text, 0, 0)
	}
	if p.from == nil {
		expr := p.re.String()
		p.from, p.here = regexp.MustCompile(`\A(?s:.)(?s:.*?)(`+expr+`)`), regexp.MustCompile(`\A(?s:.)(`+expr+`)`)
		p.here.Longest()
	}
	_, width := utf8.DecodeLastRuneInString(text[:pos])
	at := p.ask(p.from, text, pos-width, 1)
	if at == nil || !p.longest {
		return at
	}
	_, width = utf8.DecodeLastRuneInString(text[:at[0]])
	return p.ask(p.here, text, at[0]-width, 1)
}

// ask searches the text from a place on, and returns where the groups are behind the first ones.
func (p *Pattern) ask(re *regexp.Regexp, text string, from, groups int) []int {
	r, release := p.reader(text[from:])
	defer release()
	at := re.FindReaderSubmatchIndex(r)
	if at == nil || p.ctx.Err() != nil {
		return nil
	}
	at = at[2*groups:]
	for i := range at {
		if at[i] >= 0 {
			at[i] += from
		}
	}
	return at
}

// reader reads the text until the context ends.
func (p *Pattern) reader(text string) (r io.RuneReader, release func()) {
	s := &searched{Reader: strings.NewReader(text)}
	stop := context.AfterFunc(p.ctx, func() { s.ended.Store(true) })
	return s, func() { stop() }
}

type searched struct {
	*strings.Reader
	ended atomic.Bool
}

func (s *searched) ReadRune() (rune, int, error) {
	if s.ended.Load() {
		return 0, 0, io.EOF
	}
	return s.Reader.ReadRune()
}
