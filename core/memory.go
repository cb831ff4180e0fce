package core

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/klog/v2"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/internal/status"
)

// reasonNoMemory is the reason of the Status with code 507. Upstream has none: a
// real API server's objects are on etcd's disk, and etcd refuses at its quota.
const reasonNoMemory metav1.StatusReason = "InsufficientStorage"

const (
	// smallChange is the largest body, in bytes, of a change that is let through when
	// the memory is full: whoever wants to make room removes finalizers and scales
	// down, too.
	smallChange = 4 << 10
	// reliefPause is between two attempts to make room.
	reliefPause = 10 * time.Second
)

// memoryGuard refuses what would add to the store when the objects on the heap take
// more than limit bytes, or would take a fifth more than that with all of the store
// twice again: who lists or deletes all that there is has it as bytes and as objects.
// Whatever reads or deletes goes through, and so do small changes. The memory of a
// process that runs out takes the store with it.
type memoryGuard struct {
	limit  uint64
	live   func() uint64                   // bytes of the objects that the last collection has found
	stored func() uint64                   // bytes of the store, history included
	relief func(ctx context.Context) error // drops the store's history, and collects garbage
	paths  request.RequestInfoFactory
	// busy is set while relief runs, and for reliefPause after it.
	busy atomic.Bool
	done context.Context // ends with the engine
}

// memoryOf is a store in this process's memory, or one elsewhere: nil.
type memoryOf struct{ store *etcd.DB }

// bytes returns how much of this memory the store takes: nothing if it is elsewhere, or closed.
func (m memoryOf) bytes() uint64 {
	if m.store == nil {
		return 0
	}
	_, inUse, _ := m.store.Size() // of a closed one, which is empty
	return uint64(inUse)
}

// newMemoryGuard returns the guard of an engine that lives as long as ctx, with a
// store of so many bytes. compact drops the store's history.
func newMemoryGuard(ctx context.Context, limit uint64, stored func() uint64, compact func(context.Context) error) *memoryGuard {
	return &memoryGuard{
		limit: limit, live: liveBytes, stored: stored, done: ctx,
		relief: func(ctx context.Context) error {
			err := compact(ctx)
			runtime.GC()
			return err
		},
		paths: request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
	}
}

// liveBytes is what the last collection has found alive on the heap.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// wrap returns next with the guard before it. isInside says that the requests are
// those of the engine's own controllers and kubelets: what they change follows from
// what others did, and makes room where something is deleted.
func (g *memoryGuard) wrap(next http.Handler, isInside bool) http.Handler {
	if g.limit == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch:
			if full := g.full(); full != "" {
				g.relieve()
				if g.adds(r, isInside) {
					status.Refuse(w, http.StatusInsufficientStorage, reasonNoMemory, fmt.Sprintf("No space left: %s. Nothing was changed. Delete objects, and try again some seconds later. All of them can be saved before, as a file: GET /kubetab/bundle. Where objects are kept, a restart frees what deleted ones still take", full))
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// adds reports whether a request may make the store larger by more than a little.
func (g *memoryGuard) adds(r *http.Request, isInside bool) bool {
	info, err := g.paths.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return false
	}
	if r.Method != http.MethodPost {
		isApply := strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch") // which creates, too
		return !isInside && (isApply || r.ContentLength < 0 || r.ContentLength > smallChange)
	}
	switch info.APIGroup {
	case "authentication.k8s.io", "authorization.k8s.io": // reviews, which are not stored
		return false
	case "coordination.k8s.io": // by leases one knows who lives
		return !isInside
	}
	return info.Subresource == "" // others are evictions, bindings, tokens
}

// full returns what takes too much, in words, or "".
func (g *memoryGuard) full() string {
	live, stored := g.live(), g.stored()
	most := g.limit + g.limit/5
	others := max(live, stored) - stored // than the store's, some of which may be newer than the last collection
	switch {
	case live > g.limit:
		return fmt.Sprintf("the API server's objects take %d MiB of memory, of %d MiB that they may take", live>>20, g.limit>>20)
	case others+3*stored > most:
		return fmt.Sprintf("the store takes %d MiB of memory, and beside what else is there it may take %d MiB", stored>>20, (most-others)/3>>20)
	}
	return ""
}

// relieve begins to make room, unless that has been tried just now. Deleted objects
// stay in the store's history, and in memory until they are collected, which an
// engine at rest does seldom.
func (g *memoryGuard) relieve() {
	if !g.busy.CompareAndSwap(false, true) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(g.done, time.Minute)
		defer cancel()
		if err := g.relief(ctx); err != nil && g.done.Err() == nil {
			klog.FromContext(ctx).Error(err, "The store's history could not be compacted")
		}
		time.AfterFunc(reliefPause, func() { g.busy.Store(false) })
	}()
}
