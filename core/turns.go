package core

import (
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"

	"github.com/kubetab/kubetab/internal/goroutine"
)

const (
	// turnsPerThread is how many writes of a client run at once for each thread of the
	// process, and how many reads. More would not be done sooner: a request computes, and
	// seldom waits.
	turnsPerThread = 4
	// turnLasts is how long a request keeps its turn. One that takes longer waits for
	// something, such as a webhook, and shall not hold back others.
	turnLasts = 500 * time.Millisecond
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
// ends before its turn has no answer: its client has gone. A read gives its turn back
// when its answer begins: a watch goes on for minutes from there.
func (t *turns) wrap(next http.Handler, isInside bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		goroutine.Room() // there are two dozen handlers from here to the storage
		queue := t.of(r, isInside)
		if queue == nil {
			next.ServeHTTP(w, r)
			return
		}
		select {
		case queue <- struct{}{}:
		case <-r.Context().Done():
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
