package shell_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetab/kubetab/core/shell"
)

// askKubeconfig is a request of the page's for the kubeconfig of the shared shell.
func askKubeconfig(t *testing.T, method, url, body string) (code int, answer string) {
	t.Helper()
	return ask(t, method, url+"/kubetab/kubeconfig", body)
}

// startAnew takes away what an engine that ends takes along.
func startAnew(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(shared.home, ".kube")); err != nil {
		t.Fatal(err)
	}
}

// TestKubeconfigOutlivesTheEngine: contexts, users and clusters of the learner's
// come back, with the new engine's tokens, and together with what has been added there.
func TestKubeconfigOutlivesTheEngine(t *testing.T) {
	url := httpServer(t)
	t.Cleanup(func() { startAnew(t) })
	must := func(command string) string {
		t.Helper()
		r := post(t, url, command)
		if r.ExitCode != 0 {
			t.Fatalf("%s: %+v", command, r)
		}
		return r.Stdout
	}
	must("kubectl config set-cluster far --server=https://far.example && kubectl config set-credentials me --token=secret" +
		" && kubectl config set-context mine --cluster=kubetab --user=kubetab-view --namespace=kube-system" +
		" && kubectl config set-context away --cluster=far --user=me && kubectl config delete-context kubetab-edit && kubectl config use-context mine")
	code, kept := askKubeconfig(t, http.MethodGet, url, "")
	if code != http.StatusOK || strings.Contains(kept, shared.tokens["kubetab-view"]) || !strings.Contains(kept, "token: secret") {
		t.Fatalf("%d %s", code, kept)
	}

	startAnew(t)
	must("kubectl config set-context meanwhile --cluster=kubetab --user=kubetab-admin")
	if code, text := askKubeconfig(t, http.MethodPut, url, kept); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, text)
	}
	if got, want := must("kubectl config get-contexts -o name"), "away\nkubetab-admin\nkubetab-view\nmeanwhile\nmine\n"; got != want {
		t.Errorf("contexts %q, want %q", got, want)
	}
	if got := must("kubectl config current-context; kubectl auth whoami -o jsonpath={.status.userInfo.username}"); got != "mine\nkubetab-view" {
		t.Errorf("acting as %q", got)
	}
	if got := must("kubectl config view --raw -o jsonpath='{.users[?(@.name==\"me\")].user.token} {.clusters[?(@.name==\"far\")].cluster.server}'"); got != "secret https://far.example" {
		t.Errorf("kept %q", got)
	}

	// A namespace that was named before it came back, as a lesson does, stays the default.
	startAnew(t)
	if err := shared.shell.SetNamespace("lesson"); err != nil {
		t.Fatal(err)
	}
	if code, text := askKubeconfig(t, http.MethodPut, url, kept); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, text)
	}
	if got := must("kubectl config view -o jsonpath='{.contexts[?(@.name==\"kubetab-admin\")].context.namespace} {.contexts[?(@.name==\"mine\")].context.namespace}'"); got != "lesson kube-system" {
		t.Errorf("default namespaces %q", got)
	}

	// Who has become the same before, or becomes it again, is in that context all the same.
	startAnew(t)
	become(t, url, "kubetab-view")
	if code, text := askKubeconfig(t, http.MethodPut, url, kept); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, text)
	}
	become(t, url, "kubetab-view")
	if got := must("kubectl config current-context"); got != "mine\n" {
		t.Errorf("after the same identity: %q", got)
	}

	// Who has become somebody else before it came back stays so.
	startAnew(t)
	become(t, url, "kubetab-edit")
	if code, text := askKubeconfig(t, http.MethodPut, url, kept); code != http.StatusNoContent {
		t.Fatalf("%d %s", code, text)
	}
	if got := must("kubectl config current-context; kubectl config get-contexts -o name mine"); got != "kubetab-edit\nmine\n" {
		t.Errorf("after another identity: %q", got)
	}
}

// TestKubeconfigIsChangedByOneAtATime: a new engine is given back the kubeconfig of the
// last one, the namespace of a lesson and the identity of the page at once, and each counts.
// What reads it meanwhile finds it whole.
func TestKubeconfigIsChangedByOneAtATime(t *testing.T) {
	t.Cleanup(func() { startAnew(t) })
	startAnew(t)
	url := httpServer(t)
	if r := post(t, url, "kubectl config set-context mine --cluster=kubetab --user=kubetab-view"); r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	_, kept := askKubeconfig(t, http.MethodGet, url, "")
	for i := range 50 {
		startAnew(t)
		var all sync.WaitGroup
		for _, change := range []func() error{
			func() error { return shared.shell.SetNamespace("lesson") },
			func() error { return shared.shell.RestoreKubeconfig([]byte(kept)) },
			func() error { return shared.shell.Become(shell.Identity{User: "kubetab-edit"}) },
		} {
			all.Go(func() {
				if err := change(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		config, err := clientcmd.LoadFromFile(filepath.Join(shared.home, ".kube", "config"))
		if err != nil {
			t.Fatal(err)
		}
		admin := config.Contexts["kubetab-admin"]
		if config.Contexts["mine"] == nil || admin == nil || admin.Namespace != "lesson" || config.CurrentContext != "kubetab-edit" {
			t.Fatalf("round %d: context %s of %v, with %+v", i, config.CurrentContext, slices.Sorted(maps.Keys(config.Contexts)), admin)
		}
	}
}

// TestKubeconfigThatIsNone: the first one stays, and what came instead is not lost.
func TestKubeconfigThatIsNone(t *testing.T) {
	url := httpServer(t)
	unreadable := filepath.Join(shared.home, "kubeconfig.unreadable")
	t.Cleanup(func() {
		startAnew(t)
		if err := os.Remove(unreadable); err != nil {
			t.Error(err)
		}
	})
	code, whole := askKubeconfig(t, http.MethodGet, url, "")
	if code != http.StatusOK {
		t.Fatal(code, whole)
	}
	for what, text := range map[string]string{
		"half a file":   whole[:len(whole)*2/3] + "\n  broken: [",
		"no kubeconfig": "hello: world\n",
		"nothing":       "",
		"bytes":         "\x00\xff\x1b[31m",
	} {
		t.Run(what, func(t *testing.T) {
			startAnew(t)
			code, answer := askKubeconfig(t, http.MethodPut, url, text)
			if code != http.StatusUnprocessableEntity || !strings.Contains(answer, "cannot be read and is in ~/kubeconfig.unreadable") {
				t.Errorf("%d %s", code, answer)
			}
			if left, err := os.ReadFile(unreadable); err != nil || string(left) != text {
				t.Errorf("%q is left: %v", left, err)
			}
			if r := post(t, url, "kubectl config current-context && kubectl get namespace default -o name"); r.Stdout != "kubetab-admin\nnamespace/default\n" {
				t.Errorf("%+v", r)
			}
		})
	}
}
