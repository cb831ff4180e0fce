// Package locked has writers that several goroutines may write to at once: the commands of a pipe and those in the
// background write to one output. Each Write reaches the output whole.
package locked

import (
	"bytes"
	"io"
	"sync"
)

// Writer passes what is written to it on to another writer, one Write at a time. The zero Writer drops what is written.
type Writer struct {
	mu sync.Mutex
	to io.Writer
}

// NewWriter returns a Writer that passes on to to.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Redirect has what is written from now on go to to. With nil it is dropped. It waits for a Write that has begun.
func (w *Writer) Redirect(to io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to
}

// Write returns what the writer behind it returns.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == nil {
		return len(b), nil
	}
	return w.to.Write(b)
}

// Buffer keeps what is written to it, and may be read in between. The zero Buffer keeps all of it.
type Buffer struct {
	// Most is how much is kept, in bytes; what follows is dropped without an error. Zero or less means all.
	Most int

	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes all of b, and never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := p
	if b.Most > 0 {
		kept = p[:min(len(p), max(b.Most-b.text.Len(), 0))]
	}
	b.text.Write(kept)
	return len(p), nil
}

// String returns what is kept.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Take returns what is kept, and forgets it.
func (b *Buffer) Take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return b.text.String()
}
