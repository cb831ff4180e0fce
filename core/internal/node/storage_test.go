package node_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/kubetab/kubetab/core/internal/node"
)

// A Pod that takes more of its node's disk than it may is evicted as upstream's
// kubelet does it.
func TestPodsThatOutgrowTheirStorage(t *testing.T) {
	for name, test := range map[string]struct{ spec, message string }{
		"emptyDir": {
			`{volumes: [{name: cache, emptyDir: {sizeLimit: 1Mi}}], containers: [{name: main, image: busybox, volumeMounts: [{name: cache, mountPath: /cache}], command: [sh, -c, "head -c 2097152 /dev/zero > /cache/f; sleep 1000"]}]}`,
			`Usage of EmptyDir volume "cache" exceeds the limit "1Mi". `,
		},
		"container": {
			`{containers: [{name: other, image: busybox, command: [sleep, "1000"], resources: {limits: {ephemeral-storage: 10Mi}}}, {name: main, image: busybox, command: [sh, -c, "head -c 2097152 /dev/zero > /tmp/f; sleep 1000"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Container main exceeded its local ephemeral storage limit "1Mi". `,
		},
		"Pod": {
			`{volumes: [{name: cache, emptyDir: {}}], containers: [{name: main, image: busybox, volumeMounts: [{name: cache, mountPath: /cache}], command: [sh, -c, "head -c 2097152 /dev/zero > /cache/f; sleep 1000"], resources: {limits: {ephemeral-storage: 1Mi}}}]}`,
			`Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			c.create(`{metadata: {name: p}, spec: ` + test.spec + `}`)
			c.pass("evicted", time.Minute, c.phase("p", v1.PodFailed))
			if s := c.get("p").Status; s.Reason != "Evicted" || s.Message != test.message {
				t.Errorf("%s: %q, want Evicted: %q", s.Reason, s.Message, test.message)
			}
			if want := "  Warning Evicted: " + strings.TrimSpace(test.message) + "\n"; !strings.Contains(c.events("p"), want) {
				t.Errorf("the events are\n%swant among them\n%s", c.events("p"), want)
			}
		})
	}
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
