package coreutils_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

// networked is a machine with the network of this one.
type networked struct{ unixtest.Machine }

func (networked) RoundTrip(r *http.Request) (*http.Response, error) {
	return http.DefaultTransport.RoundTrip(r)
}

// The answers are those of curl 8.
func TestCurl(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		if r.URL.Path == "/missing" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		name := r.FormValue("name")
		if f, head, err := r.FormFile("file"); err == nil {
			text, _ := io.ReadAll(f)
			name += fmt.Sprintf(" %s %q", head.Filename, text)
		}
		fmt.Fprintf(w, "%s %s host=%s name=%s\n", r.Method, r.URL.RequestURI(), strings.Split(r.Host, ":")[0], name)
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	dir := t.TempDir()
	for _, test := range []struct {
		args      string
		out, errs string
		code      int
	}{
		{args: "ADDRESS", out: "GET / host=127.0.0.1 name=\n"},
		{args: "ADDRESS?a=b", out: "GET /?a=b host=127.0.0.1 name=\n"},
		{args: "-G -d name=x --data-urlencode b=c=d&e ADDRESS/q", out: "GET /q?name=x&b=c%3Dd%26e host=127.0.0.1 name=x\n"},
		{args: "-F name=x -F file=@note.txt ADDRESS/f", out: "POST /f host=127.0.0.1 name=x note.txt \"text\\n\"\n"},
		{args: "--resolve shop.example:PORT:127.0.0.1 http://shop.example:PORT/", out: "GET / host=shop.example name=\n"},
		{args: "--connect-to shop.example:80:127.0.0.1:PORT http://shop.example/", out: "GET / host=shop.example name=\n"},
		{args: "--connect-to ::127.0.0.1:PORT http://shop.example/", out: "GET / host=shop.example name=\n"},
		{args: "--connect-to other.example::nowhere: http://127.0.0.1:PORT/", out: "GET / host=127.0.0.1 name=\n"},
		{args: "--resolve bad http://shop.example", errs: "curl: (49) Couldn't parse CURLOPT_RESOLVE entry 'bad'\n", code: 49},
		{args: "-o /dev/null -w %{http_code}|%{size_download}|%{content_type}|%{method}\\n ADDRESS", out: "200|27|text/plain; charset=utf-8|GET\n"},
		{args: "-sS -D - ADDRESS", out: "HTTP/1.1 200 OK\r\nContent-Length: 27\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGET / host=127.0.0.1 name=\n"},
		{args: "-O ADDRESS/made.txt"},
		{args: "-O ADDRESS/", errs: "curl: (23) Remote file name has no length\n", code: 23},
		{args: "-f ADDRESS/missing", errs: "curl: (22) The requested URL returned error: 404\n", code: 22},
		{args: "--fail-with-body -w %{http_code}\\n ADDRESS/missing", out: "no\n404\n", errs: "curl: (22) The requested URL returned error: 404\n", code: 22},
		{args: "-sSL4 -w %{num_redirects}|%{url_effective}\\n ADDRESS/moved", out: "GET /there host=127.0.0.1 name=\n1|http://ADDRESS/there\n"},
		{args: "--nonsense ADDRESS", errs: "curl: option --nonsense: is unknown\ncurl: try 'curl --help' or 'curl --manual' for more information\n", code: 2},
		{args: "-s9 ADDRESS", errs: "curl: option -9: is unknown\ncurl: try 'curl --help' or 'curl --manual' for more information\n", code: 2},
		{args: "-s", errs: "curl: no URL specified!\ncurl: try 'curl --help' or 'curl --manual' for more information\n", code: 2},
		{args: "-v -H X-A:b ADDRESS/v", out: "GET /v host=127.0.0.1 name=\n", errs: "*   Trying ADDRESS...\n* Connected to 127.0.0.1 (127.0.0.1) port PORT\n" +
			"> GET /v HTTP/1.1\r\n> Host: ADDRESS\r\n> Accept: */*\r\n> User-Agent: curl/8.5.0\r\n> X-A: b\r\n> \r\n" +
			"< HTTP/1.1 200 OK\r\n< Content-Length: 28\r\n< Content-Type: text/plain; charset=utf-8\r\n< \r\n"},
	} {
		placed := strings.NewReplacer("ADDRESS", address, "PORT", port)
		var out, errs bytes.Buffer
		files := &unixtest.Files{}
		if err := files.WriteFile(dir+"/note.txt", []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		call := &coreutils.Call{Context: t.Context(), System: networked{unixtest.Machine{T: t, Lookup: coreutils.Lookup}}, Files: files, Env: expand.ListEnviron(), Dir: dir,
			Name: "curl", Args: strings.Fields(placed.Replace(test.args)), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
		code := coreutils.Lookup("curl")(call)
		if code != test.code || out.String() != placed.Replace(test.out) || errs.String() != placed.Replace(test.errs) {
			t.Errorf("curl %s: %d\n%q\n%q", test.args, code, out.String(), errs.String())
		}
	}
	if text, err := (&unixtest.Files{}).ReadFile(dir + "/made.txt"); err != nil || string(text) != "GET /made.txt host=127.0.0.1 name=\n" {
		t.Errorf("-O has written %q %v", text, err)
	}
}

// signed is a machine whose servers have certificates of one authority.
type signed struct {
	unixtest.Machine
	authority []byte
}

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := coreutils.CheckAuthority(r, func() ([]byte, error) { return s.authority, nil }); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("hello\n")), Request: r}, nil
}

// Authorities are those of --cacert, or of the environment.
func TestCurlTrustsTheEnvironment(t *testing.T) {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("ca")})
	dir := t.TempDir()
	files := &unixtest.Files{}
	for name, text := range map[string][]byte{"ca": authority, "other": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("other")})} {
		if err := files.WriteFile(dir+"/"+name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		env  []string
		args string
		code int
	}{
		{nil, "-s https://a", 60},
		{[]string{"CURL_CA_BUNDLE=ca"}, "-s https://a", 0},
		{[]string{"SSL_CERT_FILE=ca"}, "-s https://a", 0},
		{[]string{"SSL_CERT_FILE=other", "CURL_CA_BUNDLE=ca"}, "-s https://a", 0},
		{[]string{"CURL_CA_BUNDLE=ca"}, "-s --cacert other https://a", 60},
		{[]string{"CURL_CA_BUNDLE=none"}, "-s https://a", 77},
	} {
		call := &coreutils.Call{Context: t.Context(), System: signed{unixtest.Machine{T: t, Lookup: coreutils.Lookup}, authority}, Files: files, Env: expand.ListEnviron(test.env...), Dir: dir,
			Name: "curl", Args: strings.Fields(test.args), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
		if code := coreutils.Lookup("curl")(call); code != test.code {
			t.Errorf("%q curl %s exits with %d, want %d", test.env, test.args, code, test.code)
		}
	}
}
