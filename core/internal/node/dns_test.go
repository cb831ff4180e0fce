package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
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
		{"busy", "ping -c1 foo.local", "PING foo.local (10.1.2.3)", 0},
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
