package kubectl

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// lists has a command ask for lists in the form that takes the least memory, which is the API server's as well, where the
// process holds much. Elsewhere requests are upstream's, as whoever looks at them expects.
//
//   - delete asks for the metadata of objects. Upstream's asks for all of them whole, in one list, and holds them until they are
//     gone. It reads names and UIDs.
//   - Pages have as few objects as fit into pageBudget. The server needs memory for all objects of a
//     page, also for a table of them, and 500 objects, kubectl's --chunk-size, may have 500 MB. Only a request with a limit has
//     fewer objects, and those of delete, which follow the continue token, too.
//
// A continue token of a revision that was compacted since is exchanged for the one that the server offers instead, which goes on
// at the newest revision: many small pages take longer than one.
//
// What the server takes for deleting large objects is conceded to the program: its watch caches hold them for a while.
type lists struct {
	ctx     context.Context // the command's
	mapper  func() (meta.RESTMapper, error)
	deletes atomic.Bool // the command is delete

	mu    sync.Mutex
	sizes map[string]pageSize // by path
}

// pageSize is what is known of the pages of a list.
type pageSize struct {
	objects int    // of the last page
	each    uint64 // bytes that were allocated for each of its objects
}

const (
	// firstPage is how many objects the first page of a list has, nextPages how many times as many the next may have.
	firstPage = 4
	nextPages = 4
	// mostPage is kubectl's own --chunk-size.
	mostPage = 500
	// pageBudget is how many bytes may be allocated for a page: half of what a program may take in a process that is full.
	pageBudget = 8 << 20
	// Who deletes an object is conceded what was allocated meanwhile, if that is leastConceded or more, up to mostConceded: an
	// object has up to 1.5 MiB, and the server decodes it twice.
	leastConceded = 1 << 20
	mostConceded  = 4 << 20
)

// muchLive is from how many bytes of live objects on requests are other than upstream's: an engine with a thousand Pods has less.
var muchLive uint64 = 512 << 20

func (l *lists) wrap(next http.RoundTripper) http.RoundTripper { return listing{l, next} }

type listing struct {
	of   *lists
	next http.RoundTripper
}

func (t listing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodDelete && t.of.deletes.Load() {
		before := counter("/gc/heap/allocs:bytes")
		response, err := t.next.RoundTrip(r)
		if took := counter("/gc/heap/allocs:bytes") - before; took >= leastConceded {
			coreutils.Concede(t.of.ctx, min(took, mostConceded))
		}
		return response, err
	}
	resource, is := listed(r)
	if !is {
		return t.next.RoundTrip(r)
	}
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit")) // which the server refuses where it is no number
	deletes := t.of.deletes.Load()
	if limit <= 0 && !deletes || counter("/gc/heap/live:bytes") <= muchLive {
		return t.next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	objects := t.of.page(r.URL.Path, limit)
	query.Set("limit", strconv.Itoa(objects))
	r.URL.RawQuery = query.Encode()
	if deletes {
		r.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json")
	}
	before := counter("/gc/heap/allocs:bytes")
	response, err := t.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusGone {
		response, err = t.goOn(r, query, response)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	if deletes {
		if err := t.of.restore(response, resource); err != nil {
			return nil, err
		}
	}
	path := r.URL.Path
	response.Body = &closer{response.Body, sync.OnceFunc(func() { t.of.took(path, objects, counter("/gc/heap/allocs:bytes")-before) })}
	return response, nil
}

// listed returns the resource that a request lists.
func listed(r *http.Request) (_ schema.GroupVersionResource, is bool) {
	if r.Method != http.MethodGet || r.URL.Query().Has("watch") {
		return schema.GroupVersionResource{}, false
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var of schema.GroupVersionResource
	switch {
	case len(parts) > 2 && parts[0] == "api":
		of.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		of.Group, of.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return of, false
	}
	if len(parts) == 3 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	of.Resource = parts[0]
	return of, len(parts) == 1
}

// page returns how many objects the next page of the list at path has, at most limit if there is one.
func (l *lists) page(path string, limit int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := firstPage
	if last, is := l.sizes[path]; is {
		n = int(min(pageBudget/max(last.each, 1), uint64(nextPages*last.objects)))
	}
	if limit <= 0 {
		limit = mostPage
	}
	return min(max(n, 1), limit)
}

// took notes that a page of so many objects was made with allocations of so many bytes, some of which may be others'.
func (l *lists) took(path string, objects int, allocated uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sizes == nil {
		l.sizes = map[string]pageSize{}
	}
	l.sizes[path] = pageSize{objects, allocated / uint64(objects)}
}

// goOn repeats a request whose continue token has expired with the one in the answer. See upstream's
// handleCompactedErrorForPaging.
func (t listing) goOn(r *http.Request, query url.Values, expired *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(expired.Body)
	expired.Body.Close()
	if err != nil {
		return nil, err
	}
	var status metav1.Status
	if !query.Has("continue") || json.Unmarshal(body, &status) != nil || status.Continue == "" {
		expired.Body = io.NopCloser(bytes.NewReader(body))
		return expired, nil
	}
	query.Set("continue", status.Continue)
	r = r.Clone(r.Context())
	r.URL.RawQuery = query.Encode()
	return t.next.RoundTrip(r)
}

// restore makes a list of metadata one of objects of their own kind, as which kubectl's commands find the resource. What
// delete does not read is left out. An answer of another kind stays as it is.
func (l *lists) restore(response *http.Response, resource schema.GroupVersionResource) error {
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return err
	}
	var list metav1.PartialObjectMetadataList
	if json.Unmarshal(body, &list) == nil && list.Kind == "PartialObjectMetadataList" {
		mapper, err := l.mapper()
		if err != nil {
			return err
		}
		kind, err := mapper.KindFor(resource)
		if err != nil {
			return err
		}
		list.APIVersion, list.Kind = kind.GroupVersion().String(), kind.Kind+"List"
		for i := range list.Items {
			item := &list.Items[i]
			item.APIVersion, item.Kind = list.APIVersion, kind.Kind
			item.ManagedFields, item.Annotations = nil, nil
		}
		if body, err = json.Marshal(&list); err != nil {
			return err
		}
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// counter reads a metric of Go's runtime.
func counter(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
