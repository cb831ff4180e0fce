package server_test

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubetab/kubetab/server/internal/process"
)

// TestShare: what a visitor has sent is there after a restart, until the operator takes it down. A server without a folder
// has no store, and does not say that it has one.
func TestShare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	static, token := filepath.Join(dir, "page"), filepath.Join(dir, "token")
	for path, text := range map[string]string{filepath.Join(static, "index.html"): "the page", token: "of the operator\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := func(args ...string) *process.Process {
		return startKubetab(t, append([]string{"--http", "127.0.0.1:0", "--static", static}, args...)...)
	}
	ask := func(p *process.Process, method, path, authorization string, body []byte) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, p.Page+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/vnd.kubetab.files")
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(text)
	}
	var content bytes.Buffer
	zip := zlib.NewWriter(&content)
	if _, err := io.WriteString(zip, `[["a.yaml","kind: Pod"]]`); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}

	folder := filepath.Join(dir, "shared")
	first := start("--share-dir", folder, "--share-token-file", token)
	if page, text := ask(first, "HEAD", "/", "", nil); page.Header.Get("Kubetab-Share") != "s" || text != "" {
		t.Errorf("the page: %v", page.Header)
	}
	sent, text := ask(first, "POST", "/s", "", content.Bytes())
	var named struct{ ID string }
	if err := json.Unmarshal([]byte(text), &named); err != nil || sent.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s, %v", sent.Status, text, err)
	}
	first.Signal(syscall.SIGTERM)
	if code, stderr := first.Wait(endLimit); code != 0 || stderr != "" {
		t.Errorf("ended with code %d, stderr %q", code, stderr)
	}
	second := start("--share-dir", folder, "--share-token-file", token)
	got, text := ask(second, "GET", "/s/"+named.ID, "", nil)
	if got.StatusCode != http.StatusOK || text != content.String() || strings.Contains(got.Header.Get("Content-Type"), "html") {
		t.Errorf("after a restart: %s, %q", got.Status, text)
	}
	if removed, _ := ask(second, "DELETE", "/s/"+named.ID, "Bearer of the operator", nil); removed.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %s", removed.Status)
	}
	if got, _ := ask(second, "GET", "/s/"+named.ID, "", nil); got.StatusCode != http.StatusGone {
		t.Errorf("taken down: %s", got.Status)
	}

	without := start()
	if page, _ := ask(without, "HEAD", "/", "", nil); page.Header.Get("Kubetab-Share") != "" {
		t.Errorf("without a store: %v", page.Header)
	}
	if sent, _ := ask(without, "POST", "/s", "", content.Bytes()); sent.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("without a store: %s", sent.Status)
	}
}
