package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestLoadBalancersHaveAddresses(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	services := c.client.CoreV1().Services(namespace)
	create := func(name string, change func(*corev1.ServiceSpec)) {
		t.Helper()
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}}
		change(&s.Spec)
		if _, err := services.Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	address := func(name string) string {
		t.Helper()
		s, err := services.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Status.LoadBalancer.Ingress) == 0 {
			return ""
		}
		if mode := s.Status.LoadBalancer.Ingress[0].IPMode; mode == nil || *mode != corev1.LoadBalancerIPModeVIP {
			t.Errorf("%s: ipMode %v", name, mode)
		}
		return s.Status.LoadBalancer.Ingress[0].IP
	}
	has := func(name string, condition func(string) bool) {
		t.Helper()
		eventually(t, "the address of "+name, func(context.Context) (bool, error) {
			got := address(name)
			return condition(got), fmt.Errorf("it is %q", got)
		})
	}
	inRange := func(ip string) bool { return strings.HasPrefix(ip, "172.18.255.") }

	create("other", func(s *corev1.ServiceSpec) { s.LoadBalancerClass = ptr.To("example.com/lb") })
	create("asking", func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "172.18.255.77" })
	has("asking", func(ip string) bool { return ip == "172.18.255.77" })
	create("web", func(*corev1.ServiceSpec) {})
	has("web", inRange)
	for _, reason := range []string{"EnsuringLoadBalancer", "EnsuredLoadBalancer"} {
		c.event(t, namespace, "web", reason)
	}
	create("second", func(*corev1.ServiceSpec) {})
	has("second", func(ip string) bool { return inRange(ip) && ip != address("web") })
	create("late", func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "172.18.255.77" })
	if e := c.event(t, namespace, "late", "SyncLoadBalancerFailed"); !strings.Contains(e.Message, "is not available") {
		t.Errorf("an address that another has: %s", e.Message)
	}
	if got := address("other"); got != "" {
		t.Errorf("a Service of another class has %s", got)
	}

	if _, err := services.Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{"spec":{"type":"ClusterIP"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	has("web", func(ip string) bool { return ip == "" })
	if err := services.Delete(t.Context(), "asking", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	has("late", func(ip string) bool { return ip == "172.18.255.77" })
}
