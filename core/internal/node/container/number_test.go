package container

import "testing"

// $$ is the number of the shell's process.
func TestOwnNumber(t *testing.T) {
	for line, want := range map[string]string{
		"echo $$; echo ${$}":                              "8\n8\n",
		"grep -c CapPrm /proc/$$/status; (echo $$) | cat": "1\n8\n",
		"env | grep number; set | grep -c __number":       "0\n",
		`x=$(echo $$); echo "$x $$"`:                      "8 8\n",
	} {
		for _, shell := range []string{"sh", "bash"} {
			if got, _ := run(t, "nginx").exec(t, shell, "-c", line); got != want {
				t.Errorf("%s -c %q prints %q, want %q", shell, line, got, want)
			}
		}
	}
}
