package requestlog

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Wrap returns h with a record made of each of its requests. internal says that they come from components inside the
// engine. Requests for the log itself are not recorded.
func (l *Log) Wrap(h http.Handler, internal bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := audit.WithAuditContext(r.Context()) // upstream's filter takes one that is there
		e := l.begin(r, internal, audit.AuditContextFrom(ctx))
		in := r.WithContext(context.WithValue(ctx, entryKey{}, e))
		if r.Body != nil && r.Body != http.NoBody {
			in.Body = &requestBody{ReadCloser: r.Body, log: l, entry: e}
		}
		out := &responseWriter{ResponseWriter: w, log: l, entry: e}
		broken := "the handler panicked"
		defer func() { l.end(e, broken) }() // deferred, because a handler ends a response on purpose by a panic
		h.ServeHTTP(out, in)
		broken = ""
		if r.Context().Err() != nil && !e.Watch {
			broken = "the client has gone"
		}
	})
}

// entryKey is the context key of a request's entry.
type entryKey struct{}

func (l *Log) begin(r *http.Request, internal bool, auditing *audit.AuditContext) *entry {
	now := time.Now()
	// A request from inside the process is a component's, unless it is kubectl's or another program's of the
	// terminal, which run inside, too.
	client := r.Header.Get(clientHeader)
	internal = internal && r.Header.Get("Kubectl-Command") == "" && (client == "" || client == FromPod)
	path := r.RequestURI
	if path == "" {
		path = r.URL.RequestURI()
	}
	e := &entry{
		Record: Record{
			Begin:    now.UnixMilli(),
			From:     from(r, internal),
			Internal: internal,
			Command:  r.Header.Get("Kubectl-Command"),
			Method:   r.Method,
			Path:     path,
			Watch:    isWatch(r),
		},
		began:         now,
		auditing:      auditing,
		requestHeader: keep(r.Header),
	}
	l.add(e, r)
	return e
}

func (l *Log) end(e *entry, broken string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.MS = time.Since(e.began).Milliseconds()
	e.Done, e.Broken, e.auditing = true, broken, nil
	l.touch(e)
	l.deliver(e, PartEnd)
	e.subscribed = nil
	if e.gunzip != nil {
		e.gunzip.stop()
		e.gunzip = nil
	}
}

// Authorizer returns an authorizer that asks a, and notes the user, the verb and the resource in the record of the
// request. Only an authorizer knows these for every request that is not answered with 401.
func (l *Log) Authorizer(a authorizer.Authorizer) authorizer.Authorizer {
	return observer{a, l}
}

type observer struct {
	authorizer.Authorizer
	log *Log
}

func (o observer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	decision, reason, err := o.Authorizer.Authorize(ctx, a)
	if e, ok := ctx.Value(entryKey{}).(*entry); ok {
		o.log.authorized(e, a, reason)
	}
	return decision, reason, err
}

func (l *Log) authorized(e *entry, a authorizer.Attributes, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if isImpersonation(a.GetVerb()) {
		if e.Verb == "" && a.GetUser() != nil {
			e.Impersonator = a.GetUser().GetName()
		}
		return
	}
	if e.Verb != "" {
		return // asked again by a handler, about something else
	}
	e.Verb, e.reason = a.GetVerb(), reason
	if a.GetUser() != nil {
		e.User = a.GetUser().GetName()
	}
	if a.IsResourceRequest() {
		e.Group, e.Resource, e.Subresource = a.GetAPIGroup(), a.GetResource(), a.GetSubresource()
		e.Namespace, e.Name = a.GetNamespace(), a.GetName()
	}
	l.touch(e)
}

// isImpersonation reports whether a verb is one that the API server asks about before it knows whose request it is:
// impersonate, and since v1.36 impersonate:MODE and impersonate-on:MODE:VERB (constrained impersonation).
func isImpersonation(verb string) bool {
	return verb == "impersonate" || strings.HasPrefix(verb, "impersonate:") || strings.HasPrefix(verb, "impersonate-on:")
}

// requestBody keeps the beginning of what the handler reads.
type requestBody struct {
	io.ReadCloser
	log   *Log
	entry *entry
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.log.read(b.entry, p[:n])
	}
	return n, err
}

func (l *Log) read(e *entry, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.RequestBytes += int64(len(data))
	for _, s := range e.subscribed {
		s.request.add(data, s.to.BodyBytes)
	}
	if !e.gone {
		l.hold(e, e.requestBody.add(data, l.options.BodyBytes))
	}
}

// responseWriter notes head, size and beginning of an answer on its way. Upstream hides Flush from handlers unless
// CloseNotify is there too.
type responseWriter struct {
	http.ResponseWriter
	log   *Log
	entry *entry
	began bool
}

func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *responseWriter) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseWriter) Write(data []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.ResponseWriter.Write(data)
	if n > 0 {
		w.log.wrote(w.entry, data[:n])
	}
	return n, err
}

func (w *responseWriter) Flush() {
	w.begin(http.StatusOK)
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func (w *responseWriter) CloseNotify() <-chan bool {
	//lint:ignore SA1019 upstream asks for it, see above
	return w.ResponseWriter.(http.CloseNotifier).CloseNotify()
}

// Hijack takes the connection out of sight: what an upgraded one carries is not recorded.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.begin(http.StatusSwitchingProtocols)
	}
	return conn, rw, err
}

func (w *responseWriter) begin(status int) {
	if w.began || status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		return
	}
	w.began = true
	w.log.head(w.entry, status, w.Header())
}

func (l *Log) head(e *entry, status int, header http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Status = status
	e.HeadMS = time.Since(e.began).Milliseconds()
	e.ContentType = header.Get("Content-Type")
	e.responseHeader = keep(header)
	e.Watch = e.Watch && status == http.StatusOK
	if e.Watch {
		by := byLine
		if strings.Contains(e.ContentType, "protobuf") {
			by = byLength
		}
		e.frames = newFrames(by, l.options.BodyBytes, !e.Internal, &l.latest)
		if header.Get("Content-Encoding") == "gzip" {
			e.gunzip = newGunzipper()
		}
	}
	l.touch(e)
	l.deliver(e, PartHead)
}

func (l *Log) wrote(e *entry, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Bytes += int64(len(data))
	now := time.Now().UnixMilli()
	switch {
	case e.gone && len(e.subscribed) == 0: // nobody wants it
		return
	case e.gunzip != nil:
		e.gunzip.feed(data, func(plain []byte) { l.take(e, plain, now) })
	default:
		l.take(e, data, now)
	}
	if !e.gone && (e.frames != nil || len(l.followers) > 0) {
		l.touch(e)
	}
}

// take takes in what an answer has sent, of a watch without its compression.
func (l *Log) take(e *entry, data []byte, at int64) {
	l.deliverBytes(e, data, at)
	switch {
	case e.gone:
	case e.frames != nil:
		l.hold(e, e.frames.add(data, at))
		e.Events = e.frames.count
	default:
		l.hold(e, e.responseBody.add(data, l.options.BodyBytes))
	}
}
