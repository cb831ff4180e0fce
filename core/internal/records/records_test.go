package records

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// TestDecodesAsUpstream: a Reader makes of each record the object that upstream's deserializer makes, whatever it has
// read before.
func TestDecodesAsUpstream(t *testing.T) {
	var found [][]byte
	encode := func(object runtime.Object) {
		var wire bytes.Buffer
		if err := protobufserializer.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme).Encode(object, &wire); err != nil {
			t.Fatal(err)
		}
		found = append(found, wire.Bytes())
	}
	of := metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	encode(&corev1.ConfigMap{TypeMeta: of, ObjectMeta: metav1.ObjectMeta{Name: "large"}, BinaryData: map[string][]byte{"a": bytes.Repeat([]byte("large"), 1000)}})
	encode(&corev1.ConfigMap{TypeMeta: of, ObjectMeta: metav1.ObjectMeta{Name: "b"}, BinaryData: map[string][]byte{"b": []byte("small")}})
	encode(&corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string][]byte{"c": []byte("key")}})
	found = append(found, []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"d"},"data":{"in":"JSON"}}`))
	empty, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	found = append(found, append(bytes.Clone(Protobuf), empty...))
	var reader Reader
	for i, record := range found {
		want, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(record, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(record)
		_, got, err := reader.decode("/registry/any", record)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("record %d: %v, %v, want %v", i, got, err, want)
		}
		if !bytes.Equal(record, before) {
			t.Errorf("record %d has been written over", i)
		}
	}
}

// TestUnreadable: what one record would keep an API server from listing is found.
func TestUnreadable(t *testing.T) {
	var wire bytes.Buffer
	web := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}
	if err := protobufserializer.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme).Encode(web, &wire); err != nil {
		t.Fatal(err)
	}
	pod := wire.Bytes()
	of := func(apiVersion, kind string) []byte {
		text := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: []byte{0xff}}
		wire, err := text.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte("k8s\x00"), wire...)
	}
	for what, tc := range map[string]struct {
		key    string
		record []byte
		want   string // empty: it can be read
	}{
		"a Pod":                    {"/registry/pods/default/web", pod, ""},
		"a CRD":                    {"/registry/apiextensions.k8s.io/customresourcedefinitions/x", []byte(`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"x"}}`), ""},
		"an APIService":            {"/registry/apiregistration.k8s.io/apiservices/x", []byte(`{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"x"}}`), ""},
		"a custom resource":        {"/registry/sea.example/boats/default/ada", []byte(`{"kind":"Boat","apiVersion":"sea.example/v1","metadata":{"name":"ada"}}`), ""},
		"names in capitals":        {"/registry/sea.example/boats/default/ada", []byte(`{"Kind":"Boat","apiVersion":"sea.example/v1","metadata":{"name":"ada"}}`), "no type"},
		"a number that is none":    {"/registry/sea.example/boats/default/ada", []byte(`{"kind":"Boat","apiVersion":"sea.example/v1","metadata":{"name":"ada"},"spec":1e999}`), "cannot unmarshal number"},
		"half a Pod":               {"/registry/pods/default/web", pod[:len(pod)/2], "no type"},
		"a damaged Pod":            {"/registry/pods/default/web", of("v1", "Pod"), "EOF"},
		"a version of the future":  {"/registry/deployments/default/web", of("apps/v9", "Deployment"), "this build has no Deployment of apps/v9"},
		"a kind of the future":     {"/registry/fleets/default/web", of("apps/v1", "Fleet"), "this build has no Fleet of apps/v1"},
		"a group of the future":    {"/registry/fleets/default/web", of("fleet.k8s.io/v1", "Fleet"), "no custom resource"},
		"bytes":                    {"/registry/pods/default/web", []byte{0, 1, 2}, "no type"},
		"a note of the API server": {"compact_rev_key", []byte("12"), "none of an API's"},
	} {
		err := Unreadable(tc.key, tc.record)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", what, err, tc.want)
		}
	}
}
