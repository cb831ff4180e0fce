// Package state serves states of an engine that can be read and changed, such as its
// clock, as small JSON objects.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/internal/status"
)

// Handler serves a state of the engine as JSON. A GET answers with the state. A
// request with the method that changes the state gives Change its body first, and
// answers with the state afterwards.
type Handler struct {
	Name   string     // what has the state, for messages
	Method string     // the method that changes the state
	State  func() any // as of now; encoded as JSON
	// Change reads a body of at most 4 KiB. Its error is answered with 400 BadRequest.
	Change func(body io.Reader) error
}

const stateBody = 4 << 10 // bytes

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case h.Method:
		if err := h.Change(http.MaxBytesReader(w, r.Body, stateBody)); err != nil {
			status.Refuse(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf("%s: %v", h.Name, err))
			return
		}
	default:
		w.Header().Set("Allow", "GET, HEAD, "+h.Method)
		status.Refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, fmt.Sprintf("%s: the state is read with GET and changed with %s", h.Name, h.Method))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(h.State()) // the client has gone: nobody to tell
}

// Decode reads one JSON object of known fields into a pointer. The error is the decoder's
// for what is no such object, and says so when more follows it.
func Decode(body io.Reader, into any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
