package play

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/evaluate"
)

// rights is a start that gives rights to a user, a group and service accounts, one of them without the namespace that it shares
// with the binding, and binds a role that does not exist.
const rights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: dangling}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: none}
subjects: [{kind: ServiceAccount, name: nobody, namespace: default}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: robot}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: robot, namespace: rights}, {kind: ServiceAccount, name: native}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: rights}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: rights-crew}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules:
- {apiGroups: [''], resources: [pods], verbs: [list]}
- {apiGroups: [apps], resources: [deployments], resourceNames: [web], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: rights-reader}]
`

// TestLessonsBeginWithTheirRights: what the bindings of a start give is in force when the lesson is ready, because a learner's
// first request may need it. The authorizer seems to be late here: it takes some time until it tells a subject of a right.
func TestLessonsBeginWithTheirRights(t *testing.T) {
	const late = 3 // questions that are answered as before
	c := start(t, readSpecimen(t, "", ""))
	defer stop(t, c)
	var mu sync.Mutex
	asked := map[string]int{}
	config := c.engine.RESTConfig()
	config.Wrap(func(to http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := to.RoundTrip(r)
			if err != nil || !strings.HasSuffix(r.URL.Path, "/selfsubjectrulesreviews") {
				return response, err
			}
			subject := r.Header.Get("Impersonate-User") + r.Header.Get("Impersonate-Group")
			mu.Lock()
			defer mu.Unlock()
			if asked[subject]++; asked[subject] <= late {
				_ = response.Body.Close() // of what is read whole
				response.Header, response.ContentLength = http.Header{"Content-Type": {"application/json"}}, -1
				response.Body = io.NopCloser(strings.NewReader(`{"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "status": {}}`))
			}
			return response, nil
		})
	})
	evaluator := evaluate.New(evaluate.Config{Client: config, Requests: c.requests, Log: func(format string, args ...any) { t.Errorf(format, args...) }})
	defer evaluator.Close()
	lesson := tutorials.Begin{
		Lesson: tutorials.Lesson{ID: "part/rights", Namespace: "rights"},
		Start:  []tutorials.File{{Name: "rights.yaml", Text: rights}},
	}
	if err := evaluator.Begin(t.Context(), lesson, false); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, subject := range []string{"rights-reader", "lessonrights-crew", "system:serviceaccount:rights:robot", "system:serviceaccount:rights:native"} {
		if asked[subject] <= late {
			t.Errorf("the lesson is ready though %s has been told of its rights %d times", subject, max(asked[subject]-late, 0))
		}
	}
	if asked["system:serviceaccount:default:nobody"] != 0 {
		t.Error("a role that does not exist is waited for")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
