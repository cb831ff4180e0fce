package core_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/kubetab/kubetab/core"
)

// Pods run on the engine's nodes, and clients reach them through the API
// server: logs, exec over a WebSocket, the proxy, metrics.
func TestNodes(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, _ := living(t, core.Config{Nodes: 2, DefaultUser: &user.DefaultInfo{Name: "admin", Groups: []string{"system:masters", "system:authenticated"}}})
	front := httptest.NewServer(e.Handler())
	t.Cleanup(front.Close)
	config := &rest.Config{Host: front.URL}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, condition func() bool) {
		t.Helper()
		for !condition() {
			select {
			case <-ctx.Done():
				t.Fatalf("waited in vain: %s", what)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	until("the account", func() bool {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	pods := client.CoreV1().Pods("default")
	if _, err := pods.Create(ctx, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1.PodSpec{NodeName: "node-1", Containers: []v1.Container{{Name: "main", Image: "nginx"}}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until("the Pod runs", func() bool {
		p, err := pods.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && p.Status.Phase == v1.PodRunning
	})
	log, err := pods.GetLogs("web", &v1.PodLogOptions{}).DoRaw(ctx)
	if err != nil || !strings.Contains(string(log), "ready for start up") {
		t.Errorf("logs: %q, %v", log, err)
	}
	page, err := pods.ProxyGet("http", "web", "80", "/", nil).DoRaw(ctx)
	if err != nil || !strings.Contains(string(page), "Welcome to nginx!") {
		t.Errorf("proxy: %q, %v", page, err)
	}
	request := client.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name("web").SubResource("exec").
		Param("container", "main").Param("command", "sh").Param("command", "-c").Param("command", "hostname; exit 3").Param("stdout", "true").Param("stderr", "true")
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer // two goroutines copy, and a buffer is for one
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &errs})
	if out.String() != "web\n" || err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("exec: %q, %q, %v", out.String(), errs.String(), err)
	}
	until("metrics", func() bool {
		top, err := client.Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web").DoRaw(ctx)
		return err == nil && strings.Contains(string(top), `"kind":"PodMetrics"`)
	})
	top, err := client.Discovery().RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/nodes").DoRaw(ctx)
	if err != nil || !strings.Contains(string(top), `"name":"node-2"`) {
		t.Errorf("metrics of nodes: %s, %v", top, err)
	}
}

// Many Pods of one Deployment run; a thousand within half a minute where nothing else does (KUBETAB_TIMING, see make
// test-timing).
func TestManyPods(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	_, client := living(t, core.Config{Nodes: 10})
	pods := int32(200)
	if os.Getenv("KUBETAB_TIMING") != "" {
		pods = 1000
	}
	labels := map[string]string{"app": "many"}
	many := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "many"}, Spec: appsv1.DeploymentSpec{
		Replicas: &pods,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "nginx"}}}},
	}}
	started := time.Now()
	watch, err := client.AppsV1().Deployments("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	if _, err := client.AppsV1().Deployments("default").Create(ctx, many, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range watch.ResultChan() {
		if d, ok := event.Object.(*appsv1.Deployment); ok && d.Status.AvailableReplicas == pods {
			took := time.Since(started)
			t.Logf("%d Pods run after %v", pods, took)
			if took > 30*time.Second && os.Getenv("KUBETAB_TIMING") != "" {
				t.Errorf("%d Pods run after %v", pods, took)
			}
			return
		}
	}
	t.Fatal("the watch ended before all Pods ran")
}
