package evaluate

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/tutorials"
)

// TestAfterSeesNoObjectsFromBeforeARequest: the watch may be behind a request that has been answered.
func TestAfterSeesNoObjectsFromBeforeARequest(t *testing.T) {
	object := func(name, revision string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": "one", "resourceVersion": revision}}}
	}
	for _, c := range []struct{ name, kind string }{{"once", "once"}, {"never", "never"}, {"now", "now"}} {
		t.Run(c.name, func(t *testing.T) {
			held := tutorials.Check{ID: "held", After: "asked"}
			const is = `cm.exists(o, o.metadata.name == "held")`
			switch c.kind {
			case "once":
				held.Once = is
			case "never":
				held.Never = is
			default:
				held.Now = is
			}
			r := begin(t, nil, tutorials.Step{ID: "s", Checks: []tutorials.Check{{ID: "asked", Once: `request.path == "/a"`}, held, {ID: "other", Once: `cm.exists(o, o.metadata.name == "seen")`}}})
			isTrue := func() bool {
				s := r.state().Steps[0].Checks[1]
				return s.Done && c.kind != "never" || s.Failed
			}
			change := func(o *unstructured.Unstructured, gone bool) {
				r.objects["cm"].put(o, gone)
				r.look(nil, "cm")
			}
			r.list = func(context.Context, string) (*unstructured.UnstructuredList, error) {
				l := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*object("other", "8")}}
				l.SetResourceVersion("20")
				return l, nil
			}
			change(object("held", "7"), false)
			r.request(get(1, "/a")) // at 20: held is gone by then, which the watch has not brought yet
			change(object("seen", "9"), false)
			change(object("seen", "10"), true)
			if isTrue() || !strings.Contains(done(r), "other") {
				t.Errorf("while the watch is behind: %+v", r.state())
			}
			change(object("held", "15"), true)
			change(object("late", "21"), false)
			if isTrue() {
				t.Errorf("when the watch has caught up: %+v", r.state())
			}
			change(object("held", "22"), false)
			if !isTrue() {
				t.Errorf("after a change that came later: %+v", r.state())
			}
		})
	}
}

// TestAfterGoesByWhenRequestsBegin: of two requests the first may end last, when a client has its answer before the handler
// has returned.
func TestAfterGoesByWhenRequestsBegin(t *testing.T) {
	step := tutorials.Step{ID: "s", Checks: []tutorials.Check{
		{ID: "third", Once: `request.path == "/c"`, After: "second"},
		{ID: "second", Once: `request.path == "/b" && request.id > earlier.first.id`, After: "first"},
		{ID: "first", Once: `request.path == "/a"`},
	}}
	r := begin(t, nil, step)
	r.request(get(1, "/b"))
	r.request(get(4, "/c"))
	r.request(get(3, "/b"))
	expect(t, r, "before the first", "")
	r.request(get(2, "/a"))
	expect(t, r, "after the first", "third second first")

	r = begin(t, nil, step)
	r.request(get(1, "/b"))
	r.request(get(2, "/a"))
	expect(t, r, "what came before does not count", "first")
}

// TestAfterGoesByWhatWasDone: the watch may bring what one request has done when the next one has been answered already. What
// did nothing is not taken for the one.
func TestAfterGoesByWhatWasDone(t *testing.T) {
	held := map[string]any{"metadata": map[string]any{"name": "held"}}
	asked := func(id int64, method, query string, status int) requestlog.Passing {
		return requestlog.Passing{Part: requestlog.PartEnd, Record: requestlog.Record{ID: id, From: "kubectl", Method: method, Path: "/held" + query, Status: status}}
	}
	for _, c := range []struct {
		name string
		next requestlog.Passing
		want string
	}{
		{"refused", asked(2, "DELETE", "", 404), "gone again"},
		{"a trial", asked(2, "DELETE", "?dryRun=All", 200), "gone again"},
		{"done", asked(2, "DELETE", "", 200), "gone"}, // this one may have been what deleted it
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin(t, nil, tutorials.Step{ID: "s", Checks: []tutorials.Check{
				{ID: "gone", None: `cm.exists(o, o.metadata.name == "held")`},
				{ID: "again", Once: `request.method == "DELETE"`, After: "gone"},
			}})
			r.object("held", held)
			r.request(asked(1, "DELETE", "", 200))
			r.request(c.next)
			expect(t, r, "while the watch is behind", "")
			r.object("held", nil)
			expect(t, r, "when the watch has caught up", c.want)
		})
	}
}

// TestAfterGoesByRevisions: a write that has been answered with a later revision than the watch has brought is not what made
// a check true, so that it may be what the next one waits for.
func TestAfterGoesByRevisions(t *testing.T) {
	held := func(revision string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "held", "resourceVersion": revision}}}
	}
	put := func(id int64, revision string) requestlog.Passing {
		p := get(id, "/held")
		p.Method, p.ResponseHeader = "PUT", http.Header{"Content-Type": {"application/json"}}
		body := fmt.Sprintf(`{"metadata": {"name": "held", "resourceVersion": %q}}`, revision)
		p.ResponseBody = requestlog.Bytes{Data: []byte(body), Size: int64(len(body))}
		return p
	}
	for _, c := range []struct {
		name     string
		revision string // of the second
		want     string
	}{
		{"later than what was seen", "13", "made again"},
		{"what was seen", "12", "made"},
		{"nobody knows", "", "made"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin(t, nil, tutorials.Step{ID: "s", Checks: []tutorials.Check{
				{ID: "made", Once: `cm.exists(o, o.metadata.name == "held")`},
				{ID: "again", Once: `request.method == "PUT"`, After: "made"},
			}})
			r.request(get(1, "/held"))
			r.request(put(2, "12"))
			r.request(put(3, c.revision))
			expect(t, r, "while the watch is behind", "")
			r.objects["cm"].put(held("12"), false)
			r.look(nil, "cm")
			expect(t, r, "when the watch brings the first", c.want)
		})
	}
}
