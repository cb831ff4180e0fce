package shell_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kubetab/kubetab/core/shell"
)

// TestTerminalsWithDifferentKubeconfigs: there is one environment in the process, and
// nobody is somebody else for it.
func TestTerminalsWithDifferentKubeconfigs(t *testing.T) {
	url := httpServer(t)
	post(t, url, "mkdir -p swap; for who in admin view edit; do kubectl config view --raw > swap/$who; kubectl --kubeconfig=swap/$who config use-context kubetab-$who; done")
	t.Cleanup(func() { post(t, url, "rm -rf swap") })
	var all sync.WaitGroup
	for _, who := range []string{"admin", "view", "edit"} {
		for _, command := range []string{`kubectl auth whoami -o jsonpath='{.status.userInfo.username}{"\n"}'`, "kubectl config current-context"} {
			all.Go(func() {
				line := "cd swap; export KUBECONFIG=" + who + "; for i in {1..20}; do " + command + "; done"
				if got, want := post(t, url, line), strings.Repeat("kubetab-"+who+"\n", 20); got.Stdout != want {
					t.Errorf("%s as %s: %+v", command, who, got)
				}
			})
		}
	}
	all.Wait()
}

func become(t *testing.T, url, user string, groups ...string) {
	t.Helper()
	body, err := json.Marshal(shell.Identity{User: user, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	if code, text := ask(t, http.MethodPut, url+"/kubetab/identity", string(body)); code != http.StatusNoContent {
		t.Fatalf("become %s: %d %s", user, code, text)
	}
}

// TestIdentityOfABrokenKubeconfig: whoever asks while it is broken hears of it when
// it is mended, and cannot be somebody else meanwhile.
func TestIdentityOfABrokenKubeconfig(t *testing.T) {
	url := httpServer(t)
	post(t, url, "cp ~/.kube/config whole; echo '{' > ~/.kube/config")
	t.Cleanup(func() { post(t, url, "mv whole ~/.kube/config") })
	if code, text := ask(t, http.MethodPut, url+"/kubetab/identity", `{"user": "kubetab-view"}`); code != http.StatusUnprocessableEntity {
		t.Errorf("another identity: %d %s", code, text)
	}
	watch, err := http.Get(url + "/kubetab/identity?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	post(t, url, "cp whole ~/.kube/config")
	var now shell.Identity
	if err := json.NewDecoder(watch.Body).Decode(&now); err != nil || now.User != "kubetab-admin" {
		t.Errorf("once it is mended: %+v %v", now, err)
	}
}

// TestThePageAndKubectlAreTheSame: whoever changes the identity, the page or
// kubectl config use-context, the other one sees it, and so do prompts.
func TestThePageAndKubectlAreTheSame(t *testing.T) {
	url := httpServer(t)
	s := sitAt(t, url)
	watch, err := http.Get(url + "/kubetab/identity?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	changes := bufio.NewScanner(watch.Body)
	next := func() (now shell.Identity) {
		t.Helper()
		if !changes.Scan() {
			t.Fatalf("the watch has ended: %v", changes.Err())
		}
		if err := json.Unmarshal(changes.Bytes(), &now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	if now := next(); now.User != "kubetab-admin" || now.Context != "kubetab-admin" {
		t.Errorf("at first: %+v", now)
	}
	t.Cleanup(func() { become(t, url, "kubetab-admin") })

	// In the middle of a line, which stays.
	s.types("kubectl auth who")
	s.sees(`who$`)
	become(t, url, "kubetab-view")
	s.sees(`\(kubetab-view\) ~ \$ kubectl auth who`)
	s.types("ami -o jsonpath='{.status.userInfo.username}'\r")
	s.sees(`(?s)kubetab-view.*\(kubetab-view\) ~ \$ $`)
	if now := next(); now.User != "kubetab-view" {
		t.Errorf("after the page: %+v", now)
	}
	if got := post(t, url, "kubectl delete namespace default"); got.ExitCode == 0 || !strings.Contains(got.Stderr, `User "kubetab-view" cannot delete`) {
		t.Errorf("a viewer may: %+v", got)
	}

	s.types("kubectl config use-context kubetab-edit\r")
	s.sees(`\(kubetab-edit\) ~ \$ $`)
	if now := next(); now.User != "kubetab-edit" || now.Context != "kubetab-edit" {
		t.Errorf("after kubectl: %+v", now)
	}

	become(t, url, "system:serviceaccount:default:robot", "system:serviceaccounts", "system:serviceaccounts:default")
	s.sees(`\(sa:default:robot\) ~ \$ $`)
	if now := next(); now.User != "system:serviceaccount:default:robot" || len(now.Groups) != 2 {
		t.Errorf("as a service account: %+v", now)
	}
	who := post(t, url, "kubectl auth whoami; kubectl config current-context; kubectl get pods")
	for _, want := range []string{"system:serviceaccount:default:robot", "system:serviceaccounts:default", "sa:default:robot\n"} {
		if !strings.Contains(who.Stdout, want) {
			t.Errorf("%q is missing in %s", want, who.Stdout)
		}
	}
	if !strings.Contains(who.Stderr, `User "system:serviceaccount:default:robot" cannot list resource "pods"`) {
		t.Error(who.Stderr)
	}

	s.types("kubectl config use-context kubetab-admin\r")
	s.sees(`47l~ \$ $`)
	if now := next(); now.User != "kubetab-admin" {
		t.Errorf("back: %+v", now)
	}

	// Somebody whom the page does not know.
	s.types("kubectl config set-context own --cluster=kubetab --user=nobody && kubectl config use-context own\r")
	s.sees(`\(own\) ~ \$ $`)
	for now := next(); now.Context != "own"; now = next() {
	}
	s.types("kubectl config delete-context own; kubectl config delete-context sa:default:robot; kubectl config use-context kubetab-admin\r")
	s.sees(`47l~ \$ $`)
}
