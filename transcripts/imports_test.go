package transcripts

import (
	"os/exec"
	"strings"
	"testing"
)

// The test must not link what it tests: only the wire connects the two. And it must stay quick to build.
func TestImports(t *testing.T) {
	forbidden := map[string]string{
		"k8s.io/apiserver":                  "the server's own code must not decode its own answers",
		"k8s.io/kubernetes":                 "the server itself",
		"k8s.io/apiextensions-apiserver":    "the server of custom resources",
		"k8s.io/client-go":                  "a client would hide headers, retries and encodings",
		"go.etcd.io/etcd":                   "compaction goes through etcd's JSON gateway",
		"github.com/kubetab/kubetab/core":   "the engine",
		"github.com/kubetab/kubetab/server": "the engine with listeners",
	}
	out, err := exec.Command("go", "list", "-deps", "-test", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for prefix, why := range forbidden {
			if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
				t.Errorf("imports %s: %s", dep, why)
			}
		}
	}
}
