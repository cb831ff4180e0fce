package core

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
)

// Lists in JSON are put together of items that are kept (core/internal/itemjson), pretty
// ones are made by upstream's encoder: both say the same at the same revision,
// byte for byte but for white space.
func sameAsPretty(t *testing.T, e *Engine, path string) []byte {
	t.Helper()
	with := "?"
	if strings.Contains(path, "?") {
		with = "&"
	}
	revision := func(list []byte) string {
		var of metav1.PartialObjectMetadataList
		if err := json.Unmarshal(list, &of); err != nil {
			t.Fatalf("%s: %v: %.300s", path, err, list)
		}
		return of.ResourceVersion
	}
	for range 50 { // somebody else may write in between
		var plain []byte
		for range 4 { // as seen first, seen again, kept
			_, plain = get(t, e, path, "Accept", "application/json")
		}
		_, pretty := get(t, e, path+with+"pretty=true", "Accept", "application/json")
		if revision(plain) != revision(pretty) {
			continue
		}
		var want bytes.Buffer
		if err := json.Compact(&want, pretty); err != nil {
			t.Fatal(err)
		}
		want.WriteByte('\n')
		if !bytes.Equal(plain, want.Bytes()) {
			t.Errorf("%s:\n%.3000s\nwant\n%.3000s", path, plain, want.Bytes())
		}
		return plain
	}
	t.Fatalf("%s: another revision each time", path)
	return nil
}

func TestListsOfAllKinds(t *testing.T) {
	e := sharedEngine(t)
	_, all, err := discovery.NewDiscoveryClientForConfigOrDie(e.RESTConfig()).ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	lists, withObjects := 0, 0
	for _, version := range all {
		prefix := "/apis/" + version.GroupVersion
		if version.GroupVersion == "v1" {
			prefix = "/api/v1"
		}
		for _, resource := range version.APIResources {
			if !strings.Contains(resource.Verbs.String(), "list") || resource.Name == "componentstatuses" {
				continue // these are asked at once, and listed as they answer
			}
			lists++
			if list := sameAsPretty(t, e, prefix+"/"+resource.Name); !bytes.Contains(list, []byte(`"items":[]`)) {
				withObjects++
			}
		}
	}
	if lists < 50 || withObjects < 12 {
		t.Errorf("%d lists, %d with objects: this engine has few kinds", lists, withObjects)
	}
}

func TestListsAfterWrites(t *testing.T) {
	const path, escaped = "/api/v1/namespaces/lists/configmaps", "<script>&amp;\u2028\u2029\x01\"\\ \U0001f600"
	e := sharedEngine(t)
	c := clientFor(t, e)
	newNamespace(t, c, "lists")
	sameAsPretty(t, e, path)
	maps := c.CoreV1().ConfigMaps("lists")
	create := func(name, data string) *corev1.ConfigMap {
		t.Helper()
		made, err := maps.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"a": escaped}},
			Data:       map[string]string{"d": data},
			BinaryData: map[string][]byte{"b": []byte("\xff\x00" + data)},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	var made []*corev1.ConfigMap
	for i := range 7 {
		made = append(made, create(fmt.Sprintf("c%d", i), escaped))
	}
	contains := func(what, text string, want bool) {
		t.Helper()
		if got := bytes.Contains(sameAsPretty(t, e, path), []byte(text)); got != want {
			t.Errorf("%s: the list has %s: %t, want %t", what, text, got, want)
		}
	}
	contains("created", `"name":"c6"`, true)
	// A dry run answers with the old resource version and new content.
	made[0].Data["d"] = "only-tried"
	if _, err := maps.Update(t.Context(), made[0], metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	contains("dry run", "only-tried", false)
	made[0].Data["d"] = "done"
	if _, err := maps.Update(t.Context(), made[0], metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	contains("updated", `"d":"done"`, true)
	if err := maps.Delete(t.Context(), "c1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	contains("deleted", `"name":"c1"`, false)
	create("c1", "again")
	contains("made again", `"d":"again"`, true)

	page := sameAsPretty(t, e, path+"?limit=3")
	var first metav1.PartialObjectMetadataList
	if err := json.Unmarshal(page, &first); err != nil {
		t.Fatal(err)
	}
	if len(first.Items) != 3 || ptr.Deref(first.RemainingItemCount, 0) < 4 { // a controller adds the root CA's
		t.Errorf("a page of three: %.500s", page)
	}
	sameAsPretty(t, e, path+"?limit=3&continue="+first.Continue)
	sameAsPretty(t, e, path+"?limit=2&resourceVersionMatch=Exact&resourceVersion="+first.ResourceVersion)
	sameAsPretty(t, e, path+"?fieldSelector=metadata.name=c2")
	sameAsPretty(t, e, "/api/v1/configmaps")

	// A dry run of a deletion answers with a list of what would be deleted.
	dry := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	if err := maps.DeleteCollection(t.Context(), dry, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	contains("nothing deleted", `"name":"c6"`, true)
	if err := maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	contains("all deleted", `"name":"c`, false)
	if _, err := maps.Get(t.Context(), "c0", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get what is deleted: %v", err)
	}
}

// Upstream compresses what is long, and sees by the first write whether a list
// comes in pieces.
func TestLongListsAreCompressed(t *testing.T) {
	e := sharedEngine(t)
	c := clientFor(t, e)
	newNamespace(t, c, "long-lists")
	for i := range 4 {
		big := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("big-%d", i)}, Data: map[string]string{"d": strings.Repeat("long ", 10_000)}}
		if _, err := c.CoreV1().ConfigMaps("long-lists").Create(t.Context(), big, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const path = "/api/v1/namespaces/long-lists/configmaps"
	want := sameAsPretty(t, e, path)
	response, body := get(t, e, path, "Accept", "application/json", "Accept-Encoding", "gzip")
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%s, Content-Encoding %q", response.Status, response.Header.Get("Content-Encoding"))
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: unpacked %.300s", err, got)
	}
}
