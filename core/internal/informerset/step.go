package informerset

import (
	"context"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Step is a leap of the server's store, at which handlers hear nothing until the
// caches of all informers have made it: else a controller would see a ReplicaSet
// without its Pods, and make them once more.
type Step struct {
	views []*Held

	mu     sync.Mutex
	seen   map[schema.GroupKind]map[types.NamespacedName]int64 // the last resource version since Begin
	newest map[schema.GroupKind]int64                          // of all that have been seen
	news   chan struct{}
	leave  []func()
}

// News is what informers see of a leap, by kind and resource version. Kinds that no
// informer follows are not waited for.
type News struct {
	// Last comes after all others of its kind.
	Last map[schema.GroupKind]int64
	// Each is the resource version of each object. They come in any order. One after Since
	// takes the place of what came before. An object that is in no namespace is found by
	// its name, whatever its namespace is here.
	Each  map[schema.GroupKind]map[types.NamespacedName]int64
	Since int64
}

// Begin pauses views. What the store does from now on belongs to the step.
func Begin(views []*Held) *Step {
	s := &Step{views: views, seen: map[schema.GroupKind]map[types.NamespacedName]int64{}, newest: map[schema.GroupKind]int64{}, news: make(chan struct{}, 1)}
	for _, view := range views {
		view.Pause()
		view.mu.Lock()
		for kind, informer := range view.given {
			if _, followed := s.seen[kind]; followed {
				continue
			}
			handler := cache.ResourceEventHandlerDetailedFuncs{
				AddFunc: func(obj any, isInInitialList bool) {
					if !isInInitialList { // the others were there before the step
						s.saw(kind, obj)
					}
				},
				UpdateFunc: func(_, obj any) { s.saw(kind, obj) },
				DeleteFunc: func(obj any) { s.saw(kind, obj) },
			}
			// It fails for an informer that has ended. No component reads that informer's
			// cache.
			if registration, err := informer.AddEventHandler(handler); err == nil {
				s.mu.Lock()
				s.seen[kind] = map[types.NamespacedName]int64{}
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
	if s.seen[kind] != nil {
		s.seen[kind][types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}] = version
		s.newest[kind] = max(s.newest[kind], version)
	}
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// End waits until the informers have seen news, which is its own from then on, or
// until ctx ends, and lets the handlers hear.
func (s *Step) End(ctx context.Context, news News) {
	for !s.made(news) && ctx.Err() == nil {
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

// made takes out of news.Each what has been seen.
func (s *Step) made(news News) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, last := range news.Last {
		if _, followed := s.seen[kind]; followed && s.newest[kind] < last {
			return false
		}
	}
	for kind, each := range news.Each {
		seen, followed := s.seen[kind]
		for name, version := range each {
			is, some := seen[name]
			if !some {
				is = seen[types.NamespacedName{Name: name.Name}]
			}
			if followed && is != version && is <= news.Since {
				return false
			}
			delete(each, name)
		}
	}
	return true
}
