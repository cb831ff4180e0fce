package bridge

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"
	"time"
)

// answer is what a test host has seen of one request.
type answer struct {
	heads   int
	status  int
	header  http.Header
	body    bytes.Buffer
	chunks  []int // lengths
	pulls   int
	ended   bool
	aborted bool
	message string
	late    []string // calls after the last one
}

func (a *answer) over() bool { return a.ended || a.aborted }

// testHost keeps what it is told, and lets tests wait for it.
type testHost struct {
	mu      sync.Mutex
	wake    sync.Cond
	answers map[int]*answer
	onChunk func(id, n int) error // called without the lock, as a host that calls back would
	onPull  func(id int)
	onEnd   func(id int)
}

func newHost() *testHost {
	h := &testHost{answers: map[int]*answer{}}
	h.wake.L = &h.mu
	return h
}

func (h *testHost) note(id int, call string, f func(a *answer)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.answers[id]
	if a == nil {
		a = &answer{}
		h.answers[id] = a
	}
	if a.over() {
		a.late = append(a.late, call)
	}
	f(a)
	h.wake.Broadcast()
}

func (h *testHost) Head(id, status int, headers []string) error {
	h.note(id, "head", func(a *answer) {
		a.heads++
		a.status, a.header = status, http.Header{}
		for i := 0; i < len(headers); i += 2 {
			a.header[headers[i]] = append(a.header[headers[i]], headers[i+1])
		}
	})
	return nil
}

func (h *testHost) Chunk(id int, data []byte) error {
	h.note(id, "chunk", func(a *answer) {
		a.body.Write(data)
		a.chunks = append(a.chunks, len(data))
	})
	if h.onChunk != nil {
		return h.onChunk(id, len(data))
	}
	return nil
}

func (h *testHost) End(id int) error {
	h.note(id, "end", func(a *answer) { a.ended = true })
	if h.onEnd != nil {
		h.onEnd(id)
	}
	return nil
}

func (h *testHost) Abort(id int, message string) error {
	h.note(id, "abort", func(a *answer) { a.aborted, a.message = true, message })
	return nil
}

func (h *testHost) Pull(id int) error {
	h.note(id, "pull", func(a *answer) { a.pulls++ })
	if h.onPull != nil {
		h.onPull(id)
	}
	return nil
}

// patience is how long something may take that should happen: for what hangs, on a machine that is busy with other things.
const patience = 2 * time.Minute

// wait waits until what the host has seen of id fulfils the condition, and returns a copy of it.
func (h *testHost) wait(t *testing.T, id int, what string, condition func(a *answer) bool) answer {
	t.Helper()
	ended := time.AfterFunc(patience+time.Second, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.wake.Broadcast()
	})
	defer ended.Stop()
	start := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.answers[id] == nil || !condition(h.answers[id]) {
		if time.Since(start) > patience {
			t.Fatalf("request %d: no %s; seen: %+v", id, what, h.answers[id])
		}
		h.wake.Wait()
	}
	a := *h.answers[id]
	a.body = *bytes.NewBuffer(bytes.Clone(h.answers[id].body.Bytes()))
	return a
}

func (h *testHost) waitOver(t *testing.T, id int) answer {
	t.Helper()
	a := h.wait(t, id, "end", (*answer).over)
	if len(a.late) > 0 {
		t.Errorf("request %d: %q after the last call", id, a.late)
	}
	return a
}

func newBridge(t *testing.T, h http.HandlerFunc) (*Bridge, *testHost) {
	t.Helper()
	host := newHost()
	b := New(host)
	b.SetHandler(h)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience) // t.Context has ended by now
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
		host.mu.Lock()
		defer host.mu.Unlock()
		for id, a := range host.answers {
			if len(a.late) > 0 || a.heads > 1 {
				t.Errorf("request %d: %d heads, %q after the last call", id, a.heads, a.late)
			}
		}
	})
	return b, host
}

const plenty = 1 << 30

// do makes a request without flow control and returns the answer.
func do(t *testing.T, b *Bridge, host *testHost, id int, method, url string, body []byte, headers ...string) answer {
	t.Helper()
	b.Request(id, method, url, headers, body != nil)
	b.Credit(id, plenty)
	if body != nil {
		b.Body(id, body)
		b.Body(id, nil)
	}
	return host.waitOver(t, id)
}

// until waits for a condition that nothing announces.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for start := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatal("never: " + what)
		}
	}
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
