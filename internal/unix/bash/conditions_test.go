package bash_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

func TestConditionsLookOnlyAsFarAsBash(t *testing.T) {
	for script, want := range map[string]string{
		`[[ -f nofile && "x$(<nofile)" ]]; echo $?`:                                          "1\n",
		`[[ -f a.txt && "$(<a.txt)" == "of a" ]]; echo $?`:                                   "0\n",
		`[[ -f a.txt || $(echo ran >&2) ]]; echo $?`:                                         "0\n",
		`[[ -z a || $(echo ran >&2) ]]; echo $?`:                                             "ran\n1\n",
		`set -u; [[ -n ${x+x} && $x == y ]]; echo $?`:                                        "1\n",
		`[[ ! ( -f a.txt && -z $HOME ) || a == b ]]; echo $?`:                                "0\n",
		`[[ a == b && c || $d == "" ]]; echo $?`:                                             "0\n",
		`[[ ! -f nofile && -z a ]]; echo $?`:                                                 "1\n",
		`[[ ! a || b ]]; echo $?; [[ ! ! a && ! -z a ]]; echo $?`:                            "0\n0\n",
		`[[ -z a && b || c ]]; echo $?; [[ a || b && -z c ]]; echo $?`:                       "0\n0\n",
		`f() { [[ ! a && $1 || b && ! ( c || d ) || ! -z e ]] | cat; echo $PIPESTATUS; }; f`: "0\n",
		`[[ a || b && $(echo ran >&2) ]]; echo $?`:                                           "0\n",
		`[[ a && ( b == c || $x == "" ) && ! $x ]] && echo yes`:                              "yes\n",
		`if [[ $x == 1 || $x == "" ]]; then echo yes; fi`:                                    "yes\n",
		`! [[ a && $x ]]; echo $?`:                                                           "0\n",
		`set -e; [[ a && $x ]] || echo goes on; [[ a && $x ]]; echo no`:                      "goes on\n",
		`set -e; if [[ a && $x ]]; then :; fi; [[ ! ( a && $x ) ]]; echo goes on`:            "goes on\n",
		`trap 'echo failed' ERR; [[ a && $x ]]; [[ $x && a ]]; [[ a && $PWD ]]; :`:           "failed\nfailed\n",
		`f() { [[ $1 && $2 ]]; }; f 1; echo $?; f 1 2; echo $?`:                              "1\n0\n",
		`x=abc; [[ $x =~ ^a(.) && ${BASH_REMATCH[1]} == b ]] && echo match`:                  "match\n",
		`echo "$(<nofile)."; x=$(<nofile); echo $?`:                                          "bash: nofile: No such file or directory\n.\nbash: nofile: No such file or directory\n1\n",
		`x=$(<a.txt) y="$( <b.txt )"; echo "$x, $y"`:                                         "of a, of b\n",
	} {
		// A shell that ends with a status is not an error here.
		if got, _ := run(t, nil, "("+script+"\n); :"); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
}

func TestDeepConditionsAreLeftAlone(t *testing.T) {
	script := "[[ $x == 1" + strings.Repeat(" || $x == 1", 300) + " || $x == '' ]] && echo yes"
	if got, _ := run(t, nil, script); got != "yes\n" {
		t.Errorf("prints %q", got)
	}
}

// What bash 5.2 prints, but for what it calls ++.
func TestTrace(t *testing.T) {
	for script, want := range map[string]string{
		`set -x; echo "a b" c; ran 'd e' f; set +x; echo g`:              "+ echo 'a b' c\na b c\n+ ran 'd e' f\n+ set +x\ng\n",
		`set -x; exec echo a b`:                                          "+ exec echo a b\na b\n",
		`set -x; echo -en 'a\n'; cd sub; umask 077; test a = a`:          "+ echo -en 'a\\n'\na\n+ cd sub\n+ umask 077\n+ test a = a\n",
		`set -x; x=foo; [[ -n $x && $x == f* ]]; [[ ! -d / ]]; [[ a ]]`:  "+ x=foo\n+ [[ -n foo ]]\n+ [[ foo == f* ]]\n+ [[ ! -d / ]]\n+ [[ -n a ]]\n",
		`set -x; [[ -f nofile || ! -d /desk ]]; [[ $? == 1 ]] && echo a`: "+ [[ -f nofile ]]\n+ [[ ! -d /desk ]]\n+ echo a\na\n",
		`set -x; for i in 1; do echo $i; done; true; x=$(echo a)`:        "+ for i in 1\n+ echo 1\n1\n+ true\n+ echo a\n+ x=a\n",
		`set -x; echo $(<a.txt); [[ "$(<a.txt)" ]]`:                      "+ echo of a\nof a\n",
		`set -x; (echo "it's" a=b '' '#' a#); [ a = b ]`:                 "+ echo 'it'\\''s' a=b '' '#' a#\nit's a=b  # a#\n+ '[' a = b ']'\n",
		"f() { set -x; }; f\n[[ a == a ]]":                               "+ [[ a == a ]]\n",
		`eval 'set -x'; eval '[[ -n a ]]'`:                               "+ eval '[[ -n a ]]'\n+ [[ -n a ]]\n",
	} {
		if got, _ := run(t, nil, script+"\nset +x; :"); strings.TrimSuffix(got, "+ set +x\n") != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
	if got, _ := run(t, func(c *bash.Config) { c.Options = []string{"-x"} }, `echo "a b"`); got != "+ echo 'a b'\na b\n" {
		t.Errorf("the option -x prints %q", got)
	}
	if got, _ := run(t, nil, `printf '+ a\n' >&2; echo '+ b' >&2`); got != "+ a\n+ b\n" {
		t.Errorf("without a trace, %q is left", got)
	}
}

// randomCondition returns an expression with its value; binds says what it binds as: 0 as ||, 1 as &&, 2 more than both.
func randomCondition(r *rand.Rand, depth int) (text string, binds int, value bool) {
	if depth == 0 {
		atom := r.IntN(6)
		return []string{"a", "$yes", `"$(<a.txt)"`, "-z $yes", "$no", "-f nofile"}[atom], 2, atom < 3
	}
	within := func(least int) (string, bool) {
		text, binds, value := randomCondition(r, r.IntN(depth))
		if binds < least || r.IntN(5) == 0 {
			text = "( " + text + " )"
		}
		return text, value
	}
	switch op := r.IntN(3); op {
	case 2:
		text, value := within(2)
		return "! " + text, 2, !value
	default:
		left, x := within(op)
		right, y := within(op)
		if op == 0 {
			return left + " || " + right, op, x || y
		}
		return left + " && " + right, op, x && y
	}
}

func TestRandomConditions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	script, want := "yes=1\n", ""
	for range 500 {
		text, _, value := randomCondition(r, 6)
		script += "[[ " + text + " ]] && echo true || echo '" + text + "'\n"
		if value {
			text = "true"
		}
		want += text + "\n"
	}
	for _, script := range []string{script, "{\n" + script + "} | cat", "f() {\n" + script + "}; eval \"$(declare -f f)\"; f"} {
		if got, _ := run(t, nil, script); got != want {
			t.Errorf("differs:\n%s", cmp.Diff(want, got))
		}
	}
}
