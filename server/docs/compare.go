package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// varying is what differs from run to run, by what stands for it, in the order in which it is replaced.
var varying = []struct {
	pattern *regexp.Regexp
	stands  string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d\d:?\d\d)?( UTC)?`), "<time>"},
	{regexp.MustCompile(`\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d? \w{3} \d{4} \d\d:\d\d:\d\d (\w{3}|[+-]\d{4})`), "<time>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<uid>"},
	{regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]+`), "<token>"},
	{regexp.MustCompile(`[A-Za-z0-9+/]{60,}={0,2}`), "<data>"},
	{regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(:\d+)?\b`), "<address>"},
	{regexp.MustCompile(`\b(\d+):3[0-2]\d{3}/(TCP|UDP|SCTP)\b`), "$1:<port>/$2"},
	{regexp.MustCompile(`(nodePort"?: )3[0-2]\d{3}\b`), "$1<port>"},
	{regexp.MustCompile(`(?i)(resource-?version"?[:=]\s*"?)\d+\b`), "$1<revision>"},
	{regexp.MustCompile(`-[0-9a-f]{6,10}-[a-z0-9]{5}\b`), "-<hash>-<id>"},
	{regexp.MustCompile(`-[0-9a-f]{8,10}\b`), "-<hash>"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-<id>"},
	// Minutes are written as thousandths of a processor are.
	{regexp.MustCompile(`(?i)(cpu"?[:=]?\s*"?)(\d+)m\b`), "$1$2 thousandths"},
	{regexp.MustCompile(`\b(\d+y)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?\b`), ""}, // see normal
	{regexp.MustCompile(`\b\d+(\.\d+)?(ms|µs)\b`), "<age>"},
	{regexp.MustCompile(`[ \t]+`), " "}, // the columns of a table are as wide as what is in them
}

// normal is a line with what varies from run to run replaced.
func normal(text string) string {
	for _, v := range varying {
		if v.stands != "" {
			text = v.pattern.ReplaceAllString(text, v.stands)
			continue
		}
		text = v.pattern.ReplaceAllStringFunc(text, func(age string) string {
			if age == "" {
				return ""
			}
			return "<age>"
		})
	}
	return strings.TrimRight(text, " ")
}

func normals(lines []string) []string {
	found := make([]string, len(lines))
	for i, l := range lines {
		found[i] = normal(l)
	}
	return found
}

// ellipsis reports whether a line of a document stands for any lines.
func ellipsis(text string) bool {
	text = strings.TrimSpace(text)
	return text == "..." || text == "\u2026"
}

// holds reports whether printed is what a document says.
func holds(said, printed []string) bool {
	if !slices.ContainsFunc(said, ellipsis) {
		return slices.Equal(normals(said), normals(printed))
	}
	return fits(normals(said), normals(printed))
}

// fits is holds for lines that are normal.
func fits(said, printed []string) bool {
	for i, l := range said {
		if ellipsis(l) {
			rest := said[i+1:]
			for from := range len(printed) + 1 {
				if fits(rest, printed[from:]) {
					return true
				}
			}
			return false
		}
		if len(printed) == 0 || printed[0] != l {
			return false
		}
		printed = printed[1:]
	}
	return len(printed) == 0
}

// unified is the unified diff between what the lines from number on of a document say and what is printed. Lines that
// differ only in what varies are shown as the document has them.
func unified(path string, number int, said, printed []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "--- %s\n+++ as it runs\n", path)
	for _, group := range difflib.NewMatcher(normals(said), normals(printed)).GetGroupedOpCodes(3) {
		first, last := group[0], group[len(group)-1]
		fmt.Fprintf(&text, "@@ -%s +%s @@\n", lineRange(number+first.I1, last.I2-first.I1), lineRange(number+first.J1, last.J2-first.J1))
		for _, c := range group {
			if c.Tag == 'e' {
				for _, l := range said[c.I1:c.I2] {
					fmt.Fprintf(&text, " %s\n", l)
				}
				continue
			}
			for _, l := range said[c.I1:c.I2] {
				fmt.Fprintf(&text, "-%s\n", l)
			}
			for _, l := range printed[c.J1:c.J2] {
				fmt.Fprintf(&text, "+%s\n", l)
			}
		}
	}
	return text.String()
}

// lineRange is a range as unified diffs have it: one line without its length, none after the line before.
func lineRange(from, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", from-1)
	case 1:
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, n)
}
