// Package bridge carries HTTP requests from a JavaScript host into an http.Handler and the answers back.
//
// It is to a service worker's fetch event (or to Node's HTTP server) what net/http's server is to a
// socket, and it keeps what handlers rely on from there: implicit 200, Content-Length, HEAD, sniffed
// types, flushing, a context that ends with the client. Of Kubernetes it knows only the format of a
// Status, and nothing of syscall/js: the host is an interface, so that all of this is tested natively.
//
//	host                                    bridge                             handler
//	Request(id, method, url, headers, body) --> stream --> goroutine  -------> ServeHTTP
//	Body(id, bytes) ------------------------> requestBody --------------------> Request.Body.Read
//	Pull(id) <------------------------------- (a chunk has been read)
//	Credit(id, n) --------------------------> window
//	Head(id) Chunk(id)... End(id) <---------- response (64 KiB, or at Flush) <- Write, Flush
//	                                          (many flushes are paced)
//	Cancel(id) -----------------------------> context cancelled, id forgotten
//
// Invariants:
//   - Methods of Bridge never wait for a handler or for the host, so that they are safe in a JS callback.
//   - Calls to the host are made one at a time, and no lock that a method of Bridge takes is held meanwhile:
//     the host may call back from inside.
//   - For one id the host sees Head at most once, then Chunks, then one End; or an Abort at any point.
//     After End, Abort or Cancel it sees nothing more, and the id may be used again.
//   - A byte is sent only against credit, so that what waits in the host is bounded by what it granted.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/kubetab/kubetab/internal/absent"
)

// Host is the other side. Each error means that the host failed and that the request is to be given up.
type Host interface {
	// Head begins the response; headers are name, value, name, value, ... in bytes as on the wire.
	Head(id, status int, headers []string) error
	// Chunk is a part of the body. data is only valid during the call.
	Chunk(id int, data []byte) error
	// End completes the response.
	End(id int) error
	// Abort gives up, before or after Head. message is for people and may have many lines.
	Abort(id int, message string) error
	// Pull says that a chunk of the request's body has been consumed.
	Pull(id int) error
}

var (
	// ErrCancelled is the cause of a request's context after Cancel.
	ErrCancelled = errors.New("the consumer of the response has gone")
	// ErrClosed is the cause after Close.
	ErrClosed = errors.New("the engine is closing")

	errFinished = errors.New("bridge: write after the response was completed")
	errDone     = errors.New("the handler has returned")
)

// Bridge serves the requests of one host. Its methods are safe to call at once.
type Bridge struct {
	host    Host
	hostMu  sync.Mutex // serialises calls to host; held during them, and never together with another lock
	handler atomic.Pointer[http.Handler]
	running atomic.Int64
	all     sync.WaitGroup
	pace    pace

	mu      sync.Mutex
	streams map[int]*stream // requests the host waits for
	closed  bool
}

// New returns a bridge that answers 503 until it has a handler.
func New(host Host) *Bridge {
	b := &Bridge{host: host, streams: map[int]*stream{}}
	b.SetHandler(unavailable("the API server is starting"))
	return b
}

// SetHandler makes h answer the requests that begin from now on.
func (b *Bridge) SetHandler(h http.Handler) { b.handler.Store(&h) }

// SetFailed answers requests that begin from now on with a 503 that says why.
func (b *Bridge) SetFailed(err error) {
	b.SetHandler(unavailable("the API server did not start: " + err.Error()))
}

// Running is the number of handlers that have not returned, cancelled ones included.
func (b *Bridge) Running() int { return int(b.running.Load()) }

// Request begins the request id. headers are name, value, name, value, ...; duplicates are kept.
// With hasBody the host may send a first chunk at once, and each further one after a Pull.
// No byte of the response's body is sent before Credit. An id that is in use is a mistake of the host's
// and changes nothing.
func (b *Bridge) Request(id int, method, url string, headers []string, hasBody bool) {
	s := newStream(b, id, hasBody)
	b.mu.Lock()
	_, used := b.streams[id]
	closed := b.closed
	if !used && !closed {
		b.streams[id] = s
		b.running.Add(1)
		b.all.Add(1)
	}
	b.mu.Unlock()
	switch {
	case used:
		s.cancel(errDone)
		log.Printf("bridge: the host began request %d twice", id)
	case closed:
		go s.last(ErrClosed, func() error { return b.host.Abort(id, ErrClosed.Error()) })
	default:
		absent.Ahead(s.giveUp, func(answered func()) {
			s.answered = answered
			s.serve(method, url, headers)
		})
	}
}

// Body hands over a part of the body of request id, and then owns it; nil is the end of the body.
func (b *Bridge) Body(id int, chunk []byte) {
	if s := b.stream(id); s != nil && s.body != nil {
		s.body.push(chunk)
	}
}

// Credit lets n more bytes of the response's body be sent. A number below one is ignored.
func (b *Bridge) Credit(id, n int) {
	if s := b.stream(id); s != nil && n > 0 {
		s.grant(n)
	}
}

// Cancel forgets request id: its context is cancelled, its body and its response end in an error.
func (b *Bridge) Cancel(id int) {
	if s := b.forget(id, nil); s != nil {
		s.drop(ErrCancelled)
	}
}

// Close cancels every request, refuses new ones, and waits until all handlers have returned or ctx ends,
// of which it returns the cause. Not for a JS callback.
func (b *Bridge) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	streams := b.streams
	b.streams = map[int]*stream{}
	b.mu.Unlock()
	for id, s := range streams {
		s.last(ErrClosed, func() error { return b.host.Abort(id, ErrClosed.Error()) })
	}
	done := make(chan struct{})
	go func() {
		b.all.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d requests did not end: %w", b.Running(), context.Cause(ctx))
	}
}

func (b *Bridge) stream(id int) *stream {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.streams[id]
}

// forget takes the stream of id out of the table and returns it; nil when there is none, or (with only
// set) when another one has the id by now.
func (b *Bridge) forget(id int, only *stream) *stream {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streams[id]
	if s == nil || only != nil && s != only {
		return nil
	}
	delete(b.streams, id)
	return s
}

// A stream is one request and its response.
type stream struct {
	bridge *Bridge
	id     int
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   *requestBody // nil without a body
	// answered says that the answer is on its way, and what follows need not hurry.
	answered func()

	mu      sync.Mutex
	wake    sync.Cond // credit or gone changed
	credit  int
	gone    error     // why the host is not to be called any more
	closing chan bool // of CloseNotify; made when asked for
}

func newStream(b *Bridge, id int, hasBody bool) *stream {
	s := &stream{bridge: b, id: id}
	s.wake.L = &s.mu
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	if hasBody {
		s.body = newRequestBody(func() { s.call(func() error { return b.host.Pull(id) }) })
	}
	return s
}

// serve runs the handler and completes the response, whatever the handler does.
func (s *stream) serve(method, url string, headers []string) {
	w := &response{stream: s, isHead: method == http.MethodHead, header: http.Header{}, declared: -1}
	outcome := fmt.Errorf("the handler of %s %s ended its goroutine", method, url)
	defer func() { s.complete(w, outcome) }() // deferred, because runtime.Goexit ends serve as well
	outcome = s.handle(w, method, url, headers)
}

// giveUp tells the host that the request fails with err. The handler goes on, and its answer is dropped.
func (s *stream) giveUp(err error) {
	if s.bridge.forget(s.id, s) != nil {
		s.last(err, func() error { return s.bridge.host.Abort(s.id, err.Error()) })
	}
}

// handle runs the handler. The error is that of a panic, with the stack of any but http.ErrAbortHandler,
// which is how handlers end a response on purpose.
func (s *stream) handle(w *response, method, url string, headers []string) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			err = http.ErrAbortHandler
		default:
			err = fmt.Errorf("panic serving %s %s: %v\n\n%s", method, url, p, debug.Stack())
			log.Print(err)
		}
	}()
	r, refused := newRequest(s.ctx, method, url, headers, s.body)
	if refused != nil {
		refused.write(w)
		return nil
	}
	(*s.bridge.handler.Load()).ServeHTTP(w, r)
	return nil
}

// complete sends what is left of the response, or gives it up with the handler's error.
func (s *stream) complete(w *response, outcome error) {
	defer s.bridge.all.Done()
	s.cancel(errDone)
	if outcome == nil {
		outcome = w.finish()
	}
	s.bridge.running.Add(-1)
	if s.bridge.forget(s.id, s) == nil {
		return // cancelled: the host has forgotten the id
	}
	s.last(errDone, func() error {
		if outcome != nil {
			return s.bridge.host.Abort(s.id, outcome.Error())
		}
		return s.bridge.host.End(s.id)
	})
}

// call makes one call to the host unless the stream is gone. A host that fails is gone too.
// Errors: why the stream is gone; what the host failed with.
func (s *stream) call(f func() error) error {
	s.bridge.hostMu.Lock()
	defer s.bridge.hostMu.Unlock()
	s.mu.Lock()
	err := s.gone
	s.mu.Unlock()
	if err == nil {
		if err = f(); err != nil {
			err = fmt.Errorf("the host failed: %w", err)
			s.bridge.forget(s.id, s)
			s.drop(err)
		}
	}
	return err
}

// last makes the last call to the host, unless the stream is gone; from then on it is, for this cause.
// What that call fails with is nobody's concern any more.
func (s *stream) last(cause error, f func() error) {
	s.bridge.hostMu.Lock()
	defer s.bridge.hostMu.Unlock()
	if s.drop(cause) {
		_ = f()
	}
}

// drop ends everything that waits for the host and reports whether it was the first to: the first cause stays.
func (s *stream) drop(cause error) bool {
	s.mu.Lock()
	first := s.gone == nil
	if first {
		s.gone = cause
		if s.closing != nil {
			s.closing <- true // one place, and only the first comes here
		}
		s.wake.Broadcast()
	}
	s.mu.Unlock()
	if first {
		s.cancel(cause)
		if s.body != nil {
			s.body.fail(cause)
		}
	}
	return first
}

func (s *stream) grant(n int) {
	s.mu.Lock()
	s.credit += n
	s.wake.Broadcast()
	s.mu.Unlock()
}

// take waits for credit and uses up at most limit of it. The error is why the stream is gone.
func (s *stream) take(limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.credit == 0 && s.gone == nil {
		s.wake.Wait()
	}
	if s.gone != nil {
		return 0, s.gone
	}
	n := min(limit, s.credit)
	s.credit -= n
	return n, nil
}

// closeNotify is http.CloseNotifier's channel.
func (s *stream) closeNotify() <-chan bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing == nil {
		s.closing = make(chan bool, 1)
		if s.gone != nil {
			s.closing <- true
		}
	}
	return s.closing
}
