package shell_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/requestlog"
)

// TestModule sits at a terminal of the module: what needs more than the native
// shell has, since upstream takes terminals, editors and programs from the
// process there.
func TestModule(t *testing.T) {
	if *module == "" {
		t.Skip("needs the module: -wasm build/wasm/kubetab.wasm")
	}
	url := startModule(t)
	s := sitAt(t, url)
	s.types("kubectl create deployment web --image=nginx && kubectl rollout status deployment/web --timeout=10m\r")
	s.sees(`successfully rolled out\n`)

	t.Run("a shell in a container", func(t *testing.T) {
		s.t = t
		s.types("kubectl exec -it deploy/web -- sh\r")
		s.sees(`# $`)
		s.types("echo in $(hostname)\r")
		s.sees(`\nin web-[-0-9a-z]+\n`)
		s.types("exit\r")
		s.sees(`~ \$ $`)
		s.types("echo $?\r")
		s.sees(`\n0\n`)
	})
	t.Run("nothing at the address of a kubeconfig that is not there", func(t *testing.T) {
		s.t = t
		s.types("KUBECONFIG=/none kubectl get pods\r")
		s.sees(`The connection to the server localhost:8080 was refused - did you specify the right host or port\?`)
	})
	t.Run("what listens ends with its command", func(t *testing.T) {
		s.t = t
		for range 2 { // the port is free again
			s.types("kubectl port-forward deployment/web 8301:80\r")
			s.sees(`Forwarding from 127.0.0.1:8301 -> 80\n`)
			s.types("\x03")
			s.sees(`~ \$ $`)
			s.types("kubectl proxy --port=8302 &\r")
			s.sees(`Starting to serve on 127.0.0.1:8302\n`)
			s.types("curl -s localhost:8302/readyz; kill %1; wait\r")
			s.sees(`(?s)ok.*~ \$ $`)
		}
		s.types("curl localhost:8301; curl localhost:8302; echo over\r")
		if text := s.sees(`\nover\n`); strings.Count(text, "Failed to connect") != 2 {
			t.Errorf("something listens still: %s", text)
		}
	})
	t.Run("logs say which Pod they are of", func(t *testing.T) {
		s.t = t
		s.types("kubectl scale deployment web --replicas=2 && kubectl rollout status deployment/web; kubectl logs deployment/web | tail -1\r")
		s.sees(`Found 2 pods, using pod/web-`)
	})
	t.Run("the notice of logs is in the terminal of its command", func(t *testing.T) {
		s.t = t
		other := sitAt(t, url)
		post(t, url, "kubectl create deployment late --image=nginx --replicas=0")
		post(t, url, `kubectl patch deployment late -p '{"spec":{"template":{"spec":{"containers":[{"name":"beside","image":"nginx"}]}}}}'`)
		// It waits for the first Pod. Meanwhile another kubectl begins.
		s.types("kubectl logs deployment/late --pod-running-timeout=10m; echo ended=$?\r")
		seesRequest(t, url, `"GET","path":"/api/v1/namespaces/default/pods\?[^"]*app%3Dlate[^"]*watch=true`)
		other.types("kubectl scale deployment late --replicas=1; kubectl rollout status deployment/late; echo scaled=$?\r")
		if text := other.sees(`scaled=\d`); strings.Contains(text, "Defaulted container") {
			t.Errorf("the other terminal shows %q", text)
		}
		if text := s.sees(`ended=\d`); !strings.Contains(text, "Defaulted container") {
			t.Errorf("the terminal of the command shows %q", text)
		}
	})
	t.Run("an editor", func(t *testing.T) {
		s.t = t
		post(t, url, "kubectl create configmap edited --from-literal=color=blue")
		s.types("kubectl edit configmap edited\r")
		token, path := edit(t, s)
		text := file(t, "GET", url, path, "")
		file(t, "PUT", url, path, strings.Replace(text, "blue", "red", 1))
		answer(t, url, token, true)
		s.sees(`configmap/edited edited\n`)
		if r := post(t, url, "kubectl get configmap edited -o jsonpath={.data.color}"); r.Stdout != "red" {
			t.Errorf("%+v", r)
		}
		s.types("kubectl edit configmap edited\r")
		token, _ = edit(t, s)
		answer(t, url, token, false)
		s.sees(`there was a problem with the editor: the edit was cancelled`)
		s.types("vi notes.txt; cat notes.txt\r")
		token, path = edit(t, s)
		file(t, "PUT", url, path, "written in the page\n")
		answer(t, url, token, true)
		s.sees(`written in the page\n`)
		s.types("kubectl edit configmap edited\r")
		edit(t, s)
		s.types("\x03")
		s.sees(`\^C`)
	})
	t.Run("a proxy", func(t *testing.T) {
		s.t = t
		s.types("kubectl proxy &\r")
		s.sees(`Starting to serve on 127.0.0.1:8001`)
		s.types("curl -s localhost:8001/version | jq -r .major\r")
		s.sees(`\n1\n`)
	})
	t.Run("a port of a Pod", func(t *testing.T) {
		s.t = t
		s.types("kubectl port-forward deploy/web 8080:80 > /dev/null &\runtil curl -s localhost:8080 > page; do sleep 0.1; done; cat page | grep -o 'Welcome to nginx!' | head -1\r")
		s.sees(`Welcome to nginx!\n`)
	})
	t.Run("any port for a port of a Pod", func(t *testing.T) {
		s.t = t
		s.types("kubectl port-forward deploy/web :80 > any &\runtil port=$(grep -o '127.0.0.1:[0-9]*' any); do sleep 0.1; done; curl -s ${port/*:/localhost:} | grep -o 'Welcome to nginx!' | tr a-z A-Z\r")
		s.sees(`WELCOME TO NGINX!\n`)
		s.types("echo $((${port/*:/} >= 32768)) as on Linux\r")
		s.sees(`\n1 as on Linux\n`)
	})
}

// seesRequest waits until the API server has got a request whose record matches.
func seesRequest(t *testing.T, url, pattern string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+requestlog.Prefix+"?follow=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines, want := bufio.NewScanner(response.Body), regexp.MustCompile(pattern)
	for lines.Scan() {
		if want.Match(lines.Bytes()) {
			return
		}
	}
	t.Fatalf("no request matches %s: %v", pattern, lines.Err())
}

// edit waits until a command asks for an editor.
func edit(t *testing.T, s *seat) (token, path string) {
	t.Helper()
	fields := hears(t, s, "edit")
	return fields[0], fields[1]
}

// hears waits until the shell tells the page something of a kind, and returns its fields.
func hears(t *testing.T, s *seat, kind string) (fields []string) {
	t.Helper()
	message := regexp.MustCompile(`\x1b\]7373;` + kind + `;([^\a]*)\a`)
	limit := time.After(patience)
	for text := ""; ; {
		if m := message.FindStringSubmatch(text); m != nil {
			for field := range strings.SplitSeq(m[1], ";") {
				b, err := base64.StdEncoding.DecodeString(field)
				if err != nil {
					t.Fatal(err)
				}
				fields = append(fields, string(b))
			}
			return fields
		}
		select {
		case b := <-s.out:
			text += string(b)
		case <-limit:
			t.Fatalf("%q is no message of the kind %s", text, kind)
		}
	}
}

func file(t *testing.T, method, url, path, body string) string {
	t.Helper()
	code, text := ask(t, method, url+"/kubetab/files"+path, body)
	if code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return text
}

func answer(t *testing.T, url, token string, saved bool) {
	t.Helper()
	if code, text := ask(t, http.MethodPost, url+"/kubetab/edits/"+token, fmt.Sprintf(`{"saved": %t}`, saved)); code != http.StatusNoContent {
		t.Fatalf("answer: %d %s", code, text)
	}
}
