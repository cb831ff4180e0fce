package core

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Whoever fills the memory gets an error, and can read, delete and make room.
func TestMemoryThatIsFull(t *testing.T) {
	e, err := New(context.Background(), Config{Controllers: []string{"-*"}, NoScheduler: true, DefaultUser: &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := e.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	var live, stored atomic.Uint64
	relieved := make(chan struct{}, 10)
	guard := newMemoryGuard(t.Context(), 100<<20, stored.Load, func(ctx context.Context) error {
		_, err := compact(ctx, e.servers)
		relieved <- struct{}{}
		return err
	})
	guard.live = live.Load
	outside, inside := guard.wrap(e.Handler(), false), guard.wrap(e.Handler(), true)
	ask := func(h http.Handler, method, path, body string) (int, string) {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
			if strings.HasPrefix(body, "apiVersion:") {
				r.Header.Set("Content-Type", "application/apply-patch+yaml")
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const maps = "/api/v1/namespaces/default/configmaps"
	want := func(h http.Handler, code int, method, path, body string) string {
		t.Helper()
		got, text := ask(h, method, path, body)
		if got != code {
			t.Errorf("%s %s: %d, want %d: %s", method, path, got, code, text)
		}
		return text
	}
	big := `"` + strings.Repeat("x", 2*smallChange) + `"`
	want(outside, 201, "POST", maps, `{"metadata":{"name":"kept","finalizers":["example.com/f"]}}`)

	live.Store(200 << 20)
	var status metav1.Status
	if err := json.Unmarshal([]byte(want(outside, 507, "POST", maps, `{"metadata":{"name":"more"}}`)), &status); err != nil {
		t.Fatal(err)
	}
	if status.Kind != "Status" || status.Status != "Failure" || status.Reason != "InsufficientStorage" || !strings.Contains(status.Message, "200 MiB of memory, of 100 MiB") {
		t.Errorf("the Status is %+v", status)
	}
	<-relieved
	want(inside, 507, "POST", maps, `{"metadata":{"name":"more"}}`)
	want(outside, 507, "PATCH", maps+"/kept", `{"data":{"a":`+big+`}}`)
	want(outside, 507, "PATCH", maps+"/applied?fieldManager=test", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\n")
	want(outside, 404, "GET", maps+"/more", "")
	if list := want(outside, 200, "GET", maps, ""); !strings.Contains(list, `"kept"`) || strings.Contains(list, "xxx") {
		t.Errorf("the list is %s", list)
	}
	want(outside, 201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
	want(outside, 200, "DELETE", maps+"/kept", "")
	want(outside, 200, "PATCH", maps+"/kept", `{"metadata":{"finalizers":null}}`)
	want(outside, 404, "GET", maps+"/kept", "")

	live.Store(50 << 20)
	want(outside, 201, "POST", maps, `{"metadata":{"name":"more"},"data":{"a":`+big+`}}`)
	// There is no room for all of the store twice more, in 120 MiB.
	stored.Store(36 << 20)
	if text := want(outside, 507, "POST", maps, `{"metadata":{"name":"other"}}`); !strings.Contains(text, "the store takes 36 MiB of memory, and beside what else is there it may take 35 MiB") {
		t.Error(text)
	}
	stored.Store(34 << 20)
	want(outside, 201, "POST", maps, `{"metadata":{"name":"other"}}`)
	// What is newer than the last collection counts as well.
	live.Store(10 << 20)
	stored.Store(41 << 20)
	want(outside, 507, "POST", maps, `{"metadata":{"name":"third"}}`)

	live.Store(200 << 20)
	want(inside, 200, "PATCH", maps+"/more", `{"data":{"b":`+big+`}}`)
}
