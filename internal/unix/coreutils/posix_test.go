package coreutils

import (
	"regexp"
	"strings"
	"testing"
)

// Whatever a pattern is, posix returns something that package regexp says yes or no to; the same pattern without operators is
// found in itself.
func FuzzPosix(f *testing.F) {
	for _, seed := range []string{`a\(b*\)\{1,2\}c$`, `[^]a[:alpha:]\n-]`, `^*a\|^b`, `(+a|*b)??{,2}`, `[[:`, `\`, `[[.a`, "\\\xff", `a{1`, `a\{1\`} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, pattern string, extended bool) {
		expr := posix(pattern, extended)
		setEnd("[" + pattern)
		re, err := regexp.Compile(expr)
		if err != nil || strings.ContainsAny(pattern, `\[]*.^$(){}+?|`) || strings.ToValidUTF8(pattern, "") != pattern {
			return
		}
		if !re.MatchString(pattern) {
			t.Errorf("%q becomes %q, which is not in it", pattern, expr)
		}
	})
}
