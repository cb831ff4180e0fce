package node_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/internal/node/network"
)

// hostnames creates Pods that say their names at port 9376, on nodes in turn, and waits until they do.
func (c *cluster) hostnames(names ...string) {
	c.Helper()
	for i, name := range names {
		c.create(`{metadata: {name: ` + name + `, labels: {app: ` + name + `}}, spec: {nodeName: node-` + []string{"1", "2"}[i%2] +
			`, containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [serve-hostname]}]}}`)
	}
	for _, name := range names {
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
}

// expose creates a Service with one port and makes the Pods its endpoints.
func (c *cluster) expose(name string, spec v1.ServiceSpec, pods ...string) *v1.Service {
	c.Helper()
	ctx := context.Background()
	s, err := c.client.CoreV1().Services("default").Create(ctx, &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: name}}, AddressType: discoveryv1.AddressTypeIPv4,
	}
	for _, p := range s.Spec.Ports {
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: ptr.To(p.Name), Port: ptr.To(p.TargetPort.IntVal), Protocol: ptr.To(p.Protocol)})
	}
	for _, name := range pods {
		p := c.get(name)
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{p.Status.PodIP}, NodeName: ptr.To(p.Spec.NodeName), Hostname: ptr.To(name)})
	}
	if _, err := c.client.DiscoveryV1().EndpointSlices("default").Create(ctx, slice, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
	return s
}

// fetch asks as a machine outside of the cluster does.
func (c *cluster) fetch(address string) (string, error) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, "http://"+address, nil)
	if err != nil {
		c.Fatal(err)
	}
	response, err := c.dialer.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// answers says which Pods answer at an address.
func (c *cluster) answers(ask func(address string) (string, error), address string) string {
	c.Helper()
	seen := map[string]bool{}
	for range 6 {
		text, err := ask(address)
		if err != nil {
			return err.Error()
		}
		seen[text] = true
	}
	all := ""
	for _, name := range []string{"a", "b"} {
		if seen[name] {
			all += name
		}
	}
	return all
}

// from asks as a Pod does.
func (c *cluster) from(pod string) func(string) (string, error) {
	return func(address string) (string, error) {
		out, errs, code := c.exec(pod, "", "wget", "-qO-", "-T1", "http://"+address)
		if code != 0 {
			return "", errors.New(errs)
		}
		return out, nil
	}
}

func TestNodePorts(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: client}, spec: {containers: [{name: main, image: alpine, command: [sleep, infinity]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("client"))
	c.hostnames("a", "b")
	ports := func(node int32) []v1.ServicePort {
		return []v1.ServicePort{{Port: 80, NodePort: node, TargetPort: intstr.FromInt32(9376)}}
	}
	who := c.expose("who", v1.ServiceSpec{Type: v1.ServiceTypeNodePort, Ports: ports(30080)}, "a", "b")
	c.expose("local", v1.ServiceSpec{Type: v1.ServiceTypeNodePort, Ports: ports(30081), ExternalTrafficPolicy: v1.ServiceExternalTrafficPolicyLocal}, "b")
	c.until("the Services are known", func() bool { _, err := c.fetch("172.18.0.3:30081"); return err == nil })
	client := c.from("client")
	for _, test := range []struct {
		who     func(string) (string, error)
		address string
		want    string
	}{
		{client, "172.18.0.2:30080", "ab"},
		{client, "172.18.0.3:30080", "ab"},
		{c.fetch, "172.18.0.2:30080", "ab"},
		{c.fetch, "node-2:30080", "ab"},
		{c.fetch, "172.18.0.3:30081", "b"},
		{client, "172.18.0.2:30081", "b"}, // a Pod of the node itself is led on
		{client, "172.18.0.2:30082", "Connection refused"},
		{c.fetch, "172.18.0.2:30082", "connection refused"},
		{c.fetch, "172.18.0.2:80", "connection refused"},
		{c.fetch, who.Spec.ClusterIP, "inside of the cluster"},
		{c.fetch, c.get("a").Status.PodIP + ":9376", "inside of the cluster"},
		{c.fetch, "who", "no such host"},
	} {
		if got := c.answers(test.who, test.address); got != test.want && (len(test.want) < 3 || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %q, want %q", test.address, got, test.want)
		}
	}
	_, err := c.fetch(who.Spec.ClusterIP + ":80")
	var inside network.InsideError
	if !errors.As(err, &inside) || !strings.Contains(inside.Advice(), "kubectl port-forward -n default svc/who 8080:80") {
		t.Errorf("the terminal is told %v", err)
	}
}

// No node answers for a Service whose endpoints are all elsewhere if its policy is Local.
func TestALocalNodePortWithoutAnEndpointOnTheNode(t *testing.T) {
	c := start(t)
	c.hostnames("a")
	c.expose("local", v1.ServiceSpec{Type: v1.ServiceTypeNodePort, ExternalTrafficPolicy: v1.ServiceExternalTrafficPolicyLocal,
		Ports: []v1.ServicePort{{Port: 80, NodePort: 30081, TargetPort: intstr.FromInt32(9376)}}}, "a")
	c.until("the Service is known", func() bool { _, err := c.fetch("172.18.0.2:30081"); return err == nil })
	failed := make(chan error, 1)
	go func() {
		_, err := c.fetch("172.18.0.3:30081")
		failed <- err
	}()
	c.pass("the connection has timed out", 3*time.Minute, func() bool { return len(failed) > 0 })
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "i/o timeout") {
		t.Errorf("%v", err)
	}
}

func TestHostPorts(t *testing.T) {
	c := start(t)
	pod := func(name, port string) string {
		return `{metadata: {name: ` + name + `}, spec: {containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [serve-hostname], ports: [` + port + `]}]}}`
	}
	c.create(pod("a", `{containerPort: 9376, hostPort: 8000, hostIP: 127.0.0.1}`))
	c.pass("ready", 10*time.Second, c.ready("a"))
	c.create(pod("b", `{containerPort: 9376, hostPort: 8000, hostIP: 172.18.0.2}`))
	c.create(pod("c", `{containerPort: 9376, hostPort: 8000, hostIP: 172.18.0.2, protocol: UDP}`))
	c.create(pod("d", `{containerPort: 9376, hostPort: 8000}`))
	c.pass("ready", 10*time.Second, c.ready("b"))
	c.pass("ready", 10*time.Second, c.ready("c"))
	c.pass("refused", 10*time.Second, c.phase("d", v1.PodFailed))
	if got := c.get("d").Status.Reason; got != "NodePorts" {
		t.Errorf("refused for %q", got)
	}
	if got, err := c.fetch("172.18.0.2:8000"); err != nil || got != "b" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := c.fetch("172.18.0.3:8000"); err == nil {
		t.Errorf("at another node: %q", got)
	}
}

// A server of which nothing is known, and that declares no port, listens where a Service, a probe or its environment says.
func TestServersThatDeclareNoPort(t *testing.T) {
	c := start(t)
	for name, more := range map[string]string{"plain": "", "probed": `, readinessProbe: {httpGet: {port: 3000}}`, "told": `, env: [{name: PORT, value: "5000"}]`, "declared": `, ports: [{containerPort: 80}]`} {
		c.create(`{metadata: {name: ` + name + `, labels: {app: ` + name + `}}, spec: {containers: [{name: main, image: me/app` + more + `}]}}`)
	}
	c.create(`{metadata: {name: client}, spec: {containers: [{name: main, image: busybox, command: [sleep, infinity]}]}}`)
	for _, name := range []string{"plain", "probed", "told", "declared", "client"} {
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	for name, port := range map[string]int32{"plain": 8080, "told": 8080, "declared": 8080} {
		c.expose(name, v1.ServiceSpec{Selector: map[string]string{"app": name}, Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(port)}}}, name)
	}
	c.until("the Service is known", func() bool { _, _, code := c.exec("client", "", "curl", "plain"); return code == 0 })
	ip := func(name string) string { return c.get(name).Status.PodIP }
	for line, want := range map[string]int{
		"nc -z " + ip("plain") + " 8080": 0, "nc -z " + ip("plain") + " 9999": 1, "nc -z " + ip("probed") + " 3000": 0, "nc -z " + ip("probed") + " 8080": 1,
		"curl " + ip("told") + ":5000": 0, "curl told": 7, "curl " + ip("declared"): 0, "curl declared": 7,
	} {
		if out, errs, code := c.exec("client", "", strings.Fields(line)...); code != want {
			t.Errorf("%s: exit code %d, want %d: %s%s", line, code, want, out, errs)
		}
	}
}
