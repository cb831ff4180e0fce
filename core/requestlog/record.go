package requestlog

import (
	"net/http"
	"strings"
	"time"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
)

// entry is a Record with what belongs to it. All of it is guarded by Log.mu.
type entry struct {
	Record
	change int64 // of Log.change, when it was last changed
	began  time.Time
	gone   bool   // no longer in the log: nothing more is kept of it
	reason string // why the authorizer allowed or refused

	auditing   *audit.AuditContext // upstream's filters fill it in; nil at the request's end
	audit      []*auditinternal.Event
	auditBytes int // of the objects in them

	requestHeader  http.Header
	responseHeader http.Header // of the answer, once it has begun
	requestBody    body
	responseBody   body
	frames         *frames    // of a watch
	gunzip         *gunzipper // of a watch that is compressed, until it ends
	subscribed     []*subscribed
}

// clientHeader names the part of the page that made a request.
const clientHeader = "Kubetab-Client"

// What Record.From is for some that are told apart from the page's own.
const (
	FromPod       = "pod"             // a program in a Pod; such a request counts as a component's
	FromTerminal  = "terminal"        // curl and its like in the terminal
	FromDiscovery = "discovery-check" // the terminal asks whether kubectl's discovery is up to date
	FromTrust     = "trust"           // the terminal asks whose certificate curl may trust
)

// from is Record.From.
func from(r *http.Request, internal bool) string {
	switch name := r.Header.Get(clientHeader); {
	case isWord(name):
		return name
	case r.Header.Get("Kubectl-Command") != "":
		return "kubectl"
	case !internal:
		return "page"
	}
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	if agent == "" {
		return "engine"
	}
	return agent
}

func isWord(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	return strings.IndexFunc(s, func(c rune) bool { return (c < 'a' || c > 'z') && c != '-' }) < 0
}

const redacted = "(not kept)"

// keep returns a copy of h without credentials.
func keep(h http.Header) http.Header {
	kept := h.Clone()
	for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
		if values := kept[name]; len(values) > 0 {
			scheme, _, found := strings.Cut(values[0], " ")
			if !found {
				scheme = ""
			}
			kept[name] = []string{strings.TrimSpace(scheme + " " + redacted)}
		}
	}
	for i, value := range kept["Sec-Websocket-Protocol"] {
		if strings.Contains(value, "bearer.authorization.k8s.io") {
			kept["Sec-Websocket-Protocol"][i] = redacted
		}
	}
	return kept
}

// isWatch reports what k8s.io/apiserver/pkg/endpoints/request decides of a path and its query: a list that follows, or
// the old form with /watch/ in it.
func isWatch(r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	if watch := r.URL.Query()["watch"]; len(watch) > 0 && watch[0] != "0" && !strings.EqualFold(watch[0], "false") {
		return true
	}
	parts := strings.SplitN(r.URL.Path, "/", 6)
	return len(parts) > 3 && (parts[1] == "api" && parts[3] == "watch" || parts[1] == "apis" && len(parts) > 4 && parts[4] == "watch")
}
