package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubetab/kubetab/internal/absent"
)

// errNotServing is what a request meets when the handler does not come, and
// after Close.
var errNotServing = errors.New("the API server is not serving")

// transport calls a handler in this process: the loopback connection without
// TLS, sockets or serialized HTTP. Its clients are http.RoundTrippers. The
// response body streams: a watch event is readable as soon as the handler has
// flushed. It is safe for concurrent use.
//
// Clients inside the engine start before the handler does. Their requests wait
// for it, so that the start does not begin with errors and retries; but not for
// longer than patience, because one that is made by the goroutine that builds
// the chain waits for itself.
type transport struct {
	patience time.Duration
	serving  chan struct{} // closed by serve
	handler  atomic.Pointer[http.Handler]
}

func newTransport(patience time.Duration) *transport {
	return &transport{patience: patience, serving: make(chan struct{})}
}

// serve sets the handler; it must be called once.
func (t *transport) serve(h http.Handler) {
	t.handler.Store(&h)
	close(t.serving)
}

func (t *transport) stop() { t.handler.Store(nil) }

// wait returns the handler once there is one.
func (t *transport) wait(ctx context.Context) (http.Handler, error) {
	select {
	case <-t.serving:
	default:
		timeout := time.NewTimer(t.patience)
		defer timeout.Stop()
		select {
		case <-t.serving:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timeout.C:
			return nil, errNotServing
		}
	}
	if h := t.handler.Load(); h != nil {
		return *h, nil
	}
	return nil, errNotServing
}

// client is a transport whose requests come from user. It is how code in this
// process says who it is: no token has to exist, which could leak or, in an
// engine that is resumed by many, be the same for all.
type client struct {
	*transport
	user user.Info // nil: whoever the request's own credentials say
}

// identityKey is the context key under which a request carries the user of the
// client that made it. A request from outside cannot have it.
type identityKey struct{}

// RoundTrip runs the handler in a goroutine of its own and returns when it has
// sent its header. It returns errNotServing when there is no handler, the
// request context's error when that ends first, and the panic as an error when
// the handler panics before its header.
func (c client) RoundTrip(r *http.Request) (*http.Response, error) {
	h, err := c.wait(r.Context())
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}

	ctx, cancel := context.WithCancel(r.Context())
	if c.user != nil {
		ctx = context.WithValue(ctx, identityKey{}, c.user)
	}
	in := r.Clone(ctx)
	in.RequestURI = r.URL.RequestURI() // upstream's filters and logs read both
	in.RemoteAddr = "127.0.0.1:0"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}

	pr, pw := io.Pipe()
	w := &responseWriter{header: http.Header{}, body: pw, wrote: make(chan struct{}), gone: make(chan bool, 1)}
	go func() {
		// A line of the terminal that has no memory is ended where it allocates. The API server's part of its request may
		// hold locks there, and others wait for what it calculates.
		defer absent.Serve()()
		defer in.Body.Close()
		defer func() {
			if p := recover(); p != nil {
				err := fmt.Errorf("handler panicked: %v", p)
				if p != http.ErrAbortHandler {
					err = fmt.Errorf("%w\n%s", err, debug.Stack())
				}
				w.fail(err)
				return
			}
			w.WriteHeader(http.StatusOK)
			pw.Close()
		}()
		h.ServeHTTP(w, in)
	}()

	select {
	case <-w.wrote:
	case <-ctx.Done():
		err := context.Cause(ctx)
		cancel()
		pr.CloseWithError(err)
		return nil, err
	}
	if w.err != nil {
		cancel()
		return nil, w.err
	}
	var body io.ReadCloser = &responseBody{PipeReader: pr, cancel: cancel}
	if c.user != nil {
		body = late(r, body)
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.sent,
		Body:          body,
		ContentLength: -1,
		Request:       r,
	}, nil
}

// responseWriter hands what a handler writes to a pipe. It implements
// http.Flusher and http.CloseNotifier: without the second, upstream's
// responsewriter.WrapForHTTP1Or2 hides the first, and every watch fails.
type responseWriter struct {
	header http.Header
	body   *io.PipeWriter
	gone   chan bool // never sent on: cancellation arrives by the context

	once   sync.Once
	wrote  chan struct{} // closed when the fields below are set
	status int
	sent   http.Header
	err    error
}

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(status int) {
	if status >= 100 && status < 200 {
		return // informational: another header follows
	}
	w.once.Do(func() {
		w.status = status
		w.sent = w.header.Clone()
		close(w.wrote)
	})
}

func (w *responseWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush sends the header; written bytes are never held back.
func (w *responseWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *responseWriter) CloseNotify() <-chan bool { return w.gone }

// fail ends the response with err: as RoundTrip's error if no header has been
// sent, and otherwise as the body's.
func (w *responseWriter) fail(err error) {
	w.once.Do(func() {
		w.err = err
		close(w.wrote)
	})
	w.body.CloseWithError(err)
}

// responseBody ends the request when the client closes it early.
type responseBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *responseBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
