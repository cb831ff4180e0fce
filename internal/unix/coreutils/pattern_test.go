package coreutils

import (
	"context"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubetab/kubetab/internal/absent"
)

// A search that is looked after finds what package regexp finds.
func TestPatternFindsWhatRegexpFinds(t *testing.T) {
	texts := []string{"", "a", "abab", "aab\nba", "xaay aa\n", "ä€a\xffb\xff", "foo bar", "aaaa", "\n\n", "ab12 cd"}
	for _, expr := range []string{
		`a`, `a*`, `(a|ab)(b*)`, `^a`, `(?m)^a`, `a$`, `(?m)a$`, `\ba`, `\Ba`, `\b`, `x*`, `(?i)A(b)?`, `.`, `[^a]*`, `a|b|`, `ab`, `^`, `$`, `(?m)^`, `^ab`, `(a)|(b)`,
		`\xff`, `(a*)+`, `(?:)`, `a*?`, `[[:digit:]]+`,
	} {
		for _, longest := range []bool{false, true} {
			re := regexp.MustCompile(expr)
			if longest {
				re.Longest()
			}
			p, err := CompilePattern(t.Context(), expr, longest)
			if err != nil {
				t.Fatal(err)
			}
			p.size = mostSteps + 1 // nothing is plain, but what is empty
			for _, text := range texts {
				mark := func(s string) string { return "<" + s + ">" }
				for what, both := range map[string][2]any{
					"Match":      {p.Match(text), re.MatchString(text)},
					"Find":       {p.Find(text), re.FindStringIndex(text)},
					"FindAll":    {p.FindAll(text), re.FindAllStringSubmatchIndex(text, -1)},
					"ReplaceAll": {p.ReplaceAll(text, mark), re.ReplaceAllStringFunc(text, mark)},
					"Split":      {p.Split(text), re.Split(text, -1)},
				} {
					if !reflect.DeepEqual(both[0], both[1]) {
						t.Errorf("%s of %q in %q, longest %v: %v, want %v", what, expr, text, longest, both[0], both[1])
					}
				}
			}
		}
	}
}

// What would take hours ends with the context, in each of its ways.
func TestSearchesEndWithTheirContext(t *testing.T) {
	if absent.CanEnd {
		t.Skip("the runtime ends them")
	}
	text := strings.Repeat("a", 64<<20)
	for name, search := range map[string]func(*Pattern){
		"Match":      func(p *Pattern) { p.Match(text) },
		"Find":       func(p *Pattern) { p.Find(text) },
		"FindAll":    func(p *Pattern) { p.FindAll(text) },
		"ReplaceAll": func(p *Pattern) { p.ReplaceAll(text, strings.ToUpper) },
		"Split":      func(p *Pattern) { p.Split(text) },
	} {
		for _, expr := range []string{"([ab]?){1000}c", "a|a*b"} { // each search is long, or there are many
			if expr == "a|a*b" && (name == "Match" || name == "Find") {
				continue
			}
			ctx, cancel := context.WithCancel(t.Context())
			p, err := CompilePattern(ctx, expr, true)
			if err != nil {
				t.Fatal(err)
			}
			began := make(chan struct{})
			over := make(chan struct{})
			go func() {
				defer close(over)
				close(began)
				search(p)
			}()
			<-began
			cancel()
			select {
			case <-over:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s of %s goes on", name, expr)
			}
		}
	}
}
