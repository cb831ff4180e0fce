package shell_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// askTagged sends a request with the ETag of If-Match unless that is empty, and returns
// the status, the ETag and the body of the answer.
func askTagged(t *testing.T, method, url, tag, body string) (code int, newTag, text string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if tag != "" {
		r.Header.Set("If-Match", tag)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("ETag"), string(read)
}

// TestPutIfMatch: who writes what was made of another text than is there does not undo
// what a command has written meanwhile.
func TestPutIfMatch(t *testing.T) {
	url := httpServer(t) + "/kubetab/files" + shared.home + "/matched.txt"
	do := func(method, tag, body string) (int, string, string) {
		t.Helper()
		return askTagged(t, method, url, tag, body)
	}
	there := func(want string) {
		t.Helper()
		if _, _, text := do("GET", "", ""); text != want {
			t.Errorf("there is %q, want %q", text, want)
		}
	}
	code, first, text := do("PUT", "", "one")
	if code != http.StatusNoContent || first == "" {
		t.Fatal(code, first, text)
	}
	if code, tag, text := do("GET", "", ""); code != http.StatusOK || tag != first || text != "one" {
		t.Error(code, tag, text)
	}
	code, second, _ := do("PUT", first, "two")
	if code != http.StatusNoContent || second == first {
		t.Error(code, second)
	}
	if code, _, text := do("PUT", first, "three"); code != http.StatusPreconditionFailed || !strings.Contains(text, "/matched.txt was changed by something else") {
		t.Error(code, text)
	}
	there("two")
	large := strings.Repeat("x", 1<<20+1) // no tag is told of it
	if code, tag, _ := do("PUT", second, large); code != http.StatusNoContent || tag != "" {
		t.Error(code, tag)
	}
	if code, _, _ := do("PUT", second, "four"); code != http.StatusPreconditionFailed {
		t.Error(code)
	}
	there(large)
	if code, _, _ := do("DELETE", "", ""); code != http.StatusNoContent {
		t.Error(code)
	}
	if code, _, _ := do("PUT", second, "five"); code != http.StatusPreconditionFailed {
		t.Error("written where there was no file:", code)
	}
}

// TestEditorBesideCommand: a file has what a command appends and what the page's editor writes
// at the same time.
func TestEditorBesideCommand(t *testing.T) {
	const lines = 200
	url := httpServer(t)
	file := url + "/kubetab/files" + shared.home + "/both.txt"
	// To compare a large one takes a while.
	if code, text := ask(t, "PUT", file, strings.Repeat("before\n", 50_000)); code != http.StatusNoContent {
		t.Fatal(code, text)
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		post(t, url, fmt.Sprintf("for i in $(seq %d); do echo command $i >> both.txt; sleep 0.003; done", lines))
	})
	for n := range lines {
		for done := false; !done; {
			_, tag, text := askTagged(t, "GET", file, "", "")
			code, _, _ := askTagged(t, "PUT", file, tag, fmt.Sprintf("editor %d\n%s", n+1, text))
			done = code == http.StatusNoContent
		}
	}
	writing.Wait()
	_, text := ask(t, "GET", file, "")
	for n := range lines {
		for _, who := range []string{"command", "editor"} {
			if line := fmt.Sprintf("%s %d\n", who, n+1); strings.Count("\n"+text, "\n"+line) != 1 {
				t.Errorf("%q is there %d times", line, strings.Count("\n"+text, "\n"+line))
			}
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
