package shell_test

import (
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
		r, err := http.NewRequestWithContext(t.Context(), c.method, url+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode < 400 || response.StatusCode >= 500 {
			t.Errorf("%s %s %q: %s", c.method, c.path, c.body, response.Status)
		}
	}
}
