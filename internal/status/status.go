// Package status answers requests with a Kubernetes Status in JSON, which every client of Kubernetes understands,
// whatever its Accept header says.
package status

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refuse answers with a code, the reason for programs, which may be empty, and the message for people.
func Refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	Write(w, metav1.Status{Code: int32(code), Reason: reason, Message: message})
}

// Write answers with s and its code. Kind, version and success follow from them. Nobody may keep the answer, unless the
// header says something else already.
func Write(w http.ResponseWriter, s metav1.Status) {
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	s.Status = metav1.StatusSuccess
	if s.Code >= http.StatusBadRequest {
		s.Status = metav1.StatusFailure
	}
	w.Header().Set("Content-Type", "application/json")
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-cache, private") // as upstream's WithCacheControl
	}
	w.WriteHeader(int(s.Code))
	_ = json.NewEncoder(w).Encode(s) // the client has gone: nobody to tell
}
