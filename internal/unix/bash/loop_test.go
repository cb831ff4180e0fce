package bash_test

import "testing"

// Loops that count go on, and end, as in bash. The answers are bash's.
func TestLoopsThatCount(t *testing.T) {
	for script, want := range map[string]string{
		// The last command of the body fails.
		`for ((i = 0; i < 3; i++)); do [ $i = 5 ] && echo x; done; echo $i`:                                    "3\n",
		`for ((i = 0; i < 2; i++)) { false; }; echo $i`:                                                        "2\n",
		`for ((i = 0; i < 2; i++)); do grep -q x <<< y; done; echo $i`:                                         "2\n",
		`for ((;;)); do ((i++)); ((i > 3)) && break; done; echo $i $?`:                                         "4 0\n",
		`for ((i = 0; i < 2; i++)); do for ((j = 0; j < 2; j++)); do ((j == 7)) && x; done; done; echo $i $j`:  "2 2\n",
		`set -e; for ((i = 0; i < 2; i++)); do ((i == 7)) && echo x; done; echo end`:                           "end\n",
		`set -e; for ((i = 0; i < 3; i++)); do false || echo $i; done; echo end`:                               "0\n1\n2\nend\n",
		`(set -e; for ((i = 0; i < 3; i++)); do echo $i; false; done; echo no); echo $?`:                       "0\n1\n",
		`for ((i = 0; i < 3; i++)); do for j in 1 2; do ((j == 2)) && continue 2; echo $i$j; done; done; echo`: "01\n11\n21\n\n",

		// It ends in the body, with success.
		`(for ((;;)); do exit 0; done); echo $?`:             "0\n",
		`(for ((;;)); do exit 3; done); echo $?`:             "3\n",
		`f() { for ((;;)); do return 0; done; }; f; echo $?`: "0\n",
		`f() { for ((;;)); do return 4; done; }; f; echo $?`: "4\n",

		// Parts are missing, are several, or assign.
		`i=0; for ((; i < 2;)); do ((i += 1)); done; echo $i`:                              "2\n",
		`for ((i = 0, j = 5; i < j; i++, j--)); do :; done; echo $i $j`:                    "3 2\n",
		`for ((i = 3; i; i--)); do echo $i; done`:                                          "3\n2\n1\n",
		`for ((i = 0; i < 3; i++)); do continue; done 2>&1; echo $i`:                       "3\n",
		`for ((i = 0; i < 2; i++)); do echo $i; done | while read x; do echo "<$x>"; done`: "<0>\n<1>\n",
		`f() { for ((i = $1; i < 2; i++)); do f 2; echo $i; done; }; f 0`:                  "2\n",
		`f() { local i; for ((i = $1; i < 2; i++)); do f 2; echo $i; done; }; f 0`:         "0\n1\n",
		`eval 'for ((i = 0; i < 2; i++)); do false; done; echo $i'`:                        "2\n",
		`! for ((i = 0; i < 0; i++)); do :; done; echo $?`:                                 "1\n",
	} {
		if got, _ := run(t, nil, script); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
}
