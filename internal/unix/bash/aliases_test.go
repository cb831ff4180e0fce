package bash_test

import (
	"testing"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

func TestAliasesOfSeveralCommands(t *testing.T) {
	for script, want := range map[string]string{
		"alias kx='f() { [ \"$1\" ] && echo use $1 || echo current ; } ; f'\nkx; kx 'a b'; kx x | cat": "current\nuse a b\nuse x\n",
		"alias p='echo a b | cat'\np\np && echo c":                                                     "a b\na b\nc\n",
		"alias two='echo a; echo b'\ntwo c; x=$(two d); echo \"$x\"":                                   "a\nb c\na\nb d\n",
		"alias e='echo >&2'\ne a":                                                                      "a\n",
		"alias sub='cd sub && pwd'\nsub; pwd":                                                          "/desk/sub\n/desk/sub\n",
		"alias q='echo \"it'\\''s\" $((1+1)); echo \"a  b\"'\nalias q":                                 "alias q='echo \"it'\\''s\" $((1+1)); echo \"a  b\"'\n",
		"alias p='echo a | cat' k=ran\nalias; type p k; command -v p; type -t p":                       "alias k='ran'\nalias p='echo a | cat'\np is aliased to `echo a | cat'\nk is aliased to `ran'\nalias p='echo a | cat'\nalias\n",
		"alias none; echo $?":                                                                          "bash: alias: none: not found\n1\n",
		"alias echo='builtin echo x; echo y'\necho z":                                                  "x\ny z\n",
		"alias a='echo a; b' b='echo b; a'\na() { echo function $1; }\na c":                            "a\nb\nfunction c\n",
		"alias out='echo a; return 3'\nf() { out; echo no; }\nf; echo $?":                              "a\n3\n",
		"alias c='[[ -f a.txt && $(<a.txt) ]] && echo'\nc yes":                                         "yes\n",
		"alias l='for i in'\nl":                                                                        "",
		"alias t='echo a; true'\nset -x\nt b\nset +x":                                                  "+ echo a\na\n+ true b\n+ set +x\n",
		"alias s='sudo ' k='ran'\ns k; unalias s; alias s; :":                                          "bash: alias: s: not found\n",
	} {
		if got, _ := run(t, func(c *bash.Config) { c.Interactive = true }, script+"\n:"); got != want {
			t.Errorf("%s\nprints %q, want %q", script, got, want)
		}
	}
}
