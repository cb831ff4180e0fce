package server

import (
	"context"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/internal/status"
)

// Drain lets a server stop without cutting streams off. A watch never ends by itself, and a handler whose connection
// is closed under it leaves the client with a reset in the middle of a chunk. So each stream is given a context that
// ends when the drain begins; upstream's watch handler then returns, and net/http writes the regular end of the
// response (the last chunk, or END_STREAM).
//
// This is what kube-apiserver does with --shutdown-watch-termination-grace-period, without its rate limit: that
// spares the other servers of a cluster, and here is no other server.
//
// The zero value is not usable; see [NewDrain]. All methods are safe for concurrent use.
type Drain struct {
	ctx   context.Context // ends when the drain begins
	begin context.CancelFunc
}

// NewDrain returns a Drain that has not begun.
func NewDrain() *Drain {
	ctx, cancel := context.WithCancel(context.Background())
	return &Drain{ctx: ctx, begin: cancel}
}

// Begin ends all streams and makes the handler refuse new requests. Requests under way go on.
func (d *Drain) Begin() { d.begin() }

// Handler serves with next until the drain begins. From then on it answers 503 with a Kubernetes Status and
// Retry-After, for requests that come in on connections which were open before.
func (d *Drain) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.ctx.Err() != nil {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Connection", "close")
			w.Header().Set("Cache-Control", "no-store")
			status.Refuse(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable,
				"kubetab is shutting down: try again when it is back")
			return
		}
		if isStream(r) {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(d.ctx, cancel)()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// isStream reports whether r asks for a response without an end: a watch, in its current or its deprecated form, or a
// log that is followed. A query parameter counts as apimachinery converts it: anything but "0" and "false" is true.
func isStream(r *http.Request) bool {
	query := r.URL.Query()
	for _, name := range []string{"watch", "follow"} {
		if values, ok := query[name]; ok && len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false") {
			return true
		}
	}
	return strings.Contains(r.URL.Path, "/watch/")
}
