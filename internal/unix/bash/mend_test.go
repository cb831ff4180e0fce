package bash_test

import (
	"errors"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

// What the interpreter panics for, or does not do at all, is done as in bash. The answers are bash's.
func TestMended(t *testing.T) {
	for script, want := range map[string]string{
		`unset ""; echo $?`:                                     "0\n",
		`x=1; unset "" x ""; echo "[$x]"`:                       "[]\n",
		`builtin unset ""; command unset "$none"`:               "",
		`[[ -v "" ]]; echo $?`:                                  "1\n",
		`[[ -v $none || -R "$none" || -v '' ]]; echo $?`:        "1\n",
		`n=PWD; [[ -v $n && -v PWD && ! -v ${none} ]]; echo $?`: "0\n",
		`[ -v "" ]; echo $?; test ! -v ""; echo $?`:             "1\n0\n",
		`[ x = -v ] || echo no`:                                 "no\n",
		`set -- a b; shift -1; echo $? $#`:                      "bash: shift: -1: shift count out of range\n1 2\n",
		`set -- a b; command shift 1; echo $1`:                  "b\n",

		`a=(1 2); ((a[0]++)); echo ${a[@]} $?`:                                     "2 2 0\n",
		`a=(0); ((a[0]++)); echo $?; ((--a[0])); echo $?`:                          "1\n1\n",
		`i=1; a=(1 2); ((a[i]+=5, a[0]=7)); echo ${a[@]}`:                          "7 7\n",
		`a=(8); ((a[0]<<=2)); ((a[0]-=2+1)); ((a[0]/=2)); echo ${a[0]}`:            "14\n",
		`a=(1); let a[0]++ a[1]+=5; echo ${a[@]}`:                                  "2 5\n",
		`declare -A w; for k in a b a; do ((w[$k]++)); done; echo ${w[a]} ${w[b]}`: "2 1\n",
		`a=(2); while ((a[0]--)); do echo ${a[0]}; done`:                           "1\n0\n",
		`! ((a[0]=0)) && echo zero`:                                                "zero\n",

		`declare -A a=(x y p q); echo ${a[x]} ${a[p]}`:                            "y q\n",
		`declare -A a=([1+2]=x); echo ${!a[@]}`:                                   "1+2\n",
		`k=z; declare -A a=([$k-1]=x); echo ${!a[@]}`:                             "z-1\n",
		`declare -A m; m[1,2]=x; m[a-b]=y; echo ${m[1,2]} ${m[a-b]} ${!m[@]}`:     "x y 1,2 a-b\n",
		`declare -A m; i=3; m[$i,$i]=x; eval 'echo ${m[$i,$i]} ${m[i-1]-none}'`:   "x none\n",
		`declare -A m; ((m[a-b]+=2)); echo ${m[a-b]}`:                             "2\n",
		`a=(1 2 3); i=2; a[i-1]=x; echo ${a[i-1]} ${a[i]} ${a[-1]} ${a[i<1?i:0]}`: "x 3 3 1\n",
		`f() { echo ${m[a-b]}; }; eval 'declare -A m=([0]=z)'; f`:                 "z\n",
		`f() { local -A m=(k v); echo ${m[k]}; }; f`:                              "v\n",

		`eval 'a=(1); ((a[0]++)); echo ${a[0]}'`:         "2\n",
		`eval 'unset ""; [[ -v "" ]]'; echo $?`:          "1\n",
		`eval 'f() { ((b[1]++)); }'; f; f; echo ${b[1]}`: "2\n",
		`trap 'c[0]=1; ((c[0]++)); echo ${c[0]}' EXIT`:   "2\n",
		"alias q='echo a'\nq b":                          "a b\n",

		`HOME=/h; p=a:~; q=~:b:~/c; r=$p:~/d; echo $p $q $r`:        "a:/h /h:b:/h/c a:/h:/h/d\n",
		`HOME=/h; export p=~/a:~/b; readonly q=x:~; echo $p $q`:     "/h/a:/h/b x:/h\n",
		`HOME=/h; p='a:~' q=a":~/" r=a\:~ s=a:~x; echo $p $q $r $s`: "a:~ a:~/ a:~ a:~x\n",
		`HOME=/h; echo a:~; HOME="/a b"; p=x:~; echo "$p"`:          "a:~\nx:/a b\n",
		`HOME=/h; a=(x:~); echo ${a[0]}`:                            "x:~\n",
		`unset 'a[b[0]++]'; echo $?`:                                "0\n",
	} {
		if got, _ := run(t, func(c *bash.Config) { c.Interactive = true }, script+"\n:"); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
}

// What a file that is sourced has is mended, too.
func TestSourcedFilesAreMended(t *testing.T) {
	for script, want := range map[string]string{
		`. ./elements x; echo $? $#`: "2 x\n3 0\n",
		`source sub/lib`:             "sourced\n",
		`cd sub && . ./lib`:          "sourced\n",
		`source ./broken; echo $?`:   "source: source /desk/broken: /desk/broken:1:1: reached EOF without matching `{` with `}`\n1\n",
		`source ./none; echo $?`:     "bash: ./none: No such file or directory\n1\n",
		`source ./deep; echo $?`:     "source: source /desk/deep: /desk/deep:1:1: nested too deeply\n1\n",
	} {
		if got, _ := run(t, nil, script); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
}

// What is nested too deeply is refused, wherever the interpreter would parse or run it.
func TestDeepIsRefused(t *testing.T) {
	deep := func(part string) string { return strings.Repeat(part, 50_000) }
	for name, script := range map[string]string{
		"subshells":       deep("("),
		"blocks":          deep("{ "),
		"conditions":      deep("if "),
		"elif":            "if a; then b; " + deep("elif a; then b; ") + "fi",
		"cases":           deep("case x in x) "),
		"functions":       deep("f() "),
		"substitutions":   deep("$("),
		"lists":           deep("a && ") + "a",
		"pipelines":       deep("a | ") + "a",
		"parentheses":     "((" + deep("("),
		"signs":           "((" + deep("- ") + "1))",
		"sums":            "((" + deep("1+") + "1))",
		"assignments":     "((" + deep("x=") + "1))",
		"tests":           "[[ " + deep("( "),
		"negations":       "[[ " + deep("! ") + "x ]]",
		"defaults":        deep("${x:-"),
		"quoted defaults": `"` + deep(`${x:-"`),
		"indexes":         deep("a["),
		"braces":          "echo " + deep("{1..1}"),
	} {
		var parse syntax.ParseError
		if _, err := bash.Parse(script, "script", nil); !errors.As(err, &parse) || !strings.Contains(parse.Text, "nested too deeply") && !strings.Contains(parse.Text, "1000 braces") {
			t.Errorf("%s: %.200v", name, err)
		}
		for _, again := range []string{"eval", "trap", "alias"} {
			quoted, err := syntax.Quote(script, syntax.LangBash)
			if err != nil {
				t.Fatal(err)
			}
			line := map[string]string{"eval": "eval " + quoted, "trap": "trap " + quoted + " EXIT", "alias": "alias a=" + quoted}[again]
			if printed, _ := run(t, nil, line+"; echo $?"); !strings.HasPrefix(printed, "bash: "+again+": ") || !strings.HasSuffix(printed, "\n1\n") {
				t.Errorf("%s of %s prints %.200q", again, name, printed)
			}
		}
	}
	if printed, _ := run(t, nil, "test "+deep("! ")+"x; echo $?"); printed != "bash: test: too many arguments\n1\n" {
		t.Errorf("test prints %.200q", printed)
	}
	for _, fits := range []string{strings.Repeat("( ", 300) + "echo" + strings.Repeat(")", 300), strings.Repeat("true && ", 500) + "echo"} {
		if printed, _ := run(t, nil, fits); printed != "\n" {
			t.Errorf("%.20s... prints %.200q", fits, printed)
		}
	}
}

// What cannot be mended is refused with a reason.
func TestRefused(t *testing.T) {
	for script, want := range map[string]string{
		`((++a++))`:                    "assignment requires lvalue",
		`echo $((a[0]++))`:             "within an expression",
		`((a[i++]=1))`:                 "within an expression",
		`for ((a[0]=0;;)); do :; done`: "within an expression",
		`declare -A a=(["x y"]=1 z)`:   "must use subscript",
		`a=(["x"]=1 y)`:                "must use subscript",
		`exec > >(cat)`:                "exec with >(command) is not supported",
		`x=>(cat)`:                     ">(command) is supported among",
		`[[ -e >(cat) ]]`:              ">(command) is supported among",
	} {
		var parse syntax.ParseError
		if _, err := bash.Parse(script, "", nil); !errors.As(err, &parse) || !strings.Contains(parse.Text, want) {
			t.Errorf("%s: %v", script, err)
		}
	}
}
