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
)

// try runs a command, for which time passes. It returns what it has printed, what has gone wrong, its code, and how long it took.
func (c *cluster) try(pod string, limit time.Duration, argv ...string) (out, errs string, code int, took time.Duration) {
	c.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, errs, code = c.exec(pod, "", argv...)
	}()
	took = c.pass("the command has ended", limit, func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	return out, errs, code, took
}

func TestWhatNobodyHasDoesNotAnswer(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: web, labels: {app: web}}, spec: {nodeName: node-2, containers: [{name: main, image: nginx}]}}`)
	c.create(`{metadata: {name: shielded, labels: {app: shielded}}, spec: {containers: [{name: main, image: nginx}]}}`)
	c.create(`{metadata: {name: ports, labels: {app: ports}}, spec: {containers: [{name: main, image: nginx}]}}`)
	c.create(`{metadata: {name: busy}, spec: {containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`)
	c.create(`{metadata: {name: debian}, spec: {containers: [{name: main, image: debian, command: [sleep, infinity]}]}}`)
	for _, name := range []string{"web", "shielded", "ports", "busy", "debian"} {
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	service := c.expose("front", v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80)}}}, "web")
	c.expose("named", v1.ServiceSpec{ClusterIP: v1.ClusterIPNone, Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80)}}}, "web")
	policies := c.client.NetworkingV1().NetworkPolicies("default")
	port := intstr.FromInt32(80)
	for name, ingress := range map[string][]networkingv1.NetworkPolicyIngressRule{"shielded": nil, "ports": {{Ports: []networkingv1.NetworkPolicyPort{{Port: &port}, {}}}}} {
		policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, Ingress: ingress}}
		if _, err := policies.Create(context.Background(), policy, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ip := func(name string) string { return c.get(name).Status.PodIP }
	for _, name := range []string{"shielded", "ports"} {
		c.pass("the policy is known", time.Minute, func() bool {
			_, _, code, _ := c.try("busy", time.Minute, "ping", "-c1", "-W1", ip(name))
			return code == 1
		})
	}
	c.pass("the Services are known", time.Minute, func() bool {
		_, _, code, _ := c.try("busy", time.Minute, "wget", "-qO-", "-T1", "front")
		_, _, named := c.exec("debian", "", "getent", "hosts", "named")
		return code == 0 && named == 0
	})

	web, front := ip("web"), service.Spec.ClusterIP
	lost := func(name, address string, n string) string {
		return "PING " + name + " (" + address + "): 56 data bytes\n\n--- " + name + " ping statistics ---\n" + n + " packets transmitted, 0 packets received, 100% packet loss\n"
	}
	for _, test := range []struct {
		pod, line, want string
		code            int
		took            time.Duration
	}{
		{"busy", "ping -c2 " + web, "PING " + web + " (" + web + "): 56 data bytes\n64 bytes from " + web + ": seq=0 ttl=63 time=0.100 ms\n64 bytes from " + web + ": seq=1 ttl=63 time=0.100 ms\n\n" +
			"--- " + web + " ping statistics ---\n2 packets transmitted, 2 packets received, 0% packet loss\nround-trip min/avg/max = 0.100/0.100/0.100 ms\n", 0, time.Second},
		{"busy", "ping -c 3 -i 2 -q -s 100 localhost", "PING localhost (127.0.0.1): 100 data bytes\n\n--- localhost ping statistics ---\n3 packets transmitted, 3 packets received, 0% packet loss\nround-trip min/avg/max = 0.100/0.100/0.100 ms\n", 0, 4 * time.Second},
		{"busy", "ping -w 3 -q " + web, "3 packets transmitted, 3 packets received", 0, 3 * time.Second},
		{"busy", "ping -c1 172.18.0.3", " 0% packet loss", 0, 0},
		{"busy", "ping -c1 info.cern.ch", " 0% packet loss", 0, 0},
		{"busy", "ping -c1 -W1 kubernetes", lost("kubernetes", "10.0.0.1", "1"), 1, time.Second},
		{"busy", "ping -c2 front", lost("front", front, "2"), 1, 11 * time.Second},
		{"busy", "ping -c3 -W2 10.9.9.9", lost("10.9.9.9", "10.9.9.9", "3"), 1, 4 * time.Second},
		{"busy", "ping -w 2 10.244.0.250", lost("10.244.0.250", "10.244.0.250", "2"), 1, 2 * time.Second},
		{"debian", "ping -c2 " + web, "PING " + web + " (" + web + ") 56(84) bytes of data.\n64 bytes from " + web + ": icmp_seq=1 ttl=63 time=0.100 ms\n64 bytes from " + web + ": icmp_seq=2 ttl=63 time=0.100 ms\n\n" +
			"--- " + web + " ping statistics ---\n2 packets transmitted, 2 received, 0% packet loss, time 1000ms\nrtt min/avg/max/mdev = 0.100/0.100/0.100/0.000 ms\n", 0, time.Second},
		{"debian", "ping -c1 named", ".default.svc.cluster.local (" + web + "): icmp_seq=1 ttl=63 ", 0, 0},
		{"debian", "ping -c1 -w1 kubernetes", "PING kubernetes.default.svc.cluster.local (10.0.0.1) 56(84) bytes of data.\n\n--- kubernetes.default.svc.cluster.local ping statistics ---\n1 packets transmitted, 0 received, 100% packet loss, time 0ms\n\n", 1, time.Second},
		{"debian", "ping nothing", "ping: nothing: Name or service not known", 2, 0},

		{"busy", "wget -qO- 10.244.0.250", "wget: can't connect to remote host (10.244.0.250): No route to host", 1, 3 * time.Second},
		{"busy", "wget -qO- 172.18.0.99", "wget: can't connect to remote host (172.18.0.99): No route to host", 1, 3 * time.Second},
		{"busy", "wget -qO- -T 1 10.244.0.250", "wget: download timed out", 1, time.Second},
		{"busy", "wget -qO- 10.9.9.9", "wget: can't connect to remote host (10.9.9.9): Connection timed out", 1, 127 * time.Second},
		{"busy", "wget -qO- " + web + ":81", "wget: can't connect to remote host (" + web + "): Connection refused", 1, 0},
		{"busy", "wget -qO- localhost:81", "wget: can't connect to remote host (127.0.0.1): Connection refused", 1, 0},
		{"busy", "wget -qO- 0.0.0.0:81", "wget: can't connect to remote host (0.0.0.0): Connection refused", 1, 0},
		{"shielded", "curl -s 0.0.0.0", "Welcome to nginx!", 0, 0},
		{"debian", "curl -sS 10.244.0.250", "curl: (7) Failed to connect to 10.244.0.250 port 80 after 3", 7, 3 * time.Second},
		{"debian", "curl -sS -m 1 10.244.0.250", "curl: (28) ", 28, time.Second},
		{"busy", "nc -w 5 10.244.0.250 80", "nc: 10.244.0.250 (10.244.0.250:80): No route to host", 1, 3 * time.Second},
		{"busy", "telnet 10.244.0.250 80", "telnet: can't connect to remote host (10.244.0.250): No route to host", 1, 3 * time.Second},
	} {
		out, errs, code, took := c.try(test.pod, test.took+20*time.Second, strings.Fields(test.line)...)
		const slack = time.Second // of steps of the clock
		if code != test.code || !strings.Contains(out+errs, test.want) || took < test.took || took > test.took+slack {
			t.Errorf("%s: %s: %d after %v %q %q, want %d after %v %q", test.pod, test.line, code, took, out, errs, test.code, test.took, test.want)
		}
	}
}
