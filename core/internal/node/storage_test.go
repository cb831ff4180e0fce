package node_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/kubetab/kubetab/core/internal/node"
)

// A Pod that takes more of its node's disk than it may, with its files or its logs, is
// evicted as upstream's kubelet does it.
func TestPodsThatOutgrowTheirStorage(t *testing.T) {
	for name, test := range map[string]struct{ spec, message, signal, killing string }{
		"emptyDir": {
			`{volumes: [{name: cache, emptyDir: {sizeLimit: 1Mi}}], containers: [{name: main, image: busybox, volumeMounts: [{name: cache, mountPath: /cache}], command: [sh, -c, "head -c 2097152 /dev/zero > /cache/f; sleep 1000"]}]}`,
			`Usage of EmptyDir volume "cache" exceeds the limit "1Mi". `, "emptydirfs.limit", "main",
		},
		"container": {
			`{containers: [{name: other, image: busybox, command: [sleep, "1000"], resources: {limits: {ephemeral-storage: 10Mi}}}, {name: main, image: busybox, command: [sh, -c, "head -c 2097152 /dev/zero > /tmp/f; sleep 1000"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Container main exceeded its local ephemeral storage limit "1Mi". `, "ephemeralcontainerfs.limit", "other main",
		},
		"Pod": {
			`{volumes: [{name: cache, emptyDir: {}}], containers: [{name: main, image: busybox, volumeMounts: [{name: cache, mountPath: /cache}], command: [sh, -c, "head -c 2097152 /dev/zero > /cache/f; sleep 1000"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. `, "ephemeralpodfs.limit", "main",
		},
		"log": {
			`{containers: [{name: main, image: busybox, command: ["yes"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. `, "ephemeralpodfs.limit", "main",
		},
		"log of one container": {
			`{containers: [{name: other, image: busybox, command: [sleep, "1000"], resources: {limits: {ephemeral-storage: 1Gi}}}, {name: main, image: busybox, command: ["yes"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Container main exceeded its local ephemeral storage limit "1Mi". `, "ephemeralcontainerfs.limit", "other main",
		},
		"log and files": {
			`{containers: [{name: main, image: busybox, command: [sh, -c, "head -c 700000 /dev/zero > /tmp/f; head -c 700000 /dev/zero | tr '\\0' x; echo; sleep 1000"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. `, "ephemeralpodfs.limit", "main",
		},
		"log of the run before": {
			`{containers: [{name: main, image: busybox, command: [sh, -c, "head -c 700000 /dev/zero | tr '\\0' x; echo; sleep 30"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. `, "ephemeralpodfs.limit", "main",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			c.create(`{metadata: {name: p}, spec: ` + test.spec + `}`)
			c.pass("evicted", 2*time.Minute, c.phase("p", v1.PodFailed))
			if s := c.get("p").Status; s.Reason != "Evicted" || s.Message != test.message {
				t.Errorf("%s: %q, want Evicted: %q", s.Reason, s.Message, test.message)
			}
			if count := "\nkubelet_evictions{eviction_signal=\"" + test.signal + "\"} 1\n"; !strings.Contains(c.ask("/metrics"), count) {
				t.Errorf("/metrics lacks %q", count)
			}
			want := "  Warning Evicted: " + strings.TrimSpace(test.message) + "\n"
			for name := range strings.FieldsSeq(test.killing) {
				want += "  Normal Killing spec.containers{" + name + "}: Stopping container " + name + "\n"
			}
			// What is before is how its containers have begun.
			c.until("the events are written", func() bool { return strings.HasSuffix(c.events("p"), want) })
			if _, after, _ := strings.Cut(c.events("p"), "  Warning "); "  Warning "+after != want {
				t.Errorf("the events are\n%swant at the end, as the only ones of the eviction\n%s", c.events("p"), want)
			}
		})
	}
}

// What a container has taken that has ended counts for no limit, as in upstream's kubelet,
// and what others take later does.
func TestStorageOfContainersThatHaveEnded(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {initContainers: [{name: init, image: busybox, command: [sh, -c, "head -c 2097152 /dev/zero > /tmp/f"]}], containers: [{name: main, image: busybox, command: [sh, -c, "sleep 60; head -c 2097152 /dev/zero > /tmp/f; echo written; sleep 1000"], resources: {limits: {ephemeral-storage: 1Mi}}}]}}`)
	c.pass("written", 2*time.Minute, func() bool { return c.logs("p", "") == "written\n" })
	if s := c.get("p").Status; s.Phase != v1.PodRunning {
		t.Errorf("the Pod is %s %s: %s", s.Phase, s.Reason, s.Message)
	}
	c.pass("evicted", time.Minute, c.phase("p", v1.PodFailed))
}

// Where there is no room a write fails, and the Pod goes on: in a volume in memory,
// and where all Pods together have filled the disk. What a Pod has taken is there
// for others when it has ended.
func TestStorageThatIsFull(t *testing.T) {
	c := start(t, func(config *node.Config) { config.Storage = 4 << 20 })
	const fill = `head -c 3145728 /dev/zero > /tmp/f && sleep 1; echo "exit $?"`
	c.create(`{metadata: {name: tmpfs}, spec: {restartPolicy: Never, volumes: [{name: cache, emptyDir: {medium: Memory, sizeLimit: 1Mi}}], containers: [{name: main, image: busybox, volumeMounts: [{name: cache, mountPath: /tmp}], command: [sh, -c, '` + fill + `']}]}}`)
	c.pass("the first has ended", time.Minute, c.phase("tmpfs", v1.PodSucceeded))
	if log := c.logs("tmpfs", ""); !strings.Contains(strings.ToLower(log), "no space left on device") || !strings.Contains(log, "exit 1") {
		t.Errorf("beyond a volume in memory: %s", log)
	}
	for _, name := range []string{"a", "b"} { // one after the other, both have room
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [sh, -c, '` + fill + `']}]}}`)
		c.pass(name+" has ended", time.Minute, c.phase(name, v1.PodSucceeded))
		if log := c.logs(name, ""); log != "exit 0\n" {
			t.Errorf("%s: %s", name, log)
		}
	}
	c.create(`{metadata: {name: holder}, spec: {containers: [{name: main, image: busybox, command: [sh, -c, 'head -c 3145728 /dev/zero > /tmp/f; echo full; sleep 1000']}]}}`)
	c.pass("the disk is full", time.Minute, func() bool { return c.logs("holder", "") == "full\n" })
	c.create(`{metadata: {name: late}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [sh, -c, '` + fill + `']}]}}`)
	c.pass("the last has ended", time.Minute, c.phase("late", v1.PodSucceeded))
	if log := c.logs("late", ""); !strings.Contains(strings.ToLower(log), "no space left on device") {
		t.Errorf("on a full disk: %s", log)
	}
}
