package core

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

func TestLongTimersRingTogether(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 1000 {
		now := start.Add(time.Duration(rand.Int64N(int64(time.Hour))))
		d := time.Duration(rand.Int64N(int64(time.Minute)))
		waits := onGrid(now, d)
		switch {
		case d < gridFrom && waits != d:
			t.Fatalf("%v became %v: somebody waits for a short timer", d, waits)
		case d >= gridFrom && (waits < d || waits >= d+gridStep):
			t.Fatalf("%v became %v: not late by less than %v", d, waits, gridStep)
		case d >= gridFrom && now.Add(waits).UnixNano()%int64(gridStep) != 0:
			t.Fatalf("%v at %v rings at %v: not together with others", d, now, now.Add(waits))
		}
	}
}

// Bookmarks come when upstream promises them: at once after the objects of a
// streaming list, and two seconds before a watch ends.
func TestBookmarksComeInTime(t *testing.T) {
	e := sharedEngine(t)
	client, err := dynamic.NewForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	open := func(t *testing.T, resource schema.GroupVersionResource, o metav1.ListOptions) watch.Interface {
		t.Helper()
		o.AllowWatchBookmarks = true
		events, err := client.Resource(resource).Watch(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(events.Stop)
		return events
	}
	bookmarked := func(events watch.Interface) bool {
		for event := range events.ResultChan() {
			if event.Type == watch.Bookmark {
				return true
			}
		}
		return false
	}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	t.Run("a streaming list", func(t *testing.T) {
		for _, resource := range []schema.GroupVersionResource{
			namespaces,
			{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
			{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
		} {
			if !bookmarked(open(t, resource, metav1.ListOptions{SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, TimeoutSeconds: ptr.To(int64(2))})) {
				t.Errorf("no bookmark after all %s", resource.Resource)
			}
		}
	})
	t.Run("the end of a watch", func(t *testing.T) {
		now, err := client.Resource(namespaces).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		events := open(t, namespaces, metav1.ListOptions{ResourceVersion: now.GetResourceVersion(), TimeoutSeconds: ptr.To(int64(5))})
		newNamespace(t, clientFor(t, e), "bookmarked") // there is none for a version that the watch began with
		if !bookmarked(events) {
			t.Error("no bookmark before the watch ended")
		}
	})
}

func TestWhatHadACacheHasOne(t *testing.T) {
	pointer := func(d generic.StorageDecorator) uintptr { return reflect.ValueOf(d).Pointer() }
	caches := &watchCaches{}
	for name, c := range map[string]struct{ upstream, want generic.StorageDecorator }{
		"with a cache":    {registry.StorageWithCacher(), caches.decorator},
		"without a cache": {generic.UndecoratedStorage, generic.UndecoratedStorage},
	} {
		options, err := gridCaches{generic.RESTOptions{Decorator: c.upstream}, caches}.GetRESTOptions(schema.GroupResource{}, nil)
		if err != nil || pointer(options.Decorator) != pointer(c.want) {
			t.Errorf("%s: %v, %v", name, options.Decorator, err)
		}
	}
	// The decorator sets what upstream's decorator does, and the clock.
	if fields := reflect.TypeFor[cacher.Config]().NumField(); fields != 13 {
		t.Errorf("upstream's cacher.Config has %d fields, and had 13: see what registry.StorageWithCacher does with the new ones", fields)
	}
}

// A cache stops although its reflector cannot hand over what it has, because the goroutine that takes it has ended.
func TestCacheStopsWhoseReflectorWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cached := &cacher.Cacher{}
		private := func(of reflect.Value, name string) reflect.Value {
			field := of.FieldByName(name)
			if !field.IsValid() {
				t.Fatalf("upstream's %v has no field %s any more", of.Type(), name)
			}
			return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
		}
		c := reflect.ValueOf(cached).Elem()
		private(c, "stopCh").Set(reflect.ValueOf(make(chan struct{})))
		ready := private(c, "ready")
		ready.Set(reflect.New(ready.Type().Elem()))
		private(ready.Elem(), "waitCh").Set(reflect.ValueOf(make(chan struct{})))
		private(ready.Elem(), "clock").Set(reflect.ValueOf(clock.RealClock{}))
		incoming := private(c, "incoming")
		incoming.Set(reflect.MakeChan(incoming.Type(), 1))
		reflector := private(c, "stopWg").Addr().Interface().(*sync.WaitGroup)
		handed := 0
		reflector.Go(func() {
			for range 300 {
				incoming.Send(reflect.Zero(incoming.Type().Elem()))
				handed++
			}
		})
		synctest.Wait()
		if handed != 1 {
			t.Fatalf("the reflector has handed over %d events to a channel with one place", handed)
		}
		stopCache(cached)
		if handed != 300 {
			t.Errorf("the cache has stopped before its reflector, which has handed over %d events", handed)
		}
	})
}
