package shell_test

import (
	"strings"
	"testing"
)

// TestDeepValues: jq makes no value that is too deep to be compared and printed, and leaves others as they are.
func TestDeepValues(t *testing.T) {
	for line, want := range map[string]string{
		`jq -n 'reduce range(1000000) as $i (0; [.]) | length'`:                                 "exceeds depth limit (10000)",
		`jq -n 'reduce range(1000000) as $i (0; {a: .}) | . == .'`:                              "exceeds depth limit (10000)",
		`jq -n 'reduce range(1000000) as $i (0; . as $x | null | setpath(["a"]; $x)) | tojson'`: "exceeds depth limit (10000)",
		`jq -n 'reduce range(1000000) as $i (0; . as $x | null | .a |= $x) | tojson'`:           "exceeds depth limit (10000)",
		`jq -n 'reduce range(10002) as $i (0; [.])'`:                                            "exceeds depth limit (10000)",
		`yes '[' | head -n 100000 | jq .`:                                                       "exceeded max depth",
		`jq -n "$(yes '.|' | head -n 40000)."`:                                                  "the filter is too long",
	} {
		result, err := shared.shell.Run(t.Context(), line, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(result.Stderr, want) || result.ExitCode == 0 {
			t.Errorf("%s: said %.200q, and ended with %d", line, result.Stderr, result.ExitCode)
		}
	}
	for filter, want := range map[string]string{
		`reduce range(9000) as $i (0; [.]) | flatten`:                 "[0]\n",
		`[1, (2, 3)][1:] | .[0] += 5 | {a: ., b: [.[] | . * 2]}`:      `{"a":[7,3],"b":[14,6]}` + "\n",
		`{("a", "b"): (1, 2)}`:                                        "{\"a\":1}\n{\"a\":2}\n{\"b\":1}\n{\"b\":2}\n",
		`[{a: 1}, {a: 2}] | map(.a) as [$x, $y] | path(.[0].a), $y`:   "[0,\"a\"]\n2\n",
		`def f(g): [g]; {x: f(1, 2)} | .x |= map(. + 1) | del(.x[0])`: `{"x":[3]}` + "\n",
		`try ([1] | error([2])) catch .`:                              "[2]\n",
		`[limit(3; repeat([1]))] | length, (.[0] // 0)`:               "3\n[1]\n",
	} {
		result, err := shared.shell.Run(t.Context(), "jq -n -c '"+filter+"'", "", "")
		if err != nil {
			t.Fatal(err)
		}
		if result.Stdout != want {
			t.Errorf("%s: printed %q, %q", filter, result.Stdout, result.Stderr)
		}
	}
}
