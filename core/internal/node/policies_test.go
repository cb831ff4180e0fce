package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// Documentation: tasks/administer-cluster/declare-network-policy.
func TestANetworkPolicyKeepsConnectionsOut(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: web, labels: {app: nginx}}, spec: {containers: [{name: main, image: nginx, readinessProbe: {httpGet: {port: 80}, periodSeconds: 1}}]}}`)
	c.create(`{metadata: {name: friend, labels: {access: "true"}}, spec: {nodeName: node-2, containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`)
	c.create(`{metadata: {name: stranger}, spec: {nodeName: node-2, containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`)
	for _, name := range []string{"web", "friend", "stranger"} {
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	c.expose("nginx", v1.ServiceSpec{Type: v1.ServiceTypeNodePort, Ports: []v1.ServicePort{{Port: 80, NodePort: 30080, TargetPort: intstr.FromInt32(80)}}}, "web")
	c.until("the Service is known", func() bool { _, err := c.fetch("172.18.0.2:30080"); return err == nil })
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "access-nginx"}}
	if err := yaml.UnmarshalStrict([]byte(`{podSelector: {matchLabels: {app: nginx}}, ingress: [{from: [{podSelector: {matchLabels: {access: "true"}}}]}]}`), &policy.Spec); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.NetworkingV1().NetworkPolicies("default").Create(context.Background(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.pass("the policy is known", time.Minute, func() bool {
		_, _, code, _ := c.try("stranger", time.Minute, "wget", "--spider", "--timeout=1", "nginx")
		return code != 0
	})
	for _, test := range []struct {
		pod, line, errs string
		code            int
	}{
		{"stranger", "wget --spider --timeout=1 nginx", "wget: download timed out", 1},
		{"stranger", "wget -qO- nginx", "): Connection timed out", 1},
		{"stranger", "curl -m 1 nginx", "curl: (28)", 28},
		{"friend", "wget -qO- nginx", "", 0},
		{"web", "wget -qO- localhost", "", 0},
	} {
		_, errs, code, _ := c.try(test.pod, 5*time.Minute, strings.Fields(test.line)...)
		if code != test.code || !strings.Contains(errs, test.errs) {
			t.Errorf("%s: %s: %d %s", test.pod, test.line, code, errs)
		}
	}
	if !c.ready("web")() {
		t.Error("the kubelet's probes are kept out")
	}
}
