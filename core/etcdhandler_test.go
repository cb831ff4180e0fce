package core_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/cluster"
)

// While etcd is stopped, the API server does what it does when an etcd is killed: readyz and livez fail by the check of
// that name, the watch cache answers what may be old, a write waits. Afterwards all is as before.
func TestEtcdPath(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, _ := living(t, core.Config{DefaultUser: &user.DefaultInfo{Name: "admin", Groups: []string{"system:masters"}}})
	send := func(method, path, body string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, r)
		return w
	}
	const maps = "/api/v1/namespaces/default/configmaps"
	if w := send("POST", maps, `{"metadata":{"name":"before"}}`); w.Code != 201 {
		t.Fatal(w.Code, w.Body)
	}
	for body, want := range map[string]string{`{}`: "give stopped", `{"stopped":1}`: "bool", `{"gone":true}`: "gone", ``: "EOF"} {
		if w := send("PUT", core.EtcdPath, body); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("PUT %s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := send("DELETE", core.EtcdPath, ""); w.Code != 405 {
		t.Errorf("DELETE: %d %s", w.Code, w.Body)
	}
	stopped := func(w *httptest.ResponseRecorder) bool {
		t.Helper()
		var s struct{ Stopped bool }
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return s.Stopped
	}
	if stopped(send("GET", core.EtcdPath, "")) || !stopped(send("PUT", core.EtcdPath, `{"stopped":true}`)) {
		t.Error("it does not say what it does")
	}

	waits := make(chan int, 1)
	go func() { waits <- send("POST", maps, `{"metadata":{"name":"waits"}}`).Code }()
	// Upstream's checks, of which /readyz has two, ask etcd once a second each, and answer with what they know in between.
	until := func(path string, code int, says string) {
		t.Helper()
		for {
			w := send("GET", path, "")
			if w.Code == code && strings.Contains(w.Body.String(), says) {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("%s stays %d, and not %d with %q: %s", path, w.Code, code, says, w.Body)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	for _, path := range []string{"/readyz", "/livez"} {
		until(path, 500, "[-]etcd failed")
		until(path, 500, "[+]ping ok")
	}
	if w := send("GET", "/livez?exclude=etcd", ""); w.Code != 200 {
		t.Errorf("livez without etcd: %d %s", w.Code, w.Body)
	}
	if w := send("GET", maps+"/before?resourceVersion=0", ""); w.Code != 200 {
		t.Errorf("the watch cache: %d %s", w.Code, w.Body)
	}
	if _, err := e.Cluster().Save(ctx, cluster.SaveOptions{}); err == nil || !strings.Contains(err.Error(), "etcd is stopped") {
		t.Errorf("Save: %v", err)
	}

	select {
	case code := <-waits:
		t.Errorf("a write without etcd: %d", code)
	default:
	}
	if stopped(send("PUT", core.EtcdPath, `{"stopped":false}`)) {
		t.Error("it does not start")
	}
	if code := <-waits; code != 201 {
		t.Errorf("a write that waits for etcd: %d", code)
	}
	until("/readyz", 200, "ok")
}
