package shell_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesOfThePage(t *testing.T) {
	url := httpServer(t)
	do := func(method, path, body string) (int, string) {
		t.Helper()
		return ask(t, method, url+"/kubetab/files"+path, body)
	}
	home := shared.home
	watch, err := http.Get(url + "/kubetab/files" + home + "/watched?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	changes := json.NewDecoder(watch.Body)
	sees := func(kind, path string) {
		t.Helper()
		for {
			var c struct{ Type, Path string }
			if err := changes.Decode(&c); err != nil {
				t.Fatal(err)
			}
			if c.Type == kind && c.Path == path {
				return
			}
		}
	}
	if code, text := do("PUT", home+"/watched/inner/a.yaml", "kind: A\n"); code != http.StatusNoContent {
		t.Fatal(code, text)
	}
	sees("changed", home+"/watched/inner/a.yaml")
	if code, text := do("GET", home+"/watched/inner/a.yaml", ""); code != http.StatusOK || text != "kind: A\n" {
		t.Error(code, text)
	}
	if code, text := do("GET", home+"/watched", ""); code != http.StatusOK || !strings.Contains(text, `"name":"inner","folder":true`) {
		t.Error(code, text)
	}
	post(t, url, "echo from the shell > watched/b.txt")
	sees("changed", home+"/watched/b.txt")
	if code, text := do("DELETE", home+"/watched/b.txt", ""); code != http.StatusNoContent {
		t.Error(code, text)
	}
	sees("deleted", home+"/watched/b.txt")
	if err := os.Symlink("/etc", filepath.Join(home, "watched", "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path string
		code         int
	}{
		{"GET", home + "/nothing", http.StatusNotFound},
		{"GET", "/etc/passwd", http.StatusForbidden},
		{"GET", home + "/watched/link/passwd", http.StatusForbidden},
		{"PUT", home + "/watched/link/new", http.StatusForbidden},
		{"DELETE", home, http.StatusForbidden},
		{"DELETE", home + "/nothing", http.StatusNotFound},
	} {
		if code, text := do(c.method, c.path, ""); code != c.code {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, code, text, c.code)
		}
	}
}

// TestLargeFilesOfThePage: who wants no large file learns its length before it comes.
func TestLargeFilesOfThePage(t *testing.T) {
	url := httpServer(t)
	for _, size := range []int{0, 1 << 20, 3<<20 + 1} {
		content := bytes.Repeat([]byte{'x'}, size)
		if err := os.WriteFile(filepath.Join(shared.home, "sized.bin"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		answer, err := http.Get(url + "/kubetab/files" + shared.home + "/sized.bin")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.ContentLength != int64(size) || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: Content-Length %d, %d bytes, %v", size, answer.ContentLength, len(got), err)
		}
	}
}
