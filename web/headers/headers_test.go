package headers

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// testdata/headers.txt has names and their headers. The unit tests of web hold headers.mjs to the same file.
func TestSet(t *testing.T) {
	want, err := os.ReadFile("testdata/headers.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for line := range strings.Lines(string(want)) {
		name, ok := strings.CutPrefix(line, "file: ")
		if !ok {
			continue
		}
		h := http.Header{}
		Set(h, strings.TrimSpace(name))
		fmt.Fprintf(&got, "file: %s", name)
		for _, key := range slices.Sorted(maps.Keys(h)) {
			fmt.Fprintf(&got, "  %s: %s\n", key, h.Get(key))
		}
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestFetchFrom(t *testing.T) {
	h := http.Header{}
	Set(h, "index.html", "https://a.example", "http://127.0.0.1:8081")
	const want = "; connect-src 'self' https://a.example http://127.0.0.1:8081; "
	if got := h.Get("Content-Security-Policy"); !strings.Contains(got, want) {
		t.Errorf("the page has %s", got)
	}
	for _, name := range []string{"", "sw.js", "embed.html", "assets/worker-Bx_3z-1a.js"} {
		with, without := http.Header{}, http.Header{}
		Set(with, name, "https://a.example")
		Set(without, name)
		if !maps.EqualFunc(with, without, slices.Equal) {
			t.Errorf("%s has %v", name, with)
		}
	}
}

// What is usual is one list for Go and for JavaScript.
func TestFetchFromUsually(t *testing.T) {
	origins := FetchFrom()
	if !slices.Equal(origins, []string{"https://raw.githubusercontent.com"}) {
		t.Errorf("files come from %q", origins)
	}
}

func TestCheckOrigin(t *testing.T) {
	for _, s := range []string{"https://a.example", "http://127.0.0.1:8081", "http://[::1]:80", "http://localhost"} {
		if err := CheckOrigin(s); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{"", "*", "https:", "https://", "a.example", "ftp://a.example", "https://a.example/", "https://*.a.example",
		"https://a.example; script-src *", "https://a b", "https://a.example\n", "https://u@a.example", "https://a.example:x"} {
		if CheckOrigin(s) == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

func TestAnEmptyValueTakesAHeaderAway(t *testing.T) {
	defer func(before []rule) { rules = before }(rules)
	rules = append(rules, parse([]byte(`[{"files": "^frame\\.html$", "headers": {"X-Content-Type-Options": ""}}]`))...)
	h := http.Header{}
	Set(h, "frame.html")
	if _, ok := h["X-Content-Type-Options"]; ok || h.Get("Referrer-Policy") == "" {
		t.Errorf("headers %v", h)
	}
}
