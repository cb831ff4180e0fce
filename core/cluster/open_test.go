package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
)

// posted is what a page is answered that asks what a bundle holds.
func posted(t *testing.T, b *bundle.Bundle) (int, string) {
	t.Helper()
	var file bytes.Buffer
	if err := bundle.Write(&file, b); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	checkBundle(w, httptest.NewRequest(http.MethodPost, bundle.Path, &file))
	return w.Code, w.Body.String()
}

// TestCheckOfManyRecords: the same bundle always has the same Opening, and its entries make a store with its records.
func TestCheckOfManyRecords(t *testing.T) {
	b := large(t, 40, 10)
	// What is read after a large record is shorter than it, and not all is in protobuf.
	b.State.Records[3].Value = large(t, 1, 0).State.Records[0].Value
	b.State.Records[3].Key = "/registry/configmaps/default/settings-0000"
	b.State.Records = slices.Delete(b.State.Records, 0, 3)
	b.State.Records = append(b.State.Records, etcd.RecordState{
		Key: "/registry/sea.example/boats/default/ada", Value: []byte(`{"apiVersion":"sea.example/v1","kind":"Boat","metadata":{"name":"ada","namespace":"default"}}`),
		CreateRevision: 2, ModRevision: 2, Version: 1,
	})
	first, err := Check(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Check(b)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("%v, or another opening", err)
	}
	if !first.Exact || len(first.LeftOut) > 0 {
		t.Errorf("exact: %v, left out: %v", first.Exact, first.LeftOut)
	}
	code, body := posted(t, b)
	if strings.Contains(body, `"nodes":`) {
		t.Error("a page is told a number of nodes, which the bundle does not say")
	}
	var s Summary
	if err := json.Unmarshal([]byte(body), &s); err != nil || code != http.StatusOK {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	want := []KindCount{{"sea.example/v1", "Boat", 1}, {"v1", "ConfigMap", 37}, {"v1", "Pod", 10}}
	if !slices.Equal(s.Kinds, want) || !s.Exact {
		t.Errorf("%+v", s)
	}

	db, err := etcd.Open(etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	hold := db.Hold()
	err = hold.Replay(nil, first.Entries)
	hold.Release()
	if err != nil {
		t.Fatal(err)
	}
	state, err := etcd.ReadState(t.Context(), db.Client().Client, "/", 1<<30)
	if err != nil || !reflect.DeepEqual(state.Records, b.State.Records) {
		t.Errorf("%v, or other records", err)
	}
}

// TestManifestsStayInTheirFolder: a bundle from anybody is no file with a path of its own.
func TestManifestsStayInTheirFolder(t *testing.T) {
	b := large(t, 1, 0)
	b.State.Records = append(b.State.Records, etcd.RecordState{
		Key: "/registry/sea.example/boats/../../up/ada", Value: []byte(`{"apiVersion":"sea.example/v1","kind":"Boat","metadata":{"name":"ada","namespace":"../../up"}}`),
		CreateRevision: 2, ModRevision: 2, Version: 1,
	})
	files, err := Manifests(b)
	if !errors.Is(err, ErrBundle) || !strings.Contains(err.Error(), `no object is called "../../up"`) || files != nil {
		t.Errorf("%v, %v", files, err)
	}
}

// TestCheckNamesWhatItRefuses: a record is refused with its number, its key and why, whatever stands before it, and a
// page is told the same as who opens the bundle.
func TestCheckNamesWhatItRefuses(t *testing.T) {
	for what, tc := range map[string]struct {
		damage func(*etcd.RecordState)
		why    string
	}{
		"torn":  {func(r *etcd.RecordState) { r.Value = r.Value[:len(r.Value)/2] }, "it has no type"},
		"empty": {func(r *etcd.RecordState) { r.Value = nil }, "it has no type"},
		"of another kind": {func(r *etcd.RecordState) {
			r.Value = bytes.Replace(r.Value, []byte("ConfigMap"), []byte("ConfigMop"), 1)
		}, "this build has no ConfigMop of v1"},
		"of another name": {func(r *etcd.RecordState) { r.Key += "x" }, "its key does not end with /default/settings-0007"},
		"damaged inside": {func(r *etcd.RecordState) {
			at := bytes.Index(r.Value, []byte("settings-0007"))
			r.Value = bytes.Clone(r.Value)
			r.Value[at-1] = 0xff // the length of the name
		}, ""},
	} {
		b := large(t, 20, 5)
		r := &b.State.Records[7]
		tc.damage(r)
		where := fmt.Sprintf("record 8, %s: %s", r.Key, tc.why)
		o, err := Check(b)
		if !errors.Is(err, ErrBundle) || !strings.Contains(err.Error(), where) || o.Entries != nil {
			t.Errorf("%s: %v, want %q", what, err, where)
		}
		if code, body := posted(t, b); code != http.StatusUnprocessableEntity || !strings.Contains(body, where) {
			t.Errorf("%s: a page is told %d %s", what, code, body)
		}
		b.Kubernetes = "v1.2.3"
		o, err = Check(b)
		if err != nil || len(o.LeftOut) != 1 || o.LeftOut[0].Key != r.Key || !strings.Contains(o.LeftOut[0].Why.Error(), tc.why) {
			t.Errorf("%s, in a bundle of another version: %v, %v", what, o.LeftOut, err)
		}
	}
}
