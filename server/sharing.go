package server

import (
	"net/http"
	"strings"

	"github.com/kubetab/kubetab/server/share"
)

// WithShare serves a share store beside a site, at [share.Path], and has the page told that there is one.
func WithShare(site, store http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case share.Owns(r.URL.Path):
			store.ServeHTTP(w, r)
			return
		case r.URL.Path == "/" || r.URL.Path == "/index.html":
			w.Header().Set(share.Header, strings.TrimPrefix(share.Path, "/"))
		}
		site.ServeHTTP(w, r)
	})
}
