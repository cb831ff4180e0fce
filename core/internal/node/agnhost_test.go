package node_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A Pod verifies its own token by the issuer's discovery document and keys.
func TestIssuerDiscovery(t *testing.T) {
	c := start(t)
	pod := func(name, audience string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, volumes: [{name: token, projected: {sources: [{serviceAccountToken: {path: token, audience: oidc-discovery-test, expirationSeconds: 7200}}]}}],
  containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [test-service-account-issuer-discovery, --token-path=/t/token, --audience=` + audience + `], volumeMounts: [{name: token, mountPath: /t}]}]}}`)
	}
	pod("good", "oidc-discovery-test")
	pod("bad", "another")
	c.pass("verified", time.Minute, c.phase("good", v1.PodSucceeded))
	c.pass("not verified", time.Minute, c.phase("bad", v1.PodFailed))
	for name, want := range map[string]string{"good": "OK: Validated signature on JWT", "bad": `oidc: expected audience "another"`} {
		if got := c.logs(name, ""); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The guestbook of Kubernetes' tests: a front end, a primary, and replicas that hear of what the primary is told.
func TestGuestbook(t *testing.T) {
	c := start(t)
	agnhost := func(name, args string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [guestbook, ` + args + `]}]}}`)
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	agnhost("primary", "--http-port=6379")
	c.expose("agnhost-primary", v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 6379, TargetPort: intstr.FromInt32(6379)}}}, "primary")
	agnhost("replica", "--replicaof=agnhost-primary, --http-port=6379")
	c.pass("registered", 20*time.Second, func() bool { return strings.Contains(c.logs("replica", ""), "Registered to node: agnhost-primary") })
	c.expose("agnhost-replica", v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 6379, TargetPort: intstr.FromInt32(6379)}}}, "replica")
	agnhost("frontend", "--http-port=80")
	ask := c.from("frontend")
	c.until("the guestbook is written", func() bool {
		text, err := ask("localhost/guestbook?cmd=set&key=messages&value=TestEntry")
		return err == nil && text == `{"message":"Updated"}`
	})
	c.until("the guestbook is read", func() bool {
		text, err := ask("localhost/guestbook?cmd=get&key=messages")
		return err == nil && text == `{"data":"TestEntry"}`
	})
}
