package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"

	"github.com/kubetab/kubetab/core/requestlog"
)

// Discovery is shared between commands and right when CRDs come and go.
func TestDiscoveryIsSharedAndFresh(t *testing.T) {
	url := httpServer(t)
	requests := func(command string) string {
		t.Helper()
		return post(t, url, command+" -v=6").Stderr
	}
	requests("kubectl get configmaps -n default")
	if text := requests("kubectl get configmaps -n default"); strings.Contains(text, "/apis") || !strings.Contains(text, "/api/v1/namespaces/default/configmaps") {
		t.Errorf("a second command asks for discovery again: %s", text)
	}
	for round := range 2 {
		crd := fmt.Sprintf(`cat <<EOF | kubectl apply -f - && `+established("gadgets.fresh.example", "Gadget")+`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.fresh.example}
spec:
  group: fresh.example
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions: [{name: v%d, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
EOF`, round+1)
		if r := post(t, url, crd); r.ExitCode != 0 {
			t.Fatalf("%+v", r)
		}
		awaitDiscovery(t, "gadgets", fmt.Sprintf("v%d", round+1))
		if r := post(t, url, "kubectl get gadgets"); r.ExitCode != 0 {
			t.Fatalf("what the server serves is not known: %+v", r)
		}
		if r := post(t, url, "kubectl delete crd gadgets.fresh.example"); r.ExitCode != 0 {
			t.Fatalf("%+v", r)
		}
		// The CRD is gone before the server has heard of it.
		awaitDiscovery(t, "gadgets", "")
		if r := post(t, url, "kubectl get gadgets"); !strings.Contains(r.Stderr, "doesn't have a resource type") {
			t.Fatalf("%+v", r)
		}
	}
}

// TestDiscoveryIsOfTheCommand: whatever a command makes the shell ask for is that
// command's in the list of requests.
func TestDiscoveryIsOfTheCommand(t *testing.T) {
	url := httpServer(t)
	post(t, url, "kubectl get configmaps -n default")
	before := len(requests(t))
	crd := `cat <<EOF | kubectl apply -f - && ` + established("asked.fresh.example", "Ask") + `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: asked.fresh.example}
spec:
  group: fresh.example
  scope: Namespaced
  names: {plural: asked, singular: ask, kind: Ask}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
EOF`
	if r := post(t, url, crd); r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	if r := post(t, url, "kubectl explain asked; kubectl api-resources --api-group=fresh.example; kubectl delete crd asked.fresh.example"); r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	asked := false
	for _, r := range requests(t)[before:] {
		if r.Internal {
			continue
		}
		if r.From == "page" || !strings.HasPrefix(r.Command, "kubectl ") {
			t.Errorf("%s %s is made by %q with the command %q", r.Method, r.Path, r.From, r.Command)
		}
		asked = asked || strings.HasPrefix(r.Path, "/apis?")
	}
	if !asked {
		t.Error("nobody asked for discovery")
	}
}

// awaitDiscovery waits until the server says in which version of the group
// fresh.example it serves a resource, "" for none: it does so a moment after its CRD is
// established, or gone.
func awaitDiscovery(t *testing.T, resource, version string) {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(shared.engine.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	var served []string
	err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
		_, all, err := client.ServerGroupsAndResources()
		served = nil
		for _, l := range all {
			if v, ok := strings.CutPrefix(l.GroupVersion, "fresh.example/"); ok && slices.ContainsFunc(l.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }) {
				served = append(served, v)
			}
		}
		return err == nil && strings.Join(served, " ") == version, nil
	})
	if err != nil {
		t.Fatalf("discovery has %s in %q, want %q: %v", resource, served, version, err)
	}
}

// established is a line that waits until a new CRD of a kind is established. It waits for names first: where there is no
// condition at all yet, kubectl wait fails.
func established(crd, kind string) string {
	return fmt.Sprintf("kubectl wait crd/%[1]s --for=jsonpath='{.status.acceptedNames.kind}'=%[2]s --timeout=10m && kubectl wait crd/%[1]s --for=condition=established --timeout=10m", crd, kind)
}

// requests are those that the engine has had since it started, oldest first.
func requests(t *testing.T) (all []requestlog.Record) {
	t.Helper()
	w := httptest.NewRecorder()
	shared.requests.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, requestlog.Prefix, nil))
	for lines := json.NewDecoder(w.Body); lines.More(); {
		var r requestlog.Record
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}
