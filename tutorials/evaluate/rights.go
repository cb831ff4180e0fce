package evaluate

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"
	"k8s.io/component-helpers/auth/rbac/validation"
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
		if subject.Namespace == "" {
			subject.Namespace = binding.Namespace // as the authorizer takes it
		}
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
	ask := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, granting, true, func(context.Context) (bool, error) {
		// With ctx, because a request that the end of granting breaks off would be an error.
		answer, err := client.SelfSubjectRulesReviews().Create(ctx, ask, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		is, _ := validation.Covers(policyRules(answer.Status), rules)
		return is, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		f.run.e.config.Log("lesson %s: %s %s has not been given its rights in %s", f.run.begin.Lesson.ID, subject.Kind, subject.Name, granting)
		return nil
	}
	return err
}

// policyRules are the rules of a review as RBAC's, of which it has made them.
func policyRules(s authorizationv1.SubjectRulesReviewStatus) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, r := range s.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	for _, r := range s.NonResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
	}
	return rules
}
