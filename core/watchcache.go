package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe" // for go:linkname, too

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/core/internal/records"
)

// gridCaches are upstream's options with watch caches that go by a gridClock and that
// watchCaches knows.
type gridCaches struct {
	generic.RESTOptionsGetter
	caches *watchCaches
}

func (g gridCaches) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	// Upstream has two decorators: one without a cache, and one with.
	if err == nil && reflect.ValueOf(options.Decorator).Pointer() != reflect.ValueOf(generic.UndecoratedStorage).Pointer() {
		options.Decorator = g.caches.decorator
	}
	return options, err
}

// decorator puts a watch cache over the store, as upstream's
// genericregistry.StorageWithCacher does, which says nothing of the clock. It
// fails when the store cannot be reached.
func (c *watchCaches) decorator(
	config *storagebackend.ConfigForResource,
	prefix string,
	keyFunc func(runtime.Object) (string, error),
	newFunc, newListFunc func() runtime.Object,
	attrs storage.AttrFunc,
	triggers storage.IndexerFuncs,
	indexers *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	store, closeStore, err := generic.NewRawStorage(config, newFunc, newListFunc, prefix)
	if err != nil {
		return store, closeStore, err
	}
	cached, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             store,
		Versioner:           storage.APIObjectVersioner{},
		GroupResource:       config.GroupResource,
		EventsHistoryWindow: config.EventsHistoryWindow,
		ResourcePrefix:      prefix,
		KeyFunc:             keyFunc,
		NewFunc:             newFunc,
		NewListFunc:         newListFunc,
		GetAttrsFunc:        attrs,
		IndexerFuncs:        triggers,
		Indexers:            indexers,
		Codec:               config.Codec,
		Clock:               gridClock{},
	})
	if err != nil {
		return nil, func() {}, err
	}
	delegator := cacher.NewCacheDelegator(cached, store)
	served := watchedFrom{delegator, store, c.missed}
	leave := c.add(&watchCache{cached, store, prefix, newListFunc})
	return served, sync.OnceFunc(func() {
		leave()
		delegator.Stop()
		stopCache(cached)
		closeStore()
	}), nil
}

// stopLimit is how long a cache has to stop by itself.
const stopLimit = time.Second

// stopCache stops a cache. Upstream's Stop ends the goroutine that takes events from the
// reflector, and waits for the reflector: one that is about to hand over an event, to a
// channel that is full, would wait for ever. What it has is taken then.
func stopCache(cached *cacher.Cacher) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		cached.Stop()
	}()
	for wait := stopLimit; ; wait = 10 * time.Millisecond {
		select {
		case <-stopped:
			return
		case <-time.After(wait):
		}
		field := reflect.ValueOf(cached).Elem().FieldByName("incoming")
		incoming := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
		for taken := true; taken; {
			_, taken = incoming.TryRecv()
		}
	}
}

// watchedFrom lets the store answer watches from where it knows that objects have come and
// gone: a cache that saw entries replayed does not know. The store says that the resource
// version is too old, and whoever watches lists anew.
type watchedFrom struct {
	storage.Interface
	store  storage.Interface
	missed func() (after, to int64) // as etcd.DB.Missed; nil for a store that misses nothing
}

func (w watchedFrom) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	if w.missed != nil && opts.SendInitialEvents == nil {
		after, to := w.missed()
		// A resource version that cannot be parsed is the cache's to refuse.
		if rev, err := strconv.ParseInt(opts.ResourceVersion, 10, 64); err == nil && after < rev && rev < to {
			return w.store.Watch(ctx, key, opts)
		}
	}
	return w.Interface.Watch(ctx, key, opts)
}

// watchCaches are all watch caches of an engine.
type watchCaches struct {
	missed func() (after, to int64) // see watchedFrom

	mu  sync.Mutex
	all map[*watchCache]struct{}
}

// watchCache is a cache with what it is filled from.
type watchCache struct {
	*cacher.Cacher
	store   storage.Interface
	prefix  string // of the resource, without records.Prefix
	newList func() runtime.Object
}

func (c *watchCaches) add(w *watchCache) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[*watchCache]struct{}{}
	}
	c.all[w] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, w)
	}
}

func (c *watchCaches) list() []*watchCache {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.all))
}

// Settle waits until each cache has the last change of each key below its prefix. newest calls f
// with each key and the revision of its last change. Nothing may be written meanwhile. It fails
// with ctx's error.
func (c *watchCaches) Settle(ctx context.Context, newest func(f func(key string, rev int64))) error {
	all := c.list()
	last := make([]uint64, len(all))
	newest(func(key string, rev int64) {
		for i, w := range all {
			if strings.HasPrefix(key, records.Prefix+w.prefix+"/") {
				last[i] = max(last[i], uint64(rev))
			}
		}
	})
	for i, w := range all {
		for {
			if w.Ready() {
				at, err := w.LastSyncResourceVersion()
				if err != nil {
					return err
				}
				if at >= last[i] {
					break
				}
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(readyPoll):
			}
		}
	}
	return nil
}

// Relist fills all caches anew from the store, of which they have not heard what has
// changed, and ends the watches that they serve: their clients are told that the
// resource version is too old, as after a compaction of etcd, and list again. Until it
// returns nobody may write.
//
// It fails when a list cannot be read; all caches are as they were then.
func (c *watchCaches) Relist(ctx context.Context) error {
	type filling struct {
		cache   *watchCache
		objects []any
		version string
	}
	var fillings []filling
	for _, w := range c.list() {
		list := w.newList()
		if err := w.store.GetList(ctx, w.prefix, storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list); err != nil {
			return fmt.Errorf("list %s: %w", w.prefix, err)
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return fmt.Errorf("list %s: %w", w.prefix, err)
		}
		accessor, err := meta.ListAccessor(list)
		if err != nil {
			return fmt.Errorf("list %s: %w", w.prefix, err)
		}
		objects := make([]any, len(items))
		for i, item := range items {
			objects[i] = item
		}
		fillings = append(fillings, filling{w, objects, accessor.GetResourceVersion()})
	}
	var errs []error
	for _, f := range fillings {
		errs = append(errs, cacheOf(f.cache.Cacher).Replace(f.objects, f.version))
		terminateAllWatchers(f.cache.Cacher)
	}
	return errors.Join(errs...)
}

// cacheOf returns what upstream's reflector of c fills.
func cacheOf(c *cacher.Cacher) interface{ Replace([]any, string) error } {
	field := reflect.ValueOf(c).Elem().FieldByName("watchCache")
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(interface{ Replace([]any, string) error })
}

// terminateAllWatchers is what upstream calls before it lists anew.
//
//go:linkname terminateAllWatchers k8s.io/apiserver/pkg/storage/cacher.(*Cacher).terminateAllWatchers
func terminateAllWatchers(*cacher.Cacher)

const (
	gridStep = 250 * time.Millisecond // a host that puts timers on a grid of its own should have the same step
	gridFrom = time.Second            // a request may wait for a shorter timer
)

// gridClock is the real time with long timers that ring together, at multiples of gridStep, late
// by less than that. Each watch cache looks about once a second whether a bookmark is due to a
// watcher: with a timer of its own for each of some sixty, an idle engine wakes fifty times in a
// second.
type gridClock struct{ clock.RealClock }

func (gridClock) NewTimer(d time.Duration) clock.Timer {
	return gridTimer{time.NewTimer(onGrid(time.Now(), d))}
}

type gridTimer struct{ timer *time.Timer }

func (t gridTimer) C() <-chan time.Time        { return t.timer.C }
func (t gridTimer) Stop() bool                 { return t.timer.Stop() }
func (t gridTimer) Reset(d time.Duration) bool { return t.timer.Reset(onGrid(time.Now(), d)) }

// onGrid returns how long to wait at now for what is due in d.
func onGrid(now time.Time, d time.Duration) time.Duration {
	if d < gridFrom {
		return d
	}
	if over := time.Duration(now.Add(d).UnixNano()) % gridStep; over > 0 {
		d += gridStep - over
	}
	return d
}
