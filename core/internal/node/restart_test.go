package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A container that ends with the exit code of such a rule has all of the Pod's containers
// started anew, the init containers first, in the same sandbox.
func TestRestartAllContainers(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {restartPolicy: Always, volumes: [{name: data, emptyDir: {}}],
		initContainers: [{name: setup, image: busybox, command: [sh, -c, "echo x >> /data/inits"], volumeMounts: [{name: data, mountPath: /data}]}],
		containers: [
			{name: other, image: busybox, command: [sleep, "100000"]},
			{name: main, image: busybox, command: [sh, -c, "wc -l < /data/inits; [ $(wc -l < /data/inits) = 2 ] && sleep 100000; sleep 1; exit 88"], volumeMounts: [{name: data, mountPath: /data}],
			 restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [88]}}], restartPolicy: Always}]}}`)
	ip := ""
	c.pass("begun anew", 5*time.Minute, func() bool {
		s := c.get("p").Status
		if len(s.InitContainerStatuses) == 0 || len(s.ContainerStatuses) != 2 {
			return false
		}
		if ip == "" {
			ip = s.PodIP
		}
		return s.InitContainerStatuses[0].RestartCount == 1 && s.ContainerStatuses[0].RestartCount == 1 && s.ContainerStatuses[1].RestartCount == 1 && s.ContainerStatuses[1].State.Running != nil
	})
	s := c.get("p").Status
	if got := c.logs("p", "container=main"); got != "2\n" || s.PodIP != ip {
		t.Errorf("%q at %s, want 2 inits at %s", got, s.PodIP, ip)
	}
	if last := s.ContainerStatuses[1].LastTerminationState.Terminated; last == nil || last.ExitCode != 88 {
		t.Errorf("the last state is %v", last)
	}
}

// A container whose image is changed is started anew, whatever the restart policy.
func TestAnotherImageRestarts(t *testing.T) {
	c := start(t)
	for _, policy := range []string{"Never", "OnFailure", "Always"} {
		name := strings.ToLower(policy)
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: ` + policy + `, containers: [{name: main, image: nginx}]}}`)
		c.pass("runs", time.Minute, c.ready(name))
		seen := c.record(name)
		patch := []byte(`{"spec":{"containers":[{"name":"main","image":"nginx:1.24.0"}]}}`)
		if _, err := c.client.CoreV1().Pods("default").Patch(c.Context(), name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		c.pass("runs again", time.Minute, func() bool {
			s := c.get(name).Status.ContainerStatuses[0]
			return s.RestartCount == 1 && s.State.Running != nil && s.Image == "docker.io/library/nginx:1.24.0"
		})
		if text := seen.String(); strings.Contains(text, "Succeeded") || strings.Contains(text, "terminated") {
			t.Errorf("%s: %s", policy, text)
		}
	}
}

// A resize of a Pod as a whole restarts the containers that want it, and no others.
func TestResizeOfAPod(t *testing.T) {
	c := start(t)
	ctx := context.Background()
	c.create(`{metadata: {name: p}, spec: {resources: {requests: {cpu: 100m, memory: 100Mi}, limits: {cpu: 200m, memory: 200Mi}},
		containers: [{name: stays, image: busybox, command: [sleep, "100000"], resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}, {name: begins, image: busybox, command: [sleep, "100000"], resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]}]}}`)
	c.pass("runs", time.Minute, c.ready("p"))
	patch := []byte(`{"spec":{"resources":{"requests":{"cpu":"200m"},"limits":{"cpu":"400m"}}}}`)
	if _, err := c.client.CoreV1().Pods("default").Patch(ctx, "p", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize"); err != nil {
		t.Fatal(err)
	}
	c.pass("resized", 3*time.Minute, func() bool {
		s := c.get("p").Status
		return s.ContainerStatuses[1].RestartCount == 1 && s.ContainerStatuses[1].State.Running != nil && s.Resources != nil && s.Resources.Limits.Cpu().String() == "400m"
	})
	if s := c.get("p").Status; s.ContainerStatuses[0].RestartCount != 0 || s.AllocatedResources.Cpu().String() != "200m" {
		t.Errorf("restarts %d, allocated %v", s.ContainerStatuses[0].RestartCount, s.AllocatedResources)
	}
}

// What somebody advertises on a node can be asked for by Pods.
func TestExtendedResources(t *testing.T) {
	c := start(t)
	ctx := context.Background()
	c.until("the node", func() bool {
		_, err := c.client.CoreV1().Nodes().Get(ctx, "node-1", metav1.GetOptions{})
		return err == nil
	})
	patch := []byte(`[{"op":"add","path":"/status/capacity/example.com~1dongle","value":"4"}]`)
	if _, err := c.client.CoreV1().Nodes().Patch(ctx, "node-1", types.JSONPatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	c.pass("allocatable", time.Minute, func() bool {
		node, err := c.client.CoreV1().Nodes().Get(ctx, "node-1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		q := node.Status.Allocatable["example.com/dongle"]
		return q.Value() == 4
	})
	pod := func(name, count string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {nodeName: node-1, containers: [{name: main, image: nginx, resources: {requests: {example.com/dongle: ` + count + `}, limits: {example.com/dongle: ` + count + `}}}]}}`)
	}
	c.create(`{metadata: {name: unheard}, spec: {nodeName: node-1, containers: [{name: main, image: nginx, resources: {requests: {example.com/unheard: 1}, limits: {example.com/unheard: 1}}}]}}`)
	c.pass("one that the node has not heard of runs, as with upstream's kubelet", time.Minute, c.ready("unheard"))
	pod("three", "3")
	c.pass("runs", time.Minute, c.ready("three"))
	pod("two", "2")
	c.pass("is refused", time.Minute, c.phase("two", v1.PodFailed))
	if s := c.get("two").Status; s.Reason != "OutOfexample.com/dongle" {
		t.Errorf("%s: %s", s.Reason, s.Message)
	}
}

// A Pod sets the parameters of its kernel that it may, and one that asks for others is refused.
func TestSysctls(t *testing.T) {
	c := start(t)
	pod := func(name, sysctl string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, securityContext: {sysctls: [{name: ` + sysctl + `, value: "1"}]}, containers: [{name: main, image: busybox, command: [/bin/sysctl, ` + sysctl + `]}]}}`)
	}
	pod("safe", "kernel.shm_rmid_forced")
	c.pass("ended", time.Minute, c.phase("safe", v1.PodSucceeded))
	if got := c.logs("safe", ""); got != "kernel.shm_rmid_forced = 1\n" {
		t.Errorf("%q", got)
	}
	pod("unsafe", "kernel.msgmax")
	c.pass("is refused", time.Minute, c.phase("unsafe", v1.PodFailed))
	if s := c.get("unsafe").Status; s.Reason != "SysctlForbidden" || s.Message != `Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted` {
		t.Errorf("%s: %s", s.Reason, s.Message)
	}
}

// What keeps a Pod from starting is said: a pull secret that is not there, and in what a
// client asks of a log.
func TestWhatAPodWaitsFor(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: secret}, spec: {imagePullSecrets: [{name: regcred}], containers: [{name: main, image: nginx}]}}`)
	c.pass("runs all the same", time.Minute, c.ready("secret"))
	const want = "Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed."
	if got := c.events("secret"); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	c.create(`{metadata: {name: inits}, spec: {initContainers: [{name: one, image: busybox, command: [sleep, "100000"]}], containers: [{name: main, image: nginx}]}}`)
	c.pass("initializes", time.Minute, func() bool {
		s := c.get("inits").Status
		return len(s.InitContainerStatuses) == 1 && s.InitContainerStatuses[0].State.Running != nil
	})
	if got := c.logs("inits", ""); got != "container \"main\" in pod \"inits\" is waiting to start: PodInitializing\n" {
		t.Errorf("%q", got)
	}
}
