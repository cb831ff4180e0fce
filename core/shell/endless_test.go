package shell_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/shell/lines"
)

// TestEndlessLines types what does not end, or takes more than there is. The API
// server answers meanwhile, Ctrl-C brings the prompt back, and the shell is of use
// afterwards. It types one line of four; KUBETAB_EVERY_LINE=1 has it type all, which
// takes some minutes, and KUBETAB_TIMING=1 has the prompt be back within a second.
func TestEndlessLines(t *testing.T) {
	all, err := lines.Endless()
	if err != nil {
		t.Fatal(err)
	}
	url := httpServer(t)
	for i, block := range all {
		if os.Getenv("KUBETAB_EVERY_LINE") == "" && i%4 != 0 {
			continue
		}
		t.Run(block.Command, func(t *testing.T) {
			s := sitAt(t, url)
			s.types("mkdir -p endless && cd endless && echo be''gun; " + block.Command + "\r")
			s.reads(`begun\n`)
			if block.Stderr != "" {
				s.reads(regexp.QuoteMeta(strings.TrimSuffix(block.Stderr, "\n")))
			}
			for range 3 {
				ready(t)
			}
			pressed := time.Now()
			s.types("\x03")
			// What is printed before the prompt may be much, and the prompt may be there
			// already.
			s.types("echo an''swer\r")
			s.reads(`answer\n`)
			if took := time.Since(pressed); took > time.Second && os.Getenv("KUBETAB_TIMING") != "" {
				t.Errorf("the prompt was back after %v", took)
			}
			ready(t)
		})
		post(t, url, "rm -rf endless")
	}
}

// ready fails the test if the API server is not.
func ready(t *testing.T) {
	t.Helper()
	w := httptest.NewRecorder()
	shared.engine.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if w.Code != http.StatusOK {
		t.Errorf("the API server is not ready: %d %s", w.Code, w.Body)
	}
}

// reads is sees for output of any length, of which it keeps the end.
func (s *seat) reads(pattern string) {
	s.t.Helper()
	const most = 8 << 10
	re := regexp.MustCompile(pattern)
	limit := time.After(patience)
	text := s.rest
	for {
		if at := re.FindStringIndex(text); at != nil {
			s.rest = text[at[1]:]
			return
		}
		select {
		case b, ok := <-s.out:
			if !ok {
				s.t.Fatalf("the terminal has ended, after %q: no %s", text, pattern)
			}
			text += strings.ReplaceAll(string(b), "\r", "")
			text = text[max(0, len(text)-most):]
		case <-limit:
			s.t.Fatalf("%q has no %s", text, pattern)
		}
	}
}
