package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestDNS(t *testing.T) {
	c := start(t)
	c.hostnames("a", "b")
	for name, pod := range map[string]string{
		"busy":   `{metadata: {name: busy}, spec: {hostAliases: [{ip: 10.1.2.3, hostnames: [foo.local]}], containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`,
		"old":    `{metadata: {name: old}, spec: {containers: [{name: main, image: "busybox:1.28", command: [sleep, infinity]}]}}`,
		"bind":   `{metadata: {name: bind}, spec: {containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40"}]}}`,
		"front":  `{metadata: {name: front}, spec: {containers: [{name: main, image: nginx}]}}`,
		"custom": `{metadata: {name: custom}, spec: {dnsPolicy: None, dnsConfig: {nameservers: [192.0.2.1], searches: [ns1.svc.cluster-domain.example, my.dns.search.suffix], options: [{name: ndots, value: "2"}, {name: edns0}]}, containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`,
		"host":   `{metadata: {name: host}, spec: {dnsPolicy: Default, containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`,
		"more":   `{metadata: {name: more}, spec: {dnsConfig: {searches: [example.com], options: [{name: ndots, value: "1"}]}, containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`,
	} {
		c.create(pod)
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	one := c.expose("one", v1.ServiceSpec{Ports: []v1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(9376)}}}, "a", "b")
	c.expose("web", v1.ServiceSpec{ClusterIP: v1.ClusterIPNone, Ports: []v1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(9376)}}}, "a", "b")
	for name, target := range map[string]string{"out": "my.database.example.com", "alias": "one.default.svc.cluster.local", "circle": "circle.default.svc.cluster.local"} {
		s := &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ServiceSpec{Type: v1.ServiceTypeExternalName, ExternalName: target}}
		if _, err := c.client.CoreV1().Services("default").Create(context.Background(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.until("the names are known", func() bool {
		for _, name := range []string{"one", "b.web", "alias"} {
			if _, _, code := c.exec("busy", "", "nslookup", name); code != 0 {
				return false
			}
		}
		out, _, _ := c.exec("busy", "", "nslookup", "-type=cname", "circle")
		return strings.Contains(out, "canonical name")
	})
	ip, aIP := one.Spec.ClusterIP, c.get("a").Status.PodIP
	dashed := strings.ReplaceAll(aIP, ".", "-")
	const suffix = ".default.svc.cluster.local"
	for _, test := range []struct {
		pod, line, want string
		code            int
	}{
		{"busy", "nslookup one", "Server:\t\t10.0.0.10\nAddress:\t10.0.0.10:53\n\nName:\tone" + suffix + "\nAddress: " + ip + "\n\n", 0},
		{"busy", "nslookup kubernetes.default", "Name:\tkubernetes.default.svc.cluster.local\nAddress: 10.0.0.1\n", 0},
		{"busy", "nslookup a.web", "Name:\ta.web" + suffix + "\nAddress: " + aIP + "\n", 0},
		{"busy", "nslookup nothing", "** server can't find nothing: NXDOMAIN", 1},
		{"busy", "nslookup " + ip, "in-addr.arpa\tname = one" + suffix + ".\n", 0},
		{"busy", "nslookup -type=srv _http._tcp.web", "_http._tcp.web" + suffix + "\tservice = 0 50 9376 a.web" + suffix + ".\n", 0},
		{"busy", "nslookup -type=srv one", "service = 0 100 80 one" + suffix + ".\n", 0},
		{"busy", "nslookup out", "out" + suffix + "\tcanonical name = my.database.example.com.\n", 0},
		{"busy", "nslookup circle", "canonical name = circle", 0},
		{"busy", "wget -qO- alias", "", 0},
		{"busy", "wget -qO- out", "", 1},
		{"old", "nslookup a.web", "Server:    10.0.0.10\nAddress 1: 10.0.0.10\n\nName:      a.web\nAddress 1: " + aIP + " a.", 0},
		{"bind", "nslookup one", "Server:\t\t10.0.0.10\nAddress:\t10.0.0.10#53\n\nName:\tone" + suffix + "\nAddress: " + ip + "\n\n", 0},
		{"bind", "dig +short one" + suffix, ip + "\n", 0},
		{"bind", "dig +short one", "", 0},
		{"bind", "dig +search +short one", ip + "\n", 0},
		{"bind", "dig +notcp +noall +answer +search one A", "one" + suffix + ".\t30\tIN\tA\t" + ip + "\n", 0},
		{"bind", "dig one", "status: NXDOMAIN", 0},
		{"bind", "dig SRV _http._tcp.one" + suffix, ";; ANSWER SECTION:\n_http._tcp.one" + suffix + ".\t30\tIN\tSRV\t0 100 80 one" + suffix + ".\n", 0},
		{"bind", "dig +short -x " + aIP, "a.", 0},
		{"bind", "dig +short out" + suffix, "my.database.example.com.\n", 0},
		{"bind", "dig +short @10.0.0.10 " + dashed + ".default.pod.cluster.local", aIP + "\n", 0},
		{"bind", "host one", "one" + suffix + " has address " + ip + "\n", 0},
		{"bind", "host nothing", "Host nothing not found: 3(NXDOMAIN)\n", 1},
		{"custom", "cat /etc/resolv.conf", "search ns1.svc.cluster-domain.example my.dns.search.suffix\nnameserver 192.0.2.1\noptions ndots:2 edns0\n", 0},
		{"host", "cat /etc/resolv.conf", "nameserver 172.18.0.1\n", 0},
		{"host", "nslookup one", "NXDOMAIN", 1},
		{"more", "cat /etc/resolv.conf", "search default.svc.cluster.local svc.cluster.local cluster.local example.com\nnameserver 10.0.0.10\noptions ndots:1\n", 0},
		{"busy", "getent hosts foo.local", "10.1.2.3", 0},
		{"busy", "getent hosts one", fmt.Sprintf("%-15s one%s\n", ip, suffix), 0},
		{"busy", "getent ahosts a.web", fmt.Sprintf("%-15s STREAM a.web%s\n", aIP, suffix), 0},
		{"busy", "getent hosts nothing", "", 2},
		{"busy", "getent passwd root", "root:x:0:0:", 0},
		{"busy", "getent passwd nobody-knows", "", 2},
		{"busy", "telnet one 80", "Connected to one\n", 0},
		{"busy", "telnet one 81", "", 1},
		{"busy", "telnet nothing 80", "", 1},
		{"busy", "netstat -tln", "Active Internet connections (only servers)\nProto Recv-Q Send-Q Local Address           Foreign Address         State       \n", 0},
		{"busy", "route -n", "0.0.0.0         10.244.", 0},
		{"front", "netstat -tlnp", "tcp        0      0 0.0.0.0:80              0.0.0.0:*               LISTEN      1/nginx\n", 0},
		{"front", "netstat -un -l", "State       \n", 0},
		{"front", "ss -tlnp", "LISTEN 0      511            0.0.0.0:80          0.0.0.0:* users:((\"nginx\",pid=1,fd=6))\n", 0},
		{"front", "groups", "root\n", 0},
	} {
		out, errs, code := c.exec(test.pod, "", strings.Fields(test.line)...)
		if code != test.code || !strings.Contains(out, test.want) {
			t.Errorf("%s: %s: %d %q %q, want %d %q", test.pod, test.line, code, out, errs, test.code, test.want)
		}
	}
}

// TestCoreDNS has the Pods behind the Service at the address of the cluster's DNS answer: nobody else does, what they say is in
// their Corefile, and NetworkPolicies are for them.
func TestCoreDNS(t *testing.T) {
	c := start(t)
	ctx := t.Context()
	maps := c.client.CoreV1().ConfigMaps("default")
	corefile := func(more string) *v1.ConfigMap {
		return &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "coredns"}, Data: map[string]string{
			"Corefile": ".:53 {\n errors\n log\n health {\n  lameduck 5s\n }\n ready\n kubernetes cluster.local {\n  ttl 30\n }\n forward . /etc/resolv.conf\n reload\n" + more + "}\n"}}
	}
	if _, err := maps.Create(ctx, corefile(""), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.create(`{metadata: {name: dns, labels: {app: dns}}, spec: {dnsPolicy: Default, containers: [{name: main, image: "registry.k8s.io/coredns/coredns:v1.14.6", args: [-conf, /etc/coredns/Corefile],
		readinessProbe: {httpGet: {path: /ready, port: 8181}}, volumeMounts: [{name: config, mountPath: /etc/coredns}]}], volumes: [{name: config, configMap: {name: coredns}}]}}`)
	c.create(`{metadata: {name: busy}, spec: {containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`)
	c.create(`{metadata: {name: bind}, spec: {containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40"}]}}`)
	for _, name := range []string{"dns", "busy", "bind"} {
		c.pass(name+" is ready", 20*time.Second, c.ready(name))
	}
	says := func(pod, line, want string, code int) {
		t.Helper()
		out, errs, got := c.exec(pod, "", strings.Fields(line)...)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("%s: %s: %d %q %q, want %d %q", pod, line, got, out, errs, code, want)
		}
	}
	known := func(name string) func() bool {
		return func() bool { _, _, code := c.exec("busy", "", "nslookup", name); return code == 0 }
	}
	c.until("the network answers by itself", known("kubernetes"))

	c.expose("dns", v1.ServiceSpec{ClusterIP: "10.0.0.10", Ports: []v1.ServicePort{{Name: "dns", Protocol: v1.ProtocolUDP, Port: 53, TargetPort: intstr.FromInt32(53)}}})
	refused := func() bool {
		out, errs, _ := c.exec("busy", "", "nslookup", "kubernetes")
		return strings.Contains(errs, "nslookup: write to '10.0.0.10': Connection refused") && strings.Contains(out, ";; connection timed out; no servers could be reached")
	}
	c.until("a Service without endpoints refuses", refused)
	says("bind", "dig kubernetes", strings.Repeat(";; communications error to 10.0.0.10#53: connection refused\n", 3)+";; no servers could be reached\n", 9)
	says("bind", "nslookup kubernetes", ";; no servers could be reached\n", 1)
	says("bind", "host kubernetes", ";; no servers could be reached\n", 1)
	says("busy", "wget -qO- kubernetes", "wget: bad address 'kubernetes'", 1)
	says("bind", "curl -sS kubernetes", "curl: (6) Could not resolve host: kubernetes", 6)
	says("busy", "nslookup kubernetes.default.svc.cluster.local "+c.get("dns").Status.PodIP, "Address: 10.0.0.1\n", 0)

	slices := c.client.DiscoveryV1().EndpointSlices("default")
	slice, err := slices.Get(ctx, "dns-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	slice.Endpoints = []discoveryv1.Endpoint{{Addresses: []string{c.get("dns").Status.PodIP}}}
	if _, err := slices.Update(ctx, slice, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.until("the Pod answers", known("kubernetes"))
	says("bind", "dig +search kubernetes", "kubernetes.default.svc.cluster.local.\t30\tIN\tA\t10.0.0.1\n", 0)
	says("busy", "nslookup nothing", "** server can't find nothing: NXDOMAIN", 1)
	if log := c.logs("dns", ""); !strings.Contains(log, `"A IN kubernetes.default.svc.cluster.local. udp 54 false 512" NOERROR qr,aa,rd 106 `) || !strings.Contains(log, `"A IN nothing. udp 25 false 512" NXDOMAIN qr,rd,ra 25 `) {
		t.Errorf("the log: %s", log)
	}

	if _, err := maps.Update(ctx, corefile(" hosts {\n  192.0.2.7 made.test\n  fallthrough\n }\n rewrite name old.test kubernetes.default.svc.cluster.local\n"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.pass("the Corefile is read again", 3*time.Minute, known("made.test"))
	says("busy", "nslookup old.test", "Name:\told.test\nAddress: 10.0.0.1\n", 0)

	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "alone"}, Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "dns"}}, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}}}
	if _, err := c.client.NetworkingV1().NetworkPolicies("default").Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	timedOut := make(chan string, 1)
	go func() {
		out, _, _ := c.exec("bind", "", "dig", "kubernetes.default.svc.cluster.local")
		timedOut <- out
	}()
	c.pass("a policy shuts it off", time.Minute, func() bool {
		select {
		case out := <-timedOut:
			if !strings.Contains(out, "communications error to 10.0.0.10#53: timed out") {
				t.Errorf("dig prints %s", out)
			}
			return true
		default:
			return false
		}
	})
	if err := c.client.CoreV1().Pods("default").Delete(ctx, "dns", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.until("it says that it ends", func() bool {
		return strings.HasSuffix(c.logs("dns", ""), "[INFO] SIGTERM: Shutting down servers then terminating\n[INFO] plugin/health: Going into lameduck mode for 5s\n")
	})
}
