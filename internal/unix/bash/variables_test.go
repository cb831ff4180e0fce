package bash_test

import (
	"testing"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

func TestVariablesAreListed(t *testing.T) {
	with := func(env ...string) func(*bash.Config) {
		return func(c *bash.Config) { c.Env = env }
	}
	for script, want := range map[string]string{
		`export -p; B=2; export B 'C=a "b" $c'; export`: `declare -x A="1"
declare -x PWD="/desk"
declare -x A="1"
declare -x B="2"
declare -x C="a \"b\" \$c"
declare -x PWD="/desk"
`,
		`readonly R=1; readonly -p | while read -r l; do case $l in *R=*|*INFO=*) echo "$l";; esac; done`: `declare -ar BASH_VERSINFO=([0]="5" [1]="2" [2]="15" [3]="1" [4]="release" [5]="x86_64-pc-linux-gnu")` + "\ndeclare -r R=\"1\"\n",
		`f() { local v; export L=in; export -p >&2; }; f`:                                                 "declare -x A=\"1\"\ndeclare -x L=\"in\"\ndeclare -x PWD=\"/desk\"\n",
		`echo ${BASH_VERSINFO[0]} $BASH_VERSION $(echo $BASH_VERSION); __variables || echo on`:            "5 5.2.15(1)-release 5.2.15(1)-release\non\n",
	} {
		if got := first(run(t, with("A=1"), script)); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
	sh := func(c *bash.Config) { ash(c); with("A=it's")(c) }
	if got, want := first(run(t, sh, `export -p; readonly D=4; echo "<$BASH_VERSION>"`)), "export A='it'\"'\"'s'\nexport PWD='/desk'\n<>\n"; got != want {
		t.Errorf("busybox's shell prints %q, want %q", got, want)
	}
}

func first(printed string, _ []string) string { return printed }

func TestNested(t *testing.T) {
	for _, test := range []struct {
		dialect bash.Dialect
		env     []string
		want    string
	}{
		{bash.Bash, nil, "SHLVL=1"},
		{bash.Ash, []string{"SHLVL=4", "A=b"}, "SHLVL=5"},
		{bash.Bash, []string{"SHLVL=many"}, "SHLVL=1"},
		{bash.Dash, []string{"SHLVL=4"}, "SHLVL=4"},
	} {
		got := bash.Nested(test.env, test.dialect)
		if got[len(got)-1] != test.want {
			t.Errorf("%q becomes %q", test.env, got)
		}
	}
}
