package bash_test

import (
	"slices"
	"strings"
	"testing"
)

// panics is what the interpreter panics for: the word that it looks for options in has become shorter.
const panics = `{ set -- -ab; getopts ab o; set -- -a; getopts ab o; echo on; }`

// What panics in a goroutine of the interpreter ends what would be a process of its own, and nothing else.
func TestPartsSurvive(t *testing.T) {
	const said = "bash: internal error: runtime error: index out of range [1] with length 1 (interp.(*getopts).next, builtin.go:1226)\n"
	for script, want := range map[string]string{
		panics + ` | :; echo $?`:                                                                         said + "0\n",
		`set -o pipefail; ` + panics + ` | :; echo $?`:                                                   said + "134\n",
		`: | ` + panics + ` | : | :; echo on`:                                                            said + "on\n",
		`( : | ` + panics + ` ) | :; echo on`:                                                            said + "on\n",
		panics + ` |& :; echo on`:                                                                        "on\n",
		`while ` + panics + `; do :; done | :; echo on`:                                                  said + "on\n",
		`f() { ` + panics + `; }; f | :; echo on`:                                                        said + "on\n",
		`eval '` + panics + ` | :'; echo on`:                                                             said + "on\n",
		`x=$(` + panics + ` | :); echo on`:                                                               said + "on\n",
		`for i in 1; do ` + panics + ` & wait $!; echo $?; done`:                                         said + "134\n",
		`( ` + panics + ` & wait )`:                                                                      said,
		panics + ` & wait; echo on`:                                                                      said + "on\n",
		`{ trap '` + panics + `' EXIT; exit 3; } & wait $!; echo $?`:                                     said + "134\n",
		`{ echo a | { ` + panics + ` | :; } | :; } & wait; echo on`:                                      said + "on\n",
		`: | { trap '` + panics + `' ERR; false; } | :; echo on`:                                         said + "on\n",
		`trap '` + panics + ` | :' EXIT`:                                                                 said,
		"p='" + strings.Repeat("@(", 1001) + strings.Repeat(")", 1001) + "'; [[ a == $p ]] | :; echo on": "on\n",
	} {
		got, _ := run(t, nil, script)
		if strings.HasPrefix(script, "p=") { // where it panics is of no interest
			_, got, _ = strings.Cut(got, "internal error: ")
			_, got, _ = strings.Cut(got, ")\n")
		}
		if got != want {
			t.Errorf("%.200s prints %.300q, want %q", script, got, want)
		}
	}
}

// Parts do what they would do otherwise.
func TestPartsAreAsTheyWere(t *testing.T) {
	for script, want := range map[string]string{
		`set -- a 'b c'; { for i; do echo "<$i>"; done; } | while read x; do echo "$x"; done`:               "<a>\n<b c>\n",
		`false; echo $? | while read x; do echo $x; done`:                                                   "1\n",
		"\n\necho $LINENO | while read x; do echo $x $LINENO; done":                                         "3 3\n",
		`f() { local v=in; echo $v | while read x; do echo "$x $v"; done; return 4; }; f; echo $?`:          "in in\n4\n",
		`echo "it's" 'a "b"' $'c\'d' | while read x; do echo "$x"; done`:                                    "it's a \"b\" c'd\n",
		"while read x; do echo \"[$x]\"; done <<EOF | while read y; do echo $y; done\na 'b'\n$((1+1))\nEOF": "[a 'b']\n[2]\n",
		`set -e; { false; echo no; } | while read x; do echo $x; done; echo yes`:                            "yes\n",
		`! false | true; echo $?`: "1\n",
		`! true | false; echo $?`: "0\n",
		`{ { echo a | while read x; do echo "1$x"; done; } | while read x; do echo "2$x"; done; } | while read x; do echo "3$x"; done`: "321a\n",
		`v=1; { v=2; echo $v; } | while read x; do echo "$x $v"; done; echo $v`:                                                        "2 1\n1\n",
		`{ echo a; echo b >&2; } 2>&1 | while read x; do echo "<$x>"; done`:                                                            "<a>\n<b>\n",
		`{ exit 7; echo no; } & wait $!; echo $?`:                                                                                      "7\n",
		`{ trap 'echo bye' EXIT; exit 3; } & wait $!; echo $?`:                                                                         "bye\n3\n",
		`eval 'nothing <(nothing) < <(echo a)' | :`:                                                                                    "",
		`nothing 'a b' | :; nothing "" & wait`:                                                                                         "",
		"declare -A m=([k]=v); echo ${m[k]} | while read x; do echo $x; done":                                                          "v\n",
		"shopt -s extglob; [[ ab == @(ab|c) ]] && echo yes | while read x; do echo $x; done":                                           "yes\n",
	} {
		if got, _ := run(t, nil, script); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
	// The parts of a pipeline run side by side.
	got, _ := run(t, nil, `set -x; { echo a; echo 'b c'; } | { :; }`)
	if lines := strings.SplitAfter(got, "\n"); !slices.Equal(slices.Sorted(slices.Values(lines)), []string{"", "+ :\n", "+ echo 'b c'\n", "+ echo a\n"}) {
		t.Errorf("set -x prints %q", got)
	}
	if _, ran := run(t, nil, `nothing 'a b' "" 'it'"'"s | :; else $(more) & wait`); !slices.Equal(ran, []string{"nothing a b  it's", "more", "else"}) {
		t.Errorf("ran %q", ran)
	}
}
