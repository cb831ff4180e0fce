package evaluate

import (
	"context"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"
)

// granting is how long the authorizer may take to learn of a lesson's bindings. A lesson goes on without them then.
const granting = 30 * time.Second

// grant waits until the subjects of a RoleBinding or ClusterRoleBinding may do what its role says. The authorizer learns of
// both by watches, as in any cluster, so that a request that comes soon after them may be refused; a lesson whose start gives
// rights begins when they are in force. A role that does not exist gives none. Errors: ctx's, and those of requests.
func (f *feeds) grant(ctx context.Context, object *unstructured.Unstructured) error {
	var binding rbacv1.ClusterRoleBinding // which has the fields of the other
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &binding); err != nil {
		return err
	}
	rules, err := f.rules(ctx, binding.RoleRef, binding.Namespace)
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	namespace := binding.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault // a ClusterRoleBinding's rules are those of any
	}
	for _, subject := range binding.Subjects {
		if err := f.mayAll(ctx, subject, namespace, rules); err != nil {
			return err
		}
	}
	return nil
}

// rules returns those of the role that a binding in a namespace refers to.
func (f *feeds) rules(ctx context.Context, ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	client, err := rbacclient.NewForConfig(f.config)
	if err != nil {
		return nil, err
	}
	if ref.Kind == "Role" {
		role, err := client.Roles(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return role.Rules, nil
	}
	role, err := client.ClusterRoles().Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return role.Rules, nil
}

// mayAll waits until the authorizer counts all rules among those of a subject in a namespace, but not for longer than granting.
func (f *feeds) mayAll(ctx context.Context, subject rbacv1.Subject, namespace string, rules []rbacv1.PolicyRule) error {
	config := rest.CopyConfig(f.config)
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		config.Impersonate.UserName = serviceaccount.MakeUsername(subject.Namespace, subject.Name)
	case rbacv1.GroupKind:
		config.Impersonate = rest.ImpersonationConfig{UserName: manager, Groups: []string{subject.Name}}
	default:
		config.Impersonate.UserName = subject.Name
	}
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return err
	}
	deadline, cancel := context.WithTimeout(ctx, granting)
	defer cancel()
	for {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
		if review, err = client.SelfSubjectRulesReviews().Create(ctx, review, metav1.CreateOptions{}); err != nil {
			return err
		}
		if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return !has(review.Status, r) }) {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-deadline.Done():
			if ctx.Err() == nil {
				f.run.e.config.Log("lesson %s: %s %s has not been given its rights in %s", f.run.begin.Lesson.ID, subject.Kind, subject.Name, granting)
			}
			return context.Cause(ctx)
		}
	}
}

// has reports whether a rule is among those of a review, each of which is one of RBAC's.
func has(s authorizationv1.SubjectRulesReviewStatus, r rbacv1.PolicyRule) bool {
	resource := authorizationv1.ResourceRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames}
	path := authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs}
	if len(r.Resources) > 0 && !slices.ContainsFunc(s.ResourceRules, func(one authorizationv1.ResourceRule) bool { return equality.Semantic.DeepEqual(one, resource) }) {
		return false
	}
	return len(r.NonResourceURLs) == 0 || slices.ContainsFunc(s.NonResourceRules, func(one authorizationv1.NonResourceRule) bool { return equality.Semantic.DeepEqual(one, path) })
}
