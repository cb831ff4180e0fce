package cluster

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/component-base/version"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
)

// FuzzCheck: whatever a record holds, a bundle of this version with it is refused, or opened and summarized as any other;
// and a bundle of another version is opened without the record in the first case, and with it in the second. A custom
// resource that is opened is one that upstream's storage of custom resources reads.
func FuzzCheck(f *testing.F) {
	for _, r := range large(f, 1, 1).State.Records {
		f.Add(r.Key, r.Value)
	}
	f.Add("/registry/sea.example/boats/default/ada", []byte(`{"apiVersion":"sea.example/v1","kind":"Boat","metadata":{"name":"ada","namespace":"default"}}`))
	f.Add("/registry/apiextensions.k8s.io/customresourcedefinitions/boats.sea.example", []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"boats.sea.example"}}`))
	f.Fuzz(func(t *testing.T, key string, value []byte) { opensAlike(t, key, value) })
}

func opensAlike(t *testing.T, key string, value []byte) {
	t.Helper()
	b := &bundle.Bundle{Kubernetes: version.Get().GitVersion}
	b.State.Revision = 2
	b.State.Records = []etcd.RecordState{{Key: key, Value: value, CreateRevision: 2, ModRevision: 2, Version: 1}}
	here, err := Check(b)
	if err != nil {
		if !errors.Is(err, ErrBundle) || len(here.Entries) > 0 {
			t.Fatalf("%v, with %d entries", err, len(here.Entries))
		}
	} else {
		Summarize(b, here)
		if _, object, _ := records.Decode(key, value); object == nil {
			if err := new(unstructured.Unstructured).UnmarshalJSON(value); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Manifests(b); err != nil && !errors.Is(err, ErrBundle) {
			t.Fatal(err)
		}
	}
	b.Kubernetes = "v1.2.3"
	elsewhere, otherErr := Check(b)
	if otherErr != nil {
		t.Fatal(otherErr)
	}
	if isLeftOut := len(elsewhere.LeftOut) == 1; isLeftOut != (err != nil) {
		t.Fatalf("here %v, and elsewhere without %v", err, elsewhere.LeftOut)
	}
	Summarize(b, elsewhere)
}
