package core

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodsAreAdmitted(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "pods")
	eventually(t, "create a Pod", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Pods("pods").Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
		}, metav1.CreateOptions{})
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "serviceaccount") {
			return false, nil // its service account comes a moment after the namespace
		}
		return err == nil, err
	})
	eventually(t, "kube-root-ca.crt", func(ctx context.Context) (bool, error) {
		cm, err := c.CoreV1().ConfigMaps("pods").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil && strings.Contains(cm.Data["ca.crt"], "CERTIFICATE"), ignoreNotFound(err)
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func TestNamespacesTerminate(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "doomed")
	if _, err := c.CoreV1().ConfigMaps("doomed").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inside"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().Namespaces().Delete(t.Context(), "doomed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace goes", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Namespaces().Get(ctx, "doomed", metav1.GetOptions{})
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	})
}

func TestOwnersCascade(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "owners")
	owner, err := c.CoreV1().ConfigMaps("owners").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.AppsV1().ReplicaSets("owners").Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}},
		Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().ConfigMaps("owners").Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owned goes with its owner", func(ctx context.Context) (bool, error) {
		_, err := c.AppsV1().ReplicaSets("owners").Get(ctx, "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	})
}

func TestAggregatedRolesAreFilled(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	eventually(t, "the role view has rules", func(ctx context.Context) (bool, error) {
		role, err := c.RbacV1().ClusterRoles().Get(ctx, "view", metav1.GetOptions{})
		return err == nil && len(role.Rules) > 0, err
	})
}
