package evaluate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetab/kubetab/tutorials"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// objects are those that a name in checks stands for. They belong to the goroutine of loop.
type objects struct {
	byKey  map[string]map[string]any
	sorted []any // nil after a change
	// revision is the one of the newest change that has arrived. All that came before it has arrived, too.
	revision string
}

// put takes in a change of an object.
func (o *objects) put(object *unstructured.Unstructured, gone bool) {
	o.sorted = nil
	key := object.GetNamespace() + "/" + object.GetName()
	if gone {
		delete(o.byKey, key)
	} else {
		o.byKey[key] = object.Object
	}
	if !o.has(object.GetResourceVersion()) {
		o.revision = object.GetResourceVersion()
	}
}

// has reports whether what happened up to a revision has arrived for sure.
func (o *objects) has(revision string) bool {
	if o.revision == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(o.revision, revision)
	return err != nil || order >= 0
}

func (o *objects) list() []any {
	if o.sorted == nil {
		o.sorted = make([]any, 0, len(o.byKey))
		for _, key := range slices.Sorted(maps.Keys(o.byKey)) {
			o.sorted = append(o.sorted, o.byKey[key])
		}
	}
	return o.sorted
}

// feeds bring the objects that checks look at.
type feeds struct {
	run       *run
	config    *rest.Config
	dynamic   dynamic.Interface
	discovery *discovery.DiscoveryClient
	running   sync.WaitGroup
	bindings  []*unstructured.Unstructured // those of start/

	mu      sync.Mutex
	kinds   map[schema.GroupVersion]*metav1.APIResourceList
	defined map[schema.GroupKind]*definition // by the definitions in start/
	customs map[string]context.CancelFunc    // the informer of a custom resource, by variable
	version map[string]string                // and the version it watches
	lists   map[string]lister                // what lists the objects of a variable
}

type lister func(context.Context) (*unstructured.UnstructuredList, error)

func newFeeds(r *run) (*feeds, error) {
	config := rest.CopyConfig(r.e.config.Client)
	config.UserAgent = manager
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	disco.UseLegacyDiscovery = true // a few small documents instead of one of everything
	return &feeds{
		run: r, config: config, dynamic: client, discovery: disco, kinds: map[schema.GroupVersion]*metav1.APIResourceList{},
		defined: map[schema.GroupKind]*definition{}, customs: map[string]context.CancelFunc{}, version: map[string]string{}, lists: map[string]lister{},
	}, nil
}

// wait returns when nothing runs any more. The run has been cancelled.
func (f *feeds) wait() { f.running.Wait() }

// isBuiltIn reports whether a group can only be the server's own.
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// watch begins to watch what the checks look at, and returns when all of it that is there has arrived.
func (f *feeds) watch(ctx context.Context) error {
	own := f.run.begin.Lesson.Namespace
	type wanted struct {
		name string
		of   tutorials.Watched
	}
	all := []wanted{{tutorials.AnswersVariable, tutorials.Watched{Resource: "configmaps"}}}
	for name, of := range f.run.begin.Lesson.Objects {
		all = append(all, wanted{name, of})
	}
	slices.SortFunc(all, func(a, b wanted) int { return strings.Compare(a.name, b.name) })
	// The loop is not at work on objects before the first of them arrives.
	for _, w := range all {
		f.run.queue.put(0, func() { f.run.objects[w.name] = &objects{byKey: map[string]map[string]any{}} })
	}
	var groups *metav1.APIGroupList
	var synced []cache.DoneChecker
	customs := map[string]tutorials.Watched{}
	for _, w := range all {
		gr := schema.ParseGroupResource(w.of.Resource)
		if !isBuiltIn(gr.Group) {
			customs[w.name] = w.of
			continue
		}
		if groups == nil {
			var err error
			if groups, err = f.discovery.ServerGroups(); err != nil {
				return fmt.Errorf("the API groups: %w", err)
			}
		}
		resource, namespaced, found, err := f.find(groups, gr)
		if err != nil {
			return err
		}
		if !found {
			if gr.Group == "" {
				return fmt.Errorf("objects: the API server has no resource %s", w.of.Resource)
			}
			continue // turned off
		}
		f.mu.Lock()
		done, err := f.inform(f.run.ctx, w.name, resource, namespaceOf(w.of, own, namespaced))
		f.mu.Unlock()
		if err != nil {
			return err
		}
		synced = append(synced, done)
	}
	of := func() []cache.DoneChecker { return nil }
	if len(customs) > 0 {
		definitions, objects, err := f.informOfDefinitions(customs)
		if err != nil {
			return err
		}
		of, synced = objects, append(synced, definitions)
	}
	// The handlers have been told of all that was there; then of the objects of the definitions among it.
	if !cache.WaitFor(ctx, "", synced...) || !cache.WaitFor(ctx, "", of()...) {
		return context.Cause(ctx)
	}
	return nil
}

func namespaceOf(w tutorials.Watched, own string, namespaced bool) string {
	switch {
	case !namespaced || w.Namespace == "*":
		return metav1.NamespaceAll
	case w.Namespace != "":
		return w.Namespace
	}
	return own
}

// find looks for a resource of the server's own, in the preferred version of its group first.
func (f *feeds) find(groups *metav1.APIGroupList, gr schema.GroupResource) (resource schema.GroupVersionResource, namespaced, found bool, err error) {
	for _, group := range groups.Groups {
		if group.Name != gr.Group {
			continue
		}
		versions := slices.Insert(slices.Clone(group.Versions), 0, group.PreferredVersion)
		for _, v := range versions {
			gv, err := schema.ParseGroupVersion(v.GroupVersion)
			if err != nil {
				return resource, false, false, err
			}
			list, err := f.resources(gv)
			if err != nil {
				return resource, false, false, fmt.Errorf("the resources of %s: %w", gv, err)
			}
			for _, one := range list.APIResources {
				if one.Name == gr.Resource {
					return gv.WithResource(one.Name), one.Namespaced, true, nil
				}
			}
		}
	}
	return resource, false, false, nil
}

// inform begins to watch a resource for a variable, until ctx ends. The caller holds mu.
func (f *feeds) inform(ctx context.Context, name string, resource schema.GroupVersionResource, namespace string) (synced cache.DoneChecker, err error) {
	var tweak dynamicinformer.TweakListOptionsFunc
	if name == tutorials.AnswersVariable {
		tweak = func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + tutorials.AnswersName }
	}
	f.lists[name] = func(ctx context.Context) (*unstructured.UnstructuredList, error) {
		var o metav1.ListOptions
		if tweak != nil {
			tweak(&o)
		}
		return f.dynamic.Resource(resource).Namespace(namespace).List(ctx, o)
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(f.dynamic, resource, namespace, 0, cache.Indexers{}, tweak).Informer()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { f.put(ctx, name, o, false) },
		UpdateFunc: func(_, o any) { f.put(ctx, name, o, false) },
		DeleteFunc: func(o any) { f.put(ctx, name, o, true) },
	})
	if err != nil {
		return nil, err
	}
	f.running.Go(func() { informer.RunWithContext(ctx) })
	return registration.HasSyncedChecker(), nil
}

// put queues a change of an object.
func (f *feeds) put(ctx context.Context, name string, o any, gone bool) {
	if missed, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = missed.Obj
	}
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	f.run.queue.put(0, func() {
		if ctx.Err() != nil {
			return // of an informer that another one took the place of
		}
		f.run.objects[name].put(object, gone)
		f.run.look(nil, name)
	})
}

// list returns the objects of a variable as they are now, whatever the watch has brought; nil for those of a kind that is
// not defined.
func (f *feeds) list(ctx context.Context, name string) (*unstructured.UnstructuredList, error) {
	f.mu.Lock()
	list := f.lists[name]
	f.mu.Unlock()
	if list == nil {
		return nil, nil
	}
	return list(ctx)
}

// informOfDefinitions watches the definitions of custom resources, and their objects while they are defined. Once
// definitions is done, objects says what is to be waited for of those that were there.
func (f *feeds) informOfDefinitions(customs map[string]tutorials.Watched) (definitions cache.DoneChecker, objects func() []cache.DoneChecker, err error) {
	informer := dynamicinformer.NewFilteredDynamicInformer(f.dynamic, crds, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	var mu sync.Mutex
	var first []cache.DoneChecker
	change := func(o any, gone bool) {
		if missed, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = missed.Obj
		}
		crd, ok := o.(*unstructured.Unstructured)
		if !ok {
			return
		}
		_, d := define(crd)
		if gone {
			d = nil
		}
		for name, of := range customs {
			if of.Resource != crd.GetName() {
				continue
			}
			if done := f.redefine(name, of, d); done != nil {
				mu.Lock()
				first = append(first, done)
				mu.Unlock()
			}
		}
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { change(o, false) },
		UpdateFunc: func(_, o any) { change(o, false) },
		DeleteFunc: func(o any) { change(o, true) },
	})
	if err != nil {
		return nil, nil, err
	}
	f.running.Go(func() { informer.RunWithContext(f.run.ctx) })
	return registration.HasSyncedChecker(), func() []cache.DoneChecker {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(first)
	}, nil
}

// redefine begins, changes or ends the watch of a custom resource's objects. It returns what says that they have arrived,
// if it has begun one.
func (f *feeds) redefine(name string, of tutorials.Watched, d *definition) (synced cache.DoneChecker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d != nil && len(d.versions) > 0 && slices.Contains(d.versions, f.version[name]) {
		return nil
	}
	if end := f.customs[name]; end != nil {
		end()
		delete(f.customs, name)
		delete(f.version, name)
		delete(f.lists, name)
		f.run.queue.put(0, func() {
			f.run.objects[name] = &objects{byKey: map[string]map[string]any{}}
			for _, c := range f.run.checks {
				delete(c.listed, name)
			}
			f.run.look(nil, name)
		})
	}
	if d == nil || len(d.versions) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(f.run.ctx)
	gr := schema.ParseGroupResource(of.Resource)
	synced, err := f.inform(ctx, name, gr.WithVersion(d.versions[0]), namespaceOf(of, f.run.begin.Lesson.Namespace, d.namespaced))
	if err != nil { // the informer is new and has not been stopped
		cancel()
		f.run.e.config.Log("lesson %s: watch %s: %v", f.run.begin.Lesson.ID, of.Resource, err)
		return nil
	}
	f.customs[name], f.version[name] = cancel, d.versions[0]
	return synced
}
