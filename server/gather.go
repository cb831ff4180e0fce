package server

import (
	"bufio"
	"net/http"
	"sync"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"
)

// gathered is how much of a response is written at once.
const gathered = 32 << 10

// Gather serves with next and hands what it writes to net/http in pieces of 32 KiB, or less where it flushes or ends.
//
// Upstream encodes a list object by object and writes each by itself, and net/http makes an HTTP/2 frame of every 4 KiB,
// for which the handler waits until another goroutine has encrypted and sent it: for a list of a thousand objects some
// two hundred times. A response that is flushed, such as a watch, holds no memory between its events.
func Gather(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g := &gatherer{ResponseWriter: w}
		defer g.release() // after a panic, too: then net/http cuts the response off, and what was gathered is not sent
		next.ServeHTTP(responsewriter.WrapForHTTP1Or2(g), r)
		_ = g.flushBuffer() // the client has gone: nobody to tell
	})
}

var gatherBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, gathered) }}

// gatherer is the http.ResponseWriter and http.Flusher of [Gather].
type gatherer struct {
	http.ResponseWriter
	buffer *bufio.Writer // nil while it would be empty
}

func (g *gatherer) Unwrap() http.ResponseWriter { return g.ResponseWriter }

// Write's error may be that of an earlier write.
func (g *gatherer) Write(p []byte) (int, error) {
	if g.buffer == nil {
		if len(p) == 0 || len(p) >= gathered {
			return g.ResponseWriter.Write(p) // the head, or nothing to gather
		}
		g.buffer = gatherBuffers.Get().(*bufio.Writer)
		g.buffer.Reset(g.ResponseWriter)
	}
	return g.buffer.Write(p)
}

// Flush sends the head and all that was written so far.
func (g *gatherer) Flush() { _ = g.FlushError() }

// FlushError is Flush for http.ResponseController.
func (g *gatherer) FlushError() error {
	if err := g.flushBuffer(); err != nil {
		return err
	}
	return http.NewResponseController(g.ResponseWriter).Flush()
}

// flushBuffer hands what was gathered to net/http.
func (g *gatherer) flushBuffer() error {
	if g.buffer == nil {
		return nil
	}
	defer g.release()
	return g.buffer.Flush()
}

func (g *gatherer) release() {
	if g.buffer != nil {
		g.buffer.Reset(nil)
		gatherBuffers.Put(g.buffer)
		g.buffer = nil
	}
}
