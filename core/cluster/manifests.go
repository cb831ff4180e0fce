package cluster

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/internal/records"
	"github.com/kubetab/kubetab/core/manifests"
)

// Manifests returns what people made in the cluster of b as files of YAML, for kubectl
// apply in any cluster: see package manifests. It fails with ErrBundle for a record that
// cannot be read, and for an object with a name that an API server does not give.
func Manifests(b *bundle.Bundle) ([]manifests.File, error) {
	var objects []*unstructured.Unstructured
	for i, r := range b.State.Records {
		// Notes of the API server to itself, some of which are objects.
		if of, ok := records.Type(r.Value); ok && records.IsInternal(of.Kind) || strings.HasPrefix(r.Key, records.Prefix+"/masterleases/") {
			continue
		}
		object, err := asUnstructured(r.Key, r.Value)
		if err == nil {
			// A file is called after the namespace.
			err = records.CheckNames(object.GetNamespace(), object.GetName())
		}
		if err != nil {
			return nil, fmt.Errorf("%w: record %d, %s: %w", ErrBundle, i+1, r.Key, err)
		}
		objects = append(objects, object)
	}
	return manifests.Files(objects)
}

// asUnstructured reads a record, in the version of its kind that kubectl prefers: some are
// stored in one that is no longer served.
func asUnstructured(key string, record []byte) (*unstructured.Unstructured, error) {
	gvk, object, err := records.Decode(key, record)
	if err != nil {
		return nil, err
	}
	read := &unstructured.Unstructured{}
	if object == nil {
		return read, read.UnmarshalJSON(record)
	}
	if object, gvk, err = preferred(object, gvk); err != nil {
		return nil, err
	}
	if read.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object); err != nil {
		return nil, err
	}
	read.SetGroupVersionKind(gvk)
	return read, nil
}

// preferred converts an object to the first version of its group that has its kind.
func preferred(object runtime.Object, gvk schema.GroupVersionKind) (runtime.Object, schema.GroupVersionKind, error) {
	for _, scheme := range records.Schemes {
		if !scheme.Recognizes(gvk) {
			continue
		}
		for _, version := range scheme.PrioritizedVersionsForGroup(gvk.Group) {
			to := version.WithKind(gvk.Kind)
			if to == gvk {
				return object, gvk, nil
			}
			if !scheme.Recognizes(to) {
				continue
			}
			// Versions are converted by way of the internal one.
			internal, err := scheme.ConvertToVersion(object, schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal})
			if err != nil {
				return nil, gvk, err
			}
			object, err = scheme.ConvertToVersion(internal, version)
			return object, to, err
		}
	}
	return object, gvk, nil
}
