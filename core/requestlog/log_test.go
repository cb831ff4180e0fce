package requestlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // an engine installs every group
)

// serve is a server whose every request is recorded, with the log at its place.
func serve(t *testing.T, l *Log, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	logged := l.Wrap(h, false)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, Prefix) {
			l.Handler().ServeHTTP(w, r)
			return
		}
		logged.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, url string, into any) int {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode
}

func detail(t *testing.T, s *httptest.Server, id int64) Detail {
	t.Helper()
	var d Detail
	if code := get(t, fmt.Sprintf("%s%s/%d", s.URL, Prefix, id), &d); code != http.StatusOK {
		t.Fatalf("request %d: %d", id, code)
	}
	return d
}

func records(l *Log) []Record {
	all, _ := l.since(0)
	return all
}

func TestRequestIsRecordedAndPassedOnUnchanged(t *testing.T) {
	l := New(Options{})
	allow := l.Authorizer(authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionAllow, "because", nil
	}))
	s := serve(t, l, func(w http.ResponseWriter, r *http.Request) {
		who := &user.DefaultInfo{Name: "jane"}
		for _, verb := range []string{"impersonate-on:user-info:create", "impersonate:user-info", "impersonate"} {
			_, _, _ = allow.Authorize(r.Context(), authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "admin"}, Verb: verb, ResourceRequest: true, Resource: "users"})
		}
		_, _, _ = allow.Authorize(r.Context(), authorizer.AttributesRecord{User: who, Verb: "create", ResourceRequest: true, Resource: "pods", Namespace: "default"})
		_, _, _ = allow.Authorize(r.Context(), authorizer.AttributesRecord{User: who, Verb: "use", ResourceRequest: true, Resource: "other"})
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"got":%q}`, body)
	})
	request, _ := http.NewRequest("POST", s.URL+"/api/v1/namespaces/default/pods?dryRun=All", strings.NewReader("a: 1"))
	request.Header.Set("Content-Type", "application/yaml")
	request.Header.Set("Authorization", "Bearer s3cret")
	request.Header.Set("Kubectl-Command", "kubectl apply")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(response.Body)
	if string(answer) != `{"got":"a: 1"}` || response.StatusCode != http.StatusCreated {
		t.Errorf("the client got %d %s", response.StatusCode, answer)
	}

	d := detail(t, s, 1)
	want := Record{
		ID: 1, From: "kubectl", Command: "kubectl apply", Method: "POST", Path: "/api/v1/namespaces/default/pods?dryRun=All",
		Verb: "create", Resource: "pods", Namespace: "default", User: "jane", Impersonator: "admin",
		Status: 201, ContentType: "application/json", RequestBytes: 4, Bytes: 14, Done: true,
	}
	want.Begin, want.MS, want.HeadMS = d.Begin, d.MS, d.HeadMS
	if d.Record != want {
		t.Errorf("record\n%+v, not\n%+v", d.Record, want)
	}
	if d.Reason != "because" || d.RequestBody.Text != "a: 1" || d.RequestBody.Language != "yaml" || d.ResponseBody.Text != `{"got":"a: 1"}` {
		t.Errorf("%+v %+v %+v", d.Reason, d.RequestBody, d.ResponseBody)
	}
	if text := fmt.Sprint(d.RequestHeaders); strings.Contains(text, "s3cret") || !strings.Contains(text, "Bearer (not kept)") {
		t.Errorf("headers %s", text)
	}
}

func TestLogRefusesOtherIdentitiesAndWriting(t *testing.T) {
	l := New(Options{})
	for header, code := range map[string]int{"Authorization": 403, "Impersonate-User": 403, "X-Other": 200} {
		r := httptest.NewRequest("GET", Prefix, nil)
		r.Header.Set(header, "x")
		w := httptest.NewRecorder()
		l.Handler().ServeHTTP(w, r)
		if w.Code != code {
			t.Errorf("%s: %d, not %d", header, w.Code, code)
		}
	}
	for _, r := range []*http.Request{httptest.NewRequest("DELETE", Prefix, nil), httptest.NewRequest("GET", Prefix+"/x", nil), httptest.NewRequest("GET", Prefix+"/7", nil), httptest.NewRequest("GET", Prefix+"/7/events", nil)} {
		w := httptest.NewRecorder()
		l.Handler().ServeHTTP(w, r)
		var status metav1.Status
		if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil || int(status.Code) != w.Code || w.Code < 400 {
			t.Errorf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	o := Options{Records: 20, BodyBytes: 100, TotalBytes: 700}
	l := New(o)
	h := l.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 1000))
	}), false)
	running := l.begin(httptest.NewRequest("GET", "/running", nil), false, nil)
	for range 500 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil))
		l.mu.Lock()
		held := 0
		for _, e := range l.entries {
			held += len(e.requestBody.kept) + len(e.responseBody.kept)
		}
		if held != l.held || held > o.TotalBytes || len(l.entries) > o.Records {
			t.Fatalf("%d bytes held, %d counted, %d entries", held, l.held, len(l.entries))
		}
		l.mu.Unlock()
	}
	all := records(l)
	if len(all) < o.Records/2 || all[0].ID != running.ID || all[len(all)-1].Bytes != 1000 {
		t.Errorf("%d records, first %+v, last %+v", len(all), all[0], all[len(all)-1])
	}
	l.Forget()
	if left := records(l); len(left) != 1 || left[0].ID != running.ID {
		t.Errorf("after Forget %+v", left)
	}
}

func TestFollowerSeesEachRequestBeginAndEnd(t *testing.T) {
	l := New(Options{})
	proceed := make(chan struct{})
	s := serve(t, l, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-proceed
	})
	stream, err := http.Get(s.URL + Prefix + "?follow=1")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := json.NewDecoder(stream.Body)
	go func() {
		if r, err := http.Get(s.URL + "/api/v1/pods"); err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
	}()
	next := func() (r Record) {
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := next()
	for first.Status == 0 {
		first = next()
	}
	if first.Done || first.Status != 200 || first.From != "page" {
		t.Errorf("while it runs: %+v", first)
	}
	close(proceed)
	if last := next(); last.ID != first.ID || !last.Done || last.Broken != "" {
		t.Errorf("at its end: %+v", last)
	}
}

func TestWatchEventsArriveAsTheyHappen(t *testing.T) {
	l := New(Options{})
	events := make(chan string)
	s := serve(t, l, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		//lint:ignore SA1019 upstream hides Flush without it
		_ = w.(http.CloseNotifier)
		for e := range events {
			fmt.Fprintln(w, e)
			w.(http.Flusher).Flush()
		}
	})
	watch, err := http.Get(s.URL + "/api/v1/pods?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	seen := bufio.NewReader(watch.Body)
	stream, err := http.Get(s.URL + Prefix + "/1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := json.NewDecoder(stream.Body)
	for i := int64(1); i <= 3; i++ {
		sent := fmt.Sprintf(`{"type":"ADDED","n":%d}`, i)
		events <- sent
		if line, err := seen.ReadString('\n'); err != nil || line != sent+"\n" {
			t.Fatalf("the watcher got %q %v", line, err)
		}
		var e Event
		if err := lines.Decode(&e); err != nil || e.Seq != i || e.Body.Text != sent || e.Body.Language != "json" {
			t.Fatalf("%+v %v", e, err)
		}
	}
	close(events)
	if err := lines.Decode(&Event{}); err != io.EOF {
		t.Errorf("after the watch has ended: %v", err)
	}
	if d := detail(t, s, 1); !d.Watch || d.Events != 3 || !d.Done {
		t.Errorf("%+v", d.Record)
	}
}

func TestFramesHoweverTheyAreCut(t *testing.T) {
	var sent [][]byte
	for i := range 60 {
		sent = append(sent, bytes.Repeat([]byte{'a' + byte(i%26)}, i*i%170))
	}
	join := func(by framing) (stream []byte) {
		for _, event := range sent {
			if by == byLength {
				stream = binary.BigEndian.AppendUint32(stream, uint32(len(event)))
				stream = append(stream, event...)
			} else {
				stream = append(append(stream, event...), '\n')
			}
		}
		return stream
	}
	const limit = 150
	for _, by := range []framing{byLine, byLength} {
		for seed := range uint64(50) {
			random := rand.New(rand.NewPCG(seed, 1))
			f, held, next := newFrames(by, limit, true, &latest{}), 0, 0
			for rest := join(by); len(rest) > 0; {
				n := min(1+random.IntN(40), len(rest))
				held += f.add(rest[:n], 1)
				rest = rest[n:]
				if held != f.held+len(f.partial) || f.held > limit || len(f.partial) > limit {
					t.Fatalf("held %d, kept %d and %d", held, f.held, len(f.partial))
				}
				for _, got := range f.last() {
					want := sent[got.seq-1]
					if len(want) > limit {
						want = nil
					}
					if !bytes.Equal(got.data, want) {
						t.Fatalf("by %d, seed %d: event %d is %q, not %q", by, seed, got.seq, got.data, want)
					}
					next = max(next, int(got.seq))
				}
			}
			if f.count != int64(len(sent)) || next != len(sent) {
				t.Fatalf("by %d, seed %d: %d events", by, seed, f.count)
			}
		}
	}
}

// An event that many watch is in memory once, and streams that go on for ever take no more room.
func TestEventsAreKeptOnce(t *testing.T) {
	var shared latest
	one, other := newFrames(byLine, 1<<20, true, &shared), newFrames(byLine, 1<<20, true, &shared)
	event := []byte("added 000\n")
	for i := range 1000 {
		copy(event[6:], fmt.Sprintf("%03d", i))
		one.add(event, int64(i))
		other.add(event, int64(i))
	}
	for i, f := range one.last() {
		if want := fmt.Sprintf("added %03d", 800+i); string(f.data) != want || &f.data[0] != &other.last()[i].data[0] {
			t.Fatalf("event %d is %q, want %q, and the other's is %q", f.seq, f.data, want, other.last()[i].data)
		}
	}
	if n, room := len(one.last()), cap(one.events); n != mostFrames || room > 4*mostFrames {
		t.Errorf("%d events are kept, in room for %d", n, room)
	}
}

func TestProtobufIsShownAsJSON(t *testing.T) {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	var wire bytes.Buffer
	if err := protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme).Encode(pod, &wire); err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Content-Type": {runtime.ContentTypeProtobuf}}
	b := decode(kept{wire.Bytes(), int64(wire.Len())}, header)
	if b.Language != "json" || !strings.Contains(b.Text, `"name":"web"`) || !strings.Contains(b.Text, `"kind":"Pod"`) {
		t.Errorf("%+v", b)
	}
	event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: wire.Bytes()}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if b := decodeEvent(event, runtime.ContentTypeProtobuf+";stream=watch"); !strings.Contains(b.Text, `"type":"ADDED"`) || !strings.Contains(b.Text, `"name":"web"`) {
		t.Errorf("%+v", b)
	}
	for name, garbage := range map[string]kept{"cut": {wire.Bytes()[:5], int64(wire.Len())}, "noise": {[]byte("k8s\x00\xff\xff"), 6}, "given up": {nil, 9}} {
		if b := decode(garbage, header); b.Text != "" || b.Note == "" {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

func TestComponentsAreToldFromKubectlInTheSameProcess(t *testing.T) {
	l := New(Options{})
	h := l.Wrap(http.NotFoundHandler(), true)
	for _, headers := range []map[string]string{
		{"User-Agent": "kube-controller-manager/v1.37 (js/wasm)"},
		{"User-Agent": "kubectl/v1.37", "Kubectl-Command": "kubectl get"},
		{"Kubetab-Client": "terminal"},
		{"Kubetab-Client": "<img src=x>"},
	} {
		r := httptest.NewRequest("GET", "/api", nil)
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	var got []string
	for _, r := range records(l) {
		got = append(got, fmt.Sprint(r.From, " ", r.Internal))
	}
	want := "kube-controller-manager true, kubectl false, terminal false, page false"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, not %s", text, want)
	}
}

func TestHandlerThatPanicsIsRecordedAsBroken(t *testing.T) {
	l := New(Options{})
	func() {
		defer func() { _ = recover() }()
		l.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), false).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	if r := records(l)[0]; !r.Done || r.Broken == "" {
		t.Errorf("%+v", r)
	}
}

func BenchmarkRequestNobodyLooksAt(b *testing.B) {
	answer := bytes.Repeat([]byte("x"), 2000)
	plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(answer) })
	for name, h := range map[string]http.Handler{"plain": plain, "logged": New(Options{}).Wrap(plain, false)} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/namespaces/default/pods/x", nil))
			}
		})
	}
}
