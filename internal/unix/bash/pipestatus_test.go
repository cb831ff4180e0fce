package bash_test

import (
	"slices"
	"strings"
	"testing"
)

// What is wanted is what bash 5.2 prints.
func TestPipeStatus(t *testing.T) {
	for script, want := range map[string]string{
		`false | true; echo "${PIPESTATUS[@]}"; echo "${PIPESTATUS[@]}"`:                                          "1 0\n0\n",
		`(exit 3); echo ${PIPESTATUS[@]}`:                                                                         "3\n",
		`! false; echo $? ${PIPESTATUS[@]}; ! (exit 3) | (exit 4); echo $? ${PIPESTATUS[@]}`:                      "0 1\n0 3 4\n",
		`{ false | true; }; echo ${PIPESTATUS[@]}; (false | true); echo ${PIPESTATUS[@]}`:                         "1 0\n0\n",
		`if true; then false | true; fi; echo ${PIPESTATUS[@]}`:                                                   "1 0\n",
		`f() { false | true; }; f; echo ${PIPESTATUS[@]}`:                                                         "0\n",
		`f() { false | (exit 5) | true; echo ${PIPESTATUS[@]}; return 7; }; f; echo $PIPESTATUS`:                  "1 5 0\n7\n",
		`false | true; x=1; echo ${PIPESTATUS[@]}; false | true; [[ a == b ]]; echo ${PIPESTATUS[@]}`:             "0\n1\n",
		`false | true; declare q=1; echo ${PIPESTATUS[@]}; false | true; ((1)); echo ${PIPESTATUS[@]}`:            "0\n0\n",
		`false | true; x=$(echo ${PIPESTATUS[@]}); echo $x ${PIPESTATUS[@]}`:                                      "1 0 0\n",
		`false | true; (echo ${PIPESTATUS[@]}; echo ${PIPESTATUS[@]})`:                                            "1 0\n0\n",
		`set -o pipefail; false | true; echo $? ${PIPESTATUS[@]} ${#PIPESTATUS[@]} $PIPESTATUS`:                   "1 1 0 2 1\n",
		`set -o pipefail; false | false; echo $? ${PIPESTATUS[@]}`:                                                "1 1 1\n",
		`false | true && echo ${PIPESTATUS[@]}; true | false || echo ${PIPESTATUS[@]}`:                            "1 0\n0 1\n",
		`false | true; if [ ${PIPESTATUS[0]} -ne 0 ]; then echo failed; fi`:                                       "failed\n",
		`false | true; st=("${PIPESTATUS[@]}"); echo ${st[@]}`:                                                    "1 0\n",
		`false | true; ((PIPESTATUS[0] == 1)) && echo yes; false | true; [[ ${PIPESTATUS[0]} == 1 ]] && echo yes`: "yes\nyes\n",
		`false | true; eval 'echo ${PIPESTATUS[@]}'; for i in 1; do false | true; done; echo ${PIPESTATUS[@]}`:    "1 0\n1 0\n",
		`true | while read x; do :; done | { exit 4; } | { false | true; (exit 6); }; echo ${PIPESTATUS[@]}`:      "0 0 4 6\n",
		`false | true & wait; echo ${PIPESTATUS[@]}; false | true; echo ${PIPESTATUS[@]} | cat`:                   "0\n1 0\n",
		// A function that calls itself within a pipeline.
		`f() { [ $1 = 0 ] || { (exit $1) | f $(($1-1)); echo ${PIPESTATUS[@]}; }; return 0; }; f 2`: "1 0\n2 0\n",
		// What notes the statuses is neither seen nor does it end the shell.
		`false; echo $? | cat; set -e; ! true | false; ! false | true; false | true; echo on; true | false; echo no`: "1\non\n",
		`trap 'echo failed $?' ERR; true | false; { false; }; false; [[ a == b ]]; [[ a == c ]]`:                     strings.Repeat("failed 1\n", 5),
	} {
		// A shell that ends with a status is not an error here.
		if got, _ := run(t, nil, "( "+script+"\n); :"); got != want {
			t.Errorf("%s\nprints %q\nwant   %q", script, got, want)
		}
	}
	if got, _ := run(t, ash, `false | true; echo "<${PIPESTATUS[@]}>"`); got != "<>\n" {
		t.Errorf("busybox's shell prints %q", got)
	}
	got, _ := run(t, nil, `set -x; true | false; : ${PIPESTATUS[@]}`)
	if lines := strings.SplitAfter(got, "\n"); !slices.Equal(slices.Sorted(slices.Values(lines)), []string{"", "+ : 0 1\n", "+ false\n", "+ true\n"}) {
		t.Errorf("set -x prints %q", got)
	}
}

// Of more pipelines than are known the last ones are.
func TestPipeStatusOfMany(t *testing.T) {
	got, _ := run(t, nil, `for ((i = 0; i < 1000; i++)); do (exit $((i % 7))) | true; done; echo ${PIPESTATUS[@]}`)
	if want := "5 0\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
}
