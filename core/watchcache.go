package core

import (
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// gridCaches are upstream's options with watch caches that go by a gridClock.
type gridCaches struct{ generic.RESTOptionsGetter }

func (g gridCaches) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	// Upstream has two decorators: one without a cache, and one with.
	if err == nil && reflect.ValueOf(options.Decorator).Pointer() != reflect.ValueOf(generic.UndecoratedStorage).Pointer() {
		options.Decorator = gridCache
	}
	return options, err
}

// gridCache puts a watch cache over the store, as upstream's
// genericregistry.StorageWithCacher does, which says nothing of the clock. It
// fails when the store cannot be reached.
func gridCache(
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
	watchCache, err := cacher.NewCacherFromConfig(cacher.Config{
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
	delegator := cacher.NewCacheDelegator(watchCache, store)
	return delegator, sync.OnceFunc(func() {
		delegator.Stop()
		watchCache.Stop()
		closeStore()
	}), nil
}

const (
	gridStep = 250 * time.Millisecond // the step that wasm/boundary/timers.mjs has
	gridFrom = time.Second            // shorter timers have somebody who waits
)

// gridClock is the real time with long timers that ring together, at multiples
// of gridStep, late by less than that. Each watch cache looks about once a
// second whether a bookmark is due to somebody: with a timer of its own for
// each of some sixty, an idle engine wakes fifty times in a second.
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
