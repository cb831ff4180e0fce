// Package records reads records of an API server's store without an API server: it tells the type of a record, and
// whether upstream's codecs can read it.
package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane" // puts the types of all built-in groups into legacyscheme
)

// Prefix begins the keys of all objects, as --etcd-prefix of kube-apiserver does.
// What has another key is a note of the API server to itself.
const Prefix = "/registry"

// Protobuf begins what runtime/serializer/protobuf has written.
var Protobuf = []byte{'k', '8', 's', 0}

// internalKinds are what allocators keep in the store.
var internalKinds = map[string]bool{"RangeAllocation": true}

// IsInternal reports whether no API ever shows objects of a kind.
func IsInternal(kind string) bool { return internalKinds[kind] }

// Type reads the type of a record in protobuf or JSON. It is false for what is no
// object.
func Type(record []byte) (metav1.TypeMeta, bool) {
	if wire, ok := bytes.CutPrefix(record, Protobuf); ok {
		var unknown runtime.Unknown
		if unknown.Unmarshal(wire) != nil {
			return metav1.TypeMeta{}, false
		}
		return metav1.TypeMeta{APIVersion: unknown.APIVersion, Kind: unknown.Kind}, unknown.Kind != ""
	}
	var of metav1.TypeMeta
	return of, json.Unmarshal(record, &of) == nil && of.Kind != ""
}

// Kind is Type without the version.
func Kind(record []byte) (schema.GroupKind, bool) {
	of, ok := Type(record)
	return schema.FromAPIVersionAndKind(of.APIVersion, of.Kind).GroupKind(), ok
}

// Schemes know all types that an API server of this build reads from its store,
// other than those of custom resources.
var Schemes = []struct {
	*runtime.Scheme
	serializer.CodecFactory
}{
	{legacyscheme.Scheme, legacyscheme.Codecs},
	{apiextensionsapiserver.Scheme, apiextensionsapiserver.Codecs},
	{aggregatorscheme.Scheme, aggregatorscheme.Codecs},
}

// Unreadable says why an API server of this build cannot read a record: one such
// record would keep it from listing all others of that resource.
func Unreadable(key string, record []byte) error {
	_, _, err := Decode(key, record)
	return err
}

// Decode reads a record. It returns no object for a custom resource, and fails as
// Unreadable says.
func Decode(key string, record []byte) (schema.GroupVersionKind, runtime.Object, error) {
	if !strings.HasPrefix(key, Prefix+"/") {
		return schema.GroupVersionKind{}, nil, errors.New("it is none of an API's")
	}
	of, ok := Type(record)
	if !ok {
		return schema.GroupVersionKind{}, nil, errors.New("it has no type")
	}
	gvk := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	for _, scheme := range Schemes {
		if scheme.Recognizes(gvk) {
			object, _, err := scheme.UniversalDeserializer().Decode(record, nil, nil)
			return gvk, object, err
		}
	}
	for _, scheme := range Schemes {
		if scheme.IsGroupRegistered(gvk.Group) {
			return gvk, nil, fmt.Errorf("this build has no %s of %s", of.Kind, of.APIVersion)
		}
	}
	if bytes.HasPrefix(record, Protobuf) || !json.Valid(record) {
		return gvk, nil, fmt.Errorf("%s of %s is no custom resource", of.Kind, of.APIVersion)
	}
	return gvk, nil, nil
}
