package evaluate

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/internal/status"
	"github.com/kubetab/kubetab/tutorials"
)

// Path is where Handler belongs.
const Path = "/kubetab/lesson"

// mostBody is how large a lesson may be, in bytes.
const mostBody = 1 << 20

// Handler serves the lesson:
//
//	PUT    /kubetab/lesson          tutorials.Begin -> tutorials.State; with ?keep=1 the cluster is left as it is
//	GET    /kubetab/lesson          tutorials.State; with ?watch=1 a line of JSON now and after each change
//	DELETE /kubetab/lesson          no lesson any more
//
// It belongs to the page: a request with credentials is refused, because it would not look at them.
func (e *Evaluator) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Header.Get("Authorization") != "" || r.Header.Get("Impersonate-User") != "" || r.TLS != nil {
			status.Refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "the lesson belongs to the page itself and takes no other identity")
			return
		}
		switch r.Method {
		case http.MethodGet:
			e.get(w, r)
		case http.MethodPut:
			e.put(w, r)
		case http.MethodDelete:
			e.End()
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Allow", "GET, PUT, DELETE")
			status.Refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "a lesson is begun with PUT, read with GET and ended with DELETE")
		}
	})
}

func isSet(r *http.Request, name string) bool {
	q := r.URL.Query()
	return q.Has(name) && q.Get(name) != "0" && q.Get(name) != "false"
}

func (e *Evaluator) put(w http.ResponseWriter, r *http.Request) {
	var b tutorials.Begin
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody))
	d.DisallowUnknownFields()
	err := d.Decode(&b)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	if err == nil && (b.Lesson.ID == "" || b.Lesson.Namespace == "") {
		err = errors.New("the lesson needs an id and a namespace")
	}
	if err != nil {
		status.Refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "the body is no {lesson, start, progress}: "+err.Error())
		return
	}
	if err := e.Begin(r.Context(), b, isSet(r, "keep")); err != nil {
		status.Refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "lesson "+b.Lesson.ID+": "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(e.State()) // the client has gone, then
}

func (e *Evaluator) get(w http.ResponseWriter, r *http.Request) {
	if !isSet(r, "watch") {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(e.State()) // the client has gone, then
		return
	}
	wake, stop := e.Follow()
	defer stop()
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	for {
		if lines.Encode(e.State()) != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		}
	}
}
