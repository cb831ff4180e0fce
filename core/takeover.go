package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kubetab/kubetab/core/etcd"
)

// TakeOver is Restore for entries of an engine that went on from another original,
// as a build of another version has it: base is what Base returned there. The
// cluster keeps its identity, and its objects their UIDs and times; they have new
// resource versions, and reach all who watch as ordinary events. What this build's
// own cluster is born with stays where the other had nothing of that name, and
// roles and the like that were never changed there are this build's.
//
// It returns what is left out because this build cannot read it, and fails as
// Restore does.
func (e *Engine) TakeOver(ctx context.Context, kept []byte, base, entries []etcd.Entry) ([]etcd.LeftOut, error) {
	id, err := unmarshalIdentity(kept)
	if err != nil {
		return nil, fmt.Errorf("restore the identity: %w", err)
	}
	var left []etcd.LeftOut
	err = e.leap(func(h *etcd.Hold) (err error) {
		left, err = h.Adopt(base, entries, adoption)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("restore the objects: %w", err)
	}
	if err := e.identify(ctx, id); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return left, nil
}

// adoption is how an engine takes over what another build's has stored.
var adoption = etcd.Adoption{Renewed: isRenewed, Check: unreadable}

// renewed are the resources that upstream brings up to date when it starts: roles,
// priority classes, flow control and the APIs themselves.
var renewed = []string{
	"clusterroles/", "clusterrolebindings/", "roles/", "rolebindings/", "priorityclasses/", "flowschemas/", "prioritylevelconfigurations/",
	"apiregistration.k8s.io/apiservices/",
}

func isRenewed(key string) bool {
	rest, ok := strings.CutPrefix(key, storagePrefix+"/")
	if !ok {
		return true // notes of the API server to itself
	}
	for _, resource := range renewed {
		if strings.HasPrefix(rest, resource) {
			return true
		}
	}
	return false
}

// schemes know all types that an API server of this build reads from its store,
// other than those of custom resources.
var schemes = []struct {
	*runtime.Scheme
	serializer.CodecFactory
}{
	{legacyscheme.Scheme, legacyscheme.Codecs},
	{apiextensionsapiserver.Scheme, apiextensionsapiserver.Codecs},
	{aggregatorscheme.Scheme, aggregatorscheme.Codecs},
}

// unreadable says why an API server of this build cannot read a record: one such
// record would keep it from listing all others of that resource.
func unreadable(key string, record []byte) error {
	_, _, err := decoded(key, record)
	return err
}

// decoded reads a record. It returns no object for a custom resource, and fails as
// unreadable says.
func decoded(key string, record []byte) (schema.GroupVersionKind, runtime.Object, error) {
	if !strings.HasPrefix(key, storagePrefix+"/") {
		return schema.GroupVersionKind{}, nil, errors.New("it is none of an API's")
	}
	of, ok := storedType(record)
	if !ok {
		return schema.GroupVersionKind{}, nil, errors.New("it has no type")
	}
	gvk := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	for _, scheme := range schemes {
		if scheme.Recognizes(gvk) {
			object, _, err := scheme.UniversalDeserializer().Decode(record, nil, nil)
			return gvk, object, err
		}
	}
	for _, scheme := range schemes {
		if scheme.IsGroupRegistered(gvk.Group) {
			return gvk, nil, fmt.Errorf("this build has no %s of %s", of.Kind, of.APIVersion)
		}
	}
	if bytes.HasPrefix(record, protobufPrefix) || !json.Valid(record) {
		return gvk, nil, fmt.Errorf("%s of %s is no custom resource", of.Kind, of.APIVersion)
	}
	return gvk, nil, nil
}
