package controllers_test

import (
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/core"
)

// These tests look at all goroutines of the process. The file names see to it
// that they run before the shared cluster starts.

// leaks are the goroutines there are now, and those that upstream does not tie
// to a server: see core/close_test.go.
func leaks() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreCurrent(),
		goleak.IgnoreTopFunction("k8s.io/apiserver/pkg/storage/cacher.(*watchCache).waitUntilFreshLocked.func2"),
		goleak.IgnoreAnyFunction("k8s.io/apiserver/pkg/registry/generic/registry.(*Store).startObservingCount.func1"),
		goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"),
		goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/util/wait.Forever"),
	}
}

func TestEndLeavesNoGoroutine(t *testing.T) {
	for name, worked := range map[string]bool{"while controllers start": false, "when they have worked": true} {
		t.Run(name, func(t *testing.T) {
			ignore := leaks()
			// Without a cluster CIDR: the node-ipam controller does not shut
			// its queue down when it ends before its cache is filled.
			c, err := startCluster(t.Context(), core.Config{Keys: testKeys})
			if err != nil {
				t.Fatal(err)
			}
			if worked {
				c.event(t, c.newPendingPod(t), "pending", "FailedScheduling")
			}
			if err := c.end(); err != nil {
				t.Error(err)
			}
			goleak.VerifyNone(t, ignore...)
		})
	}
}

// newPendingPod makes a Pod that fits nowhere and returns its namespace.
func (c *cluster) newPendingPod(t *testing.T) string {
	t.Helper()
	namespace := c.newNamespace(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pending"}, Spec: podSpec()}
	if _, err := c.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return namespace
}
