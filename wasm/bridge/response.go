package bridge

import (
	"fmt"
	"log"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// chunkSize is the most that one call to the host carries, and what small writes are gathered to.
const chunkSize = 64 << 10

// sniffSize is what http.DetectContentType looks at.
const sniffSize = 512

// response is the http.ResponseWriter, Flusher and CloseNotifier of a stream, with the meaning that
// net/http's HTTP/1.1 server gives to each. It is not a Hijacker, as in HTTP/2.
//
// Kubernetes hides Flush from handlers unless CloseNotifier is there too (responsewriter.WrapForHTTP1Or2).
type response struct {
	stream *stream
	isHead bool

	mu          sync.Mutex
	header      http.Header // the handler's
	sent        http.Header // a copy as of WriteHeader; later changes do not count
	wroteHeader bool
	status      int
	declared    int64 // Content-Length, -1 when the handler gave none
	written     int64 // by the handler
	buffer      []byte
	headSent    bool
	flushed     time.Time // last
	queued      bool      // to be flushed; see pace
	finished    bool
}

func (w *response) Header() http.Header { return w.header }

// WriteHeader panics on a code that is not of three digits, as net/http does.
// Informational codes are ignored: fetch has no place for them.
func (w *response) WriteHeader(code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeHeader(code)
}

func (w *response) writeHeader(code int) {
	if w.finished || w.wroteHeader {
		log.Printf("bridge: superfluous WriteHeader(%d)", code)
		return
	}
	if code < 100 || code > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", code))
	}
	if code < 200 {
		return
	}
	w.wroteHeader, w.status, w.sent = true, code, w.header.Clone()
	if text := w.sent.Get("Content-Length"); text != "" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			w.declared = n
		} else {
			log.Printf("bridge: invalid Content-Length of %q", text)
			w.sent.Del("Content-Length")
		}
	}
}

// bodyAllowed follows RFC 9110 sections 15.3.5 and 15.4.5.
func (w *response) bodyAllowed() bool {
	return w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// Write errors: http.ErrBodyNotAllowed, http.ErrContentLength, or why the stream is gone.
func (w *response) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.finished {
		return 0, errFinished
	}
	if !w.wroteHeader {
		w.writeHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !w.bodyAllowed() {
		return 0, http.ErrBodyNotAllowed
	}
	w.written += int64(len(p))
	if w.declared >= 0 && w.written > w.declared {
		return 0, http.ErrContentLength
	}
	if w.isHead { // kept only to tell its type
		w.buffer = append(w.buffer, p[:min(len(p), sniffSize-len(w.buffer))]...)
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		if len(w.buffer) == 0 && len(rest) >= chunkSize { // nothing to gather: spare the copy
			if err := w.send(rest[:chunkSize]); err != nil {
				return 0, err
			}
			rest = rest[chunkSize:]
			continue
		}
		n := min(len(rest), chunkSize-len(w.buffer))
		w.buffer = append(w.buffer, rest[:n]...)
		rest = rest[n:]
		if len(w.buffer) == chunkSize {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// Flush sends the head and all that was written so far, waiting for credit. Where the bridge is flushed more often
// than the host can follow, a response that was flushed not long ago sends a little later, and Flush does not wait.
func (w *response) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController. The error is why the stream is gone, as far as that is known when
// it does not wait.
func (w *response) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.finished {
		return errFinished
	}
	if !w.wroteHeader {
		w.writeHeader(http.StatusOK)
	}
	pace := &w.stream.bridge.pace
	now := time.Now()
	if pace.flushed(now) && w.headSent && now.Sub(w.flushed) < seldom {
		if !w.queued {
			w.queued = true
			pace.queue(w)
		}
		return nil
	}
	w.flushed = now
	return w.flush()
}

func (w *response) flushQueued() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued = false
	if w.finished {
		return
	}
	w.flushed = time.Now()
	_ = w.flush() // a stream that is gone says so at the next write, or by its context
}

// CloseNotify is deprecated in Go and needed by Kubernetes; see the comment on the type.
func (w *response) CloseNotify() <-chan bool { return w.stream.closeNotify() }

// finish sends what is left when the handler has returned. The error is that the response cannot be completed.
func (w *response) finish() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.wroteHeader {
		w.writeHeader(http.StatusOK)
	}
	w.finished = true
	if w.declared > w.written && w.bodyAllowed() && !w.isHead {
		return fmt.Errorf("the handler wrote %d bytes of the %d in its Content-Length", w.written, w.declared)
	}
	if !w.headSent && w.declared < 0 && w.bodyAllowed() && (!w.isHead || w.written > 0) {
		w.sent.Set("Content-Length", strconv.FormatInt(w.written, 10))
	}
	return w.flush()
}

func (w *response) flush() error {
	data := w.buffer
	w.buffer = w.buffer[:0]
	return w.send(data)
}

// send sends the head if that is still to be done, and data against credit.
func (w *response) send(data []byte) error {
	if !w.headSent {
		w.headSent = true
		headers := w.headPairs(data)
		if err := w.stream.call(func() error { return w.stream.bridge.host.Head(w.stream.id, w.status, headers) }); err != nil {
			return err
		}
	}
	if w.isHead {
		return nil
	}
	for len(data) > 0 {
		n, err := w.stream.take(min(len(data), chunkSize))
		if err != nil {
			return err
		}
		if err := w.stream.call(func() error { return w.stream.bridge.host.Chunk(w.stream.id, data[:n]) }); err != nil {
			return err
		}
		data = data[n:]
		w.stream.answered() // what follows is the rest of much
	}
	w.stream.answered() // or a stream
	return nil
}

// connectionHeaders are about a connection, and there is none. Trailers have no place in fetch.
var connectionHeaders = []string{"Connection", "Keep-Alive", "Trailer", "Transfer-Encoding", "Upgrade"}

var newlines = strings.NewReplacer("\n", " ", "\r", " ")

// headPairs are the headers as they go out, by name. first is the beginning of the body, for its type.
func (w *response) headPairs(first []byte) []string {
	for _, name := range connectionHeaders {
		w.sent.Del(name)
	}
	switch {
	case w.bodyAllowed():
		_, typed := w.sent["Content-Type"]
		if !typed && w.sent.Get("Content-Encoding") == "" && len(first) > 0 {
			w.sent.Set("Content-Type", http.DetectContentType(first))
		}
	case w.status == http.StatusNotModified:
		w.sent.Del("Content-Type")
		fallthrough
	default:
		w.sent.Del("Content-Length")
	}
	pairs := make([]string, 0, 2*len(w.sent))
	for _, name := range slices.Sorted(maps.Keys(w.sent)) {
		if !httpguts.ValidHeaderFieldName(name) || strings.HasPrefix(name, http.TrailerPrefix) {
			continue
		}
		for _, value := range w.sent[name] {
			pairs = append(pairs, name, strings.TrimSpace(newlines.Replace(value)))
		}
	}
	return pairs
}
