package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRequestAndAnswer(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %q %v %v %s %v", r.Method, r.RequestURI, body, err, r.Header["X-Twice"], r.RemoteAddr, r.URL.Query())
	})
	a := do(t, b, host, 1, "POST", "/api/v1/pods?limit=5", []byte("hello"), "x-twice", "a, b", "X-TWICE", "c")
	want := `POST /api/v1/pods?limit=5 "hello" <nil> [a, b c] 127.0.0.1:0 map[limit:[5]]`
	if a.status != 200 || a.body.String() != want || a.header.Get("Content-Length") != fmt.Sprint(len(want)) {
		t.Errorf("got  %d %v %s\nwant %s", a.status, a.header, a.body.String(), want)
	}
}

// The first event of a watch arrives before the second exists, and the head before the first.
func TestWatchIsDeliveredEventByEvent(t *testing.T) {
	events := make(chan string)
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		//lint:ignore SA1019 Kubernetes asks for it
		if _, ok := w.(http.CloseNotifier); !ok {
			t.Error("not a CloseNotifier: upstream would hide Flush")
		}
		w.(http.Flusher).Flush()
		for e := range events {
			io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
	})
	b.Request(7, "GET", "/watch", nil, false)
	b.Credit(7, plenty)
	if a := host.wait(t, 7, "head", func(a *answer) bool { return a.heads == 1 }); a.body.Len() != 0 || a.status != 200 {
		t.Errorf("%+v", a)
	}
	for i, e := range []string{"one", "two", "three"} {
		events <- e
		host.wait(t, 7, "event", func(a *answer) bool { return len(a.chunks) == i+1 })
	}
	close(events)
	if a := host.waitOver(t, 7); a.body.String() != "onetwothree" || !a.ended || a.header.Get("Content-Length") != "" {
		t.Errorf("%+v", a)
	}
}

func TestSmallWritesAreGathered(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		for range 3 * chunkSize / 32 {
			io.WriteString(w, strings.Repeat("x", 32))
		}
		w.Write(bytes.Repeat([]byte("y"), chunkSize+1))
	})
	a := do(t, b, host, 1, "GET", "/", nil)
	if want := []int{chunkSize, chunkSize, chunkSize, chunkSize, 1}; !slices.Equal(a.chunks, want) {
		t.Errorf("chunks of %v, want %v", a.chunks, want)
	}
}

// Nothing is sent without credit, and a grant lets exactly its bytes through.
func TestCredit(t *testing.T) {
	wrote := make(chan error, 1)
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := w.Write(make([]byte, 100_000))
		w.(http.Flusher).Flush()
		wrote <- err
	})
	b.Request(1, "GET", "/", nil, false)
	host.wait(t, 1, "head", func(a *answer) bool { return a.heads == 1 })
	sent := 0
	for _, n := range []int{1, 10, 70_000, 29_989} {
		select {
		case <-wrote:
			t.Fatalf("the handler went on with %d bytes of credit", sent)
		default:
		}
		sent += n
		b.Credit(1, n)
		host.wait(t, 1, "bytes", func(a *answer) bool { return a.body.Len() == sent })
	}
	if err := receive(t, wrote); err != nil {
		t.Error(err)
	}
	if a := host.waitOver(t, 1); a.body.Len() != 100_000 || slices.Max(a.chunks) > chunkSize {
		t.Errorf("%d bytes in %v", a.body.Len(), a.chunks)
	}
}

// Cancel ends the context, a read of the body, a write that waits for credit and CloseNotify, all at once.
func TestCancel(t *testing.T) {
	for name, wait := range map[string]func(http.ResponseWriter, *http.Request) error{
		"context": func(w http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return context.Cause(r.Context())
		},
		"body": func(w http.ResponseWriter, r *http.Request) error { _, err := r.Body.Read(make([]byte, 1)); return err },
		"credit": func(w http.ResponseWriter, r *http.Request) error {
			_, err := w.Write(make([]byte, chunkSize))
			return err
		},
		"close notify": func(w http.ResponseWriter, r *http.Request) error {
			//lint:ignore SA1019 Kubernetes asks for it
			<-w.(http.CloseNotifier).CloseNotify()
			return ErrCancelled
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan error, 1)
			begun := make(chan struct{})
			b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				got <- wait(w, r)
			})
			b.Request(1, "POST", "/", nil, true)
			receive(t, begun)
			b.Cancel(1)
			if err := receive(t, got); !errors.Is(err, ErrCancelled) {
				t.Errorf("got %v", err)
			}
			until(t, "the handler has returned", func() bool { return b.Running() == 0 })
			host.mu.Lock()
			defer host.mu.Unlock()
			if a := host.answers[1]; a != nil && a.over() {
				t.Errorf("the host was called after it cancelled: %+v", a)
			}
		})
	}
}

// An id is free after Cancel even while its old handler is busy, and that one cannot reach the new request.
func TestIDIsFreeAfterCancel(t *testing.T) {
	release := make(chan struct{})
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			<-release
		}
		io.WriteString(w, r.URL.Path)
	})
	b.Request(1, "GET", "/old", nil, false)
	b.Credit(1, plenty)
	b.Cancel(1)
	a := do(t, b, host, 1, "GET", "/new", nil)
	close(release)
	until(t, "both handlers have returned", func() bool { return b.Running() == 0 })
	if a.body.String() != "/new" {
		t.Errorf("%q", a.body.String())
	}
}

func TestHostReusesIDInsideEnd(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) })
	again := make(chan struct{}, 1)
	again <- struct{}{}
	host.onEnd = func(id int) {
		select {
		case <-again:
			host.mu.Lock()
			delete(host.answers, id)
			host.mu.Unlock()
			b.Request(id, "GET", "/second", nil, false)
			b.Credit(id, plenty)
		default:
		}
	}
	b.Request(1, "GET", "/first", nil, false)
	b.Credit(1, plenty)
	host.wait(t, 1, "second answer", func(a *answer) bool { return a.ended && a.body.String() == "/second" })
}

// A host may call back from inside a call, which is what a synchronous one does.
func TestHostCallsBack(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	host.onChunk = func(id, n int) error { b.Credit(id, n); return nil }
	left := 50
	host.onPull = func(id int) {
		if left--; left == 0 {
			b.Body(id, nil)
		} else {
			b.Body(id, make([]byte, 10_000))
		}
	}
	b.Request(1, "POST", "/", nil, true)
	b.Credit(1, 256<<10)
	b.Body(1, make([]byte, 10_000))
	if a := host.waitOver(t, 1); a.body.Len() != 500_000 || !a.ended {
		t.Errorf("%d bytes, %+v", a.body.Len(), a.message)
	}
}

func TestHostFails(t *testing.T) {
	got := make(chan error, 1)
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, chunkSize))
		_, err := w.Write(make([]byte, chunkSize))
		got <- err
		<-r.Context().Done()
	})
	broken := errors.New("port closed")
	host.onChunk = func(int, int) error { return broken }
	b.Request(1, "GET", "/", nil, false)
	b.Credit(1, plenty)
	if err := receive(t, got); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	until(t, "the handler has returned", func() bool { return b.Running() == 0 })
}

func TestPanicsAreReported(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		head    bool
		message []string
	}{
		{"before the head", func(http.ResponseWriter, *http.Request) { panic("broken invariant") }, false,
			[]string{"panic serving GET /p: broken invariant", "bridge_test.go"}},
		{"after the head", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); panic(errors.New("half way")) }, true,
			[]string{"half way"}},
		{"on purpose", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); panic(http.ErrAbortHandler) }, true,
			[]string{http.ErrAbortHandler.Error()}},
		{"Goexit", func(http.ResponseWriter, *http.Request) { runtime.Goexit() }, false, []string{"ended its goroutine"}},
		{"hijack", func(w http.ResponseWriter, _ *http.Request) { w.(http.Hijacker).Hijack() }, false, []string{"Hijacker"}},
		{"short body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "12345")
		}, false, []string{"5 bytes of the 10"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, host := newBridge(t, c.handler)
			a := do(t, b, host, 1, "GET", "/p", nil)
			if !a.aborted || a.ended || (a.heads == 1) != c.head {
				t.Errorf("%+v", a)
			}
			for _, want := range c.message {
				if !strings.Contains(a.message, want) {
					t.Errorf("the message lacks %q:\n%s", want, a.message)
				}
			}
			if c.name == "on purpose" && strings.Contains(a.message, "goroutine") {
				t.Errorf("a stack for an abort on purpose:\n%s", a.message)
			}
			b.SetHandler(http.NotFoundHandler())
			if a := do(t, b, host, 2, "GET", "/p", nil); a.status != 404 {
				t.Errorf("not served after a panic: %+v", a)
			}
		})
	}
}

func statusOf(t *testing.T, a answer) metav1.Status {
	t.Helper()
	var s metav1.Status
	if err := json.Unmarshal(a.body.Bytes(), &s); err != nil || s.Kind != "Status" || int(s.Code) != a.status {
		t.Errorf("not a Status: %v %d %s", err, a.status, a.body.String())
	}
	return s
}

func TestUnavailableUntilThereIsAHandler(t *testing.T) {
	host := newHost()
	b := New(host)
	a := do(t, b, host, 1, "GET", "/api", nil)
	if s := statusOf(t, a); s.Reason != metav1.StatusReasonServiceUnavailable || a.header.Get("Retry-After") != "1" {
		t.Errorf("%+v %v", s, a.header)
	}
	b.SetFailed(errors.New("no memory"))
	if s := statusOf(t, do(t, b, host, 2, "GET", "/api", nil)); !strings.Contains(s.Message, "no memory") {
		t.Errorf("%+v", s)
	}
	b.SetHandler(http.NotFoundHandler())
	if a := do(t, b, host, 3, "GET", "/api", nil); a.status != 404 {
		t.Errorf("%+v", a)
	}
}

func TestUpgradesAreRefused(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "served") })
	for i, protocol := range []string{"websocket", "SPDY/3.1", "h2c, WebSocket"} {
		a := do(t, b, host, i, "GET", "/exec", nil, "Connection", "keep-alive, Upgrade", "Upgrade", protocol)
		if s := statusOf(t, a); s.Code != http.StatusNotImplemented || !strings.Contains(s.Message, "upgrade") {
			t.Errorf("%s: %+v", protocol, s)
		}
	}
	if a := do(t, b, host, 9, "GET", "/", nil, "Connection", "Upgrade", "Upgrade", "h2c"); a.body.String() != "served" {
		t.Errorf("an upgrade that may be ignored: %+v", a)
	}
}

func TestClose(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	b.Request(1, "GET", "/", nil, false)
	host.wait(t, 1, "head", func(a *answer) bool { return a.heads == 1 })
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := host.waitOver(t, 1); !a.aborted || a.message != ErrClosed.Error() {
		t.Errorf("%+v", a)
	}
	b.Request(2, "GET", "/", nil, false)
	if a := host.waitOver(t, 2); !a.aborted {
		t.Errorf("%+v", a)
	}
}

func TestCloseGivesUp(t *testing.T) {
	release := make(chan struct{})
	b, _ := newBridge(t, func(http.ResponseWriter, *http.Request) { <-release })
	b.Request(1, "GET", "/", nil, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
}

// Late calls, calls for ids that never were and a second request with a live id change nothing.
func TestMistakesOfTheHost(t *testing.T) {
	release := make(chan struct{})
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-release
		}
		io.WriteString(w, r.URL.Path)
	})
	b.Body(1, []byte("x"))
	b.Credit(1, 5)
	b.Cancel(1)
	b.Request(1, "GET", "/wait", nil, false)
	b.Request(1, "GET", "/twice", nil, false)
	b.Body(1, []byte("for a request without a body"))
	b.Credit(1, -3)
	b.Credit(1, plenty)
	close(release)
	if a := host.waitOver(t, 1); a.body.String() != "/wait" {
		t.Errorf("%+v", a)
	}
	b.Cancel(1)
	b.Credit(1, 5)
}

func TestManyAtOnce(t *testing.T) {
	b, host := newBridge(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	host.onChunk = func(id, n int) error { go b.Credit(id, n); return nil }
	host.onPull = func(id int) { go b.Body(id, nil) }
	var wg sync.WaitGroup
	for id := range 100 {
		wg.Go(func() {
			b.Request(id, "POST", "/", nil, true)
			b.Credit(id, 1000)
			b.Body(id, bytes.Repeat([]byte{byte(id)}, 10_000))
			if id%3 == 0 {
				b.Cancel(id)
				return
			}
			a := host.waitOver(t, id)
			if a.body.Len() != 10_000 || a.body.Bytes()[9_999] != byte(id) {
				t.Errorf("request %d: %d bytes", id, a.body.Len())
			}
		})
	}
	wg.Wait()
	until(t, "all handlers have returned", func() bool { return b.Running() == 0 })
}
