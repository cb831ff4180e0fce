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

// A container that takes more memory than its limit is killed for that, and what others
// take is in the metrics.
func TestStressAndLimits(t *testing.T) {
	c := start(t)
	stress := func(name, limit string) string {
		return `{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, containers: [{name: main, image: polinux/stress, resources: {requests: {memory: 50Mi}, limits: {memory: ` + limit + `}}, command: [stress], args: ["--vm", "1", "--vm-bytes", "150M", "--vm-hang", "1"]}]}}`
	}
	c.create(stress("over", "100Mi"))
	c.pass("killed", time.Minute, c.phase("over", v1.PodFailed))
	if ended := c.get("over").Status.ContainerStatuses[0].State.Terminated; ended == nil || ended.Reason != "OOMKilled" || ended.ExitCode != 137 {
		t.Errorf("%+v", ended)
	}
	c.create(stress("within", "200Mi"))
	c.pass("taken", time.Minute, func() bool {
		m, ok := c.nodes.PodUsage(c.get("within"))
		return ok && m.Containers[0].Usage.Memory().Value() == 151<<20
	})
}

// Who does nothing takes next to nothing of a processor, whatever it requests.
func TestIdleContainers(t *testing.T) {
	c := start(t)
	most := map[string]int64{"asleep": 0, "server": 2}
	c.create(`{metadata: {name: asleep}, spec: {containers: [{name: main, image: busybox, command: [sleep, infinity], resources: {requests: {cpu: "1"}}}]}}`)
	c.create(`{metadata: {name: server}, spec: {containers: [{name: main, image: nginx, resources: {requests: {cpu: "1"}}}]}}`)
	for name, most := range most {
		c.pass(name+" runs", time.Minute, c.phase(name, v1.PodRunning))
		if m, ok := c.nodes.PodUsage(c.get(name)); !ok || m.Containers[0].Usage.Cpu().MilliValue() > most || most > 0 && m.Containers[0].Usage.Cpu().IsZero() {
			t.Errorf("%s: %v", name, m.Containers)
		}
	}
}

// The name of a Pod's host is that in full where it asks for that.
func TestHostnameInFull(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {hostname: web, subdomain: sub, setHostnameAsFQDN: true, containers: [{name: main, image: busybox, command: [sh, -c, "hostname; cat /etc/hostname; uname -n; sleep 1000"]}]}}`)
	c.pass("running", time.Minute, c.phase("p", v1.PodRunning))
	if got, want := c.logs("p", ""), strings.Repeat("web.sub.default.svc.cluster.local\n", 3); got != want {
		t.Errorf("its names are %q, not %q", got, want)
	}
}

// A container without limits has those of its Pod.
func TestLimitsOfThePod(t *testing.T) {
	c := start(t)
	pod := func(name, limits string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, resources: {limits: {cpu: 500m, memory: 100Mi}}, containers: [{name: main, image: polinux/stress, resources: {limits: {` + limits + `}}, command: [stress], args: ["--vm", "1", "--vm-bytes", "150M", "--vm-hang", "1"]}]}}`)
	}
	main := func(name string) *v1.ContainerStatus {
		for _, s := range c.get(name).Status.ContainerStatuses {
			if s.Name == "main" {
				return &s
			}
		}
		return nil
	}
	pod("over", "")
	c.pass("killed", time.Minute, func() bool {
		s := main("over")
		return s != nil && s.State.Terminated != nil && s.State.Terminated.Reason == "OOMKilled"
	})
	pod("within", "cpu: 300m, memory: 60Mi")
	c.pass("killed by its own", time.Minute, func() bool {
		s := main("within")
		return s != nil && s.State.Terminated != nil && s.State.Terminated.Reason == "OOMKilled"
	})
	c.create(`{metadata: {name: quiet}, spec: {resources: {limits: {cpu: 500m, memory: 100Mi}}, containers: [{name: main, image: busybox, command: [sh, -c, "cat /sys/fs/cgroup/cpu.max; sleep 1000"]}]}}`)
	c.pass("quiet", time.Minute, c.phase("quiet", v1.PodRunning))
	if got := c.logs("quiet", ""); got != "50000 100000\n" {
		t.Errorf("cpu.max is %q", got)
	}
}

// What a container writes to a volume in memory is its memory: it is in the metrics, and a container
// that writes more than its limit is killed. The volume outlives that, and the next run is killed at
// its first write.
func TestFilesInMemory(t *testing.T) {
	c := start(t)
	write := func(name, limit string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {volumes: [{name: fast, emptyDir: {medium: Memory}}], containers: [{name: main, image: busybox, resources: {requests: {memory: 1Mi}, limits: {memory: ` + limit + `}}, volumeMounts: [{name: fast, mountPath: /fast}], command: [sh, -c, "echo x >> /fast/log; head -c 4194304 /dev/zero > /fast/f; sleep 1000"]}]}}`)
	}
	write("within", "6Mi")
	c.pass("written", time.Minute, func() bool {
		m, ok := c.nodes.PodUsage(c.get("within"))
		return ok && m.Containers[0].Usage.Memory().Value() > 5<<20
	})
	write("over", "4608Ki")
	c.pass("killed", time.Minute, func() bool {
		s := c.get("over").Status.ContainerStatuses
		return len(s) > 0 && s[0].LastTerminationState.Terminated != nil && s[0].LastTerminationState.Terminated.Reason == "OOMKilled" && s[0].LastTerminationState.Terminated.ExitCode == 137
	})
	c.pass("killed again", time.Minute, c.waiting("over", "CrashLoopBackOff"))
	if s := c.get("within").Status.ContainerStatuses[0]; s.RestartCount != 0 {
		t.Errorf("the one within its limit: %+v", s)
	}
}

// What a container is given and may do is in its files.
func TestLimitsAndCapabilitiesInFiles(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {hostname: web, subdomain: sub, hostAliases: [{ip: 10.1.2.3, hostnames: [foo.remote, bar.remote]}], containers: [{name: main, image: busybox, resources: {requests: {cpu: 100m}, limits: {cpu: 200m, memory: 64Mi}}, securityContext: {capabilities: {add: [NET_ADMIN, SYS_TIME]}}, command: [sh, -c, "grep CapPrm /proc/1/status; cat /etc/hosts; hostname -f; while true; do cat /sys/fs/cgroup/cpu.max; sleep 1; done"]}]}}`)
	says := func(text string) func() bool {
		return func() bool { return strings.Contains(c.logs("p", ""), text) }
	}
	c.pass("told", time.Minute, says("20000 100000\n"))
	log := c.logs("p", "")
	for _, want := range []string{"CapPrm:\t00000000aa0435fb\n", "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n", "\tweb.sub.default.svc.cluster.local\tweb\n\n# Entries added by HostAliases.\n10.1.2.3\tfoo.remote\tbar.remote\n", "\nweb.sub.default.svc.cluster.local\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not have %q: %s", want, log)
		}
	}
	if _, err := c.client.CoreV1().Pods("default").Patch(context.Background(), "p", types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"main","resources":{"limits":{"cpu":"300m"}}}]}}`), metav1.PatchOptions{}, "resize"); err != nil {
		t.Fatal(err)
	}
	c.pass("told of the change", time.Minute, says("30000 100000\n"))
}

// Containers of a Pod that shares its process namespace see each other's processes.
func TestSharedProcessNamespace(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {shareProcessNamespace: true, containers: [{name: nginx, image: nginx}, {name: main, image: busybox, command: [sh, -c, "while sleep 1; do ps; done"]}]}}`)
	c.pass("seen", time.Minute, func() bool {
		log := c.logs("p", "main")
		return strings.Contains(log, "    1 root      0:00 /pause\n") && strings.Contains(log, "nginx: master process nginx -g daemon off;\n")
	})
}
