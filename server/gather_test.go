package server_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/server"
)

// counting counts the writes to a response.
type counting struct {
	*httptest.ResponseRecorder
	writes int
}

func (c *counting) Write(p []byte) (int, error) {
	c.writes++
	return c.ResponseRecorder.Write(p)
}

func TestGatherMakesFewWritesOfMany(t *testing.T) {
	var want bytes.Buffer
	for i := range 10_000 {
		want.WriteString(strings.Repeat(string(rune('a'+i%26)), 1+i%97))
	}
	w := &counting{ResponseRecorder: httptest.NewRecorder()}
	server.Gather(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		rest := want.Bytes()
		for i := 0; len(rest) > 0; i++ {
			n := min(1+i%97, len(rest))
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("%d of %d bytes written: %v", got, n, err)
			}
			rest = rest[n:]
		}
	})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if !bytes.Equal(w.Body.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes arrived of %d, or others", w.Body.Len(), want.Len())
	}
	if most := want.Len()/(32<<10) + 1; w.writes > most {
		t.Errorf("%d writes for %d bytes: at most %d", w.writes, want.Len(), most)
	}
}

// Over each protocol: what is flushed is there while the handler goes on, and what a handler that breaks off has
// written since is not, with an error for the client and not a short body.
func TestGatherFlushesAndBreaksOff(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			seen := make(chan struct{})
			s := httptest.NewUnstartedServer(server.Gather(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, "first")
				w.(http.Flusher).Flush()
				<-seen
				io.WriteString(w, "second")
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				<-seen
				io.WriteString(w, "third")
				panic(http.ErrAbortHandler)
			})))
			s.EnableHTTP2 = protocol == "HTTP/2.0"
			s.StartTLS()
			defer s.Close()
			response, err := s.Client().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.Proto != protocol {
				t.Fatal(response.Proto)
			}
			for _, want := range []string{"first", "second"} {
				got := make([]byte, len(want))
				if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
					t.Fatalf("%q, %v", got, err)
				}
				seen <- struct{}{}
			}
			if rest, err := io.ReadAll(response.Body); err == nil || len(rest) > 0 {
				t.Errorf("%q, error %v", rest, err)
			}
		})
	}
}

// A response that fits has its length in the head, as without Gather.
func TestGatherKeepsTheLengthOfShortResponses(t *testing.T) {
	s := httptest.NewTLSServer(server.Gather(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "short")
		io.WriteString(w, "er")
	})))
	defer s.Close()
	response, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ContentLength != 7 {
		t.Errorf("Content-Length %d", response.ContentLength)
	}
}
