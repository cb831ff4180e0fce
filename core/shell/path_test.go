package shell_test

import (
	"strings"
	"testing"
)

// What users install in a folder of the PATH is found by its name, as are plugins of kubectl, of which documentation has an
// example.
func TestPrograms(t *testing.T) {
	url := httpServer(t)
	made := post(t, url, `mkdir -p bin other && cat > bin/kubectl-foo <<'END'
#!/bin/bash
# optional argument handling
if [[ "$1" == "version" ]]
then
    echo "1.0.0"
    exit 0
fi
if [[ "$1" == "config" ]]
then
    echo "$KUBECONFIG"
    exit 0
fi
echo "I am a plugin named kubectl-foo $*"
exit 3
END
echo 'echo of create: "$@"' > bin/kubectl-create-foo
echo 'echo "$KUBECTL_PATH" $("$KUBECTL_PATH" get namespace default -o name)' > bin/kubectl-asks
echo 'echo never' > bin/kubectl-get
echo 'echo with a dash' > bin/kubectl-two_words
echo 'echo never' > bin/not-executable
echo 'echo hello "$1"' > other/hello
printf '#!/usr/bin/env -S awk -f\nBEGIN { print 6 * 7 }\n' > bin/answer
printf '#!/usr/bin/env python3\nprint(1)\n' > bin/snake
chmod +x bin/* other/*; chmod -x bin/not-executable`)
	if made.ExitCode != 0 {
		t.Fatalf("%+v", made)
	}
	t.Cleanup(func() { post(t, url, "rm -rf bin other") })
	for _, c := range []struct {
		line, stdout, stderr string
		code                 int
	}{
		{line: "kubectl foo", stdout: "I am a plugin named kubectl-foo \n", code: 3},
		{line: "kubectl foo version", stdout: "1.0.0\n"},
		{line: "KUBECONFIG=a kubectl foo config", stdout: "a\n"},
		{line: "k foo --flag -x bar", stdout: "I am a plugin named kubectl-foo --flag -x bar\n", code: 3},
		{line: "kubectl create foo a", stdout: "of create: a\n"},
		{line: "kubectl create namespace made --dry-run=client -o name", stdout: "namespace/made\n"},
		{line: "kubectl two-words", stdout: "with a dash\n"},
		{line: "kubectl get namespace default -o name", stdout: "namespace/default\n"},
		{line: "PATH=; kubectl asks", stderr: `error: unknown command "asks" for "kubectl"`, code: 1},
		{line: "kubectl asks", stdout: "/usr/bin/kubectl namespace/default\n"},
		{line: "kubectl -n default foo", stderr: `error: unknown command "foo" for "kubectl"`, code: 1},
		{line: "kubectl bar", stderr: `error: unknown command "bar" for "kubectl"`, code: 1},
		{line: "kubectl plugin list --name-only | head -n 1", stdout: "The following compatible plugins are available:\n"},
		{line: "kubectl plugin list --name-only 2>/dev/null | grep -c kubectl-foo", stdout: "1\n"},
		{line: "hello", stderr: "bash: hello: command not found\n", code: 127},
		{line: "PATH=$PATH:~/other; hello you; cd other; PATH=.:/bin; hello again; which hello; command -v hello", stdout: "hello you\nhello again\n~/other/hello\n~/other/hello\n"},
		{line: "not-executable", stderr: "bash: not-executable: command not found\n", code: 127},
		{line: "answer", stdout: "42\n"},
		{line: "snake", stderr: "bash: snake: python3: bad interpreter: No such file or directory\n", code: 126},
		{line: "PATH=; hello", stderr: "bash: hello: command not found\n", code: 127},
		{line: "which ls answer nothing", stdout: "/usr/bin/ls\n~/bin/answer\n", code: 1},
	} {
		got := post(t, url, c.line)
		home := strings.TrimSpace(post(t, url, "echo ~").Stdout)
		if stdout := strings.ReplaceAll(got.Stdout, home, "~"); got.ExitCode != c.code || stdout != c.stdout || !strings.HasPrefix(got.Stderr, c.stderr) || c.stderr == "" && got.ExitCode == 0 && got.Stderr != "" && !strings.Contains(c.line, "plugin") {
			t.Errorf("$ %s\n%s%s(%d)\nwanted\n%s%s(%d)", c.line, stdout, got.Stderr, got.ExitCode, c.stdout, c.stderr, c.code)
		}
	}
}
