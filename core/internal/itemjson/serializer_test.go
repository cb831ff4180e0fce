package itemjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	codecs "k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// upstreams is what an API group gets from genericapiserver.NewDefaultAPIGroupInfo.
func upstreams(t *testing.T) runtime.NegotiatedSerializer {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return codecs.NewCodecFactory(scheme, codecs.WithStreamingCollectionEncodingToJSON(), codecs.WithStreamingCollectionEncodingToProtobuf())
}

// plain is the encoder that s has for requests that ask for JSON.
func plain(t *testing.T, s runtime.NegotiatedSerializer) runtime.Encoder {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(s.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		t.Fatal("no JSON")
	}
	return info.Serializer
}

// pretty is the encoder that s has for browsers, and for requests that ask for pretty JSON.
func pretty(t *testing.T, s runtime.NegotiatedSerializer) runtime.Encoder {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(s.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		t.Fatal("no JSON")
	}
	return info.PrettySerializer
}

// answer is what an encoder did.
type answer struct{ written, first, err string }

func (a *answer) Write(p []byte) (int, error) {
	if a.first == "" {
		a.first = string(p)
	}
	a.written += string(p)
	return len(p), nil
}

func encode(e runtime.Encoder, obj runtime.Object) answer {
	var a answer
	if err := e.Encode(obj, &a); err != nil {
		a.err = err.Error()
	}
	return a
}

// meta is the metadata of an object that was decoded from the store.
func meta(name string, revision int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: "default", UID: types.UID("uid-of-" + name), ResourceVersion: fmt.Sprint(revision),
		CreationTimestamp: metav1.Unix(1700000000, 0),
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "<test>", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:data":{".":{},"f:a":{}}}`),
		}},
	}
}

func configMap(name string, revision int, data string) corev1.ConfigMap {
	return corev1.ConfigMap{ObjectMeta: meta(name, revision), Data: map[string]string{"a": data}}
}

func configMaps(n int) *corev1.ConfigMapList {
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{Kind: "ConfigMapList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
	for i := range n {
		list.Items = append(list.Items, configMap(fmt.Sprintf("c%d", i), i+1, strings.Repeat("x", 400)))
	}
	return list
}

// hostile has what JSON escapes, and what it cannot say.
const hostile = "<script>&amp;\u2028\u2029\x00\x1f\"\\\t\xff\xed\xa0\x80 \U0001f600"

func TestWritesWhatUpstreamWrites(t *testing.T) {
	broken := appsv1.ControllerRevision{ObjectMeta: meta("broken", 3), Data: runtime.RawExtension{Raw: []byte(`{"not":`)}}
	named := configMap("named", 4, "kind")
	named.TypeMeta = metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}
	unowned := configMap("unowned", 5, "no managed fields")
	unowned.ManagedFields = nil
	lists := map[string]runtime.Object{
		"objects":                    configMaps(50),
		"objects of several batches": configMaps(5*batchItems + 3),
		"hostile": &corev1.ConfigMapList{Items: []corev1.ConfigMap{
			{ObjectMeta: meta("hostile", 1), Data: map[string]string{hostile: hostile, "": ""}, BinaryData: map[string][]byte{hostile: []byte(hostile)}},
		}},
		"no items":  &corev1.ConfigMapList{Items: []corev1.ConfigMap{}},
		"nil items": &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}},
		"a page": &corev1.ConfigMapList{
			ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: hostile + `"items":[]}`, RemainingItemCount: ptr.To[int64](3)},
			Items:    []corev1.ConfigMap{configMap("last", 2, `"items":[]}`)},
		},
		"unlike items": &corev1.ConfigMapList{Items: []corev1.ConfigMap{
			{}, named, unowned, configMap("", 1, ""), {ObjectMeta: metav1.ObjectMeta{Name: "new"}},
		}},
		"Pods": &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{
			{ObjectMeta: meta("p", 1), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}, TerminationGracePeriodSeconds: ptr.To[int64](0)}},
		}},
		"an item without JSON": &appsv1.ControllerRevisionList{Items: []appsv1.ControllerRevision{{ObjectMeta: meta("good", 2)}, broken, {ObjectMeta: meta("later", 4)}}},
		"an item without JSON in a later batch": &appsv1.ControllerRevisionList{Items: append(slices.Repeat(
			[]appsv1.ControllerRevision{{ObjectMeta: meta("good", 2)}}, 2*batchItems+7), broken, appsv1.ControllerRevision{ObjectMeta: meta("later", 4)})},
		"raw items":      &metav1.List{Items: []runtime.RawExtension{{Raw: []byte(`{"a":1}`)}}},
		"one object":     ptr.To(configMap("one", 1, hostile)),
		"a status":       &metav1.Status{Status: "Failure", Message: hostile},
		"unstructured":   &unstructured.UnstructuredList{Object: map[string]any{"kind": "List", "apiVersion": "v1"}, Items: []unstructured.Unstructured{{Object: map[string]any{"kind": "A"}}}},
		"metadata alone": &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: meta("partial", 1)}}},
	}
	theirs, cache := upstreams(t), New(1<<20)
	ours := cache.Serving(theirs)
	for what, list := range lists {
		if got, want := encode(pretty(t, ours), list), encode(pretty(t, theirs), list); got != want {
			t.Errorf("%s, pretty:\n%+v\nwant\n%+v", what, got, want)
		}
		want := encode(plain(t, theirs), list)
		for pass := range 4 { // not seen, seen, kept, kept
			if got := encode(plain(t, ours), list); got.written != want.written || got.err != want.err {
				t.Errorf("%s, pass %d:\n%+v\nwant\n%+v", what, pass, got, want)
			} else if isList := strings.Contains(got.written, `"items":[{"metadata"`); isList && got.first != want.first {
				t.Errorf("%s: begins with a write of %q, upstream with %q, by which lists are compressed or not", what, got.first, want.first)
			}
		}
	}
	if plain(t, ours).Identifier() != plain(t, theirs).Identifier() || pretty(t, ours).Identifier() != pretty(t, theirs).Identifier() {
		t.Error("the identifier, by which watch events share their JSON, is not upstream's")
	}
}

// Large objects end a batch before it has all of its items.
func TestWritesLargeObjectsAsUpstream(t *testing.T) {
	large := configMaps(2*batchItems + 3)
	for i := range large.Items {
		large.Items[i].Data["a"] = fmt.Sprintf("%0*d", batchBytes/25, i)
	}
	var got, want bytes.Buffer
	if err := plain(t, upstreams(t)).Encode(large, &want); err != nil {
		t.Fatal(err)
	}
	if err := plain(t, New(1<<20).Serving(upstreams(t))).Encode(large, &got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes were written, and upstream writes other %d", got.Len(), want.Len())
	}
}

// TestLargePrettyListIsWrittenInPieces: a browser that lists what fills a quarter of a
// tab's memory would otherwise need more than all of it.
func TestLargePrettyListIsWrittenInPieces(t *testing.T) {
	const size = 1 << 20
	list := configMaps(20)
	for i := range list.Items {
		list.Items[i].Data["a"] = strings.Repeat("x", size)
	}
	theirs := upstreams(t)
	want := encode(pretty(t, theirs), list)
	var most, n int
	var written strings.Builder
	err := pretty(t, New(1<<20).Serving(theirs)).Encode(list, writerFunc(func(p []byte) (int, error) {
		most, n = max(most, len(p)), n+1
		return written.Write(p)
	}))
	if err != nil || written.String() != want.written {
		t.Errorf("it is not what upstream writes: %d bytes of %d, %v", written.Len(), len(want.written), err)
	}
	if n < 3 || most > largePretty+2*size {
		t.Errorf("%d writes of at most %d bytes", n, most)
	}
	failed := errors.New("the client has gone")
	calls := 0
	err = pretty(t, New(1<<20).Serving(theirs)).Encode(list, writerFunc(func([]byte) (int, error) { calls++; return 0, failed }))
	if !errors.Is(err, failed) || calls != 1 {
		t.Errorf("%d writes, %v", calls, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Everything but lists in JSON is upstream's own.
func TestServesTheRestAsUpstream(t *testing.T) {
	theirs := upstreams(t)
	ours := New(1 << 20).Serving(theirs)
	for i, info := range ours.SupportedMediaTypes() {
		want := theirs.SupportedMediaTypes()[i]
		if info.MediaType != runtime.ContentTypeJSON && (info.Serializer != want.Serializer || info.PrettySerializer != want.PrettySerializer) {
			t.Errorf("%s has another serializer", info.MediaType)
		}
		if info.StrictSerializer != want.StrictSerializer || info.StreamSerializer != want.StreamSerializer {
			t.Errorf("%s has another strict or streaming serializer", info.MediaType)
		}
	}
	decoded, _, err := plain(t, ours).(runtime.Serializer).Decode([]byte(`{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"b"}}`), nil, nil)
	if c, ok := decoded.(*corev1.ConfigMap); err != nil || !ok || c.Data["a"] != "b" {
		t.Errorf("decoded %v, %v", decoded, err)
	}
}

// isKept changes item in place, which nobody may, and says whether what is
// listed then is what was kept. With invariants that is a panic.
func isKept(t *testing.T, e runtime.Encoder, list *corev1.ConfigMapList, item int) (kept bool) {
	t.Helper()
	if invariants {
		defer func() { kept = recover() != nil }()
	}
	was := list.Items[item].Data["a"]
	list.Items[item].Data["a"] = "changed"
	defer func() { list.Items[item].Data["a"] = was }()
	return !strings.Contains(encode(e, list).written, `"changed"`)
}

func TestKeepsWhatIsListedAgain(t *testing.T) {
	cache := New(1 << 20)
	e, list := plain(t, cache.Serving(upstreams(t))), configMaps(10)
	encode(e, list)
	if n, _ := cache.held(); n > 0 {
		t.Errorf("%d items are kept that were listed once", n)
	}
	encode(e, list)
	if !isKept(t, e, list, 0) || !isKept(t, e, list, 9) {
		t.Error("what was listed twice is not kept")
	}
	if one := (&corev1.ConfigMapList{Items: list.Items[3:4]}); !isKept(t, e, one, 0) {
		t.Error("another list of the same item encodes it anew")
	}
}

// Of 2,000 items, one in nine has the place of its mark in common with another.
func TestKeepsAllItemsOfALongList(t *testing.T) {
	cache, list := New(64<<20), configMaps(2000)
	e := plain(t, cache.Serving(upstreams(t)))
	kept := 0
	for pass := 0; pass < 40 && kept < len(list.Items); pass++ {
		if err := e.Encode(list, io.Discard); err != nil {
			t.Fatal(err)
		}
		if kept, _ = cache.held(); pass == 0 && kept > 50 {
			t.Errorf("%d items are kept that were listed once", kept)
		}
	}
	if kept != len(list.Items) {
		t.Errorf("%d of %d items are kept that were listed 40 times", kept, len(list.Items))
	}
}

// fussy has no JSON if its name is so: upstream's encoder panics.
type fussy struct{ corev1.ConfigMap }

func (f fussy) MarshalJSON() ([]byte, error) {
	if f.Name == "fussy" {
		panic("fussy")
	}
	return json.Marshal(f.ConfigMap)
}

type fussyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []fussy `json:"items"`
}

func (l *fussyList) DeepCopyObject() runtime.Object { return &fussyList{Items: slices.Clone(l.Items)} }

// The server's handlers recover what panics in a request; what panics in another goroutine ends the server.
func TestPanicsWhereUpstreamDoes(t *testing.T) {
	list := &fussyList{}
	for _, c := range configMaps(6 * batchItems).Items {
		list.Items = append(list.Items, fussy{c})
	}
	for _, at := range []int{0, 3*batchItems + 1, len(list.Items) - 1} {
		list.Items[at].Name = "fussy"
		outcome := func(s runtime.NegotiatedSerializer) (a answer, panicked any) {
			defer func() { panicked = recover() }()
			a.err = fmt.Sprint(plain(t, s).Encode(list, &a))
			return a, nil
		}
		got, gotPanic := outcome(New(1 << 20).Serving(upstreams(t)))
		want, wantPanic := outcome(upstreams(t))
		if wantPanic == nil || gotPanic != wantPanic {
			t.Errorf("at %d: %v, %+v\nwant %v, %+v", at, gotPanic, got, wantPanic, want)
		}
		list.Items[at].Name = "plain"
	}
}

// UID and resource version say nothing of an item by themselves.
func TestOtherObjectsHaveTheirOwnJSON(t *testing.T) {
	theirs, cache := upstreams(t), New(1<<20)
	ours := cache.Serving(theirs)
	list := configMaps(2)
	for range 3 {
		encode(plain(t, ours), list)
	}
	others := map[string]func(*corev1.ConfigMap){
		"without managed fields, as in the audit log": func(c *corev1.ConfigMap) { c.ManagedFields = nil },
		"of a store that was set back":                func(c *corev1.ConfigMap) { c.Data["a"] = "another" },
		"with a kind":                                 func(c *corev1.ConfigMap) { c.Kind = "ConfigMap" },
	}
	for what, change := range others {
		other := list.DeepCopy()
		change(&other.Items[0])
		for range 3 {
			if got, want := encode(plain(t, ours), other), encode(plain(t, theirs), other); got.written != want.written {
				t.Errorf("%s:\n%s\nwant\n%s", what, got.written, want.written)
			}
		}
	}
	moved := list.DeepCopy()
	moved.Items = slices.Clone(list.Items) // the very array of managed fields
	moved.Items[0].ResourceVersion = "77"
	if got, want := encode(plain(t, ours), moved), encode(plain(t, theirs), moved); got.written != want.written {
		t.Errorf("another resource version: %s\nwant %s", got.written, want.written)
	}
	// The same object as another type.
	secrets := &corev1.SecretList{Items: []corev1.Secret{{ObjectMeta: list.Items[0].ObjectMeta}}}
	if got, want := encode(plain(t, ours), secrets), encode(plain(t, theirs), secrets); got.written != want.written {
		t.Errorf("another type: %s\nwant %s", got.written, want.written)
	}
}

// held is what is kept, counted from what is there.
func (c *Cache) held() (items, bytes int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, generation := range []map[identity][]byte{c.young, c.old} {
		for _, value := range generation {
			items, bytes = items+1, bytes+len(value)+overhead
		}
	}
	return items, bytes
}

func TestKeepsNoMoreThanItMay(t *testing.T) {
	const limit = 40 << 10
	theirs, cache := upstreams(t), New(limit)
	ours := cache.Serving(theirs)
	for n := 1; n < 400; n = n*3 + 1 { // up to five times as much as there is room for
		list := configMaps(n)
		list.Items[0].Data["a"] = strings.Repeat("large", limit/5)
		want := encode(plain(t, theirs), list)
		for range 5 {
			if got := encode(plain(t, ours), list); got.written != want.written {
				t.Fatalf("a list of %d: %.200s...\nwant %.200s...", n, got.written, want.written)
			}
			if _, held := cache.held(); held > limit {
				t.Fatalf("%d bytes are kept, %d may be", held, limit)
			}
		}
	}
	if _, held := cache.held(); held < limit/2 {
		t.Errorf("%d bytes are kept after lists of more than %d", held, limit)
	}
}

// What there is no room for need not be copied: all of a store may be listed.
func TestCopiesNoMoreThanItMay(t *testing.T) {
	if invariants {
		t.Skip("with invariants each item is encoded once more, which takes memory, too")
	}
	const limit = 40 << 10
	list := configMaps(2000) // some MB
	e := plain(t, New(limit).Serving(upstreams(t)))
	allocated := func() uint64 {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		if err := e.Encode(list, io.Discard); err != nil {
			t.Fatal(err)
		}
		goruntime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	first := allocated()
	for range 3 {
		if again := allocated(); again > first+4*limit {
			t.Errorf("%d bytes were allocated to list again what took %d, and %d may be kept", again, first, limit)
		}
	}
}

func TestDropsWhatNobodyLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := New(1 << 20)
		e, used, unusedList := plain(t, cache.Serving(upstreams(t))), configMaps(3), configMaps(5)
		for range 2 {
			encode(e, used)
			encode(e, unusedList)
		}
		for range 5 {
			time.Sleep(unused - time.Second)
			encode(e, used)
		}
		if n, _ := cache.held(); n != len(used.Items) {
			t.Errorf("%d items are kept, %d were listed all the time", n, len(used.Items))
		}
		time.Sleep(3 * unused)
		synctest.Wait()
		cache.mu.Lock()
		defer cache.mu.Unlock()
		if cache.young != nil || cache.old != nil || cache.seen != nil || cache.aging != nil {
			t.Error("something is kept that nobody lists")
		}
	})
}

func TestManyListAtOnce(t *testing.T) {
	theirs, cache := upstreams(t), New(20<<10) // too little for all
	ours := cache.Serving(theirs)
	list := configMaps(60)
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			part := &corev1.ConfigMapList{Items: slices.Clone(list.Items[i*5 : i*5+25])}
			want := encode(plain(t, theirs), part).written
			for range 50 {
				var got bytes.Buffer
				if err := plain(t, ours).Encode(part, &got); err != nil || got.String() != want {
					t.Errorf("%v: %.200s...\nwant %.200s...", err, got.String(), want)
					return
				}
				if i == 0 {
					cache.mu.Lock()
					cache.turn()
					cache.mu.Unlock()
				}
			}
		})
	}
	clients.Wait()
}
