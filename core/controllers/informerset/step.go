package informerset

import (
	"context"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// Step is a leap of the server's store, at which handlers hear nothing until the
// caches of all informers have made it: else a controller would see a ReplicaSet
// without its Pods, and make them once more.
type Step struct {
	views []*Held

	mu    sync.Mutex
	seen  map[schema.GroupKind]int64 // the newest resource version
	news  chan struct{}
	leave []func()
}

// Begin pauses views. What the store does from now on belongs to the step.
func Begin(views []*Held) *Step {
	s := &Step{views: views, seen: map[schema.GroupKind]int64{}, news: make(chan struct{}, 1)}
	for _, view := range views {
		view.Pause()
		view.mu.Lock()
		for kind, informer := range view.given {
			if _, followed := s.seen[kind]; followed {
				continue
			}
			handler := cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { s.saw(kind, obj) },
				UpdateFunc: func(_, obj any) { s.saw(kind, obj) },
				DeleteFunc: func(obj any) { s.saw(kind, obj) },
			}
			// It fails for an informer that has ended, whose cache nobody reads.
			if registration, err := informer.AddEventHandler(handler); err == nil {
				s.mu.Lock()
				s.seen[kind] = 0
				s.mu.Unlock()
				s.leave = append(s.leave, func() { _ = informer.RemoveEventHandler(registration) })
			}
		}
		view.mu.Unlock()
	}
	return s
}

func (s *Step) saw(kind schema.GroupKind, obj any) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return // a tombstone: its informer has listed anew, and is not to be waited for by this
	}
	version, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.seen[kind] = max(s.seen[kind], version)
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// End waits until each informer has seen its kind's resource version among last,
// or until ctx ends, and lets the handlers hear.
func (s *Step) End(ctx context.Context, last map[schema.GroupKind]int64) {
	for !s.made(last) && ctx.Err() == nil {
		select {
		case <-s.news:
		case <-ctx.Done():
		}
	}
	for _, leave := range s.leave {
		leave()
	}
	for _, view := range s.views {
		view.Release()
	}
}

func (s *Step) made(last map[schema.GroupKind]int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, version := range last {
		if seen, followed := s.seen[kind]; followed && seen < version {
			return false
		}
	}
	return true
}
