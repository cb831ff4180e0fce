package bridge

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/internal/status"
)

// unavailable answers everything with a 503 that clients of Kubernetes retry.
func unavailable(message string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		status.Refuse(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, message)
	})
}
