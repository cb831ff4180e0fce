package shell_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/shell/kubectl"
)

// manyConfigMaps writes a manifest with n of them to the home folder.
func manyConfigMaps(t testing.TB, name, namespace string, n int) {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%d, namespace: %s}\ndata: {key: value}\n---\n", i, namespace)
	}
	if err := os.MkdirAll(shared.home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shared.home, name), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestApplyParsesADocumentOnce: upstream parses the OpenAPI document of core/v1,
// which is a megabyte and a half, twice for each object that exists.
func TestApplyParsesADocumentOnce(t *testing.T) {
	url := httpServer(t)
	post(t, url, "kubectl create namespace many")
	manyConfigMaps(t, "many.yaml", "many", 10)
	post(t, url, "kubectl apply -f many.yaml")
	post(t, url, "sed -i s/value/other/ many.yaml")
	before, fetched := kubectl.Parses.Load(), openAPIRequests(t)
	for range 2 {
		if got := post(t, url, "kubectl apply -f many.yaml"); got.ExitCode != 0 {
			t.Fatalf("%+v", got)
		}
	}
	if n := kubectl.Parses.Load() - before; n > 1 {
		t.Errorf("%d documents were parsed for two commands with ten objects each", n)
	}
	// The index is asked for once in each command.
	if n := openAPIRequests(t) - fetched; n > 4 {
		t.Errorf("%d requests for OpenAPI", n)
	}
	if got := post(t, url, "kubectl get configmap -n many many-7 -o jsonpath={.data.key}"); got.Stdout != "other" {
		t.Errorf("%+v", got)
	}
}

// openAPIRequests counts those that were answered so far.
func openAPIRequests(t *testing.T) (n int) {
	t.Helper()
	for _, r := range requests(t) {
		if r.Method == http.MethodGet && strings.HasPrefix(r.Path, "/openapi/") {
			n++
		}
	}
	return n
}

func BenchmarkApplyOfWhatExists(b *testing.B) {
	manyConfigMaps(b, "bench.yaml", "default", 100)
	if _, err := shared.shell.Run(b.Context(), "kubectl apply -f bench.yaml", "", ""); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if result, err := shared.shell.Run(b.Context(), "kubectl apply -f bench.yaml", "", ""); err != nil || result.ExitCode != 0 {
			b.Fatal(result, err)
		}
	}
}
