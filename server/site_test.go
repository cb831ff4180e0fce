package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubetab/kubetab/web/headers"
)

// newTestSite serves a folder like web/dist, with a secret beside it that must not be reachable.
func newTestSite(t *testing.T) (*Site, string) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "dist")
	for name, content := range map[string]string{
		"secret.txt":                        "secret",
		"dist/index.html":                   "<!doctype html>",
		"dist/sw.js":                        "/* service worker */",
		"dist/sw.js.br":                     "BR(sw)",
		"dist/manifest.webmanifest":         "{}",
		"dist/kubetab.0123456789ab.wasm":    "0123456789",
		"dist/kubetab.0123456789ab.wasm.br": "BR",
		"dist/kubetab.0123456789ab.wasm.gz": "GZIP",
		"dist/assets/index-Bx_3z-1a.js":     "export {}",
		"dist/stale.css":                    "new",
		"dist/stale.css.gz":                 "old",
		"dist/.hidden":                      "hidden",
		"dist/data.bin":                     "data",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		built := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if strings.HasPrefix(filepath.Base(path), "stale.css.") {
			built = built.Add(-time.Hour)
		}
		if err := os.Chtimes(path, built, built); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "secret.txt"), filepath.Join(dir, "way-out.txt")); err != nil {
		t.Fatal(err)
	}
	site, err := NewSite(dir, "https://127.0.0.1:6443")
	if err != nil {
		t.Fatal(err)
	}
	return site, dir
}

// fetch sends one request with headers given as name, value, name, value.
func fetch(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080/", nil)
	r.URL.Path = path // as it is, without the cleaning of a parser
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestSite(t *testing.T) {
	site, _ := newTestSite(t)
	everyFile := http.Header{}
	headers.Set(everyFile, "")
	const (
		forever = "public, max-age=31536000, immutable"
		ask     = "no-cache"
		never   = "no-store"
		wasm    = "/kubetab.0123456789ab.wasm"
		js      = "text/javascript; charset=utf-8"
	)
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		code         int
		body         string
		want         map[string]string // "" for absent
	}{
		"root is the page": {"GET", "/", nil, 200, "<!doctype html>", map[string]string{"Content-Type": "text/html; charset=utf-8", "Cache-Control": ask, "Vary": ""}},
		"head":             {"HEAD", "/", nil, 200, "", map[string]string{"Content-Length": "15"}},

		"wasm, identity":         {"GET", wasm, nil, 200, "0123456789", map[string]string{"Content-Type": "application/wasm", "Content-Encoding": "", "Cache-Control": forever, "Vary": "Accept-Encoding", "Content-Length": "10"}},
		"wasm, brotli":           {"GET", wasm, []string{"Accept-Encoding", "gzip, br"}, 200, "BR", map[string]string{"Content-Type": "application/wasm", "Content-Encoding": "br", "Content-Length": "2", "Vary": "Accept-Encoding"}},
		"wasm, gzip":             {"GET", wasm, []string{"Accept-Encoding", "gzip"}, 200, "GZIP", map[string]string{"Content-Encoding": "gzip", "Content-Length": "4"}},
		"wasm, head of brotli":   {"HEAD", wasm, []string{"Accept-Encoding", "br"}, 200, "", map[string]string{"Content-Encoding": "br", "Content-Length": "2"}},
		"range is of the file":   {"GET", wasm, []string{"Accept-Encoding", "br", "Range", "bytes=2-4"}, 206, "234", map[string]string{"Content-Encoding": "", "Content-Range": "bytes 2-4/10", "Content-Length": "3"}},
		"range past the end":     {"GET", wasm, []string{"Range", "bytes=20-"}, 416, "", map[string]string{"Content-Range": "bytes */10"}},
		"everything refused":     {"GET", wasm, []string{"Accept-Encoding", "*;q=0"}, 406, "Not Acceptable\n", map[string]string{"Vary": "Accept-Encoding", "Cache-Control": never}},
		"no gzip of it":          {"GET", "/sw.js", []string{"Accept-Encoding", "gzip"}, 200, "/* service worker */", map[string]string{"Content-Type": js, "Content-Encoding": "", "Cache-Control": ask}},
		"stale gzip is not sent": {"GET", "/stale.css", []string{"Accept-Encoding", "gzip"}, 200, "new", map[string]string{"Content-Encoding": ""}},

		"hashed by vite":  {"GET", "/assets/index-Bx_3z-1a.js", nil, 200, "export {}", map[string]string{"Cache-Control": forever, "Content-Type": js}},
		"manifest":        {"GET", "/manifest.webmanifest", nil, 200, "{}", map[string]string{"Content-Type": "application/manifest+json"}},
		"unknown type":    {"GET", "/data.bin", nil, 200, "data", map[string]string{"Content-Type": "application/octet-stream"}},
		"the br itself":   {"GET", wasm + ".br", nil, 200, "BR", map[string]string{"Content-Type": "application/octet-stream", "Content-Encoding": ""}},
		"missing":         {"GET", "/nothing.js", nil, 404, "Not Found\n", map[string]string{"Cache-Control": never}},
		"no listing":      {"GET", "/assets", nil, 404, "Not Found\n", nil},
		"nor with slash":  {"GET", "/assets/", nil, 404, "Not Found\n", nil},
		"hidden":          {"GET", "/.hidden", nil, 404, "Not Found\n", nil},
		"dots":            {"GET", "/../secret.txt", nil, 404, "Not Found\n", nil},
		"dots inside":     {"GET", "/assets/../../secret.txt", nil, 404, "Not Found\n", nil},
		"backslash dots":  {"GET", `/..\secret.txt`, nil, 404, "Not Found\n", nil},
		"nul":             {"GET", "/index.html\x00.js", nil, 404, "Not Found\n", nil},
		"symlink out":     {"GET", "/way-out.txt", nil, 404, "Not Found\n", nil},
		"double slash":    {"GET", "//index.html", nil, 404, "Not Found\n", nil},
		"no leading":      {"GET", "index.html", nil, 404, "Not Found\n", nil},
		"post":            {"POST", "/", nil, 405, "Method Not Allowed\n", map[string]string{"Allow": "GET, HEAD"}},
		"options":         {"OPTIONS", "/", nil, 405, "Method Not Allowed\n", map[string]string{"Access-Control-Allow-Origin": ""}},
		"api is not here": {"GET", "/api/v1/pods", nil, 404, "*", map[string]string{"Content-Type": "application/json", "Cache-Control": never}},
		"nor by post":     {"POST", "/apis/apps/v1/deployments", nil, 404, "*", map[string]string{"Content-Type": "application/json"}},
		"nor health":      {"HEAD", "/readyz", nil, 404, "*", map[string]string{"Content-Type": "application/json"}}, // net/http drops the body
		"not api":         {"GET", "/apiary", nil, 404, "Not Found\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			res := fetch(site, c.method, c.path, c.headers...)
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != c.code {
				t.Errorf("status %d, want %d", res.StatusCode, c.code)
			}
			if c.body != "*" && c.code != 416 && string(body) != c.body {
				t.Errorf("body %q, want %q", body, c.body)
			}
			for header, want := range c.want {
				if got := res.Header.Get(header); got != want {
					t.Errorf("%s: %q, want %q", header, got, want)
				}
			}
			for _, h := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy",
				"Cross-Origin-Resource-Policy", "Permissions-Policy"} { // with errors too
				if got, want := res.Header.Get(h), everyFile.Get(h); got != want || want == "" {
					t.Errorf("%s: %q, want %q", h, got, want)
				}
			}
			if strings.Contains(string(body), "secret") {
				t.Error("the body holds a file from outside the folder")
			}
		})
	}
}

func TestSiteTellsWhereTheAPIIs(t *testing.T) {
	site, _ := newTestSite(t)
	body, _ := io.ReadAll(fetch(site, "GET", "/api").Body)
	want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"this address serves only the page, ` +
		`whose API server runs inside the browser tab: the API of this process is at https://127.0.0.1:6443","reason":"NotFound","code":404}` + "\n"
	if string(body) != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

func TestSiteRevalidates(t *testing.T) {
	site, dir := newTestSite(t)
	tag := func(headers ...string) string { return fetch(site, "GET", "/sw.js", headers...).Header.Get("ETag") }
	plain, br := tag(), tag("Accept-Encoding", "br")
	if plain == "" || plain == br {
		t.Fatalf("ETag %s of the file and %s of its brotli form: want two", plain, br)
	}
	res := fetch(site, "GET", "/sw.js", "If-None-Match", br, "Accept-Encoding", "br")
	if res.StatusCode != http.StatusNotModified || res.Header.Get("ETag") != br || res.Header.Get("Cache-Control") != "no-cache" || res.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("unchanged: status %d, headers %v", res.StatusCode, res.Header)
	}
	if res := fetch(site, "GET", "/sw.js", "If-None-Match", br); res.StatusCode != http.StatusOK {
		t.Errorf("the tag of another coding: status %d, want 200", res.StatusCode)
	}
	// A range of a coding must not be glued to a range of the file.
	if res := fetch(site, "GET", "/sw.js", "Range", "bytes=0-3", "If-Range", br); res.StatusCode != http.StatusOK {
		t.Errorf("a range for the tag of another coding: status %d, want 200", res.StatusCode)
	}
	if err := os.WriteFile(filepath.Join(dir, "sw.js"), []byte("/* next version */"), 0o644); err != nil {
		t.Fatal(err)
	}
	if res := fetch(site, "GET", "/sw.js", "If-None-Match", plain); res.StatusCode != http.StatusOK || res.Header.Get("ETag") == plain {
		t.Errorf("changed: status %d, ETag %s as before", res.StatusCode, res.Header.Get("ETag"))
	}
}

func TestSiteFollowsABuild(t *testing.T) {
	site, dir := newTestSite(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if res := fetch(site, "GET", "/"); res.StatusCode != http.StatusNotFound {
		t.Errorf("while it builds: status %d", res.StatusCode)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("built again"), 0o644); err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(fetch(site, "GET", "/").Body); string(body) != "built again" {
		t.Errorf("after it: %q", body)
	}
}

func TestNewSiteNeedsABuiltPage(t *testing.T) {
	empty := t.TempDir()
	if _, err := NewSite(empty, ""); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("empty folder: %v, want what to do", err)
	}
	if _, err := NewSite(filepath.Join(empty, "missing"), ""); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("missing folder: %v", err)
	}
}
