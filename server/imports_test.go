package server_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The listeners and files around a handler need no engine: what links this package for them does not compile Kubernetes.
func TestNoServerOfKubernetesIsLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	for _, name := range all {
		for _, engine := range []string{"k8s.io/kubernetes", "k8s.io/apiserver/pkg/server", "k8s.io/apiserver/pkg/storage"} {
			if name == engine || strings.HasPrefix(name, engine+"/") {
				t.Errorf("server links %s", name)
			}
		}
	}
	if len(all) < 100 {
		t.Fatalf("go list names %d packages alone", len(all))
	}
	t.Logf("%d packages", len(all))
}
