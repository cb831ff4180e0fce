package shell_test

import (
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/shell"
)

// TestFaults: a program that panics ends as one that has aborted. Its line goes on, in a pipeline, in $( ), in a script
// and in the background, and so do the shell and the API server.
func TestFaults(t *testing.T) {
	shell.AddFaulty(t)
	for line, want := range map[string]string{
		"faulty; echo $?":                                 "134\n",
		"faulty 2>/dev/null; echo $?":                     "134\n",
		"echo a | faulty; echo $?":                        "134\n",
		"faulty | cat; echo $?":                           "0\n",
		"x=$(faulty); echo $?":                            "134\n",
		"bash -c 'faulty; echo $?'":                       "134\n",
		"timeout 60 faulty; echo $?":                      "134\n",
		"timeout 60 bash -c 'faulty' | cat":               "",
		"echo faulty | xargs -n 1 env; echo $?":           "123\n",
		"faulty & wait $!; echo $?":                       "134\n",
		"(faulty & wait); echo a":                         "a\n",
		`awk 'BEGIN { print system("faulty") }'`:          "134\n",
		"cat <(faulty); echo a":                           "a\n",
		"trap 'faulty' EXIT; exit 3":                      "",
		"f() { faulty; return 5; }; f; echo $?":           "5\n",
		"if faulty; then echo yes; else echo no; fi":      "no\n",
		"for i in 1 2; do faulty; done 2>&1 | grep -c of": "2\n",
	} {
		result, err := shared.shell.Run(t.Context(), line, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if result.Stdout != want {
			t.Errorf("%s: printed %q, %q", line, result.Stdout, result.Stderr)
		}
		if !strings.Contains(line, "2>") && !strings.Contains(result.Stderr, "internal error: out of order (shell.faulty, faults_internal_test.go:") {
			t.Errorf("%s: said %q", line, result.Stderr)
		}
	}
	ready(t)
}
