package bash_test

import (
	"testing"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

// What bash says; the programs are the shell's, and not those of the machine that it runs on.
func TestWhatNamesAre(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"type ran", "ran is /bin/ran\n"},
		{"command -v ran; echo $?", "/bin/ran\n0\n"},
		{"command -V ran", "ran is /bin/ran\n"},
		{"type -t ran cd if f a; f() { :; }; type -t f", "file\nbuiltin\nkeyword\nfunction\n"},
		{"type -p ran cd; type -P cd || echo none", "/bin/ran\nnone\n"},
		{"type ls; echo $?", "bash: type: ls: not found\n1\n"}, // the machine has one
		{"command -v ls; echo $?", "1\n"},
		{"command -v ls ran; echo $?", "/bin/ran\n0\n"},
		{"type ran ls; echo $?", "ran is /bin/ran\nbash: type: ls: not found\n1\n"},
		{"builtin command -v cd if", "cd\nif\n"},
		{"type cd while", "cd is a shell builtin\nwhile is a shell keyword\n"},
		{"f() { echo hi; }\ntype f; command -v f", "f is a function\nf () \n{ echo hi; }\nf\n"},
		{"command -v ./run ./a.txt ./none; echo $?", "./run\n0\n"},
		{"type -z ran; echo $?", "bash: type: -z: invalid option\n2\n"},
		{"command -v; type; echo $?", "0\n"},
		{"command echo -v ran", "-v ran\n"},
		{"alias a='echo x' ran=cd\ncommand -v a; type a ran; type -t a", "alias a='echo x'\na is aliased to `echo x'\nran is aliased to `cd'\nalias\n"},
		{"if [ \"$(command -v ran)\" ]; then echo yes; fi", "yes\n"},
	} {
		interactive := func(c *bash.Config) { c.Interactive = true }
		if got, ran := run(t, interactive, c.script); got != c.want || len(ran) > 0 {
			t.Errorf("%s:\n%q, not %q; it ran %q", c.script, got, c.want, ran)
		}
	}
}
