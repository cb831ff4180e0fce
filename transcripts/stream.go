package transcripts

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"sync"
)

// stream collects the events of one watch. One goroutine reads the response for as long as it lasts; readers take
// events in order and wait on a channel that is closed and replaced at every change.
type stream struct {
	resp   *http.Response
	cancel context.CancelFunc

	mu      sync.Mutex
	events  []any
	err     error // io.EOF after a clean end
	changed chan struct{}
}

// newStream starts to read; cancel ends the request.
func newStream(resp *http.Response, cancel context.CancelFunc) *stream {
	s := &stream{resp: resp, cancel: cancel, changed: make(chan struct{})}
	go s.read()
	return s
}

func (s *stream) read() {
	next := s.jsonEvents()
	if media, _, _ := mime.ParseMediaType(s.resp.Header.Get("Content-Type")); media == protobufType {
		next = s.protobufEvents
	}
	for {
		event, err := next()
		s.mu.Lock()
		if err != nil {
			s.err = err
		} else {
			s.events = append(s.events, event)
		}
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *stream) jsonEvents() func() (any, error) {
	dec := json.NewDecoder(s.resp.Body)
	dec.UseNumber()
	return func() (any, error) {
		var event any
		err := dec.Decode(&event)
		return event, err
	}
}

// protobufEvents reads a frame: four bytes of length, most significant first, then a message
// (k8s.io/apimachinery/pkg/util/framer).
func (s *stream) protobufEvents() (any, error) {
	var size [4]byte
	if _, err := io.ReadFull(s.resp.Body, size[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(s.resp.Body, frame); err != nil {
		return nil, err
	}
	return decodeProtobufEvent(frame)
}

// take removes and returns events from the front once enough says how many are enough; 0 is not yet. Events of the
// type skipped are lost. Errors: the stream has ended or the context is done before that; the events so far are
// returned with it.
func (s *stream) take(ctx context.Context, skipped string, enough func([]any) int) ([]any, error) {
	for {
		s.mu.Lock()
		s.events = slices.DeleteFunc(s.events, func(e any) bool {
			kind, _ := lookup(e, "type")
			return skipped != "" && kind == skipped
		})
		events, err, changed := s.events, s.err, s.changed
		if n := enough(events); n > 0 {
			s.events = events[n:]
			s.mu.Unlock()
			return events[:n], nil
		}
		s.mu.Unlock()
		if err != nil {
			return events, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return events, fmt.Errorf("after %d events: %w", len(events), ctx.Err())
		}
	}
}

func (s *stream) close() {
	s.cancel()
	s.resp.Body.Close()
}
