package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/internal/node"
)

func TestServices(t *testing.T) {
	ctx := context.Background()
	c := start(t)
	c.create(`{metadata: {name: client}, spec: {containers: [{name: main, image: alpine, command: [sleep, infinity]}]}}`)
	for _, name := range []string{"a", "b"} {
		c.create(`{metadata: {name: ` + name + `}, spec: {nodeName: node-2, hostname: ` + name + `, containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [serve-hostname]}]}}`)
	}
	for _, name := range []string{"client", "a", "b"} {
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	service := &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: "who"}, Spec: v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(9376)}}}}
	if _, err := c.client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "who-1", Labels: map[string]string{discoveryv1.LabelServiceName: "who"}}, AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: ptr.To(""), Port: ptr.To(int32(9376))}},
	}
	for _, name := range []string{"a", "b"} {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{c.get(name).Status.PodIP}})
	}
	if _, err := c.client.DiscoveryV1().EndpointSlices("default").Create(ctx, slice, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.until("the Service has endpoints", func() bool {
		_, _, code := c.exec("client", "", "wget", "-qO-", "http://who")
		return code == 0
	})
	seen := map[string]bool{}
	for range 6 {
		for _, address := range []string{"http://who", "http://who.default.svc.cluster.local:80/"} {
			out, errs, code := c.exec("client", "", "wget", "-qO-", address)
			if code != 0 {
				t.Fatalf("%s: %s", address, errs)
			}
			seen[out] = true
		}
	}
	if !seen["a"] || !seen["b"] || len(seen) != 2 {
		t.Errorf("the Service leads to %v", seen)
	}
	if out, _, code := c.exec("client", "", "nslookup", "who"); code != 0 || !strings.Contains(out, "who.default.svc.cluster.local") {
		t.Errorf("nslookup: %q", out)
	}
	if _, errs, code := c.exec("client", "", "nc", "-z", "who", "81"); code == 0 || !strings.Contains(errs, "Connection refused") {
		t.Errorf("a port that the Service does not have: %d %q", code, errs)
	}
}

// Kubelets that start over Pods which ran before them start their containers
// anew, as after a reboot, and leave finished Pods alone.
func TestRestartOfKubelets(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: server}, spec: {containers: [{name: main, image: nginx}]}}`)
	c.create(`{metadata: {name: done}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("server"))
	c.pass("succeeded", 10*time.Second, c.phase("done", v1.PodSucceeded))
	done := c.get("done")

	// Stop the first kubelets; those of a second set take over.
	c.stop()
	factory := informers.NewSharedInformerFactory(c.client, 0)
	second, err := node.New(node.Config{Client: c.client, Informers: factory, Clock: c.clock})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- second.Run(ctx); factory.Shutdown() }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	c.nodes = second
	c.pass("running again", time.Minute, func() bool {
		s := c.get("server").Status.ContainerStatuses
		return len(s) == 1 && s[0].RestartCount == 1 && s[0].State.Running != nil && s[0].LastTerminationState.Terminated != nil && s[0].LastTerminationState.Terminated.Reason == "Unknown"
	})
	if now := c.get("done"); now.ResourceVersion != done.ResourceVersion {
		t.Errorf("a Pod that was finished has changed: %s", describe(now))
	}
}

// While the clock stands still nothing is written but heartbeats.
func TestIdle(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: nginx, livenessProbe: {httpGet: {port: 80}}}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	c.rest()
	before := c.get("p").ResourceVersion
	if err := c.clock.Step(9 * time.Second); err != nil {
		t.Fatal(err)
	}
	c.rest()
	if after := c.get("p").ResourceVersion; after != before {
		t.Errorf("a Pod whose probes pass was written: %s to %s", before, after)
	}
}
