package core

import (
	"context"
	"fmt"
	"slices"
	"time"
	_ "unsafe" // for go:linkname

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	rbacinformers "k8s.io/client-go/informers/rbac/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	schedulingapiv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// ensureRBACPolicy reconciles the bootstrap roles and bindings once. It reports
// false when something failed that is worth another try. Upstream offers it
// only inside a post-start hook that sleeps for a second first; the link can go
// when that hook looks at once.
//
//go:linkname ensureRBACPolicy k8s.io/kubernetes/pkg/registry/rbac/rest.ensureRBACPolicy
func ensureRBACPolicy(p *rbacrest.PolicyData, client clientset.Interface) (done bool, err error)

const (
	bootstrapTry   = 10 * time.Millisecond // between two looks while nothing answers yet
	bootstrapLimit = 5 * time.Minute       // upstream: 30 s, and then a supervisor starts it again; a slow phone has none
)

// systemNamespaces are those that upstream's system namespaces controller keeps.
var systemNamespaces = []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, metav1.NamespaceDefault}

// bootstrapHooks are the post-start hooks that upstream runs in wait.Poll(1s):
// their first look comes a full second after the start, and readiness waits
// for them. These have the same names, do the same, and look as soon as the
// API answers. The ones they replace are disabled while the chain is built.
// bindings are reconciled with upstream's. The roles are done when the
// authorizer, which hears of them through inf, knows them: who starts when the
// server is ready would be refused before, and upstream's namespace controller
// then ends the process.
func bootstrapHooks(bindings []rbacv1.ClusterRoleBinding, inf rbacinformers.Interface) map[string]genericapiserver.PostStartHookFunc {
	return map[string]genericapiserver.PostStartHookFunc{
		rbacrest.PostStartHookName: func(hook genericapiserver.PostStartHookContext) error {
			policy := &rbacrest.PolicyData{
				ClusterRoles:               append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...),
				ClusterRoleBindings:        slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings(), bindings),
				Roles:                      bootstrappolicy.NamespaceRoles(),
				RoleBindings:               bootstrappolicy.NamespaceRoleBindings(),
				ClusterRolesToAggregate:    bootstrappolicy.ClusterRolesToAggregate(),
				ClusterRoleBindingsToSplit: bootstrappolicy.ClusterRoleBindingsToSplit(),
			}
			ensured := false
			return bootstrap(hook, "the RBAC bootstrap policy", func(_ context.Context, client clientset.Interface) (_ bool, err error) {
				if !ensured {
					if ensured, err = ensureRBACPolicy(policy, client); err != nil {
						return false, err
					}
				}
				return ensured && authorizerKnows(policy, inf), nil
			})
		},
		schedulingrest.PostStartHookName: func(hook genericapiserver.PostStartHookContext) error {
			return bootstrap(hook, "the system priority classes", ensureSystemPriorityClasses)
		},
	}
}

// authorizerKnows reports whether the informers that the authorizer asks have
// everything of policy, by name.
func authorizerKnows(policy *rbacrest.PolicyData, inf rbacinformers.Interface) bool {
	for _, roles := range policy.Roles {
		if !informed(inf.Roles().Informer(), roles) {
			return false
		}
	}
	for _, bindings := range policy.RoleBindings {
		if !informed(inf.RoleBindings().Informer(), bindings) {
			return false
		}
	}
	return informed(inf.ClusterRoles().Informer(), policy.ClusterRoles) && informed(inf.ClusterRoleBindings().Informer(), policy.ClusterRoleBindings)
}

// informed reports whether informer has objects of these names.
func informed[T any, P interface {
	*T
	metav1.Object
}](informer cache.SharedIndexInformer, objects []T) bool {
	for i := range objects {
		if _, has, err := informer.GetStore().GetByKey(cache.MetaObjectToName(P(&objects[i])).String()); err != nil || !has {
			return false
		}
	}
	return true
}

// bootstrap waits until the API answers and then runs ensure until it is done.
// It returns nil when the engine is closed meanwhile: upstream ends the process
// on an error from a hook.
func bootstrap(hook genericapiserver.PostStartHookContext, what string, ensure func(context.Context, clientset.Interface) (bool, error)) error {
	client, err := clientset.NewForConfig(hook.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("create %s: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(hook, bootstrapLimit)
	defer cancel()
	err = wait.PollUntilContextCancel(ctx, bootstrapTry, true, func(ctx context.Context) (bool, error) {
		if !ensureSystemNamespaces(ctx, client) {
			return false, nil
		}
		return ensure(ctx, client)
	})
	if err != nil && hook.Err() == nil {
		return fmt.Errorf("create %s: %w", what, err)
	}
	return nil
}

// ensureSystemNamespaces creates the system namespaces that are missing and
// reports whether all exist. Upstream's controller of these creates them too,
// but when admission takes more than ten seconds to warm up, as it does on a
// busy machine, it looks again only after a minute, and all that is made at the
// start waits for it: the bootstrap roles of namespaces, service accounts, the
// leases of nodes.
func ensureSystemNamespaces(ctx context.Context, client clientset.Interface) bool {
	for _, name := range systemNamespaces {
		if _, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err == nil {
			continue
		} else if !apierrors.IsNotFound(err) { // nothing answers yet
			return false
		}
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return false
		}
	}
	return true
}

// ensureSystemPriorityClasses creates the two built-in PriorityClasses where
// they are missing, as upstream's scheduling AddSystemPriorityClasses does.
func ensureSystemPriorityClasses(ctx context.Context, client clientset.Interface) (bool, error) {
	for _, class := range schedulingapiv1.SystemPriorityClasses() {
		_, err := client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{})
		switch {
		case err == nil, apierrors.IsAlreadyExists(err):
		case apierrors.IsServiceUnavailable(err), apierrors.IsForbidden(err): // admission is still warming up
			return false, nil
		default:
			return false, err
		}
	}
	return true, nil
}
