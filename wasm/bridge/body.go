package bridge

import (
	"fmt"
	"io"
	"net/http"
	"sync"
)

// requestBody is a request's body as it comes in from the host, chunk by chunk.
// One chunk is under way at a time: pull asks for the next one when a chunk has been read.
type requestBody struct {
	pull func() // called without the lock

	mu     sync.Mutex
	wake   sync.Cond // any field below changed
	chunks [][]byte
	left   int64 // bytes that Content-Length still announces; -1 when it does not
	eof    bool
	err    error // why no more will come
	closed bool
}

func newRequestBody(pull func()) *requestBody {
	b := &requestBody{pull: pull, left: -1}
	b.wake.L = &b.mu
	return b
}

// push takes the next chunk; nil is the end. An empty chunk counts as read at once.
func (b *requestBody) push(chunk []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.eof || b.err != nil:
	case chunk == nil:
		b.eof = true
	default:
		b.chunks = append(b.chunks, chunk)
	}
	b.wake.Broadcast()
}

func (b *requestBody) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
	b.chunks = nil
	b.wake.Broadcast()
}

// Read waits for the host. Errors: io.EOF, io.ErrUnexpectedEOF when less came than Content-Length said,
// http.ErrBodyReadAfterClose, or why the request was given up.
func (b *requestBody) Read(p []byte) (int, error) {
	for {
		n, consumed, err := b.read(p)
		if consumed {
			b.pull()
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// read reads the bytes that have arrived. It waits only while there are none. consumed tells that a
// chunk was used up and that the host is to send another.
func (b *requestBody) read(p []byte) (n int, consumed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.chunks) == 0 && !b.eof && b.err == nil && !b.closed && b.left != 0 {
		b.wake.Wait()
	}
	switch {
	case b.closed:
		return 0, false, http.ErrBodyReadAfterClose
	case b.err != nil:
		return 0, false, b.err
	case b.left == 0:
		return 0, false, io.EOF
	case len(b.chunks) == 0 && b.left > 0:
		return 0, false, fmt.Errorf("the request's body ended %d bytes before its Content-Length: %w", b.left, io.ErrUnexpectedEOF)
	case len(b.chunks) == 0:
		return 0, false, io.EOF
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n = copy(p, b.chunks[0])
	if b.left > 0 {
		b.left -= int64(n)
	}
	if b.chunks[0] = b.chunks[0][n:]; len(b.chunks[0]) == 0 {
		b.chunks = b.chunks[1:]
		consumed = !b.eof
	}
	return n, consumed, nil
}

// Close makes further reads fail. The host is not told: it learns from the end of the response.
func (b *requestBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.chunks = nil
	b.wake.Broadcast()
	return nil
}
