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

func TestAnEmptyValueTakesAHeaderAway(t *testing.T) {
	defer func(before []rule) { rules = before }(rules)
	rules = append(rules, parse([]byte(`[{"files": "^frame\\.html$", "headers": {"X-Content-Type-Options": ""}}]`))...)
	h := http.Header{}
	Set(h, "frame.html")
	if _, ok := h["X-Content-Type-Options"]; ok || h.Get("Referrer-Policy") == "" {
		t.Errorf("headers %v", h)
	}
}
