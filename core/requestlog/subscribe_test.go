package requestlog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
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

// TestEventsOfACompressedWatchAreTold: each event is told when it has been flushed, as kube-apiserver compresses streaming
// lists (a member of gzip for each flush), and as one long member.
func TestEventsOfACompressedWatchAreTold(t *testing.T) {
	here := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, here)
	large := strings.Repeat("x", 1<<20) // a kilobyte of gzip
	for _, members := range []bool{true, false} {
		l := New(Options{Records: 1, BodyBytes: 1000})
		var told []string
		stop := l.Subscribe(Subscriber{BodyBytes: 100, Deliver: func(p Passing) {
			if p.Part == PartEvent {
				told = append(told, string(p.WatchEvent))
			}
		}})
		pass(l, httptest.NewRequest("GET", "/api/v1/pods?watch=1", nil), false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(http.StatusOK)
			z := gzip.NewWriter(w)
			var want []string
			for i, piece := range []string{"one\n", "tw", "o\nthree\n", large + "\n", "five\n"} {
				fmt.Fprint(z, piece)
				_ = z.Flush() // a recorder takes everything
				if members {
					_ = z.Close()
					z.Reset(w)
				}
				want = append(want, [][]string{{"one"}, nil, {"two", "three"}, {""}, {"five"}}[i]...) // none of what is too large
				if !slices.Equal(told, want) {
					t.Errorf("members %t: after piece %d told %q, not %q", members, i, told, want)
				}
			}
			fmt.Fprint(w, "no gzip\nat all\n")
			if len(told) != len(want) {
				t.Errorf("members %t: what is not gzip was told as %q", members, told)
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.held != len("onetwothreefive") || l.entries[0].Events != 5 {
				t.Errorf("members %t: %d bytes held of %d events", members, l.held, l.entries[0].Events)
			}
		})
		stop()
	}
}

// TestCompressedWatchMayEndAnywhere: nothing that decompresses is left, and nothing is told of what has not come.
func TestCompressedWatchMayEndAnywhere(t *testing.T) {
	here := goleak.IgnoreCurrent()
	var whole bytes.Buffer
	for range 2 {
		z := gzip.NewWriter(&whole)
		fmt.Fprint(z, "event\n")
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for cut := range whole.Len() {
		l := New(Options{})
		pass(l, httptest.NewRequest("GET", "/api/v1/pods?watch=1", nil), false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			for i := range cut {
				_, _ = w.Write(whole.Bytes()[i : i+1])
			}
		})
		events := records(l)[0].Events
		if half := int64(cut * 2 / whole.Len()); events < half || events > half+1 {
			t.Errorf("%d events in %d of %d bytes", events, cut, whole.Len())
		}
	}
	goleak.VerifyNone(t, here)
}
