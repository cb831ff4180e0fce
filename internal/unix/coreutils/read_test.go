package coreutils_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

func TestRead(t *testing.T) {
	for _, test := range []struct{ line, typed, prompt, want string }{
		{"read", "a  b", "", "REPLY='a  b'"},
		{"read x", " a  b ", "", "x='a  b'"},
		{"read x y", "a  b   c d", "", "x=a y='b   c d'"},
		{"read x y z", "a b", "", "x=a y=b z=''"},
		{"read -r x", `a\b`, "", `x='a\b'`},
		{"read x", `a\b`, "", "x=ab"},
		{"read -p name: x", "a", "name:", "x=a"},
		{"read -rp name: x", `\`, "name:", `x='\'`},
		{"read -t 5 -n1 x", "a", "", "x=a"},
		{"read -s -pkey: x", "a", "key:", "x=a"},
		{"read -n 2 x", "äbc", "", "x=äb"},
		{"read -n 5 x", "a", "", "x=a"},
		{"read -N 5 x", " a\nb c", "", `x=$' a\nb '`},
		{"read -d ; x", "a;b", "", "x=a"},
		{"read -n0 x", "a", "", "x=''"},
	} {
		var prompts strings.Builder
		got := coreutils.Read(&prompts, strings.NewReader(test.typed+"\nnext"), strings.Fields(test.line))
		if want := []string{"eval", test.want}; !slices.Equal(got, want) || prompts.String() != test.prompt {
			t.Errorf("%s: %q after %q, want %q after %q", test.line, got, prompts.String(), want, test.prompt)
		}
	}
	if got := coreutils.Read(nil, strings.NewReader(""), []string{"read", "x"}); !slices.Equal(got, []string{"false"}) {
		t.Errorf("at the end of the input: %q", got)
	}
}
