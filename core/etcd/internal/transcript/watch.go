package transcript

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// patience is how long a session waits for what must come.
const patience = 10 * time.Second

// watch collects what a watch delivers.
type watch struct {
	r    *Runner
	stop context.CancelFunc

	mu   sync.Mutex // guards all below
	news *sync.Cond
	// unprinted are the responses that were not printed yet; events counts the
	// events in them. They are written down by the session, not by the goroutine
	// that collects them, because the names of leases belong to the session.
	unprinted []clientv3.WatchResponse
	events    int
	ended     bool
	// progress is the revision of the last progress notification.
	progress int64
	// last is the revision of the last event that was written down.
	last int64
}

func (r *Runner) watch(ctx context.Context, s *statement) (string, error) {
	name := s.arg(0)
	if s.verb == "watch" {
		opts, err := r.options(s)
		if err != nil {
			return "", err
		}
		if r.watches == nil {
			r.watches = map[string]*watch{}
		}
		w := &watch{r: r}
		w.news = sync.NewCond(&w.mu)
		ctx, cancel := context.WithCancel(ctx)
		r.watches[name] = w
		ch := r.Client.Watcher.Watch(ctx, s.arg(1), opts...)
		done := make(chan struct{})
		w.stop = func() { cancel(); <-done }
		go func() {
			defer close(done)
			w.collect(ch)
		}()
		return "", nil
	}
	w := r.watches[name]
	if w == nil {
		return "", mistake("there is no watch %q", name)
	}
	switch s.verb {
	case "events":
		n, err := s.number(1)
		if err != nil {
			return "", err
		}
		return w.print(func() bool { return w.events >= int(n) }), nil
	case "progress":
		now, err := r.Client.Kubernetes.Get(ctx, "any", kubernetes.GetOptions{})
		if err != nil {
			return "", err
		}
		stop := make(chan struct{})
		var asking sync.WaitGroup
		asking.Add(1)
		go func() {
			// etcd does not answer while a watch is behind, so ask again.
			defer asking.Done()
			for {
				_ = r.Client.Watcher.RequestProgress(ctx)
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		// Which notifications come before the one that was waited for is a matter of
		// luck, so that one alone is printed.
		out := w.print(func() bool { return w.progress >= now.Revision })
		close(stop)
		asking.Wait()
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.ended {
			out += fmt.Sprintf("progress rev=%d\n", w.progress)
		}
		return out, nil
	default:
		w.stop()
		return w.print(func() bool { return w.ended }), nil
	}
}

func (w *watch) collect(ch clientv3.WatchChan) {
	for resp := range ch {
		w.mu.Lock()
		w.unprinted = append(w.unprinted, resp)
		w.events += len(resp.Events)
		if resp.Created {
			w.events++
		}
		if resp.IsProgressNotify() {
			w.progress = resp.Header.Revision
		}
		w.news.Broadcast()
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.news.Broadcast()
}

// write writes down a response. What must never happen is a line, too.
func (w *watch) write(out *strings.Builder, resp clientv3.WatchResponse) {
	switch {
	case resp.Err() != nil:
		fmt.Fprintf(out, "canceled=%v compacted=%d error: %v\n", resp.Canceled, resp.CompactRevision, resp.Err())
	case resp.Created:
		fmt.Fprintf(out, "created rev=%d\n", resp.Header.Revision)
	case resp.IsProgressNotify() && resp.Header.Revision < w.last:
		fmt.Fprintf(out, "progress went back to %d after %d\n", resp.Header.Revision, w.last)
	}
	for _, e := range resp.Events {
		if e.Kv.ModRevision < w.last {
			fmt.Fprintf(out, "revision %d after %d\n", e.Kv.ModRevision, w.last)
		}
		w.last = e.Kv.ModRevision
		if resp.Header.Revision < e.Kv.ModRevision {
			fmt.Fprintf(out, "the header is of %d\n", resp.Header.Revision)
		}
		fmt.Fprintf(out, "%s %s%s\n", strings.ToLower(e.Type.String()), w.r.keyValue(e.Kv), w.r.prev(e.PrevKv))
	}
}

// print waits until ready or the end of the watch, and prints what has come.
func (w *watch) print(ready func() bool) string {
	late := false
	timer := time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		late = true
		w.news.Broadcast()
	})
	defer timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !ready() && !w.ended && !late {
		w.news.Wait()
	}
	var out strings.Builder
	for _, resp := range w.unprinted {
		w.write(&out, resp)
	}
	switch {
	case w.ended:
		out.WriteString("closed\n")
	case !ready() && late:
		fmt.Fprintf(&out, "nothing more in %v\n", patience)
	}
	w.unprinted, w.events = nil, 0
	return out.String()
}
