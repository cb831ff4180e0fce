package core_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/requestlog"
)

// The log of requests has upstream's audit event of each request, with its annotations.
func TestRequestsHaveTheirAuditEvents(t *testing.T) {
	requests := requestlog.New(requestlog.Options{})
	e, _ := living(t, core.Config{Requests: requests, DefaultUser: &user.DefaultInfo{Name: "admin", Groups: []string{"system:masters"}}})
	const namespaces = "/api/v1/namespaces"
	send := func(method, path, body, as string) int {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		switch as {
		case "":
		case "wrong token":
			r.Header.Set("Authorization", "Bearer wrong")
		default:
			r.Header.Set("Impersonate-User", as)
		}
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, r)
		return w.Code
	}
	send("POST", namespaces, `{"metadata":{"name":"strict","labels":{"pod-security.kubernetes.io/audit":"restricted"}}}`, "")
	pod := `{"metadata":{"name":"p"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"c"}]}}`
	for _, c := range []struct {
		name, method, path, body, as string
		code                         int32
		annotations                  map[string]string // and a part of each
		impersonated                 string
	}{
		{"deprecated", "GET", "/api/v1/endpoints", "", "", 200, map[string]string{"k8s.io/deprecated": "true", "authorization.k8s.io/decision": "allow"}, ""},
		{"forbidden", "GET", "/api/v1/secrets?limit=1", "", "somebody", 403, map[string]string{"authorization.k8s.io/decision": "forbid"}, "somebody"},
		{"security", "POST", "/api/v1/namespaces/strict/pods?dryRun=All", pod, "", 0, map[string]string{"pod-security.kubernetes.io/audit-violations": "hostNetwork"}, ""},
		{"unknown", "GET", "/api/v1/nodes?limit=2", "", "wrong token", 401, nil, ""},
	} {
		code := send(c.method, c.path, c.body, c.as)
		d := detailOf(t, requests, c.path)
		events := eventsOf(t, d)
		event, received := events[0], events[len(events)-1]
		first, last := auditv1.Stage(auditv1.StageRequestReceived), auditv1.Stage(auditv1.StageResponseComplete)
		if code == 401 { // nobody has been let in that an audit policy could ask about
			first, last = auditv1.StageResponseStarted, auditv1.StageResponseStarted
		}
		if received.Stage != first || event.Stage != last || first != last && received.ResponseStatus != nil {
			t.Errorf("%s: stages from %s to %s\n%s", c.name, received.Stage, event.Stage, d.Audit)
		}
		if event.Kind != "Event" || event.APIVersion != "audit.k8s.io/v1" || event.RequestURI != c.path || event.Level != auditv1.LevelMetadata {
			t.Errorf("%s: %s", c.name, d.Audit)
		}
		if event.ResponseStatus == nil || event.ResponseStatus.Code != int32(code) || c.code != 0 && c.code != int32(code) {
			t.Errorf("%s: status %+v, answered %d", c.name, event.ResponseStatus, code)
		}
		for name, part := range c.annotations {
			if !strings.Contains(event.Annotations[name], part) {
				t.Errorf("%s: annotations %v lack %s: %s", c.name, event.Annotations, name, part)
			}
		}
		if c.impersonated != "" && (event.ImpersonatedUser == nil || event.ImpersonatedUser.Username != c.impersonated) {
			t.Errorf("%s: %s", c.name, d.Audit)
		}
	}
}

// Who reads the log chooses the level. What is too large for the log is left out, as upstream says it.
func TestAuditLevelIsChosen(t *testing.T) {
	requests := requestlog.New(requestlog.Options{BodyBytes: 8 << 10})
	e, _ := living(t, core.Config{Requests: requests, DefaultUser: &user.DefaultInfo{Name: "admin", Groups: []string{"system:masters"}}})
	const path = "/api/v1/namespaces/default/configmaps"
	last := func(level, name, value string) auditv1.Event {
		t.Helper()
		w := httptest.NewRecorder()
		requests.Handler().ServeHTTP(w, httptest.NewRequest("PUT", requestlog.AuditPath, strings.NewReader(fmt.Sprintf(`{"level":%q}`, level))))
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) != fmt.Sprintf(`{"level":%q}`, level) {
			t.Fatalf("%s: %d %s", level, w.Code, w.Body)
		}
		query := path + "?fieldManager=" + name
		r := httptest.NewRequest("POST", query, strings.NewReader(fmt.Sprintf(`{"metadata":{"name":%q},"data":{"k":%q}}`, name, value)))
		r.Header.Set("Content-Type", "application/json")
		w = httptest.NewRecorder()
		if e.Handler().ServeHTTP(w, r); w.Code != 201 {
			t.Fatalf("%s: %d %s", level, w.Code, w.Body)
		}
		return eventsOf(t, detailOf(t, requests, query))[0]
	}
	for _, c := range []struct {
		level, value      string
		request, response bool
		truncated         string
	}{
		{"Metadata", "v", false, false, ""},
		{"Request", "v", true, false, ""},
		{"RequestResponse", "v", true, true, ""},
		{"RequestResponse", strings.Repeat("v", 9<<10), false, false, "true"},
	} {
		event := last(c.level, fmt.Sprintf("%s-%d", strings.ToLower(c.level), len(c.value)), c.value)
		if string(event.Level) != c.level || (event.RequestObject != nil) != c.request || (event.ResponseObject != nil) != c.response || event.Annotations["audit.k8s.io/truncated"] != c.truncated {
			t.Errorf("%s, %d bytes: %+v", c.level, len(c.value), event)
		}
	}

	controller := e.RESTConfigFor(&user.DefaultInfo{Name: user.KubeControllerManager, Groups: []string{user.SystemPrivilegedGroup}})
	client, err := kubernetes.NewForConfig(controller)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "request-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	events := eventsOf(t, detailOf(t, requests, path+"/request-1"))
	if len(events) != 1 || events[0].Level != auditv1.LevelMetadata || events[0].User.Username != user.KubeControllerManager {
		t.Errorf("of a component: %+v", events)
	}
}

// eventsOf is the audit events of a request, the last first.
func eventsOf(t *testing.T, d requestlog.Detail) (events []auditv1.Event) {
	t.Helper()
	for text := range strings.SplitSeq(d.Audit, "---\n") {
		var event auditv1.Event
		if err := yaml.UnmarshalStrict([]byte(text), &event); err != nil {
			t.Fatalf("%v\n%s", err, d.Audit)
		}
		events = append(events, event)
	}
	return events
}

// detailOf is what the log has of the last request for path.
func detailOf(t *testing.T, requests *requestlog.Log, path string) (d requestlog.Detail) {
	t.Helper()
	ask := func(path string) *json.Decoder {
		w := httptest.NewRecorder()
		requests.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return json.NewDecoder(w.Body)
	}
	var id int64
	for lines := ask(requestlog.Prefix); ; {
		var r requestlog.Record
		if lines.Decode(&r) != nil {
			break
		}
		if r.Path == path {
			id = max(id, r.ID)
		}
	}
	if err := ask(fmt.Sprintf("%s/%d", requestlog.Prefix, id)).Decode(&d); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return d
}
