package node_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetab/kubetab/core/internal/node"
)

// A Pod that is evicted because its node is low on something is told so in upstream's words.
func TestEvictionsFromLowNodes(t *testing.T) {
	const spec = `{containers: [{name: main, image: busybox, command: [sh, -c, "echo hello; sleep 1000"]}, {name: modest, image: busybox, command: [sleep, "1000"], resources: {requests: {memory: 100Mi, ephemeral-storage: 1Gi}}}, {name: writer, image: busybox, command: [sh, -c, "head -c 1572352 /dev/zero > /tmp/f; sleep 1000"], resources: {requests: {memory: 1Mi, ephemeral-storage: 1Mi}}}]}`
	for resource, test := range map[string]struct {
		message string
		signal  string
		want    map[string]string
	}{
		"memory": {
			"The node was low on resource: memory. Threshold quantity: 100Mi, available: 97Mi. Container main was using 4Mi, request is 0, has larger consumption of memory. ",
			"memory.available",
			map[string]string{"offending_containers": "main", "offending_containers_usage": "4Mi", "starved_resource": "memory"},
		},
		"ephemeral-storage": {
			"The node was low on resource: ephemeral-storage. Threshold quantity: 10737418400, available: 10171187Ki. Container main was using 46, request is 0, has larger consumption of ephemeral-storage. Container writer was using 1536Ki, request is 1Mi, has larger consumption of ephemeral-storage. ",
			"nodefs.available",
			map[string]string{"offending_containers": "main,writer", "offending_containers_usage": "46,1536Ki", "starved_resource": "ephemeral-storage"},
		},
		"pids": {
			"The node was low on resource: pids. ", "",
			map[string]string{"offending_containers": "", "offending_containers_usage": "", "starved_resource": "pids"},
		},
	} {
		t.Run(resource, func(t *testing.T) {
			c := start(t)
			c.create(`{metadata: {name: p}, spec: ` + spec + `}`)
			c.pass("ready", time.Minute, c.ready("p"))
			if _, err := c.client.CoreV1().Pods("default").Patch(context.Background(), "p", types.MergePatchType, []byte(`{"metadata":{"annotations":{"kubetab.dev/evict":"`+resource+`"}}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			c.pass("evicted", time.Minute, c.phase("p", v1.PodFailed))
			s := c.get("p").Status
			var evicted []v1.Event
			c.until("the event is there", func() bool {
				list, err := c.client.CoreV1().Events("default").List(context.Background(), metav1.ListOptions{FieldSelector: "reason=Evicted"})
				if err != nil {
					t.Fatal(err)
				}
				evicted = list.Items
				return len(evicted) > 0
			})
			if diff := cmp.Diff(test.want, evicted[0].Annotations); diff != "" || evicted[0].Message != s.Message {
				t.Errorf("the event says %q, the Pod %q, and the annotations (-want +got):\n%s", evicted[0].Message, s.Message, diff)
			}
			if s.Reason != "Evicted" || s.Message != test.message {
				t.Errorf("%s: %q, want %q", s.Reason, s.Message, test.message)
			}
			counted := ""
			if _, after, ok := strings.Cut(c.ask("/metrics"), "\nkubelet_evictions{eviction_signal=\""); ok {
				counted, _, _ = strings.Cut(after, "\n")
			}
			if want := test.signal + "\"} 1"; counted != want && (test.signal != "" || counted != "") {
				t.Errorf("counted is %q, want %q", counted, want)
			}
			if got, want := c.events("node-1"), "  Warning EvictionThresholdMet: Attempting to reclaim "+resource+"\n"; !strings.HasSuffix(got, want) {
				t.Errorf("the events of the node are\n%swant at the end\n%s", got, want)
			}
		})
	}
}

// A node whose Pods have nearly filled the disk says so, and evicts as upstream's kubelet does.
func TestNearlyFullDisk(t *testing.T) {
	c := start(t, func(config *node.Config) { config.Storage = 4 << 20 })
	pods := func(name, node, bytes, request string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {nodeName: ` + node + `, containers: [{name: main, image: busybox, command: [sh, -c, "head -c ` + bytes + ` /dev/zero > /tmp/f; sleep 100000"], resources: {requests: {ephemeral-storage: ` + request + `}}}]}}`)
		c.pass("ready", time.Minute, c.ready(name))
	}
	pods("apart", "node-1", "1000", "0")
	pods("modest", "node-2", "1100000", "2Mi")
	pods("small", "node-2", "60000", "0")
	if c.pressure("node-2") {
		t.Error("there is room, and the node has DiskPressure")
	}
	pods("hog", "node-2", "2700000", "0")
	c.pass("evicted", time.Minute, c.phase("hog", v1.PodFailed))
	s := c.get("hog").Status
	said := regexp.MustCompile(`^The node was low on resource: ephemeral-storage\. Threshold quantity: 10737418400, available: (\d+)\. Container main was using 2700512, request is 0, has larger consumption of ephemeral-storage\. $`).FindStringSubmatch(s.Message)
	if said == nil || s.Reason != "Evicted" {
		t.Fatalf("%s: %q", s.Reason, s.Message)
	}
	if left, err := strconv.Atoi(said[1]); err != nil || left >= 4<<20/10 {
		t.Errorf("%d bytes are available of a disk that is nearly full", left)
	}
	c.pass("the condition", time.Minute, func() bool { return c.pressure("node-2") })
	if c.pressure("node-1") {
		t.Error("a node whose Pods take little has DiskPressure")
	}
	c.pass("the condition is over", 10*time.Minute, func() bool { return !c.pressure("node-2") })
	for _, name := range []string{"apart", "modest", "small"} {
		if s := c.get(name).Status; s.Phase != v1.PodRunning {
			t.Errorf("%s: %s %s", name, s.Phase, s.Message)
		}
	}
	const after = "  Warning EvictionThresholdMet: Attempting to reclaim ephemeral-storage\n  Normal NodeHasDiskPressure: Node node-2 status is now: NodeHasDiskPressure\n"
	c.until("the events of the node", func() bool {
		events := c.events("node-2")
		return strings.HasSuffix(events, after) && strings.Contains(events, " NodeHasNoDiskPressure: Node node-2 status is now: NodeHasNoDiskPressure (x2)\n")
	})
}

// pressure reports whether a node has DiskPressure.
func (c *cluster) pressure(name string) bool {
	c.Helper()
	n, err := c.client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	for _, x := range n.Status.Conditions {
		if x.Type == v1.NodeDiskPressure {
			return x.Status == v1.ConditionTrue
		}
	}
	return false
}
