package shell

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// MostSessions is for tests.
const MostSessions = mostSessions

// Lines is for tests: how many lines of a session run or wait for their turn.
func (s *Shell) Lines(session string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.sessions[session]; n != nil {
		return n.lines
	}
	return 0
}

// DropLarge is for tests.
func (s *Session) DropLarge() { s.session.dropLarge(context.Background()) }

// slow is a client that reads when it is told to.
type slow struct {
	asked chan struct{}
	reads chan struct{}
	text  strings.Builder
}

func (s *slow) Header() http.Header { return http.Header{} }
func (s *slow) WriteHeader(int)     {}
func (s *slow) Write(b []byte) (int, error) {
	s.asked <- struct{}{}
	<-s.reads
	return s.text.Write(b)
}

// kubectl writes a table cell by cell. What it writes while a client takes what came before is one piece.
func TestPrintedJoinsSmallWrites(t *testing.T) {
	client := &slow{asked: make(chan struct{}, 10), reads: make(chan struct{})}
	p := newPrinted(client)
	write := func(s *stream, text string) {
		if _, err := s.Write([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	write(&p.stdout, "NAME\n")
	<-client.asked
	for range 3 {
		write(&p.stdout, "web ")
		write(&p.stdout, "1/1\n")
	}
	write(&p.stderr, "that is all\n")
	close(client.reads)
	p.end(0)
	want := `{"stdout":"NAME\n"}
{"stdout":"web 1/1\nweb 1/1\nweb 1/1\n"}
{"stderr":"that is all\n"}
{"exitCode":0}
`
	if got := client.text.String(); got != want {
		t.Errorf("sent\n%s", got)
	}
}
