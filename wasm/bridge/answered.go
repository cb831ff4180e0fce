package bridge

import (
	"bufio"
	"maps"
	"net"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/status"
)

// Answered returns a handler for net/http's server that does what a bridge does for its own requests: when next waits for a
// part of the program that could not be downloaded, the client gets an answer without next, a 503 unless the head has been
// sent already. next then goes on, and its answer is dropped.
func Answered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shared := &sharedWriter{w: w, header: http.Header{}}
		missing := make(chan error, 1)
		ended := make(chan any, 1) // what next panics with
		go func() {
			defer func() { ended <- recover() }()
			defer absent.Own(func(err error) {
				select {
				case missing <- err:
				default: // the first is enough
				}
			})()
			next.ServeHTTP(shared, r)
		}()
		select {
		case p := <-ended:
			if p != nil {
				panic(p)
			}
			shared.begin(0)
		case err := <-missing:
			switch shared.take() {
			case untouched:
				// Without Retry-After, for which kubectl would ask ten times more.
				status.Refuse(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
			case begun:
				panic(http.ErrAbortHandler) // closes the connection
			}
		}
	})
}

// How far a response is.
type progress int

const (
	untouched progress = iota
	begun
	hijacked
	taken
)

// sharedWriter is what a handler writes to that may be left behind. It is a Flusher, a CloseNotifier and a Hijacker, like
// the ResponseWriter of net/http's server for HTTP/1.1 that it needs.
type sharedWriter struct {
	w      http.ResponseWriter
	header http.Header

	mu sync.Mutex // held while something is written, so that nothing is after take
	at progress
}

func (s *sharedWriter) Header() http.Header { return s.header }

// begin sends the head once, with status 0 for that of net/http, and reports whether w is still the handler's.
func (s *sharedWriter) begin(status int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beginLocked(status)
}

func (s *sharedWriter) beginLocked(status int) bool {
	if s.at == untouched {
		maps.Copy(s.w.Header(), s.header)
		if status != 0 {
			s.w.WriteHeader(status)
		}
		if status == 0 || status >= http.StatusOK {
			s.at = begun
		}
	}
	return s.at != taken
}

// take makes what the handler still writes be dropped, unless it has the connection, and returns how far it was.
func (s *sharedWriter) take() progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.at
	if before != hijacked {
		s.at = taken
	}
	return before
}

func (s *sharedWriter) WriteHeader(status int) { s.begin(status) }

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.beginLocked(0) {
		return 0, http.ErrHandlerTimeout
	}
	return s.w.Write(b)
}

func (s *sharedWriter) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beginLocked(0) {
		_ = http.NewResponseController(s.w).Flush() // fails when the connection is gone, which Write tells
	}
}

func (s *sharedWriter) CloseNotify() <-chan bool {
	//lint:ignore SA1019 upstream hides Flush from handlers without it
	return s.w.(http.CloseNotifier).CloseNotify()
}

func (s *sharedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == taken {
		return nil, nil, http.ErrHandlerTimeout
	}
	conn, rw, err := http.NewResponseController(s.w).Hijack()
	if err == nil {
		s.at = hijacked
	}
	return conn, rw, err
}
