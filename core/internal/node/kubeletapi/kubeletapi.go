// Package kubeletapi serves the paths of a kubelet's port 10250 that the API server and kubectl use: logs, exec, attach and
// port-forward of containers, by upstream's streaming server. It also serves the Pods, statistics and metrics of the node,
// whose handlers are package node's.
//
//	API server ──▶ New ─┬─▶ /containerLogs             Config.Find ──▶ Container.Current.Log
//	                    ├─▶ /exec /attach /portForward Config.Find ──▶ Container.Current, Pod.Listening
//	                    └─▶ the others                 Config.Own
//
// A request sees a Container as it is at one moment and takes no lock of the kubelet's afterwards.
package kubeletapi

import (
	"fmt"
	"io"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// Config is what the API asks of the kubelets. All fields are required.
type Config struct {
	// Find returns a Pod. Its error is the answer, with the code 404.
	Find func(namespace, name string) (Pod, error)
	// Now is the cluster's time.
	Now func() time.Time
	// Go runs f in a goroutine that the kubelets wait for when they end.
	Go func(f func())
	// Own are the handlers of what a kubelet says of itself, by their patterns as
	// http.ServeMux has them.
	Own map[string]http.Handler
}

// Pod is a Pod that a kubelet runs.
type Pod struct {
	Name, UID string
	// Container returns a container of any sort by its name, and false if there is none.
	Container func(name string) (Container, bool)
	// Listening returns what listens on a port of the Pod.
	Listening func(container.Port) (container.Listener, bool)
}

// Container is a container at one moment.
type Container struct {
	// Current is the run that goes on, or the last one; Previous is the one before. They
	// are nil when there was no such run, or none of this kubelet's.
	Current, Previous *container.Container
	Running           bool // Current goes on
	Ended             bool // the last run is over, since EndedAt
	EndedAt           time.Time
	// Waiting is why the container does not run. Nil means that it runs, that it will not
	// run again, or that its turn has not come.
	Waiting *v1.ContainerStateWaiting
}

type server struct{ Config }

// New returns the API. Its servers must have http.Server.ConnContext as Own wants it.
func New(c Config) http.Handler {
	s := &server{c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", s.logs)
	for _, pattern := range []string{"/{namespace}/{pod}/{container}", "/{namespace}/{pod}/{uid}/{container}"} {
		mux.HandleFunc("/exec"+pattern, s.exec)
		mux.HandleFunc("/attach"+pattern, s.attach)
	}
	mux.HandleFunc("/portForward/{namespace}/{pod}", s.forward)
	mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", s.forward)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	for pattern, handler := range c.Own {
		mux.Handle(pattern, handler)
	}
	return mux
}

// find returns the Pod that a request names, and its container if the request names one.
func (s *server) find(r *http.Request) (p Pod, c Container, err error) {
	name := r.PathValue("pod")
	if p, err = s.Find(r.PathValue("namespace"), name); err != nil {
		return p, c, err
	}
	of := r.PathValue("container")
	if of == "" {
		return p, c, nil
	}
	c, ok := p.Container(of)
	if !ok {
		return p, c, fmt.Errorf("container %q not found in pod %q", of, name)
	}
	return p, c, nil
}
