package shell_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func httpServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(shared.shell.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// ask makes a request as the page does, and returns the whole answer.
func ask(t *testing.T, method, url, body string) (code int, text string) {
	t.Helper()
	// What is put right when a test ends is asked for then.
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func TestHandlerIsForThePageOnly(t *testing.T) {
	url := httpServer(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/kubetab/run", strings.NewReader(`{"command": "echo hi"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+shared.tokens["kubetab-view"])
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("with a viewer's token: %s", response.Status)
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/kubetab/run", "no json"},
		{"POST", "/kubetab/terminals", "{"},
		{"POST", "/kubetab/terminals", `{"directory": "/nowhere"}`},
		{"POST", "/kubetab/terminals/t0/input", "x"},
		{"POST", "/kubetab/edits/e0", `{"saved": true}`},
	} {
		if code, _ := ask(t, c.method, url+c.path, c.body); code < 400 || code >= 500 {
			t.Errorf("%s %s %q: %d", c.method, c.path, c.body, code)
		}
	}
}
