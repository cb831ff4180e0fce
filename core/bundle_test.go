package core

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
)

const boats = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "boats.sea.example"},
 "spec": {"group": "sea.example", "scope": "Namespaced", "names": {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
  "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

var boat = schema.GroupVersionResource{Group: "sea.example", Version: "v1", Resource: "boats"}

// living returns an engine with something of everything in it: what controllers and
// kubelets have made, a custom resource, an event under a lease, Secrets and a token
// of a service account.
func living(t *testing.T, cfg Config) *Engine {
	t.Helper()
	ctx := t.Context()
	e := start(t, cfg)
	c := clientFor(t, e)
	eventually(t, "the account", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if _, err := c.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, StringData: map[string]string{"password": "of-a-person"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}
	if _, err := c.CoreV1().Secrets("default").Create(ctx, token, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.k8s.io/pause:3.10"}}},
			},
		},
	}
	if _, err := c.AppsV1().Deployments("default").Create(ctx, web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	answer, body := post(t, e, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", boats)
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", answer.Status, body)
	}
	custom := dynamicFor(t, e)
	eventually(t, "the boat", func(ctx context.Context) (bool, error) {
		_, err := custom.Resource(boat).Namespace("default").Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "sea.example/v1", "kind": "Boat", "metadata": map[string]any{"name": "ada"}, "sails": int64(2),
		}}, metav1.CreateOptions{})
		return err == nil, nil
	})
	eventually(t, "the replicas", func(ctx context.Context) (bool, error) {
		d, err := c.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == 3, err
	})
	eventually(t, "the token", func(ctx context.Context) (bool, error) {
		s, err := c.CoreV1().Secrets("default").Get(ctx, "token", metav1.GetOptions{})
		return err == nil && len(s.Data[corev1.ServiceAccountTokenKey]) > 0, err
	})
	return e
}

func saved(t *testing.T, e *Engine, o cluster.SaveOptions) *bundle.Bundle {
	t.Helper()
	b, err := e.Cluster().Save(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sent is b as another program reads it.
func sent(t *testing.T, b *bundle.Bundle) (*bundle.Bundle, []byte) {
	t.Helper()
	var file bytes.Buffer
	if err := bundle.Write(&file, b); err != nil {
		t.Fatal(err)
	}
	got, err := bundle.Read(bytes.NewReader(file.Bytes()), bundle.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return got, file.Bytes()
}
