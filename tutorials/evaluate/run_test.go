package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/checks"
)

// begin returns a lesson that is ready, without a cluster: what happens is told to it by hand, one thing after another.
func begin(t *testing.T, c *clocktesting.FakeClock, steps ...tutorials.Step) *run {
	t.Helper()
	config := Config{Requests: requestlog.New(requestlog.Options{})}
	if c != nil {
		config.Clock = c
	}
	b := tutorials.Begin{Lesson: tutorials.Lesson{
		ID: "part/one", Namespace: "one", Objects: map[string]tutorials.Watched{"cm": {Resource: "configmaps"}}, Steps: steps,
	}}
	all, hints, err := checks.Compile(&b.Lesson)
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(New(config), b, all, hints)
	t.Cleanup(r.cancel)
	r.ready = true
	r.list = func(context.Context, string) (*unstructured.UnstructuredList, error) { return nil, nil }
	for _, name := range []string{"cm", tutorials.AnswersVariable} {
		r.objects[name] = &objects{byKey: map[string]map[string]any{}}
	}
	return r
}

// object changes one of cm's objects; nil removes it.
func (r *run) object(name string, o map[string]any) {
	at := r.objects["cm"]
	if at.sorted = nil; o == nil {
		delete(at.byKey, name)
	} else {
		at.byKey[name] = o
	}
	r.look(nil, "cm")
}

func named(name string) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name}}
}

func get(id int64, path string) requestlog.Passing {
	return requestlog.Passing{Part: requestlog.PartEnd, Record: requestlog.Record{ID: id, From: "kubectl", Method: "GET", Path: path, Status: 200}}
}

// done are the ids of the checks that are true.
func done(r *run) string {
	var ids []string
	for _, s := range r.state().Steps {
		for _, c := range s.Checks {
			if c.Done {
				ids = append(ids, c.ID)
			}
		}
	}
	return strings.Join(ids, " ")
}

func expect(t *testing.T, r *run, when, want string) {
	t.Helper()
	if got := done(r); got != want {
		t.Errorf("%s: true are %q, not %q", when, got, want)
	}
}

func TestEachKindOfCheck(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
	r := begin(t, clock, tutorials.Step{ID: "s", Checks: []tutorials.Check{
		{ID: "now", Now: `cm.exists(o, o.metadata.name == "a")`, Seen: `cm[0].metadata.name`},
		{ID: "none", None: `cm.exists(o, o.metadata.name == "held")`},
		{ID: "once", Once: `cm.size() == 2`},
		{ID: "lasting", Now: `cm.exists(o, o.metadata.name == "a")`, For: "10s"},
		{ID: "never", Never: `request.verb == "deletecollection"`},
	}})
	r.look(nil, "")
	expect(t, r, "at first", "")
	r.object("held", named("held"))
	r.object("a", named("a"))
	expect(t, r, "with a", "now once")
	if seen := r.state().Steps[0].Checks[0].Seen; seen != "a" {
		t.Errorf("seen is %q", seen)
	}
	r.object("a", nil)
	expect(t, r, "a now follows, a once stays", "once")
	r.object("a", named("a"))
	r.object("held", nil)
	expect(t, r, "what was there is gone", "now none once")
	pass := func(d time.Duration) {
		clock.Step(d)
		r.step()
	}
	pass(9 * time.Second)
	expect(t, r, "not long enough", "now none once")
	if r.state().Steps[0].Done {
		t.Error("the step is done too early")
	}
	pass(time.Second)
	expect(t, r, "long enough", "now none once lasting never")
	r.object("a", nil)
	if s := r.state().Steps[0]; !s.Done || s.Checks[0].Done || s.Checks[3].Done {
		t.Errorf("a step that was done stays, its checks follow: %+v", s)
	}
	sweep := get(1, "/api/v1/namespaces/one/pods")
	sweep.Verb = "deletecollection"
	r.request(sweep)
	if c := r.state().Steps[0].Checks[4]; c.Done || !c.Failed {
		t.Errorf("never: %+v", c)
	}
}

// TestProgressOutlivesTheEngine: a run that is given the state of another one goes on from there. What it was given is all
// that it has: requests are counted anew, and objects come by other watches.
func TestProgressOutlivesTheEngine(t *testing.T) {
	steps := []tutorials.Step{
		{ID: "one", Checks: []tutorials.Check{
			{ID: "first", Once: `request.path == "/a"`, Seen: `request.answer.body.metadata.uid`},
			{ID: "there", Now: `cm.exists(o, o.metadata.name == "a")`},
			{ID: "calm", Never: `request.verb == "deletecollection"`},
		}},
		{ID: "two", Checks: []tutorials.Check{
			{ID: "gone", None: `cm.exists(o, o.metadata.name == "held")`},
			{ID: "second", Once: `request.path == "/b" && request.id > earlier.first.id && request.answer.body.metadata.uid == earlier.first.answer.body.metadata.uid && request.at > earlier.first.at`, After: "first"},
			{ID: "calmer", Never: `request.path == "/c"`},
		}},
	}
	answered := func(id, at int64, path string) requestlog.Passing {
		p := get(id, path)
		p.Begin = at
		p.ResponseHeader = http.Header{"Content-Type": {"application/json"}}
		text := `{"metadata":{"uid":"u1"},"text":"` + strings.Repeat("x", mostRemembered/2) + `"}`
		p.ResponseBody = requestlog.Bytes{Data: []byte(text), Size: int64(len(text))}
		return p
	}
	r := begin(t, nil, steps...)
	r.object("held", named("held"))
	r.object("a", named("a"))
	r.request(answered(7, 1000, "/a"))
	r.request(get(8, "/c"))
	expect(t, r, "before", "first there calm")
	kept, err := json.Marshal(r.state().Steps)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) > 2*mostRemembered {
		t.Errorf("the state has %d bytes", len(kept))
	}

	again := begin(t, nil, steps...)
	var progress []tutorials.StepState
	if err := json.Unmarshal(kept, &progress); err != nil {
		t.Fatal(err)
	}
	again.restore(append(progress, tutorials.StepState{ID: "unknown", Done: true, Checks: []tutorials.CheckState{{ID: "unknown", Done: true}}}))
	again.look(nil, "")
	s := again.state().Steps
	if !s[0].Done || s[1].Done || !s[0].Checks[0].Done || s[0].Checks[0].Seen != "u1" || s[0].Checks[0].At == "" {
		t.Errorf("%+v", s)
	}
	if s[0].Checks[1].Done {
		t.Error("a now is true of objects that are not there any more")
	}
	if c := s[1].Checks[2]; !c.Failed || c.Done {
		t.Errorf("a never that had failed: %+v", c)
	}
	// Objects that the new engine does not serve are not gone.
	expect(t, again, "after", "first calm")
	again.object("held", named("held"))
	again.object("held", nil)
	expect(t, again, "deleted", "first calm gone")
	again.request(answered(1, 2000, "/b"))
	expect(t, again, "by an earlier request", "first calm gone second")
}

func TestRememberedRequestsAreSmall(t *testing.T) {
	items := `{"kind":"List","metadata":{"resourceVersion":"5"},"items":["` + strings.Repeat("x", mostRemembered) + `"]}`
	for _, c := range []struct{ name, request, response, want string }{
		{"small", `{"a":1}`, `{"b":2}`, `1 2 {"b":2}`},
		{"a long list", `{}`, items, "5"},
		{"a long answer", `{"a":1}`, `{"b":"` + strings.Repeat("x", mostRemembered) + `"}`, "1"},
		{"a long body", `{"a":"` + strings.Repeat("x", mostRemembered) + `"}`, `{"b":2}`, ""},
	} {
		p := get(1, "/a")
		p.RequestHeader, p.ResponseHeader = http.Header{"Content-Type": {"application/json"}}, http.Header{"Content-Type": {"application/json"}}
		p.RequestBody = requestlog.Bytes{Data: []byte(c.request), Size: int64(len(c.request))}
		p.ResponseBody = requestlog.Bytes{Data: []byte(c.response), Size: int64(len(c.response))}
		text := newExchange(p).remember()
		if len(text) > mostRemembered {
			t.Errorf("%s: %d bytes", c.name, len(text))
		}
		e, err := checks.New(&tutorials.Lesson{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, path := range []string{"string(earlier.x.body.a)", "string(earlier.x.answer.body.b)", "earlier.x.answer.body.metadata.resourceVersion", "earlier.x.answer.text"} {
			expression, err := e.String(path)
			if err != nil {
				t.Fatal(err)
			}
			value, err := expression.String(map[string]any{checks.Earlier: map[string]ref.Val{"x": remembered(text)}})
			if err != nil {
				t.Fatal(err)
			}
			if value != "" {
				got = append(got, value)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, not %s", c.name, got, c.want)
		}
	}
	for _, text := range []string{"", "null", "[]", "{}", `{"at":3}`, "{"} {
		if v := remembered([]byte(text)); v != nil {
			t.Errorf("%s is taken for a request: %v", text, v)
		}
	}
}

func TestForBeginsAgain(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
	r := begin(t, clock, tutorials.Step{ID: "s", Checks: []tutorials.Check{{ID: "calm", Now: `cm.size() == 0`, For: "10s"}}})
	pass := func(d time.Duration) {
		clock.Step(d)
		r.step()
	}
	r.look(nil, "")
	pass(9 * time.Second)
	r.object("a", named("a"))
	r.object("a", nil)
	pass(9 * time.Second)
	expect(t, r, "disturbed in between", "")
	pass(time.Second)
	expect(t, r, "in the end", "calm")
}

func TestHintsBelongToOpenSteps(t *testing.T) {
	hint := tutorials.Hint{ID: "h", When: `request.path == "/wrong"`, Until: `request.path == "/mended"`}
	r := begin(t, nil,
		tutorials.Step{ID: "one", Checks: []tutorials.Check{{ID: "a", Once: `request.path == "/a"`}}, Hints: []tutorials.Hint{hint}},
		tutorials.Step{ID: "two", Checks: []tutorials.Check{{ID: "b", Once: `request.path == "/b"`}}, Hints: []tutorials.Hint{hint}},
	)
	shown := func() string { s := r.state(); return fmt.Sprint(s.Steps[0].Hints, s.Steps[1].Hints) }
	id := int64(0)
	for _, c := range []struct{ path, want string }{
		{"/wrong", "[h] []"}, {"/other", "[h] []"}, {"/mended", "[] []"}, {"/wrong", "[h] []"}, {"/a", "[] []"}, {"/wrong", "[] [h]"}, {"/b", "[] []"},
	} {
		id++
		r.request(get(id, c.path))
		if got := shown(); got != c.want {
			t.Errorf("after %s the hints are %s, not %s", c.path, got, c.want)
		}
	}
}

func TestOnlyTheLearnersRequestsCount(t *testing.T) {
	for _, c := range []struct {
		from, agent, command string
		internal, counts     bool
	}{
		{from: "kubectl", command: "kubectl get", counts: true},
		{from: "console", counts: true},
		{from: "script", counts: true},
		{from: "page", agent: "Mozilla/5.0", counts: true},
		{from: requestlog.FromTerminal, agent: "curl/8.5.0", counts: true},
		{from: "page", agent: "greeter/v0.0.0", counts: true},
		{from: "view"}, {from: "control"}, {from: "lesson"}, {from: requestlog.FromDiscovery}, {from: requestlog.FromTrust},
		{from: "page", agent: "kubectl/v1.37"},
		{from: "kubectl", command: "kubectl __completeNoDesc"},
		{from: "kube-controller-manager", internal: true},
		{from: requestlog.FromPod, internal: true},
	} {
		r := begin(t, nil, tutorials.Step{ID: "s", Checks: []tutorials.Check{{ID: "a", Once: `request.path == "/a"`}}})
		p := get(1, "/a")
		p.From, p.Command, p.Internal = c.from, c.command, c.internal
		p.RequestHeader = http.Header{"User-Agent": {c.agent}}
		p.User = "system:serviceaccount:one:default" // of the Pod
		if r.wants(nil, p.From, p.Internal) {
			r.request(p)
		}
		if got := done(r) == "a"; got != c.counts {
			t.Errorf("%+v counts: %t", c, got)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	r := begin(t, nil, tutorials.Step{ID: "s", Checks: []tutorials.Check{{ID: "a", Once: `requests.size() == 500 && requests.all(x, x.status == 200)`}}})
	for id := range int64(1000) {
		p := get(id+1, "/a")
		p.ResponseBody = requestlog.Bytes{Data: make([]byte, 100<<10), Size: 100 << 10}
		r.request(p)
	}
	total := 0
	for _, x := range r.learner {
		total += x.size
	}
	if len(r.learner) > mostRequests || total > mostBytes || len(r.open) != 0 {
		t.Errorf("%d requests, %d bytes, %d open", len(r.learner), total, len(r.open))
	}
	expect(t, r, "heads stay", "a")

	w := get(2000, "/a?watch=1")
	w.Watch, w.Part, w.ContentType = true, requestlog.PartHead, "application/json"
	r.request(w)
	w.Part = requestlog.PartEvent
	for i := range 3 * mostEvents {
		w.WatchEvent = fmt.Appendf(nil, `{"type":"ADDED","object":{"n":%d}}`, i)
		r.request(w)
	}
	events := r.open[2000].events
	if last := fmt.Sprint(events[len(events)-1]); len(events) != mostEvents || last != fmt.Sprintf("map[object:map[n:%d] type:ADDED]", 3*mostEvents-1) {
		t.Errorf("%d events, the last %s", len(events), last)
	}
}

func TestTooMuchAtOnceIsToldAndBlocksNobody(t *testing.T) {
	r := begin(t, nil, tutorials.Step{ID: "s", Checks: []tutorials.Check{{ID: "a", Once: `request.path == "/a"`}}})
	for id := range int64(mostQueued + 10) {
		r.deliver(get(id+1, "/b"))
	}
	r.step()
	r.deliver(get(mostQueued+100, "/a"))
	r.step()
	s := r.e.State()
	if !strings.HasPrefix(s.Error, "10 requests or changes came too quickly") || !s.Steps[0].Checks[0].Done {
		t.Errorf("%+v", s)
	}
}

func TestMissingFieldsAreFalseAndMistakesAreTold(t *testing.T) {
	r := begin(t, nil, tutorials.Step{ID: "s", Checks: []tutorials.Check{
		{ID: "missing", Once: `request.answer.body.items[3].metadata.name == "a" || request.body.x > 1`},
		{ID: "mistake", Once: `10 / (request.status - 200) > 0`},
		{ID: "null", Now: `cm.exists(o, o.status.conditions.exists(c, c.type == "Established"))`},
	}})
	r.object("berths", map[string]any{"metadata": map[string]any{"name": "berths"}, "status": map[string]any{"conditions": nil}})
	r.request(get(1, "/a"))
	s := r.state().Steps[0].Checks
	if s[0].Error != "" || s[0].Done || !strings.Contains(s[1].Error, "zero") || s[1].Done || s[2].Error != "" || s[2].Done {
		t.Errorf("%+v", s)
	}
	p := get(2, "/a")
	p.Status = 201
	r.request(p)
	if s := r.state().Steps[0].Checks[1]; s.Error != "" || !s.Done {
		t.Errorf("%+v", s)
	}
}

func TestHandlerRefuses(t *testing.T) {
	h := New(Config{Requests: requestlog.New(requestlog.Options{})}).Handler()
	const lesson = `{"lesson":{"id":"a/b","namespace":"n","steps":[{"id":"s","checks":[{"id":"c","now":"%s"}]}]}}`
	for _, c := range []struct {
		method, body, header string
		code                 int
		says                 string
	}{
		{"PUT", "", "Authorization", 403, "belongs to the page"},
		{"GET", "", "Impersonate-User", 403, "belongs to the page"},
		{"POST", "", "", 405, "PUT"},
		{"PUT", "{", "", 400, "EOF"},
		{"PUT", `{"lessen":{}}`, "", 400, "lessen"},
		{"PUT", `{"lesson":{}}`, "", 400, "an id and a namespace"},
		{"PUT", fmt.Sprintf(lesson, "1 +"), "", 422, "does not compile"},
		{"GET", "", "", 200, `"steps":[]`},
		{"DELETE", "", "", 204, ""},
	} {
		r := httptest.NewRequest(c.method, Path, strings.NewReader(c.body))
		if c.header != "" {
			r.Header.Set(c.header, "x")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if text, _ := io.ReadAll(w.Body); w.Code != c.code || !strings.Contains(string(text), c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.body, w.Code, text)
		}
	}
}
