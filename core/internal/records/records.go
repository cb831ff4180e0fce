// Package records reads records of an API server's store without an API server: it tells the type of a record, and
// whether upstream's codecs can read it.
package records

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/json"
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
func Type(record []byte) (metav1.TypeMeta, bool) { return new(Reader).Type(record) }

// Reader reads many records one after the other with less memory than the functions
// of the same names. The zero value is ready; one goroutine uses it at a time.
type Reader struct {
	// envelope is that of the record in protobuf which was read last. Its bytes are
	// written over by the next one.
	envelope runtime.Unknown
	places   map[schema.GroupVersionKind][]string // of those of Schemes that were seen
}

// Type is the function Type.
func (r *Reader) Type(record []byte) (metav1.TypeMeta, bool) {
	if wire, ok := bytes.CutPrefix(record, Protobuf); ok {
		r.envelope = runtime.Unknown{Raw: r.envelope.Raw[:0]}
		if r.envelope.Unmarshal(wire) != nil {
			return metav1.TypeMeta{}, false
		}
		return metav1.TypeMeta{APIVersion: r.envelope.APIVersion, Kind: r.envelope.Kind}, r.envelope.Kind != ""
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

// bodies read what is in an envelope in protobuf, for each of Schemes.
var bodies = func() (made []*protobuf.RawSerializer) {
	for _, scheme := range Schemes {
		made = append(made, protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme))
	}
	return made
}()

// Unreadable says why an API server of this build cannot read a record: one such
// record would keep it from listing all others of that resource.
func Unreadable(key string, record []byte) error {
	_, _, err := Decode(key, record)
	return err
}

// Decode reads a record. It returns no object for a custom resource, and fails as
// Unreadable says.
func Decode(key string, record []byte) (schema.GroupVersionKind, runtime.Object, error) {
	return new(Reader).decode(key, record)
}

// decode is Decode. The object is good until the next record is read.
func (r *Reader) decode(key string, record []byte) (schema.GroupVersionKind, runtime.Object, error) {
	if !strings.HasPrefix(key, Prefix+"/") {
		return schema.GroupVersionKind{}, nil, errors.New("it is none of an API's")
	}
	of, ok := r.Type(record)
	if !ok {
		return schema.GroupVersionKind{}, nil, errors.New("it has no type")
	}
	gvk := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	for i, scheme := range Schemes {
		if !scheme.Recognizes(gvk) {
			continue
		}
		if !bytes.HasPrefix(record, Protobuf) || len(r.envelope.Raw) == 0 {
			object, _, err := scheme.UniversalDeserializer().Decode(record, nil, nil)
			return gvk, object, err
		}
		// The deserializer would read the envelope again, into memory of its own.
		into, err := scheme.New(gvk)
		if err != nil {
			return gvk, nil, err
		}
		object, _, err := bodies[i].Decode(r.envelope.Raw, &gvk, into)
		return gvk, object, err
	}
	for _, scheme := range Schemes {
		if scheme.IsGroupRegistered(gvk.Group) {
			return gvk, nil, fmt.Errorf("this build has no %s of %s", of.Kind, of.APIVersion)
		}
	}
	if bytes.HasPrefix(record, Protobuf) {
		return gvk, nil, fmt.Errorf("%s of %s is no custom resource", of.Kind, of.APIVersion)
	}
	_, _, err := unstructured.UnstructuredJSONScheme.Decode(record, nil, &unstructured.Unstructured{})
	return gvk, nil, err
}
