package state_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/state"
)

// TestStateIsReadAndChanged has a state changed by its own method alone, and answered as
// it is afterwards; what cannot be read changes nothing.
func TestStateIsReadAndChanged(t *testing.T) {
	type light struct {
		On bool `json:"on"`
	}
	var now light
	h := &state.Handler{
		Name: "light", Method: http.MethodPut,
		State: func() any { return now },
		Change: func(body io.Reader) error {
			var want light
			err := state.Decode(body, &want)
			if err == nil {
				now = want
			}
			return err
		},
	}
	for _, test := range []struct {
		method, body string
		code         int
		answer       string
	}{
		{"GET", "", 200, `{"on":false}`},
		{"PUT", `{"on":true}`, 200, `{"on":true}`},
		{"PUT", `{"on":false,"off":true}`, 400, `light: json: unknown field \"off\"`},
		{"PUT", `{"on":false}{}`, 400, "light: more than one value"},
		{"PUT", `{"on":false` + strings.Repeat(" ", 5000) + "}", 400, "light: http: request body too large"},
		{"PUT", "", 400, "light: EOF"},
		{"POST", `{"on":false}`, 405, "light: the state is read with GET and changed with PUT"},
		{"GET", "", 200, `{"on":true}`},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(test.method, "/", strings.NewReader(test.body)))
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.answer) {
			t.Errorf("%s %.30q: %d %s", test.method, test.body, w.Code, w.Body)
		}
	}
}
