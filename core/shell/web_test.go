package shell_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// asks waits until a command of the terminal wants a file of another site, and returns where the page answers.
func asks(t *testing.T, s *seat, site, address string) (way string) {
	t.Helper()
	way = site + "/kubetab/downloads/" + hears(t, s, "download")[0]
	code, text := ask(t, http.MethodGet, way, "")
	var got struct {
		Address string
		Most    int64
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != http.StatusOK || got.Address != address || got.Most != 16<<20 {
		t.Fatalf("the download: %d %s, and not of %s", code, text, address)
	}
	return way
}

func tells(t *testing.T, way, query, body string, want int) {
	t.Helper()
	if code, text := ask(t, http.MethodPost, way+"?"+query, body); code != want {
		t.Errorf("POST ?%s: %d %s", query, code, text)
	}
}

// What a page of another site could read, the page reads for commands of its terminal.
func TestOtherSites(t *testing.T) {
	site := httpServer(t)
	s := sitAt(t, site)
	const raw = "https://raw.githubusercontent.com"
	for _, c := range []struct{ line, address, query, body, sees string }{
		{"curl -s https://files.example.org/a.yaml", "https://files.example.org/a.yaml", "status=200&type=text/yaml", "kind: A\n", `kind: A\n`},
		{"curl -sI https://files.example.org/a", "https://files.example.org/a", "status=200&type=text/yaml", "a", `HTTP/1.1 200 OK\n(?s:.*)Content-Type: text/yaml\n`},
		{"curl -sLw '%{http_code} %{num_redirects} %{url_effective}\\n' https://k8s.io/examples/pods/simple-pod.yaml", raw + "/kubernetes/website/main/content/en/examples/pods/simple-pod.yaml", "status=200", "kind: Pod\n", `kind: Pod\n200 1 https://kubernetes.io/examples/pods/simple-pod.yaml\n`},
		{"wget -qO- https://github.com/o/r/raw/v1.0/deploy/a%20b.yaml?x=1", raw + "/o/r/v1.0/deploy/a%20b.yaml", "status=200", "kind: B\n", `kind: B\n`},
		{"curl -fsS https://files.example.org/none", "https://files.example.org/none", "status=404", "none", `curl: \(22\) The requested URL returned error: 404\n`},
		{"curl -s http://files.example.org/empty; echo code $?", "http://files.example.org/empty", "status=204", "", `code 0\n`},
		{"curl https://files.example.org/", "https://files.example.org/", "why=elsewhere", "", `curl: \(6\) Could not resolve host: files.example.org\nhttps://files.example.org/: the host of this page does not let it fetch from that site\n`},
		{"wget https://files.example.org/a", "https://files.example.org/a", "why=too-large", "", `wget: bad address 'files.example.org'\nhttps://files.example.org/a: it is larger than 16 MiB\n`},
		{"curl https://files.example.org/", "https://files.example.org/", "why=" + url.QueryEscape("TypeError: network error"), "", `https://files.example.org/: TypeError: network error\n`},
	} {
		s.types(c.line + "\r")
		tells(t, asks(t, s, site, c.address), c.query, c.body, http.StatusNoContent)
		s.sees(c.sees)
	}
}

// What no site can have, and what would send something, is not asked for; and a command that no longer waits hears nothing.
func TestOtherSitesAreNotAsked(t *testing.T) {
	site := httpServer(t)
	s := sitAt(t, site)
	for line, want := range map[string]string{
		"curl web.default.svc.cluster.local":                      `curl: \(6\) Could not resolve host: web.default.svc.cluster.local\n`,
		"curl shop.example":                                       `curl: \(6\) Could not resolve host: shop.example\n`,
		"curl -d x=1 https://a.example.org":                       `files of other sites can be read from here, and nothing can be sent there\n`,
		"curl -H 'Authorization: Bearer x' https://a.example.org": `this request has Authorization\n`,
		"curl 192.0.2.1:99":                                       `curl: \(7\)`,
	} {
		s.types(line + "\r")
		s.sees(want)
	}
	if got := post(t, site, "curl https://files.example.org"); !strings.Contains(got.Stderr, "Could not resolve host") {
		t.Errorf("without a terminal: %+v", got)
	}

	s.types("curl -s https://files.example.org/slow; echo code $?\r")
	way := asks(t, s, site, "https://files.example.org/slow")
	if code, _ := ask(t, http.MethodGet, way, ""); code != http.StatusOK {
		t.Errorf("a page that was reloaded: %d", code)
	}
	tells(t, way, "status=ok", "", http.StatusBadRequest)
	tells(t, way, "status=99", "", http.StatusBadRequest)
	tells(t, way, "status=200", strings.Repeat("a", 16<<20+1), http.StatusBadRequest)
	s.types("\x03")
	s.sees(`\^C`)
	tells(t, way, "status=200", "late", http.StatusNotFound)
	if code, _ := ask(t, http.MethodGet, way, ""); code != http.StatusNotFound {
		t.Errorf("a page that comes too late: %d", code)
	}
}
