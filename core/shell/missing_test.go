package shell_test

import (
	"strings"
	"testing"
)

// What people look for and there is not, a terminal says in bash's words, and what leads on.
func TestMissingPrograms(t *testing.T) {
	s := sit(t)
	for _, c := range []struct{ types, sees string }{
		{"kubeclt get pods", `bash: kubeclt: command not found\nDid you mean kubectl\?\n`},
		{"kubctl get pods", `bash: kubctl: command not found\nDid you mean kubectl\?\n`},
		{"kube get pods", `bash: kube: command not found\nDid you mean kubectl\?\n`},
		{"docker ps", `bash: docker: command not found\nThere is no container engine: Pods are simulated\.\nTry: kubectl run web --image=nginx\n`},
		{"sudo kubectl get pods", `bash: sudo: command not found\nEverything is allowed here without it\.\n`},
		{"minikube start && echo never", `bash: minikube: command not found\nThere is no cluster to make: .*\n`},
		{"nosuch; echo $? of nosuch", `bash: nosuch: command not found\n127 of nosuch\n`},
		{"zq; echo $? of zq", `bash: zq: command not found\n127 of zq\n`},
		{"docker ps 2> said; cat said; echo read", `\nbash: docker: command not found\nread\n`},
		{"docker ps 2>&1 | cat; echo piped", `\nbash: docker: command not found\npiped\n`},
		{"bash -c 'helm ls'", `bash: helm: command not found\nOn your machine, helm template prints manifests\. .*\n`},
	} {
		s.types(c.types + "\r")
		s.sees(c.sees)
	}
	// A line of a page has no terminal.
	if r := post(t, s.url[:strings.Index(s.url, "/kubetab/")], "docker ps"); r.Stderr != "bash: docker: command not found\n" || r.ExitCode != 127 {
		t.Errorf("%+v", r)
	}
}
