package requestlog

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
)

// Objects of audit events count as bodies do, and go with them.
func TestAuditEventsAreBounded(t *testing.T) {
	o := Options{Records: 20, BodyBytes: 2000, TotalBytes: 7000}
	l := New(o)
	backend := l.Audit()
	h := l.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		audit.WithAuditID(r.Context(), "id")
		for _, size := range []int{0, 1000, 5000} {
			event := &auditinternal.Event{AuditID: "id", Level: auditinternal.LevelRequest}
			if size > 0 {
				event.RequestObject = &runtime.Unknown{ContentType: runtime.ContentTypeJSON, Raw: []byte(`"` + strings.Repeat("x", size) + `"`)}
			}
			if !backend.ProcessEvents(event) {
				t.Error("an event was refused")
			}
		}
	}), false)
	for range 100 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil))
		held, most := 0, 0
		for _, e := range l.entries {
			for _, event := range e.audit {
				if event.RequestObject != nil {
					held += len(event.RequestObject.Raw)
					most = max(most, len(event.RequestObject.Raw))
				}
			}
		}
		if held != l.held || held > o.TotalBytes || most > o.BodyBytes {
			t.Fatalf("%d bytes held, %d counted, %d in one event", held, l.held, most)
		}
	}
	newest := l.entries[len(l.entries)-1].audit
	if len(newest) != 3 || newest[1].RequestObject == nil || newest[2].Annotations["audit.k8s.io/truncated"] != "true" {
		t.Errorf("the newest request has %+v", newest)
	}
	if l.drop(func(*entry) bool { return true }); l.held != 0 {
		t.Errorf("%d bytes are held of nothing", l.held)
	}
}

func TestAuditLevelRefusesWhatIsNone(t *testing.T) {
	l := New(Options{})
	ask := func(method, body string) (int, string) {
		w := httptest.NewRecorder()
		l.Handler().ServeHTTP(w, httptest.NewRequest(method, AuditPath, strings.NewReader(body)))
		return w.Code, strings.TrimSpace(w.Body.String())
	}
	if code, answer := ask("GET", ""); code != 404 {
		t.Errorf("without a policy that can change: %d %s", code, answer)
	}
	l.AuditPolicy()
	for _, body := range []string{``, `{`, `[]`, `{"level":"None"}`, `{"level":"metadata"}`, `{"level":"Request","more":1}`, `{"level":"` + strings.Repeat("x", 2000) + `"}`} {
		if code, answer := ask("PUT", body); code != 400 || !strings.Contains(answer, "BadRequest") {
			t.Errorf("%.40q: %d %s", body, code, answer)
		}
	}
	if code, _ := ask("DELETE", ""); code != 405 {
		t.Errorf("DELETE: %d", code)
	}
	if code, answer := ask("GET", ""); code != 200 || answer != `{"level":"Metadata"}` {
		t.Errorf("after all that: %d %s", code, answer)
	}
}
