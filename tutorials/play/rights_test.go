package play

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/evaluate"
)

// rights is a start that lets a user, a group and a service account do what the same role says, and binds one that does
// not exist. The argument is the namespace.
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
subjects: [{kind: ServiceAccount, name: robot, namespace: %[1]s}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: %[1]s-crew}]
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
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s-reader}]
`

// TestLessonsBeginWithTheirRights: what the bindings of a start give is in force when the lesson is ready, because a learner's
// first request may need it. The authorizer is late on a machine that has much to do, and not each time.
func TestLessonsBeginWithTheirRights(t *testing.T) {
	c := start(t, readSpecimen(t, "", ""))
	defer stop(t, c)
	config := c.engine.RESTConfig()
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	evaluator := evaluate.New(evaluate.Config{Client: config, Requests: c.requests})
	defer evaluator.Close()
	defer occupy()()
	for i := range 20 {
		namespace := fmt.Sprintf("rights-%d", i)
		lesson := tutorials.Begin{
			Lesson: tutorials.Lesson{ID: "part/" + namespace, Namespace: namespace},
			Start:  []tutorials.File{{Name: "rights.yaml", Text: fmt.Sprintf(rights, namespace)}},
		}
		if err := evaluator.Begin(t.Context(), lesson, false); err != nil {
			t.Fatal(err)
		}
		for _, spec := range []authorizationv1.SubjectAccessReviewSpec{
			{User: namespace + "-reader"},
			{User: "anybody", Groups: []string{namespace + "-crew"}},
			{User: "system:serviceaccount:" + namespace + ":robot"},
		} {
			spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Resource: "pods"}
			review, err := client.SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !review.Status.Allowed {
				t.Errorf("%s %v may not list Pods: %s", spec.User, spec.Groups, review.Status.Reason)
			}
		}
	}
}

// occupy makes everything wait for a processor until release is called.
func occupy() (release func()) {
	var released atomic.Bool
	for range 20 * runtime.GOMAXPROCS(0) {
		go func() {
			for !released.Load() {
			}
		}()
	}
	return func() { released.Store(true) }
}
