package bash_test

import "testing"

// A backslash quotes what stands behind it, wherever a word is. The answers are bash's.
func TestEscapes(t *testing.T) {
	for script, want := range map[string]string{
		`x=a\ b; echo "$x"`:                                    "a b\n",
		`x=a\b y=a\\b; echo "$x" "$y"`:                         "ab a\\b\n",
		`x=\$HOME; echo "$x"; x+=\"\'\*; echo "$x"`:            "$HOME\n$HOME\"'*\n",
		`p={\"spec\":{\"n\":2}}; echo "$p"`:                    "{\"spec\":{\"n\":2}}\n",
		`export x=a\ b; readonly y=c\'d; echo "$x" $y`:         "a b c'd\n",
		`f() { local z=a\ b; echo "$z"; }; f`:                  "a b\n",
		`declare -A m=([a\ b]=c\ d); k="a b"; echo "${m[$k]}"`: "c d\n",
		`a=(x\ y [3]=z\ w); echo "${a[0]}" "${a[3]}"`:          "x y z w\n",
		`cat <<< a\ \"b\"`:                                     "a \"b\"\n",
		`case a\ b in "a b") echo ok;; esac`:                   "ok\n",
		`case "a b" in a\ b) echo ok;; esac`:                   "ok\n",
		`case 'a*' in a\*) echo ok;; esac`:                     "ok\n",
		`[[ a\ b == "a b" ]] && echo ok`:                       "ok\n",
		`[[ aZ > a\ c ]] && echo ok`:                           "ok\n",
		`[[ 'a*' == a\* && ab != a\* ]] && echo ok`:            "ok\n",
		`[[ a\.b =~ ^a\.b$ && ! axb =~ ^a\.b$ ]] && echo ok`:   "ok\n",
		`echo "${x:-a\ b}" "${x:-a\$b}" "${x:-\"q\"}"`:         "a\\ b a$b \"q\"\n",
		`echo ${x:-a\$b}; y=a/q; echo ${y/q/\$} "${y/q/\/}"`:   "a$b\na/$ a//\n",
		`y=a/b; echo ${y#a\/} ${y/\//-} ${y%\/*}`:              "b a-b a\n",
		"cat <<E\n${x:-a\\$b} \\$x ${x:-a\\ b}\nE":             "a$b $x a\\ b\n",
		`x=é\é; echo $x`:                                       "éé\n",
		`eval 'x=a\ \$b; echo "$x"'`:                           "a $b\n",
		`eval 'echo "${x:-\$}"'`:                               "$\n",
		"x=a\\\nb; echo $x":                                    "ab\n",
		`x=a\`:                                                 "",
		`x=~\/a:\~; echo "$x"`:                                 "~/a:~\n",
	} {
		if got, _ := run(t, nil, script+"\n:"); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
}
