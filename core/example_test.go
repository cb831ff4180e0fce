package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core"
)

// An engine in memory, and a client that reaches it without a socket.
func Example() {
	ctx := context.Background()
	engine, err := core.New(ctx, core.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if err := engine.Ready(ctx); err != nil {
		log.Fatal(err)
	}

	client, err := kubernetes.NewForConfig(engine.RESTConfig())
	if err != nil {
		log.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	_, err = client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	fmt.Println(err)
	// Output: namespaces "harbour" already exists
}

// The handler serves any HTTP server. The bearer of a token is its user.
func ExampleEngine_Handler() {
	ctx := context.Background()
	engine, err := core.New(ctx, core.Config{
		Tokens: map[string]user.Info{"secret": &user.DefaultInfo{Name: "anna", Groups: []string{user.AllAuthenticated}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if err := engine.Ready(ctx); err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(engine.Handler())
	defer server.Close()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/v1/secrets", nil)
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var status metav1.Status
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Code, status.Message)
	// Output: 403 secrets is forbidden: User "anna" cannot list resource "secrets" in API group "" at the cluster scope
}

// With nodes, Pods run: controllers, the scheduler and simulated kubelets do their part.
func ExampleConfig() {
	ctx := context.Background()
	engine, err := core.New(ctx, core.Config{Nodes: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if err := engine.Ready(ctx); err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(engine.RESTConfig())
	if err != nil {
		log.Fatal(err)
	}

	labels := map[string]string{"app": "web"}
	deployments := client.AppsV1().Deployments(metav1.NamespaceDefault)
	_, err = deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}

	watch, err := deployments.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=web"})
	if err != nil {
		log.Fatal(err)
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		if web, ok := event.Object.(*appsv1.Deployment); ok && web.Status.AvailableReplicas == 3 {
			fmt.Println(web.Name, "has", web.Status.AvailableReplicas, "available replicas")
			break
		}
	}
	// Output: web has 3 available replicas
}
