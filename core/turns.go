package core

import (
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"

	"github.com/kubetab/kubetab/internal/goroutine"
	"github.com/kubetab/kubetab/internal/status"
)

const (
	// turnsPerThread is how many writes of a client run at once for each thread of the
	// process, and how many reads. More would not be done sooner: a request computes, and
	// seldom waits.
	turnsPerThread = 4
	// turnLasts is how long a request keeps its turn. One that takes longer waits for
	// something, such as a webhook, and shall not hold back others.
	turnLasts = 500 * time.Millisecond
	// longWait is how long a request waits before its answer warns that this server is at
	// its limit.
	longWait = 2 * time.Second
	// longestWait is how long a request of a client waits before it is refused. It is
	// upstream's in the queues of priority and fairness: a quarter of the timeout of a
	// request (newPriorityAndFairnessHandler).
	longestWait = 15 * time.Second
	// waitedHeader is how many milliseconds a request has waited before it came here.
	waitedHeader = "Kubetab-Waited"
)

// The components whose writes have turns of their own, by what their user agents begin
// with, and the server itself.
const (
	controllerManager = "kube-controller-manager"
	kubeScheduler     = "kube-scheduler"
	kubelet           = "kubelet"
	apiServerAgent    = "kube-apiserver"
)

// turns bounds how many requests of a client run at once; the others wait in the order
// in which they came. A scheduler of goroutines knows no priorities: when the controller
// of a ReplicaSet creates 500 Pods at once, or a script begins 2,000 watches, every other
// request would wait for all of them each time one of its goroutines gives way to
// another. Upstream's priority and fairness bounds only those who are not system:masters,
// and for a process with many threads.
type turns struct {
	components map[string]chan struct{} // their writes
	writes     chan struct{}            // of the page, the terminal, Pods and whoever is outside
	reads      chan struct{}            // of the same
}

func newTurns() *turns {
	most := turnsPerThread * runtime.GOMAXPROCS(0)
	t := &turns{components: map[string]chan struct{}{}, writes: make(chan struct{}, most), reads: make(chan struct{}, most)}
	for _, component := range []string{controllerManager, kubeScheduler, kubelet} {
		t.components[component] = make(chan struct{}, most)
	}
	return t
}

// wrap returns next with the turns before it. isInside says that the requests are those
// of the engine's own process, of which the user agent can be believed. A request that
// ends before its turn has no answer: its client has gone. One of a client that waits
// long is answered with a Warning that says so, and one that waits too long with 429: who
// asks for more than the server can do is told before everything else becomes late. A
// component waits as long as it takes. A read gives its turn back when its answer begins:
// a watch goes on for minutes from there.
func (t *turns) wrap(next http.Handler, isInside bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		goroutine.Room() // there are two dozen handlers from here to the storage
		queue := t.of(r, isInside)
		if queue == nil {
			next.ServeHTTP(w, r)
			return
		}
		isClient := queue == t.writes || queue == t.reads
		if !await(w, r, queue, isClient) {
			return
		}
		giveBack := sync.OnceFunc(func() { <-queue })
		defer giveBack()
		defer time.AfterFunc(turnLasts, giveBack).Stop()
		if queue == t.reads {
			w = responsewriter.WrapForHTTP1Or2(&beginning{ResponseWriter: w, begun: giveBack})
		}
		next.ServeHTTP(w, r)
	})
}

// await reports whether r has its turn. If it has none, then its client has gone, or has
// been told to come again later.
func await(w http.ResponseWriter, r *http.Request, queue chan struct{}, isClient bool) bool {
	var before time.Duration
	if isClient {
		before = waitedBefore(r)
	}
	if before == 0 {
		select {
		case queue <- struct{}{}: // without a timer, as mostly
			return true
		default:
		}
	}
	if before >= longestWait {
		refuse(w)
		return false
	}
	began := time.Now().Add(-before)
	var tooLong <-chan time.Time // never for components
	if isClient {
		timer := time.NewTimer(longestWait - before)
		defer timer.Stop()
		tooLong = timer.C
	}
	select {
	case queue <- struct{}{}:
		if waited := time.Since(began); isClient && waited > longWait {
			warn(w, fmt.Sprintf("this API server is asked for more than it can do: the request waited for %.1f seconds until others had been served", waited.Seconds()))
		}
		return true
	case <-tooLong:
		refuse(w)
		return false
	case <-r.Context().Done():
		return false
	}
}

// waitedBefore is how long r says that it waited on its way: in a tab, for the turn of its
// page (web/src/engine/turns.ts). Who says what is not so gets an answer that is not so.
func waitedBefore(r *http.Request) time.Duration {
	ms, err := strconv.ParseUint(r.Header.Get(waitedHeader), 10, 32)
	if err != nil {
		return 0 // mostly there is none
	}
	return time.Duration(ms) * time.Millisecond
}

// refuse asks the client to come again when as many as are in front of it now have been
// served. Upstream, too, says a longer time when it has refused many. With one second, those
// refused ask so often that a fifth fewer writes are done beside 200 watches.
func refuse(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.FormatFloat(longestWait.Seconds(), 'f', 0, 64))
	status.Refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests,
		fmt.Sprintf("Too many requests: this one waited for %.0f seconds until others had been served. Nothing was changed; try again later, or ask for less at once", longestWait.Seconds()))
}

// warn adds a Warning header, which kubectl prints.
func warn(w http.ResponseWriter, text string) {
	header, err := net.NewWarningHeader(299, "-", text)
	utilruntime.Must(err) // text is ours
	w.Header().Add("Warning", header)
}

// of returns where a request waits for its turn; nil if it needs none. What the server
// asks itself is part of a request that has its turn already, and what components read
// they read once, when they start. Other paths than the API's, such as /readyz, say how
// the server is, and do not wait.
func (t *turns) of(r *http.Request, isInside bool) chan struct{} {
	component := ""
	if isInside {
		component, _, _ = strings.Cut(r.UserAgent(), "/")
	}
	if component == apiServerAgent {
		return nil
	}
	writes, isComponent := t.components[component]
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		if isComponent {
			return writes
		}
		return t.writes
	case http.MethodGet:
		if isComponent || !strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/apis/") {
			return nil
		}
		return t.reads
	}
	return nil
}

// beginning calls begun before the first byte of an answer is written.
type beginning struct {
	http.ResponseWriter
	begun func()
}

var _ responsewriter.UserProvidedDecorator = (*beginning)(nil)

func (b *beginning) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *beginning) WriteHeader(status int) {
	b.begun()
	b.ResponseWriter.WriteHeader(status)
}

func (b *beginning) Write(p []byte) (int, error) {
	b.begun()
	return b.ResponseWriter.Write(p)
}
