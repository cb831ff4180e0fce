package core

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// On a slow machine admission refuses the first writes, and upstream's
// controller of system namespaces then sleeps for a minute.
func TestSystemNamespacesOutliveASlowAdmission(t *testing.T) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceDefault}})
	refusals := 2
	client.PrependReactor("create", "namespaces", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if refusals == 0 {
			return false, nil, nil
		}
		refusals--
		name := action.(clienttesting.CreateAction).GetObject().(*corev1.Namespace).Name
		return true, nil, apierrors.NewForbidden(corev1.Resource("namespaces"), name, errors.New("not yet ready to handle request"))
	})
	tries := 1
	for !ensureSystemNamespaces(t.Context(), client) {
		tries++
	}
	if tries != 3 {
		t.Errorf("done after %d tries, want 3: two were refused", tries)
	}
	list, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, namespace := range list.Items {
		got = append(got, namespace.Name)
	}
	slices.Sort(got)
	if want := []string{"default", "kube-node-lease", "kube-public", "kube-system"}; !slices.Equal(got, want) {
		t.Errorf("namespaces %q, want %q", got, want)
	}
}
