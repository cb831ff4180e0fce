package shell

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// jqWords are gojq's errors in the words of jq. What a group has matched is a kind, with the value behind it in parentheses. They
// are made for the first error: few filters have one.
var jqWords = sync.OnceValue(func() []jqWording {
	return []jqWording{
		{regexp.MustCompile(`^cannot iterate over: (.+)$`), "Cannot iterate over $1"},
		{regexp.MustCompile(`^expected a number for indexing an array but got: (\w+) \((.*)\)$`), "Cannot index array with $1 $2"},
		{regexp.MustCompile(`^expected an array but got: (\w+).*$`), "Cannot index $1 with number"},
		{regexp.MustCompile(`^expected a string for object key but got: (\w+).*$`), "Cannot index object with $1"},
		{regexp.MustCompile(`^keys cannot be applied to: (.+)$`), "$1 has no keys"},
		{regexp.MustCompile(`^length cannot be applied to: (.+)$`), "$1 has no length"},
		{regexp.MustCompile(`^tonumber cannot be applied to: (.+)$`), "$1 cannot be parsed as a number"},
		{regexp.MustCompile(`^sort(?:_by)?(?:\(.*\))? cannot be applied to: (.+)$`), "$1 cannot be sorted, as it is not an array"},
		{regexp.MustCompile(`^(?:_match|match|test|capture|scan)\(.*\) cannot be applied to: (.+)$`), "$1 cannot be matched, as it is not a string"},
		{regexp.MustCompile(`^has\("?(?:.*)"\) cannot be applied to: (\w+).*$`), "Cannot check whether $1 has a string key"},
		{regexp.MustCompile(`^has\(.*\) cannot be applied to: (\w+).*$`), "Cannot check whether $1 has a number key"},
		{regexp.MustCompile(`^cannot add: (.+) and (.+)$`), "$1 and $2 cannot be added"},
		{regexp.MustCompile(`^cannot subtract: (.+) and (.+)$`), "$1 and $2 cannot be subtracted"},
		{regexp.MustCompile(`^cannot multiply: (.+) and (.+)$`), "$1 and $2 cannot be multiplied"},
		{regexp.MustCompile(`^cannot divide: (.+) and (.+)$`), "$1 and $2 cannot be divided"},
		{regexp.MustCompile(`^cannot divide (.+) by: (.+)$`), "$1 and $2 cannot be divided because the divisor is zero"},
		{regexp.MustCompile(`^cannot negate: (.+)$`), "$1 cannot be negated"},
	}
})

type jqWording struct {
	gojq *regexp.Regexp
	jq   string
}

// notAnObject is gojq's error where a name is looked for in what has none.
var notAnObject = regexp.MustCompile(`^expected an object but got: (\w+).*$`)

// shownValue is a value behind its kind.
var shownValue = regexp.MustCompile(`^(null|boolean|number|string|array|object)(?: \((.*)\))?$`)

// jqError words an error of the filter as jq does, for an input of a place such as <stdin>:1.
func (f *jqFlags) jqError(ctx context.Context, err error, input any, place string) string {
	if value, ok := err.(gojq.ValueError); ok {
		if text, ok := value.Value().(string); ok {
			return fmt.Sprintf("jq: error (at %s): %s", place, text)
		}
		if text, failed := gojq.Marshal(value.Value()); failed == nil {
			return fmt.Sprintf("jq: error (at %s) (not a string): %s", place, text)
		}
	}
	text := err.Error()
	if kind := notAnObject.FindStringSubmatch(text); kind != nil {
		text = fmt.Sprintf("Cannot index %s with string", kind[1])
		if name, ok := f.failing(ctx, err, input); ok {
			text += fmt.Sprintf(" %q", name)
		}
	}
	for _, words := range jqWords() {
		found := words.gojq.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		text = words.jq
		for i, part := range found[1:] {
			text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i+1), shortened(part))
		}
		break
	}
	return fmt.Sprintf("jq: error (at %s): %s", place, text)
}

// shortened is a kind and its value, of which jq shows eleven bytes.
func shortened(text string) string {
	found := shownValue.FindStringSubmatch(text)
	switch {
	case found == nil || found[1] == text && text != "null":
		return text
	case text == "null":
		return "null (null)"
	case len(found[2]) > 14:
		return found[1] + " (" + found[2][:11] + "...)"
	}
	return text
}

// failing returns the name that a filter looks for where it fails, of which gojq's error does not tell: the name at the end of
// the first part of the filter that fails. ok is false where that has none.
func (f *jqFlags) failing(ctx context.Context, err error, input any) (name string, ok bool) {
	query, failed := gojq.Parse(f.filter)
	if failed != nil {
		return "", false
	}
	for _, part := range beginnings(query) {
		code, failed := gojq.Compile(part.query, gojq.WithVariables(f.names))
		if failed != nil {
			return "", false
		}
		results := code.RunWithContext(ctx, input, f.values...)
		for {
			v, more := results.Next()
			if !more {
				break
			}
			if now, is := v.(error); is {
				return part.name, part.name != "" && now.Error() == err.Error()
			}
		}
	}
	return "", false
}

// beginning is the first part of a filter, and the name that it ends with.
type beginning struct {
	query *gojq.Query
	name  string
}

// beginnings are those of a pipe of paths, the shortest first.
func beginnings(q *gojq.Query) (all []beginning) {
	switch {
	case q.Op == gojq.OpPipe && q.Left != nil && q.Right != nil && len(q.Patterns) == 0:
		all = beginnings(q.Left)
		for _, right := range beginnings(q.Right) {
			part := *q
			part.Right = right.query
			all = append(all, beginning{&part, right.name})
		}
	case q.Term != nil:
		for n := range len(q.Term.SuffixList) + 1 {
			term, part := *q.Term, *q
			term.SuffixList = q.Term.SuffixList[:n]
			part.Term = &term
			index := term.Index
			if n > 0 {
				index = term.SuffixList[n-1].Index
			}
			all = append(all, beginning{&part, nameOf(index)})
		}
	default:
		all = []beginning{{q, ""}}
	}
	return all
}

func nameOf(index *gojq.Index) string {
	switch {
	case index == nil:
		return ""
	case index.Str != nil && len(index.Str.Queries) == 0:
		return index.Str.Str
	case index.Start != nil && index.Start.Term != nil && index.Start.Term.Str != nil:
		return index.Start.Term.Str.Str
	}
	return strings.TrimPrefix(index.Name, ".")
}

// mostLine is how much of a line is read ahead for its end.
const mostLine = 64 << 10

// position counts the lines of what is read through it.
type position struct {
	io.Reader
	name    string
	read    int64
	newline []int64 // places of newlines behind the last value
	lines   int     // before those
	ahead   []byte  // that has been read, and not been asked for
}

func (p *position) Read(b []byte) (int, error) {
	if len(p.ahead) > 0 {
		n := copy(b, p.ahead)
		p.ahead = p.ahead[n:]
		return n, nil
	}
	return p.next(b)
}

func (p *position) next(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	for i, c := range b[:n] {
		if c == '\n' {
			p.newline = append(p.newline, p.read+int64(i))
		}
	}
	p.read += int64(n)
	return n, err
}

// pass goes on behind a value that ends at a place.
func (p *position) pass(end int64) {
	before, _ := slices.BinarySearch(p.newline, end)
	p.lines += before
	p.newline = slices.Delete(p.newline, 0, before)
}

// String is where the value is: jq has read its last line to the end.
func (p *position) String() string {
	if p == nil {
		return "<unknown>"
	}
	for len(p.newline) == 0 && len(p.ahead) < mostLine {
		var piece [512]byte
		n, err := p.next(piece[:])
		if p.ahead = append(p.ahead, piece[:n]...); err != nil {
			break // whoever reads on is told
		}
	}
	line := p.lines
	if len(p.newline) > 0 {
		line++
	}
	return fmt.Sprintf("%s:%d", p.name, line)
}
