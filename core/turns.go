package core

import (
	"net/http"
	"runtime"
	"strings"
	"time"
)

const (
	// turnsPerThread is how many writes of a client run at once for each thread of the
	// process. More would not be done sooner: a write computes, and seldom waits.
	turnsPerThread = 4
	// turnLasts is how long a write keeps its turn. One that takes longer waits for
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

// turns bounds how many writes of a client run at once; the others wait in the order in
// which they came. A scheduler of goroutines knows no priorities: when the controller of
// a ReplicaSet creates 500 Pods at once, every other request would wait for all of them
// each time one of its goroutines gives way to another. Upstream's priority and fairness
// bounds only those who are not system:masters, and for a process with many threads.
type turns struct {
	components map[string]chan struct{}
	others     chan struct{} // of the page, the terminal, Pods and whoever is outside
}

func newTurns() *turns {
	most := turnsPerThread * runtime.GOMAXPROCS(0)
	t := &turns{components: map[string]chan struct{}{}, others: make(chan struct{}, most)}
	for _, component := range []string{controllerManager, kubeScheduler, kubelet} {
		t.components[component] = make(chan struct{}, most)
	}
	return t
}

// wrap returns next with the turns before it. isInside says that the requests are those
// of the engine's own process, of which the user agent can be believed. A request that
// ends before its turn has no answer: its client has gone.
func (t *turns) wrap(next http.Handler, isInside bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		end := time.AfterFunc(turnLasts, func() { <-queue })
		defer func() {
			if end.Stop() {
				<-queue
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// of returns where a request waits for its turn; nil if it needs none. What the server
// asks itself is part of a request that has its turn already.
func (t *turns) of(r *http.Request, isInside bool) chan struct{} {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return nil
	}
	if !isInside {
		return t.others
	}
	component, _, _ := strings.Cut(r.UserAgent(), "/")
	if component == apiServerAgent {
		return nil
	}
	if queue, ok := t.components[component]; ok {
		return queue
	}
	return t.others
}
