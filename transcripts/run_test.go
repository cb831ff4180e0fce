package transcripts

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pretend is a server of a few paths that remembers what it was asked.
type pretend struct {
	mu    sync.Mutex
	asked []string
	tries int
}

func (p *pretend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.asked = append(p.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), body)))
	p.tries++
	tries := p.tries
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/late":
		if tries < 3 {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintf(w, `{"tries":%d}`, tries)
	case "/things":
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"metadata":{"name":"a","uid":"12345678-1234-1234-1234-123456789abc"}}`)
	case "/watch":
		for _, event := range []string{`{"type":"ADDED","n":1}`, `{"type":"BOOKMARK","n":2}`, `{"type":"ADDED","n":3}`, `{"type":"DELETED","n":4}`} {
			io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	case "/gzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, `{"packed":true}`)
		z.Close()
	default:
		w.Header().Add("Warning", `299 - "one"`)
		w.Header().Add("Warning", `299 - "two"`)
		io.WriteString(w, `{"kind":"Status"}`)
	}
}

// patience is how long a condition is waited for that comes.
const patience = time.Minute

// tell runs a story against the pretended server and returns the answers and what the server was asked. What does not come
// is waited for as long as deadline.
func tell(t *testing.T, story string, deadline time.Duration) (answers []string, asked []string, err error) {
	t.Helper()
	p := &pretend{}
	server := httptest.NewServer(p)
	defer server.Close()
	f, err := Parse("# story\n" + story)
	if err != nil {
		t.Fatal(err)
	}
	// Not Connect: the pretended server has nothing that it probes.
	target := connectWithoutProbe(t, server.URL, deadline)
	answers, err = Run(t.Context(), target, f)
	return answers, p.asked, err
}

func connectWithoutProbe(t *testing.T, addr string, deadline time.Duration) *Target {
	t.Helper()
	target, err := newTarget(Options{URL: addr, Deadline: deadline})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestRun(t *testing.T) {
	answers, asked, err := tell(t, `
=== a body in YAML is sent as JSON
POST /echo

a: {b: [1]}
----
=== one that is raw is not
@raw
PUT /echo
Content-Type: application/json

{"a":1, "a":2}
----
=== bytes
@bytes 00 ff
POST /echo
Content-Type: application/vnd.kubernetes.protobuf
----
=== protobuf
POST /echo
Content-Type: application/vnd.kubernetes.protobuf

apiVersion: v1
kind: ConfigMap
metadata: {name: a}
----
=== until
@until tries=8
GET /late
----
=== gzip
GET /gzip
----
`, patience)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		`POST /echo application/json {"a":{"b":[1]}}`,
		`PUT /echo application/json {"a":1, "a":2}`,
		"POST /echo application/vnd.kubernetes.protobuf \x00\xff",
	}, asked[:3]); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(asked[3], "k8s\x00") || !strings.Contains(asked[3], "ConfigMap") {
		t.Errorf("not protobuf: %q", asked[3])
	}
	for i, want := range map[int]string{
		0: "200 OK\nContent-Type: application/json\nWarning: 299 - \"one\"\nWarning: 299 - \"two\"\n\nkind: Status",
		4: "200 OK\nContent-Type: application/json\n\ntries: 8",
		5: "200 OK\nContent-Type: application/json\nContent-Encoding: gzip\n\npacked: true",
	} {
		if diff := cmp.Diff(want, answers[i]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRunEvents(t *testing.T) {
	answers, _, err := tell(t, `
=== watch
@stream w
GET /watch
----
=== the first
@count 1
@capture n [0].n
EVENTS w
----
=== the next but bookmarks
@skip BOOKMARK
@count 1
EVENTS w
----
=== the rest
END w
----
=== over
CLOSE w
----
`, patience)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"200 OK\nContent-Type: application/json",
		"- \"n\": 1\n  type: ADDED",
		"- \"n\": 3\n  type: ADDED",
		"- \"n\": 4\n  type: DELETED\n<end of stream>",
		"closed",
	}, answers); diff != "" {
		t.Error(diff)
	}
}

// An object outside the story's namespaces is deleted at the end, whatever happened.
func TestRunCleans(t *testing.T) {
	_, asked, err := tell(t, "=== create\nPOST /things\n\na: b\n----\n=== fail\nGET /${nothing}\n----\n", patience)
	if err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("got error %v", err)
	}
	if last := asked[len(asked)-1]; last != "DELETE /things/a" {
		t.Errorf("the last request was %q", last)
	}
}

func TestRunFails(t *testing.T) {
	for story, want := range map[string]string{
		"=== a\n@until never=1\nGET /late\n----\n":                              "@until never=1 does not hold",
		"=== a\n@capture x no.such\nGET /late\n----\n":                          "@capture x: no no.such",
		"=== a\nEVENTS w\n----\n":                                               `no stream "w"`,
		"=== a\n@stream w\nGET /watch\n----\n=== b\n@count 9\nEVENTS w\n----\n": "EOF",
		"=== a\nPOST /echo\n\na: [\n----\n":                                     "body is not YAML",
	} {
		if _, _, err := tell(t, story, 3*time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %s", story, err, want)
		}
	}
}

func TestCompactEtcd(t *testing.T) {
	var asked []string
	etcd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.URL.Path+" "+string(body))
		io.WriteString(w, `{"header":{"revision":"42"}}`)
	}))
	defer etcd.Close()
	if err := connectWithoutProbe(t, etcd.URL, patience).compactEtcd(context.Background(), etcd.URL); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`/v3/kv/range {"key":"AA=="}`, `/v3/kv/compaction {"physical":true,"revision":"42"}`}, asked); diff != "" {
		t.Error(diff)
	}
}
