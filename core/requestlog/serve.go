package requestlog

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/internal/status"
)

// Prefix is where Handler belongs.
const Prefix = "/kubetab/requests"

// pace is how often a follower is told of changes: what happens in between comes together.
const pace = 40 * time.Millisecond

// Handler serves the log:
//
//	GET /kubetab/requests              the records, one JSON object a line; with ?follow=1 also each change from then on
//	GET /kubetab/requests/{id}         a Detail
//	GET /kubetab/requests/{id}/events  of a watch, an Event a line, and each that comes until the watch ends
//	GET, PUT /kubetab/requests/audit   an AuditLevel: that of the audit events of requests from then on
//
// Whoever may read it may read the answers to requests of others: it is for the one user that a page has. It refuses a
// request with credentials or impersonation, because it would not look at them.
func (l *Log) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		id, part, err := split(r.URL.Path)
		switch {
		case r.Header.Get("Authorization") != "" || r.Header.Get("Impersonate-User") != "":
			status.Refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "the request log belongs to the page itself and takes no other identity")
		case r.URL.Path == AuditPath:
			l.serveAudit(w, r)
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			status.Refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the request log can only be read")
		case err != nil:
			status.Refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "there is no "+r.URL.Path)
		case id == 0:
			l.serveRecords(w, r)
		case part == "":
			l.serveDetail(w, id)
		default:
			l.serveEvents(w, r, id)
		}
	})
}

// split reads the path after Prefix: nothing, an id, or an id and "events".
func split(path string) (id int64, part string, err error) {
	rest := strings.Trim(strings.TrimPrefix(path, Prefix), "/")
	if rest == "" {
		return 0, "", nil
	}
	number, part, _ := strings.Cut(rest, "/")
	if id, err = strconv.ParseInt(number, 10, 64); err != nil || id <= 0 || part != "" && part != "events" {
		return 0, "", strconv.ErrSyntax
	}
	return id, part, nil
}

func (l *Log) serveRecords(w http.ResponseWriter, r *http.Request) {
	var wake chan struct{}
	if follow := r.URL.Query().Get("follow"); follow != "" && follow != "0" && follow != "false" {
		var stop func()
		wake, stop = l.follow()
		defer stop()
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	var change int64
	for {
		var records []Record
		records, change = l.since(change)
		for i := range records {
			if lines.Encode(&records[i]) != nil {
				return
			}
		}
		flush(w)
		if wake == nil || !waitFor(r, wake) {
			return
		}
	}
}

// waitFor waits for a change and then for its companions. It is false when the client has gone.
func waitFor(r *http.Request, wake <-chan struct{}) bool {
	select {
	case <-wake:
	case <-r.Context().Done():
		return false
	}
	together := time.NewTimer(pace)
	defer together.Stop()
	select {
	case <-together.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (l *Log) serveDetail(w http.ResponseWriter, id int64) {
	l.mu.Lock()
	e := l.find(id)
	if e == nil {
		l.mu.Unlock()
		refuseUnknown(w, id)
		return
	}
	d := Detail{
		Record:          e.record(),
		Reason:          e.reason,
		RequestHeaders:  pairs(e.requestHeader),
		ResponseHeaders: pairs(e.responseHeader),
	}
	sent, answered, events := e.requestBody.copy(), e.responseBody.copy(), slices.Clone(e.audit)
	l.mu.Unlock()

	d.RequestBody = decode(sent, e.requestHeader)
	if !d.Watch {
		d.ResponseBody = decode(answered, e.responseHeader)
	}
	if len(events) > 0 {
		d.Audit = auditYAML(events)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d) // the client has gone, then
}

func (l *Log) serveEvents(w http.ResponseWriter, r *http.Request, id int64) {
	wake, stop := l.follow()
	defer stop()
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	var seen int64
	for {
		l.mu.Lock()
		e := l.find(id)
		if e == nil || !e.Watch {
			l.mu.Unlock()
			if seen == 0 {
				refuseUnknown(w, id)
			}
			return
		}
		done, contentType := e.Done, e.ContentType
		var news []frame
		if e.frames != nil {
			e.frames.keep = true // of a component's watch from now on
			for _, f := range e.frames.last() {
				if f.seq > seen {
					news = append(news, f)
				}
			}
		}
		l.mu.Unlock()
		for _, f := range news {
			seen = f.seq
			if lines.Encode(Event{f.seq, f.at, decodeEvent(f.data, contentType)}) != nil {
				return
			}
		}
		flush(w)
		if done || !waitFor(r, wake) {
			return
		}
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func refuseUnknown(w http.ResponseWriter, id int64) {
	status.Refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "request "+strconv.FormatInt(id, 10)+" is not in the log, or not any more")
}
