package core

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// crowd sends n requests at once and returns how many of them a handler that takes as
// long as given has at most.
func crowd(t *testing.T, n int, takes time.Duration, request func() *http.Request) int {
	var mu sync.Mutex
	var now, most, all int
	h := newTurns().wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		now++
		all++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(takes) // by the clock of the test
		mu.Lock()
		now--
		mu.Unlock()
	}), true)
	var done sync.WaitGroup
	for range n {
		done.Go(func() { h.ServeHTTP(httptest.NewRecorder(), request()) })
	}
	done.Wait()
	if all != n {
		t.Errorf("%d of %d requests were served", all, n)
	}
	return most
}

func TestRequestsTakeTurns(t *testing.T) {
	const pods = "/api/v1/namespaces/default/pods"
	limit := turnsPerThread * runtime.GOMAXPROCS(0)
	from := func(method, path, agent string) func() *http.Request {
		return func() *http.Request {
			r := httptest.NewRequest(method, path, nil)
			r.Header.Set("User-Agent", agent)
			return r
		}
	}
	for name, test := range map[string]struct {
		request func() *http.Request
		takes   time.Duration
		most    int
	}{
		"a controller's writes":                {from("POST", pods, userAgent(controllerManager)+"/replicaset-controller"), 10 * time.Millisecond, limit},
		"kubectl's writes":                     {from("PATCH", pods, "kubectl/v1.37.0"), 10 * time.Millisecond, limit},
		"a page's reads":                       {from("GET", pods, "Mozilla/5.0"), 10 * time.Millisecond, limit},
		"a page's reads of a group":            {from("GET", "/apis/apps/v1/deployments", "Mozilla/5.0"), 10 * time.Millisecond, limit},
		"a controller does not wait to read":   {from("GET", pods, userAgent(controllerManager)), 10 * time.Millisecond, 500},
		"who asks how the server is":           {from("GET", "/readyz", "Mozilla/5.0"), 10 * time.Millisecond, 500},
		"the server does not wait for itself":  {from("POST", pods, userAgent(apiServerAgent)), 10 * time.Millisecond, 500},
		"what waits for others loses its turn": {from("POST", pods, userAgent(kubelet)), time.Hour, 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if most := crowd(t, 500, test.takes, test.request); most != test.most {
					t.Errorf("%d were served at once, want %d", most, test.most)
				}
			})
		})
	}
}

// A watch has its turn until it begins, and its writer can still do what the server's can.
func TestWatchesGiveTheirTurnsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const watches = 500
		var begun atomic.Int32
		end := make(chan struct{})
		began := time.Now()
		h := newTurns().wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			begun.Add(1)
			<-end
		}), false)
		var done sync.WaitGroup
		for range watches {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/pods?watch=1", nil)
			done.Go(func() { h.ServeHTTP(&responseWriter{header: http.Header{}, wrote: make(chan struct{})}, r) })
		}
		synctest.Wait()
		if n, took := begun.Load(), time.Since(began); n != watches || took != 0 {
			t.Errorf("%d of %d watches had begun after %v", n, watches, took)
		}
		close(end)
		done.Wait()
	})
}

// A write whose client goes while it waits is not made, and takes no turn from others.
func TestWriteThatEndsBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := turnsPerThread * runtime.GOMAXPROCS(0)
		proceed := make(chan struct{})
		var served sync.Map
		h := newTurns().wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			served.Store(r.URL.Path, true)
			<-proceed
		}), false)
		var done sync.WaitGroup
		send := func(ctx context.Context, path string) {
			r := httptest.NewRequestWithContext(ctx, "POST", path, nil)
			done.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
			synctest.Wait()
		}
		for range limit {
			send(t.Context(), "/first")
		}
		gone, leave := context.WithCancel(t.Context())
		send(gone, "/gone")
		send(t.Context(), "/last")
		leave()
		synctest.Wait()
		close(proceed)
		done.Wait()
		if _, ok := served.Load("/gone"); ok {
			t.Error("a write was made whose client had gone")
		}
		if _, ok := served.Load("/last"); !ok {
			t.Error("the write behind it was not made")
		}
	})
}

// A client's request that waits long says so in a warning, and one that waits too long is refused: it is not made, and
// its client is told when to come again. A component waits as long as it takes.
func TestLongWaits(t *testing.T) {
	const (
		takes       = 400 * time.Millisecond // of each write, so that nobody loses a turn
		longWarning = `299 - "this API server is asked for more than it can do: the request waited for 4.0 seconds until others had been served"`
	)
	for name, test := range map[string]struct {
		agent   string
		waited  string        // in milliseconds, on its way here
		before  time.Duration // what others take first
		code    int
		retry   string
		warning string
	}{
		"not long":              {"kubectl/v1.37.0", "", 4 * takes, http.StatusOK, "", ""},
		"long":                  {"kubectl/v1.37.0", "", 10 * takes, http.StatusOK, "", longWarning},
		"long, on its way":      {"kubectl/v1.37.0", "4000", 0, http.StatusOK, "", longWarning},
		"long, altogether":      {"kubectl/v1.37.0", "1200", 7 * takes, http.StatusOK, "", longWarning},
		"too long, on its way":  {"kubectl/v1.37.0", "15000", 0, http.StatusTooManyRequests, "15", ""},
		"too long, altogether":  {"kubectl/v1.37.0", "14000", 3 * takes, http.StatusTooManyRequests, "15", ""},
		"nobody knows how long": {"kubectl/v1.37.0", "-1", 0, http.StatusOK, "", ""},
		"too long":              {"kubectl/v1.37.0", "", 50 * takes, http.StatusTooManyRequests, "15", ""},
		"a component's, long":   {userAgent(kubelet), "20000", 50 * takes, http.StatusOK, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made atomic.Bool
				h := newTurns().wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/asked" {
						made.Store(true)
						return
					}
					time.Sleep(takes) // by the clock of the test
				}), true)
				write := func(path, waited string) *httptest.ResponseRecorder {
					r := httptest.NewRequest("POST", path, nil)
					r.Header.Set("User-Agent", test.agent)
					if waited != "" {
						r.Header.Set(waitedHeader, waited)
					}
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					return w
				}
				var done sync.WaitGroup
				for range int(test.before/takes) * turnsPerThread * runtime.GOMAXPROCS(0) {
					done.Go(func() { write("/before", "") })
				}
				synctest.Wait()
				began := time.Now()
				w := write("/asked", test.waited)
				if waited := time.Since(began); waited > test.before || test.agent == "kubectl/v1.37.0" && waited > longestWait {
					t.Errorf("answered after %v", waited)
				}
				done.Wait()
				if w.Code != test.code || made.Load() != (test.code == http.StatusOK) {
					t.Errorf("answered with %d, made %v, want %d", w.Code, made.Load(), test.code)
				}
				if retry, warning := w.Header().Get("Retry-After"), w.Header().Get("Warning"); retry != test.retry || warning != test.warning {
					t.Errorf("Retry-After %q, Warning %q", retry, warning)
				}
			})
		})
	}
}

// slowBody tells when its first byte is asked for, and has none until proceed is closed.
type slowBody struct{ asked, proceed chan struct{} }

func (b slowBody) Read([]byte) (int, error) {
	b.asked <- struct{}{}
	<-b.proceed
	return 0, io.EOF
}

// An engine's writes take turns: the body of one too many is read when another has lost its turn, and no sooner.
func TestEngineHasWritesTakeTurns(t *testing.T) {
	e := sharedEngine(t)
	limit := turnsPerThread * runtime.GOMAXPROCS(0)
	body := slowBody{make(chan struct{}), make(chan struct{})}
	var done sync.WaitGroup
	began := time.Now()
	for range limit + 1 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, loopbackHost+"/api/v1/namespaces", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		done.Go(func() {
			response, err := e.RESTConfig().Transport.RoundTrip(r)
			if err != nil {
				t.Error(err)
				return
			}
			_ = response.Body.Close()
		})
	}
	for range limit + 1 {
		<-body.asked
	}
	if took := time.Since(began); took < turnLasts {
		t.Errorf("%d writes were served at once after %v", limit+1, took)
	}
	close(body.proceed)
	done.Wait()
}
