package evaluate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/kubetab/kubetab/tutorials"
)

const (
	// manager is the field manager of what start/ says.
	manager = "lesson"
	// managerAnnotation of a manifest in start/ names another one.
	managerAnnotation = "tutorials.kubetab.dev/manager"
	// establishing is how long a CustomResourceDefinition may take until its objects are served.
	establishing = 30 * time.Second
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// definition is what a CustomResourceDefinition says of its objects.
type definition struct {
	plural     string
	namespaced bool
	versions   []string // served, the stored one first
}

// namespace makes the lesson's namespace.
func (f *feeds) namespace(ctx context.Context, name string) error {
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	_, err := f.dynamic.Resource(namespaces).Create(ctx, ns, metav1.CreateOptions{FieldManager: manager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the namespace %s: %w", name, err)
	}
	return nil
}

// applyAll applies the manifests of files, one after another, and returns when all that they say is in force.
func (f *feeds) applyAll(ctx context.Context, files []tutorials.File) error {
	for _, file := range files {
		if err := f.apply(ctx, file); err != nil {
			return fmt.Errorf("start/%s: %w", file.Name, err)
		}
	}
	for _, binding := range f.bindings {
		if err := f.grant(ctx, binding); err != nil {
			return fmt.Errorf("the rights that %s %s gives: %w", binding.GetKind(), binding.GetName(), err)
		}
	}
	return nil
}

// apply applies the manifests of a file.
func (f *feeds) apply(ctx context.Context, file tutorials.File) error {
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(file.Text)), 4096)
	for {
		var object unstructured.Unstructured
		if err := d.Decode(&object.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(object.Object) == 0 {
			continue
		}
		if err := f.applyOne(ctx, &object); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

func (f *feeds) applyOne(ctx context.Context, object *unstructured.Unstructured) error {
	gvk := object.GroupVersionKind()
	resource, namespaced, err := f.resourceOf(gvk)
	if err != nil {
		return err
	}
	by := manager
	if annotations := object.GetAnnotations(); annotations[managerAnnotation] != "" {
		by = annotations[managerAnnotation]
		delete(annotations, managerAnnotation)
		if len(annotations) == 0 {
			annotations = nil
		}
		object.SetAnnotations(annotations)
	}
	var client dynamic.ResourceInterface = f.dynamic.Resource(resource)
	if namespaced {
		if object.GetNamespace() == "" {
			object.SetNamespace(f.run.begin.Lesson.Namespace)
		}
		client = f.dynamic.Resource(resource).Namespace(object.GetNamespace())
	}
	isCustom := f.custom(gvk.GroupKind()) != nil
	ctx, cancel := context.WithTimeout(ctx, establishing)
	defer cancel()
	for {
		_, err = client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: by, Force: true})
		// A definition is established a moment before its objects are served, and nothing tells of it.
		if !isCustom || !apierrors.IsNotFound(err) || ctx.Err() != nil {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	if err != nil {
		return err
	}
	switch {
	case resource.GroupResource() == crds.GroupResource():
		return f.established(ctx, object.GetName())
	case gvk.Group == rbacv1.GroupName && strings.HasSuffix(gvk.Kind, "RoleBinding"):
		f.bindings = append(f.bindings, object)
	}
	return nil
}

// established waits for a definition whose objects can be written.
func (f *feeds) established(ctx context.Context, name string) error {
	selector := fields.OneTermEqualSelector("metadata.name", name).String()
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return f.dynamic.Resource(crds).List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return f.dynamic.Resource(crds).Watch(ctx, o)
		},
	}
	_, err := watchtools.UntilWithSync(ctx, cache.ToListWatcherWithWatchListSemantics(lw, f.dynamic), &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		crd, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Deleted {
			return false, nil
		}
		kind, d := define(crd)
		if d == nil {
			return false, nil
		}
		f.mu.Lock()
		f.defined[kind] = d
		f.mu.Unlock()
		return true, nil
	})
	return err
}

// define reads a definition that is established; nil for one that is not.
func define(crd *unstructured.Unstructured) (schema.GroupKind, *definition) {
	isEstablished := false
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions") // none, when it is nothing else
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
			isEstablished = true
		}
	}
	if !isEstablished {
		return schema.GroupKind{}, nil
	}
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(crd.Object, path...) // empty, when it is nothing else
		return s
	}
	d := &definition{plural: text("spec", "names", "plural"), namespaced: text("spec", "scope") == "Namespaced"}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions") // as above
	for _, v := range versions {
		v, ok := v.(map[string]any)
		name, _ := v["name"].(string)
		switch {
		case !ok || v["served"] != true:
		case v["storage"] == true:
			d.versions = slices.Insert(d.versions, 0, name)
		default:
			d.versions = append(d.versions, name)
		}
	}
	return schema.GroupKind{Group: text("spec", "group"), Kind: text("spec", "names", "kind")}, d
}

func (f *feeds) custom(kind schema.GroupKind) *definition {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.defined[kind]
}

// resourceOf finds the resource of a kind.
func (f *feeds) resourceOf(gvk schema.GroupVersionKind) (schema.GroupVersionResource, bool, error) {
	if d := f.custom(gvk.GroupKind()); d != nil {
		return gvk.GroupVersion().WithResource(d.plural), d.namespaced, nil
	}
	list, err := f.resources(gvk.GroupVersion())
	if err != nil {
		return schema.GroupVersionResource{}, false, err
	}
	for _, one := range list.APIResources {
		if one.Kind == gvk.Kind && !strings.Contains(one.Name, "/") {
			return gvk.GroupVersion().WithResource(one.Name), one.Namespaced, nil
		}
	}
	return schema.GroupVersionResource{}, false, fmt.Errorf("the API server has no kind %s in %s", gvk.Kind, gvk.GroupVersion())
}

func (f *feeds) resources(gv schema.GroupVersion) (*metav1.APIResourceList, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if list := f.kinds[gv]; list != nil {
		return list, nil
	}
	list, err := f.discovery.ServerResourcesForGroupVersion(gv.String())
	if err == nil {
		f.kinds[gv] = list
	}
	return list, err
}
