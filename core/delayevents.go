//go:build late

package core

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// latest is the longest time between a change and its event at a component.
const latest = 500 * time.Millisecond

// late holds up the events of a watch that a component of the engine has: each
// by a time of its own, at most latest, in their order. With it, tests that take
// for granted that controllers, the scheduler, kubelets or admission have already
// acted fail nearly every time, and not once in a hundred times on a machine that
// happens to be busy.
//
// What tests themselves watch is not held up.
func late(r *http.Request, events io.ReadCloser) io.ReadCloser {
	switch watch := r.URL.Query().Get("watch"); {
	case watch != "true" && watch != "1", strings.Contains(r.UserAgent(), ".test/"):
		return events
	}
	l := &lateEvents{ReadCloser: events, pieces: make(chan latePiece, 1<<10), closed: make(chan struct{})}
	go l.receive()
	return l
}

type lateEvents struct {
	io.ReadCloser
	pieces chan latePiece
	rest   latePiece // the reader's: what it has not read yet
	close  sync.Once
	closed chan struct{}
}

type latePiece struct {
	due  time.Time
	data []byte
	err  error
}

func (l *lateEvents) receive() {
	var due time.Time
	for {
		b := make([]byte, 32<<10)
		n, err := l.ReadCloser.Read(b)
		if t := time.Now().Add(rand.N(latest)); t.After(due) {
			due = t
		}
		l.pieces <- latePiece{due, b[:n], err}
		if err != nil {
			return
		}
	}
}

func (l *lateEvents) Read(b []byte) (int, error) {
	for len(l.rest.data) == 0 {
		if l.rest.err != nil {
			return 0, l.rest.err
		}
		select {
		case l.rest = <-l.pieces:
		case <-l.closed:
			return 0, io.ErrClosedPipe
		}
		if l.rest.err != nil {
			continue
		}
		select {
		case <-time.After(time.Until(l.rest.due)):
		case <-l.closed:
			return 0, io.ErrClosedPipe
		}
	}
	n := copy(b, l.rest.data)
	l.rest.data = l.rest.data[n:]
	return n, nil
}

func (l *lateEvents) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.ReadCloser.Close()
}
