package bridge

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"
)

// Upstream's wrappers look for what a ResponseWriter of net/http can do, and hide what is not there.
func TestAnsweredHidesNothingOfTheServers(t *testing.T) {
	next := make(chan string)
	server := httptest.NewServer(Answered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stream":
			w.Header().Set("X-Way", "streamed")
			w.WriteHeader(http.StatusAccepted)
			for text := range next {
				io.WriteString(w, text)
				w.(http.Flusher).Flush()
			}
		case "/panic":
			panic(http.ErrAbortHandler)
		case "/header":
			w.Header().Set("X-Way", "implicit")
		case "/hijack":
			conn, rw, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer conn.Close()
			rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nown")
			rw.Flush()
		case "/wrapped":
			//lint:ignore SA1019 upstream asks for it
			_, notifies := w.(http.CloseNotifier)
			if _, flushes := w.(http.Flusher); !flushes || !notifies {
				t.Errorf("upstream would hide Flush: Flusher %v, CloseNotifier %v", flushes, notifies)
			}
			outer := responsewriter.WrapForHTTP1Or2(wrapped{w})
			if _, ok := outer.(http.Hijacker); !ok {
				t.Errorf("%T is no Hijacker", outer)
			}
		}
	})))
	defer server.Close()
	get := func(path string) *http.Response {
		t.Helper()
		r, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Body.Close() })
		return r
	}

	go func() { next <- "one\n" }()
	streamed := get("/stream")
	lines := bufio.NewReader(streamed.Body)
	for _, want := range []string{"one\n", "two\n"} {
		got, err := lines.ReadString('\n')
		if got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		if want == "one\n" {
			next <- "two\n"
		}
	}
	close(next)
	if way := streamed.Header.Get("X-Way"); streamed.StatusCode != http.StatusAccepted || way != "streamed" {
		t.Errorf("%s, X-Way %q", streamed.Status, way)
	}
	if r := get("/header"); r.StatusCode != http.StatusOK || r.Header.Get("X-Way") != "implicit" {
		t.Errorf("%s, %v", r.Status, r.Header)
	}
	if r, err := http.Get(server.URL + "/panic"); err == nil {
		t.Errorf("a handler that aborts: %s", r.Status)
	}
	upgraded := get("/hijack")
	if text, _ := io.ReadAll(io.LimitReader(upgraded.Body, 3)); upgraded.StatusCode != 101 || string(text) != "own" {
		t.Errorf("%s: %q", upgraded.Status, text)
	}
	get("/wrapped")
}

type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }
