package kubeletapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// logs answers GetContainerLogs with the options that upstream's kubelet takes.
func (s *server) logs(w http.ResponseWriter, r *http.Request) {
	var o v1.PodLogOptions
	if err := legacyscheme.ParameterCodec.DecodeParameters(r.URL.Query(), v1.SchemeGroupVersion, &o); err != nil {
		http.Error(w, `{"message": "Unable to decode query."}`, http.StatusBadRequest)
		return
	}
	p, c, err := s.find(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	of := c.Current
	// A container that waits for its next run shows the last one either way.
	if o.Previous && (!c.Ended || c.Waiting == nil) {
		of = c.Previous
	}
	full, name := p.Name, r.PathValue("container")
	switch {
	case o.Previous && of == nil:
		http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", name, full), http.StatusBadRequest)
		return
	case of == nil && c.Ended: // it could not be started, and has said nothing
		w.Header().Set("Content-Type", "text/plain")
		return
	case of == nil:
		reason := "ContainerCreating"
		if c.Waiting != nil {
			reason = c.Waiting.Reason
		}
		text := fmt.Sprintf("container %q in pod %q is waiting to start: %s", name, full, reason)
		if reason == "ErrImagePull" || reason == "ImagePullBackOff" {
			text = fmt.Sprintf("container %q in pod %q is waiting to start: %s", name, full, map[string]string{"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}[reason])
		}
		http.Error(w, text, http.StatusBadRequest)
		return
	}
	read := container.ReadOptions{Follow: o.Follow, Timestamps: o.Timestamps, Tail: -1}
	if o.TailLines != nil {
		read.Tail = *o.TailLines
	}
	if o.LimitBytes != nil {
		read.LimitBytes = *o.LimitBytes
	}
	if o.SinceTime != nil {
		read.Since = o.SinceTime.Time
	}
	if o.SinceSeconds != nil {
		read.Since = s.Now().Add(-time.Duration(*o.SinceSeconds) * time.Second)
	}
	if o.Stream != nil && *o.Stream != v1.LogStreamAll {
		read.Stream = container.Stdout
		if *o.Stream == v1.LogStreamStderr {
			read.Stream = container.Stderr
		}
	}
	w.Header().Set("Content-Type", "text/plain")
	out := flushing{w}
	out.flush()
	of.Log.Hear()
	if err := of.Log.Read(r.Context(), out, read); err != nil && !errors.Is(err, context.Canceled) {
		return // the client is gone, or the engine ends: there is nobody to tell
	}
}

// flushing sends each write at once.
type flushing struct{ http.ResponseWriter }

func (f flushing) flush() {
	if flusher, ok := f.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	f.flush()
	return n, err
}
