package evaluate

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/yaml"

	"github.com/kubetab/kubetab/core/requestlog"
)

const (
	// mostText is how much of an answer is in its field text, in bytes.
	mostText = 4 << 10
	// mostEvents is how many events of one watch are kept; the first go first.
	mostEvents = 200
)

// infos reads paths as an API server does.
var infos = &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// exchange is a request as checks see it. It belongs to the evaluator's goroutine, but for the values that are decoded
// when they are first looked at.
type exchange struct {
	id     int64
	pod    bool
	watch  bool
	done   bool
	size   int // bytes that it keeps alive
	fields map[string]any
	lazy   map[string]func() any
	events []any
	cel    ref.Val // nil after a change
}

// byOf is what made a request, as checks name it.
func byOf(r requestlog.Record, h http.Header) string {
	switch {
	case r.From == requestlog.FromTerminal:
		return "curl"
	case r.From != "page":
		return r.From
	}
	agent, _, _ := strings.Cut(h.Get("User-Agent"), "/")
	switch agent {
	case "", "Mozilla":
		return "page"
	case "kubectl": // without a command: it completes what is being typed
		return "completion"
	}
	return agent
}

// notLearners are what asks for the page and the terminal themselves.
var notLearners = sets.New("view", "control", "lesson", "completion", requestlog.FromDiscovery, requestlog.FromTrust)

// isLearners reports whether a request is the learner's own.
func isLearners(r requestlog.Record, h http.Header) bool {
	return !r.Internal && !notLearners.Has(byOf(r, h)) && !strings.Contains(r.Command, "__complete") && !strings.HasPrefix(r.Path, "/kubetab/lesson")
}

// accountOf is the namespace of a service account's user name; empty for others.
func accountOf(user string) string {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	if !ok {
		return ""
	}
	namespace, _, _ := strings.Cut(rest, ":")
	return namespace
}

// writes reports whether a request may have changed something.
func (x *exchange) writes() bool {
	_, isTrial := x.fields["query"].(map[string]any)["dryRun"]
	method := x.fields["method"]
	return method != http.MethodGet && method != http.MethodHead && x.fields["status"].(int) < http.StatusBadRequest && !isTrial
}

// revision is the one at which the object was written that a request is answered with; empty for an answer without one, and
// while there is none.
func (x *exchange) revision() string {
	if !x.done {
		return ""
	}
	answer, _ := x.lazy["answer"]().(map[string]any)
	body, _ := answer["body"].(map[string]any)
	metadata, _ := body["metadata"].(map[string]any)
	revision, _ := metadata["resourceVersion"].(string)
	return revision
}

// newExchange makes what checks see of a request from what has passed of it.
func newExchange(p requestlog.Passing) *exchange {
	x := &exchange{id: p.ID, watch: p.Watch, pod: p.From == requestlog.FromPod}
	path, rawQuery, _ := strings.Cut(p.Path, "?")
	values, _ := url.ParseQuery(rawQuery) // what is no query is left out, as net/url does for a server
	query := make(map[string]any, len(values))
	for name, list := range values {
		query[name] = list[0]
	}
	x.fields = map[string]any{
		"id": p.ID, "at": time.UnixMilli(p.Begin).UTC(), "method": p.Method, "path": path, "query": query, "headers": headers(p.RequestHeader),
		"verb": p.Verb, "group": p.Group, "version": "", "resource": p.Resource, "subresource": p.Subresource, "namespace": p.Namespace, "name": p.Name,
		"user": p.User, "by": byOf(p.Record, p.RequestHeader), "watch": p.Watch,
	}
	if x.pod {
		x.fields["by"] = "pod"
	}
	if p.User == "" {
		x.fields["user"] = p.RequestHeader.Get("Impersonate-User")
	}
	// The authorizer was not asked about what flow control has refused, and does not know of versions.
	if info, err := infos.NewRequestInfo(&http.Request{Method: p.Method, URL: &url.URL{Path: path, RawQuery: rawQuery}}); err == nil {
		if info.IsResourceRequest {
			x.fields["version"] = info.APIVersion
		}
		if p.Verb == "" {
			for name, value := range map[string]string{
				"verb": info.Verb, "group": info.APIGroup, "resource": info.Resource, "subresource": info.Subresource, "namespace": info.Namespace, "name": info.Name,
			} {
				x.fields[name] = value
			}
		}
	}
	x.update(p)
	return x
}

// update takes in how far the request has come.
func (x *exchange) update(p requestlog.Passing) {
	x.done, x.cel = p.Part == requestlog.PartEnd, nil
	x.fields["status"], x.fields["done"] = p.Status, x.done
	x.lazy = map[string]func() any{
		"body": sync.OnceValue(func() any {
			return parse(p.RequestBody.Decode(p.RequestHeader), p.RequestBody.Whole())
		}),
		"answer": sync.OnceValue(func() any { return answer(p) }),
	}
	x.size = len(p.RequestBody.Data) + len(p.ResponseBody.Data)
	x.fields["events"] = x.events
}

// event adds one of a watch.
func (x *exchange) event(p requestlog.Passing) {
	x.update(p)
	body := p.DecodeEvent()
	if event := parse(&body, p.WatchEvent != nil); event != nil {
		x.events = append(x.events[max(0, len(x.events)+1-mostEvents):len(x.events):len(x.events)], event)
	}
	x.size += len(x.events) << 10 // of which each may be larger: an estimate
	x.fields["events"] = x.events
}

// forget gives up what is large.
func (x *exchange) forget() {
	x.cel, x.size, x.events, x.fields["events"] = nil, 0, nil, []any{}
	x.lazy = map[string]func() any{"body": none, "answer": func() any { return emptyAnswer() }}
}

func none() any { return nil }

// mostRemembered is how large a request may be that is kept for another engine, in bytes of JSON.
const mostRemembered = 4 << 10

// remember writes a request for CheckState.Request, without what makes it too large: text that is parsed as well, events,
// the items of a list, bodies. It is nil for a request whose head alone is too large.
func (x *exchange) remember() json.RawMessage {
	all := maps.Clone(x.fields)
	for name, make := range x.lazy {
		all[name] = make()
	}
	answer, ok := all["answer"].(map[string]any)
	if !ok {
		return nil
	}
	answer = maps.Clone(answer)
	all["answer"] = answer
	for _, without := range []func(){
		func() {},
		func() { answer["text"] = "" },
		func() { all["events"] = []any{} },
		func() {
			if body, ok := answer["body"].(map[string]any); ok && body["items"] != nil {
				body = maps.Clone(body)
				delete(body, "items")
				answer["body"] = body
			}
		},
		func() { answer["body"] = nil },
		func() { all["body"] = nil },
	} {
		without()
		if text, err := json.Marshal(all); err == nil && len(text) <= mostRemembered {
			return text
		}
	}
	return nil
}

// remembered reads what remember has written; nil is for what is none. Its id is smaller than those of all other requests,
// which another engine counts.
func remembered(text json.RawMessage) ref.Val {
	var fields map[string]any
	if len(text) == 0 || utiljson.Unmarshal(text, &fields) != nil || fields == nil {
		return nil
	}
	at, _ := fields["at"].(string)
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil
	}
	fields["id"], fields["at"] = 0, when
	return types.DefaultTypeAdapter.NativeToValue(fields)
}

func emptyAnswer() map[string]any {
	return map[string]any{"headers": map[string]any{}, "body": nil, "text": "", "warnings": []any{}, "reason": ""}
}

func answer(p requestlog.Passing) map[string]any {
	a := emptyAnswer()
	a["headers"] = headers(p.ResponseHeader)
	warnings := []any{}
	for _, value := range p.ResponseHeader.Values("Warning") {
		warnings = append(warnings, value)
	}
	a["warnings"] = warnings
	body := p.ResponseBody.Decode(p.ResponseHeader)
	if body == nil {
		return a
	}
	a["text"] = body.Text[:min(len(body.Text), mostText)]
	a["body"] = parse(body, p.ResponseBody.Whole())
	if status, ok := a["body"].(map[string]any); ok && status["kind"] == "Status" {
		if reason, ok := status["reason"].(string); ok {
			a["reason"] = reason
		}
	}
	return a
}

// parse reads a body as what JSON or YAML says in it; nil when it says nothing.
func parse(b *requestlog.Body, whole bool) any {
	if b == nil || !whole {
		return nil
	}
	text := []byte(b.Text)
	var value any
	switch b.Language {
	case "yaml":
		converted, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil
		}
		text = converted
	case "json":
	default:
		return nil
	}
	if utiljson.Unmarshal(text, &value) != nil {
		return nil
	}
	return value
}

func headers(h http.Header) map[string]any {
	all := make(map[string]any, len(h))
	for name, values := range h {
		all[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return all
}

// val is the exchange in CEL, as it is now.
func (x *exchange) val() ref.Val {
	if x.cel != nil {
		return x.cel
	}
	fields := make(map[string]any, len(x.fields)+len(x.lazy))
	for name, value := range x.fields {
		fields[name] = value
	}
	for name := range x.lazy {
		fields[name] = nil
	}
	x.cel = &requestVal{types.NewStringInterfaceMap(types.DefaultTypeAdapter, fields), x.lazy}
	return x.cel
}

// requestVal is a map of which some values are made when they are asked for: most checks look at the head of a request
// only, and a body may be large.
type requestVal struct {
	traits.Mapper
	lazy map[string]func() any
}

func (v *requestVal) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		if make := v.lazy[string(name)]; make != nil {
			return types.DefaultTypeAdapter.NativeToValue(make()), true
		}
	}
	return v.Mapper.Find(key)
}

func (v *requestVal) Get(key ref.Val) ref.Val {
	if value, ok := v.Find(key); ok {
		return value
	}
	return v.Mapper.Get(key)
}
