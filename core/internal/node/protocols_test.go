package node_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestServersAreSpokenToByHand(t *testing.T) {
	c := start(t)
	c.hostnames("a")
	c.create(`{metadata: {name: cache}, spec: {containers: [{name: main, image: redis}]}}`)
	c.create(`{metadata: {name: listener}, spec: {containers: [{name: main, image: busybox, command: [sh, -c, "echo welcome | nc -l -p 9000"]}]}}`)
	c.create(`{metadata: {name: web}, spec: {containers: [{name: main, image: busybox, command: [sh, -c, "while true; do printf 'HTTP/1.1 200 OK\\r\\n\\r\\nby hand' | nc -l -p 8080 > /dev/null; done"]}]}}`)
	c.create(`{metadata: {name: netexec}, spec: {containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [netexec]}]}}`)
	c.create(`{metadata: {name: client}, spec: {containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`)
	for _, name := range []string{"cache", "listener", "web", "netexec", "client"} {
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	c.expose("who", v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(9376)}}}, "a")
	c.expose("udp", v1.ServiceSpec{Type: v1.ServiceTypeNodePort, Ports: []v1.ServicePort{{Port: 90, NodePort: 30090, Protocol: v1.ProtocolUDP, TargetPort: intstr.FromInt32(8081)}}}, "netexec")
	c.until("the Services are known", func() bool {
		_, _, code := c.exec("client", "", "nc", "-z", "who", "80")
		_, _, udp := c.exec("client", "", "nc", "-zu", "udp", "90")
		return code == 0 && udp == 0
	})
	ip := func(name string) string { return c.get(name).Status.PodIP }
	for _, test := range []struct {
		stdin, line, want string
		code              int
	}{
		{"hostName\n", "nc -v -t -w 2 who 80", "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request", 0},
		{"GET / HTTP/1.0\r\n\r\n", "nc who 80", "HTTP/1.0 200 OK\r\n", 0},
		{"GET / HTTP/1.0\r\n\r\n", "nc who 80", "\r\n\r\na", 0},
		{"PING\nSET x 1\nINCR x\nGET x\nGET y\nNO\n", "nc " + ip("cache") + " 6379", "+PONG\r\n+OK\r\n:2\r\n$1\r\n2\r\n$-1\r\n-ERR unknown command 'NO'\r\n", 0},
		{"hello", "nc " + ip("listener") + " 9000", "welcome\n", 0},
		{"", "wget -qO- " + ip("web") + ":8080", "by hand", 0},
		{"hostname", "nc -u -w1 udp 90", "netexec", 0},
		{"echo So What", "nc -u 172.18.0.3 30090", "so what", 0},
		{"clientip", "nc -u " + ip("netexec") + " 8081", ip("client") + ":40000", 0},
		{"", "nc -z udp 90", "", 1},                     // its protocol is another
		{"", "nc -z " + ip("netexec") + " 8081", "", 1}, // and so is that of the Pod
		{"", "wget -qO- http://" + ip("netexec") + ":8080/dial?host=udp&port=90&protocol=udp&request=hostname", `{"responses":["netexec"]}`, 0},
		{"", "agnhost connect --protocol=udp udp:90", "", 0},
	} {
		pod := "client"
		if strings.HasPrefix(test.line, "agnhost") {
			pod = "netexec"
		}
		out, errs, code := c.exec(pod, test.stdin, strings.Fields(test.line)...)
		if code != test.code || !strings.Contains(out, test.want) {
			t.Errorf("%s: %d %q %q, want %q", test.line, code, out, errs, test.want)
		}
	}
	c.pass("the listener has ended", time.Minute, func() bool { return strings.Contains(c.logs("listener", ""), "hello") })
}
