package node_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// sortEvents puts events in the order in which they happened, which their names
// tell: a time in hexadecimal, and a number where several are of one moment.
func sortEvents(items []v1.Event) {
	when := func(e v1.Event) (int64, int) {
		_, stamp, _ := strings.Cut(e.Name, ".")
		stamp, number, _ := strings.Cut(stamp, "-x")
		at, _ := strconv.ParseInt(stamp, 16, 64)
		n, _ := strconv.Atoi(number)
		return at, n
	}
	slices.SortStableFunc(items, func(a, b v1.Event) int {
		atA, nA := when(a)
		atB, nB := when(b)
		return cmp.Or(cmp.Compare(atA, atB), cmp.Compare(nA, nB))
	})
}

// Every case is a Pod, how far it is taken, and the transcript in testdata of
// what a watcher and `kubectl get events` see.
var transcripts = []struct {
	name  string
	pod   string
	until func(*cluster) (string, time.Duration, func() bool)
	then  func(*cluster)
}{
	{name: "server", pod: `{metadata: {name: p}, spec: {containers: [{name: web, image: "nginx:1.27"}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) { return "ready", 5 * time.Second, c.ready("p") }},
	{name: "completed", pod: `{metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [sh, -c, "echo hello; sleep 2; echo bye > /dev/termination-log"]}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "succeeded", 20 * time.Second, c.phase("p", v1.PodSucceeded)
		}},
	{name: "failed", pod: `{metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [sh, -c, "echo oops >&2; exit 3"], terminationMessagePolicy: FallbackToLogsOnError}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "failed", 20 * time.Second, c.phase("p", v1.PodFailed)
		}},
	{name: "crash-loop", pod: `{metadata: {name: p}, spec: {containers: [{name: main, image: busybox, command: ["false"]}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "restarted four times", 2 * time.Minute, func() bool {
				s := c.get("p").Status.ContainerStatuses
				return len(s) > 0 && s[0].RestartCount == 4 && s[0].State.Waiting != nil
			}
		}},
	{name: "bad-image", pod: `{metadata: {name: p}, spec: {containers: [{name: main, image: "nginx:1.161"}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			pulls := 0
			seen := ""
			return "two back-offs", time.Minute, func() bool {
				s := c.get("p").Status.ContainerStatuses
				if len(s) == 0 || s[0].State.Waiting == nil {
					return false
				}
				if r := s[0].State.Waiting.Reason; r != seen {
					if seen = r; r == "ImagePullBackOff" {
						pulls++
					}
				}
				return pulls == 2
			}
		}},
	{name: "invalid-image-name", pod: `{metadata: {name: p}, spec: {containers: [{name: main, image: "Nginx:1.27"}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "reported", 5 * time.Second, c.waiting("p", "InvalidImageName")
		}},
	{name: "no-such-command", pod: `{metadata: {name: p}, spec: {containers: [{name: main, image: nginx, command: [no-such-program]}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "crash loop", 30 * time.Second, c.waiting("p", "CrashLoopBackOff")
		}},
	{name: "no-such-command-never", pod: `{metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: main, image: nginx, command: [no-such-program]}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "failed and gone from its node", 30 * time.Second, func() bool {
				s := c.get("p").Status
				_, network := podutil.GetPodConditionFromList(s.Conditions, v1.PodReadyToStartContainers)
				return s.Phase == v1.PodFailed && network.Status == v1.ConditionFalse
			}
		}},
	{name: "exits-as-asked", pod: `{metadata: {name: p, annotations: {kubetab.dev/exit: "4 after=10s times=2"}}, spec: {restartPolicy: OnFailure, containers: [{name: main, image: busybox, command: [sh, -c, "exit 0"]}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "succeeded", 2 * time.Minute, c.phase("p", v1.PodSucceeded)
		}},
	{name: "init-and-sidecar", pod: `
metadata: {name: p}
spec:
  restartPolicy: Never
  initContainers:
  - {name: first, image: busybox, command: [sh, -c, "sleep 1"]}
  - {name: side, image: nginx, restartPolicy: Always, startupProbe: {httpGet: {port: 80}, periodSeconds: 1}}
  - {name: second, image: busybox, command: ["true"]}
  containers:
  - {name: main, image: busybox, command: [sleep, "3"]}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "succeeded", time.Minute, c.phase("p", v1.PodSucceeded)
		}},
	{name: "init-fails", pod: `{metadata: {name: p}, spec: {restartPolicy: Never, initContainers: [{name: first, image: busybox, command: [sh, -c, "exit 2"]}], containers: [{name: main, image: nginx}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "failed", time.Minute, c.phase("p", v1.PodFailed)
		}},
	{name: "liveness", pod: `{metadata: {name: p}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: busybox, args: [/bin/sh, -c, "touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600"], livenessProbe: {exec: {command: [cat, /tmp/healthy]}, initialDelaySeconds: 5, periodSeconds: 5}}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "restarted", 2 * time.Minute, func() bool {
				s := c.get("p").Status.ContainerStatuses
				return len(s) > 0 && s[0].RestartCount == 1 && s[0].State.Running != nil
			}
		}},
	{name: "readiness", pod: `{metadata: {name: p}, spec: {containers: [{name: main, image: nginx, readinessProbe: {httpGet: {path: /ready, port: 80}, periodSeconds: 2}}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "two failures", 20 * time.Second, func() bool { return c.counted("p", "Unhealthy") >= 2 }
		}},
	{name: "oom", pod: `{metadata: {name: p, annotations: {kubetab.dev/oom: "3s times=1"}}, spec: {containers: [{name: main, image: nginx}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "restarted", time.Minute, func() bool {
				s := c.get("p").Status.ContainerStatuses
				return len(s) > 0 && s[0].RestartCount == 1 && s[0].State.Running != nil
			}
		}},
	{name: "evicted", pod: `{metadata: {name: p, annotations: {kubetab.dev/evict: memory}}, spec: {containers: [{name: main, image: nginx}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "failed", time.Minute, c.phase("p", v1.PodFailed)
		}},
	{name: "deadline", pod: `{metadata: {name: p}, spec: {activeDeadlineSeconds: 5, containers: [{name: main, image: nginx}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "failed", time.Minute, func() bool {
				p := c.get("p")
				return p.Status.Phase == v1.PodFailed && p.Status.ContainerStatuses[0].State.Terminated != nil
			}
		}},
	{name: "out-of-cpu", pod: `{metadata: {name: p}, spec: {containers: [{name: main, image: nginx, resources: {requests: {cpu: "5"}}}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "rejected", 5 * time.Second, c.phase("p", v1.PodFailed)
		}},
	{name: "run-as-non-root", pod: `{metadata: {name: p}, spec: {securityContext: {runAsNonRoot: true}, containers: [{name: main, image: nginx}]}}`,
		until: func(c *cluster) (string, time.Duration, func() bool) {
			return "refused", 5 * time.Second, c.waiting("p", "CreateContainerConfigError")
		}},
}

// counted is how often an event has been recorded for a Pod.
func (c *cluster) counted(name, reason string) int {
	c.Helper()
	list, err := c.client.CoreV1().Events("default").List(context.Background(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name + ",reason=" + reason})
	if err != nil {
		c.Fatal(err)
	}
	n := 0
	for _, e := range list.Items {
		n += int(e.Count)
	}
	return n
}

func TestTranscripts(t *testing.T) {
	for _, test := range transcripts {
		t.Run(test.name, func(t *testing.T) {
			c := start(t)
			seen := c.record("p")
			c.create(test.pod)
			what, limit, done := test.until(c)
			c.pass(what, limit, done)
			golden(t, test.name, seen.String()+"----\n"+c.events("p"))
		})
	}
}
