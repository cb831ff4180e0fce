package requestlog

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// pass sends a request through the log and returns what subscribers are told of it, a line each.
func pass(l *Log, r *http.Request, internal bool, h http.HandlerFunc) {
	l.Wrap(h, internal).ServeHTTP(httptest.NewRecorder(), r)
}

// hear subscribes and returns what it is told of.
func hear(l *Log, s Subscriber) (told *[]string, stop func()) {
	told = &[]string{}
	s.Deliver = func(p Passing) {
		*told = append(*told, fmt.Sprintf("%d part %d: %d sent %q answered %q event %q", p.ID, p.Part, p.Status, p.RequestBody.Data, p.ResponseBody.Data, p.WatchEvent))
	}
	return told, l.Subscribe(s)
}

func echo(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // of a strings.Reader
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, "answer")
}

func TestSubscriberHearsOfARequestAsItPasses(t *testing.T) {
	l := New(Options{Records: 1, BodyBytes: 1, TotalBytes: 1}) // the log itself keeps next to nothing
	told, stop := hear(l, Subscriber{Want: func(r *http.Request, _ string, _ bool) bool { return r.URL.Path != "/no" }, BodyBytes: 5})
	pass(l, httptest.NewRequest("POST", "/yes", strings.NewReader("question")), false, echo)
	pass(l, httptest.NewRequest("POST", "/no", strings.NewReader("question")), false, echo)
	watch := httptest.NewRequest("GET", "/yes?watch=1", nil)
	pass(l, watch, false, func(w http.ResponseWriter, _ *http.Request) {
		for _, piece := range []string{"ab", "c\nd\ntoo lon", "g\n"} {
			fmt.Fprint(w, piece)
		}
	})
	stop()
	pass(l, httptest.NewRequest("POST", "/yes", strings.NewReader("question")), false, echo)
	want := []string{
		`1 part 0: 201 sent "quest" answered "" event ""`,
		`1 part 2: 201 sent "quest" answered "answe" event ""`,
		`3 part 0: 200 sent "" answered "" event ""`,
		`3 part 1: 200 sent "" answered "" event "abc"`,
		`3 part 1: 200 sent "" answered "" event "d"`,
		`3 part 1: 200 sent "" answered "" event ""`, // too large
		`3 part 2: 200 sent "" answered "" event ""`,
	}
	if !slices.Equal(*told, want) {
		t.Errorf("told\n%s, not\n%s", strings.Join(*told, "\n"), strings.Join(want, "\n"))
	}
}

func TestSubscriberHearsOfWhatWasNeverAuthorizedAndOfWhatBroke(t *testing.T) {
	l := New(Options{})
	told, stop := hear(l, Subscriber{})
	defer stop()
	pass(l, httptest.NewRequest("GET", "/refused", nil), false, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Too many requests", http.StatusTooManyRequests)
	})
	func() {
		defer func() { _ = recover() }() // as net/http does
		pass(l, httptest.NewRequest("GET", "/broken", nil), false, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "half")
			panic(http.ErrAbortHandler)
		})
	}()
	want := []string{
		`1 part 0: 429 sent "" answered "" event ""`,
		`1 part 2: 429 sent "" answered "Too many requests\n" event ""`,
		`2 part 0: 200 sent "" answered "" event ""`,
		`2 part 2: 200 sent "" answered "half" event ""`,
	}
	if !slices.Equal(*told, want) {
		t.Errorf("told\n%s, not\n%s", strings.Join(*told, "\n"), strings.Join(want, "\n"))
	}
}

func TestPodsAreComponentsThatAreNamed(t *testing.T) {
	l := New(Options{})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Kubetab-Client", FromPod)
	pass(l, r, true, echo)
	if all := records(l); len(all) != 1 || all[0].From != FromPod || !all[0].Internal {
		t.Errorf("%+v", all)
	}
}
