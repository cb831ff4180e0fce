package status

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStatus(t *testing.T) {
	answer := func(write func(w *httptest.ResponseRecorder)) (*httptest.ResponseRecorder, metav1.Status) {
		t.Helper()
		w := httptest.NewRecorder()
		write(w)
		var s metav1.Status
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		return w, s
	}
	kind := metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	w, s := answer(func(w *httptest.ResponseRecorder) { Refuse(w, 404, metav1.StatusReasonNotFound, "there is none") })
	want := metav1.Status{TypeMeta: kind, Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: "there is none"}
	if w.Code != 404 || s.TypeMeta != kind || s.Status != want.Status || s.Code != want.Code || s.Reason != want.Reason || s.Message != want.Message {
		t.Errorf("%d %+v, want %+v", w.Code, s, want)
	}
	if got := w.Header().Get("Cache-Control"); got != "no-cache, private" {
		t.Errorf("Cache-Control: %s", got)
	}
	w, s = answer(func(w *httptest.ResponseRecorder) {
		w.Header().Set("Cache-Control", "no-store")
		Write(w, metav1.Status{Code: 200, Message: "done"})
	})
	if w.Code != 200 || s.Status != metav1.StatusSuccess || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %+v %v", w.Code, s, w.Header())
	}
}
