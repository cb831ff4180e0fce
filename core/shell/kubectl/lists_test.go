package kubectl

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shelf answers lists of so many ConfigMaps as an API server does, with an allocation of size bytes for each.
type shelf struct {
	objects, size int
	expires       bool // the first continue token has

	limits  []string // that were asked for
	accepts []string
	held    [][]byte
}

func (s *shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	s.limits = append(s.limits, query.Get("limit"))
	s.accepts = append(s.accepts, r.Header.Get("Accept"))
	w := httptest.NewRecorder()
	begin, _ := strconv.Atoi(query.Get("continue"))
	if s.expires && begin > 0 {
		s.expires = false
		w.WriteHeader(http.StatusGone)
		_ = json.NewEncoder(w).Encode(metav1.Status{ListMeta: metav1.ListMeta{Continue: query.Get("continue")}, Status: "Failure", Code: http.StatusGone})
		return w.Result(), nil
	}
	list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
		list.APIVersion, list.Kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	end := s.objects
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && begin+limit < end {
		end = begin + limit
		list.Continue = strconv.Itoa(end)
	}
	for i := begin; i < end; i++ {
		s.held = append(s.held[:0], make([]byte, s.size))
		list.Items = append(list.Items, metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: list.APIVersion, Kind: "PartialObjectMetadata"}, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", i), Annotations: map[string]string{"a": "b"}},
		})
	}
	if err := json.NewEncoder(w).Encode(&list); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// names lists as upstream's FollowContinue does, and returns the names of what it has got, and the kinds.
func names(t *testing.T, through http.RoundTripper, path string, query url.Values) (found, kinds []string) {
	t.Helper()
	for {
		r := httptest.NewRequest(http.MethodGet, path+"?"+query.Encode(), nil)
		r.Header.Set("Accept", "application/json")
		answer, err := through.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		var list metav1.PartialObjectMetadataList
		if err != nil || json.Unmarshal(body, &list) != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %v", answer.Status, body, err)
		}
		for _, item := range list.Items {
			found = append(found, item.Name)
			kinds = append(kinds, list.Kind+" "+item.APIVersion+" "+item.Kind)
		}
		if list.Continue == "" {
			slices.Sort(kinds)
			return found, slices.Compact(kinds)
		}
		query.Set("continue", list.Continue)
	}
}

func setMuchLive(t *testing.T, to uint64) {
	before := muchLive
	muchLive = to
	t.Cleanup(func() { muchLive = before })
}

func listsFor(t *testing.T) *lists {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	return &lists{mapper: func() (meta.RESTMapper, error) { return mapper, nil }}
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// In a process that holds little, requests are upstream's.
func TestListsWhereThereIsRoom(t *testing.T) {
	setMuchLive(t, 1<<60)
	of := listsFor(t)
	s := &shelf{objects: 1200}
	found, _ := names(t, of.wrap(s), configMaps, url.Values{"limit": {"500"}})
	if len(found) != 1200 || !slices.Equal(s.limits, []string{"500", "500", "500"}) || s.accepts[0] != "application/json" {
		t.Errorf("%d objects, limits %v", len(found), s.limits)
	}
	of.deletes.Store(true)
	s = &shelf{objects: 1200}
	found, _ = names(t, of.wrap(s), configMaps, url.Values{})
	if len(found) != 1200 || !slices.Equal(s.limits, []string{""}) || s.accepts[0] != "application/json" {
		t.Errorf("delete: %d objects, limits %v, as %v", len(found), s.limits, s.accepts)
	}
}

// In one that holds much, pages of large objects are small, and those of small objects soon as large as ever.
func TestListsWhereThereIsNoRoom(t *testing.T) {
	setMuchLive(t, 0)
	for _, deletes := range []bool{false, true} {
		of := listsFor(t)
		of.deletes.Store(deletes)
		query := func() url.Values {
			if deletes {
				return url.Values{}
			}
			return url.Values{"limit": {"500"}}
		}
		large := &shelf{objects: 50, size: 2 << 20, expires: true}
		found, kinds := names(t, of.wrap(large), configMaps, query())
		if deletes && (!slices.Equal(kinds, []string{"ConfigMapList v1 ConfigMap"}) || !strings.Contains(large.accepts[0], "as=PartialObjectMetadataList")) {
			t.Errorf("delete sees objects of the kinds %v, as %v", kinds, large.accepts[0])
		}
		if len(found) != 50 || slices.ContainsFunc(large.limits, func(n string) bool { return n != "4" && n != "3" && n != "2" }) {
			t.Errorf("delete: %t, large: %d objects, limits %v", deletes, len(found), large.limits)
		}
		small := &shelf{objects: 2000, size: 100}
		found, _ = names(t, of.wrap(small), "/api/v1/namespaces/other/configmaps", query()) // of which nothing is known
		if len(found) != 2000 || len(small.limits) > 12 || !slices.Contains(small.limits, "500") {
			t.Errorf("delete: %t, small: %d objects, limits %v", deletes, len(found), small.limits)
		}
	}
}

func TestListed(t *testing.T) {
	for line, want := range map[string]string{
		"GET /api/v1/namespaces/default/configmaps?limit=5":            "/v1, Resource=configmaps",
		"GET /api/v1/namespaces":                                       "/v1, Resource=namespaces",
		"GET /apis/apps/v1/deployments":                                "apps/v1, Resource=deployments",
		"GET /apis/apps/v1/namespaces/a/deployments":                   "apps/v1, Resource=deployments",
		"GET /api/v1/namespaces/default/configmaps?watch=true":         "",
		"GET /api/v1/namespaces/default":                               "",
		"GET /api/v1/namespaces/default/configmaps/a":                  "",
		"GET /apis/apps/v1/namespaces/a/deployments/d/scale":           "",
		"GET /apis/apps/v1":                                            "",
		"GET /api":                                                     "",
		"GET /openapi/v3":                                              "",
		"DELETE /api/v1/namespaces/default/configmaps?labelSelector=a": "",
	} {
		method, path, _ := strings.Cut(line, " ")
		got, is := listed(httptest.NewRequest(method, path, nil))
		if is != (want != "") || is && got.String() != want {
			t.Errorf("%s: %t, %v", line, is, got)
		}
	}
}
