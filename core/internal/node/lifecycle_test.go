package node_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetab/kubetab/core/internal/node"
)

func (c *cluster) gone(name string) func() bool {
	return func() bool {
		_, err := c.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}
}

func (c *cluster) delete(name string) {
	c.Helper()
	if err := c.client.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
}

// How long a deletion takes tells how the container ended.
func TestGracefulDeletion(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		atLeast    time.Duration
		atMost     time.Duration
	}{
		{"server", `{containers: [{name: main, image: nginx}]}`, 0, 2 * time.Second},
		{"ignores-term", `{terminationGracePeriodSeconds: 7, containers: [{name: main, image: busybox, command: [sleep, "3600"]}]}`, 7 * time.Second, 9 * time.Second},
		{"trap", `{containers: [{name: main, image: busybox, command: [sh, -c, "trap 'echo bye; exit 0' TERM; while true; do sleep 1; done"]}]}`, 0, 3 * time.Second},
		{"pre-stop", `{terminationGracePeriodSeconds: 20, containers: [{name: main, image: nginx, lifecycle: {preStop: {exec: {command: [sleep, "5"]}}}}]}`, 5 * time.Second, 7 * time.Second},
		{"pre-stop-sleep", `{terminationGracePeriodSeconds: 20, containers: [{name: main, image: nginx, lifecycle: {preStop: {sleep: {seconds: 4}}}}]}`, 4 * time.Second, 6 * time.Second},
		{"pre-stop-too-long", `{terminationGracePeriodSeconds: 3, containers: [{name: main, image: nginx, lifecycle: {preStop: {exec: {command: [sleep, "60"]}}}}]}`, 3 * time.Second, 6 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t)
			c.create(`{metadata: {name: p}, spec: ` + test.spec + `}`)
			c.pass("ready", 10*time.Second, c.ready("p"))
			seen := c.record("p")
			c.until("the transcript has begun", func() bool { return seen.String() != "" })
			c.delete("p")
			took := c.pass("deleted", time.Minute, c.gone("p"))
			if took < test.atLeast || took > test.atMost {
				t.Errorf("the deletion took %v, want between %v and %v", took, test.atLeast, test.atMost)
			}
			golden(t, "delete-"+test.name, seen.String()+"----\n"+c.events("p"))
		})
	}
}

// held is a kubelet's way to the API server, on which a test can hold things up.
type held struct {
	http.RoundTripper
	watches sync.RWMutex // locked while watches stand still
	// patch is called before a status is written; what it returns, after that.
	patch func(body []byte) (after func())
}

// hold makes a kubelet take the way through h.
func (h *held) hold(config *node.Config) {
	h.RoundTripper = config.API
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: "https://kubernetes.default.svc", Transport: h, QPS: -1})
	config.Client, config.Informers = client, informers.NewSharedInformerFactory(client, 0)
}

func (h *held) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		defer h.patch(body)()
	}
	response, err := h.RoundTripper.RoundTrip(r)
	if err == nil && r.URL.Query().Has("watch") {
		response.Body = heldBody{response.Body, h}
	}
	return response, err
}

type heldBody struct {
	io.ReadCloser
	by *held
}

func (b heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.by.watches.RLock()
	defer b.by.watches.RUnlock()
	return n, err
}

// What comes back from writing a status may hold a deletion that no watch has
// told of yet; when one does, the version is no longer new.
func TestDeletionSeenInWhatIsWritten(t *testing.T) {
	h := &held{}
	c := start(t, h.hold)
	var once sync.Once
	var deleted atomic.Bool
	h.patch = func(body []byte) func() {
		if bytes.Contains(body, []byte(`"phase":"Running"`)) {
			once.Do(func() {
				h.watches.Lock()
				c.delete("p")
				deleted.Store(true)
			})
		}
		return func() {}
	}
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: nginx}]}}`)
	c.pass("it is deleted while its status is written", 10*time.Second, func() bool { return deleted.Load() && c.nodes.Idle() })
	h.watches.Unlock()
	c.pass("deleted", 10*time.Second, c.gone("p"))
}

// The scheduler takes a Pod's place for free as soon as the API says that it is
// done, which can be before the kubelet has its answer.
func TestAFinishedPodsPlaceIsFree(t *testing.T) {
	h := &held{}
	c := start(t, h.hold)
	finished, answer := make(chan struct{}), make(chan struct{})
	var once sync.Once
	h.patch = func(body []byte) func() {
		if !bytes.Contains(body, []byte(`"phase":"Succeeded"`)) {
			return func() {}
		}
		return func() {
			once.Do(func() { close(finished) })
			<-answer
		}
	}
	defer close(answer)
	c.create(`{metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"], resources: {requests: {cpu: 3}}}]}}`)
	// With an answer held up the kubelets are never idle: time goes on its own.
	while := func(condition func() bool) func() bool {
		return func() bool {
			if err := c.clock.Step(50 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			return condition()
		}
	}
	c.until("the first has finished", while(func() bool {
		select {
		case <-finished:
			return true
		default:
			return false
		}
	}))
	c.create(`{metadata: {name: q}, spec: {containers: [{name: main, image: nginx, resources: {requests: {cpu: 3}}}]}}`)
	c.until("the second runs", while(c.ready("q")))
}

func TestForcedDeletion(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: busybox, command: [sleep, "3600"]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	zero := int64(0)
	if err := c.client.CoreV1().Pods("default").Delete(context.Background(), "p", metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	c.until("deleted", c.gone("p"))
	// Its address is free again.
	c.create(`{metadata: {name: q}, spec: {containers: [{name: main, image: nginx}]}}`)
	c.pass("ready", 10*time.Second, c.ready("q"))
}

// A kubelet starts the containers of a Pod one after the other: an image that is pulled, and a postStart hook, hold up those
// behind, and what the kubelet reports.
func TestContainersStartInOrder(t *testing.T) {
	second := `{name: second, image: busybox, command: [sleep, "1000"]}`
	for _, test := range []struct {
		name, annotations, first string
		atLeast, atMost          time.Duration
	}{
		{"pull", `{kubetab.dev/image-pull.first: 5s}`, `{name: first, image: nginx}`, 5 * time.Second, 9 * time.Second},
		{"post-start", `{}`, `{name: first, image: nginx, lifecycle: {postStart: {exec: {command: [sleep, "5"]}}}}`, 5 * time.Second, 9 * time.Second},
		{"post-start-sleep", `{}`, `{name: first, image: nginx, readinessProbe: {httpGet: {port: 80}}, lifecycle: {postStart: {sleep: {seconds: 5}}}}`, 5 * time.Second, 9 * time.Second},
		{"post-start-probe", `{}`, `{name: first, image: nginx, livenessProbe: {exec: {command: [cat, /ready]}, periodSeconds: 1, failureThreshold: 1}, lifecycle: {postStart: {exec: {command: [sh, -c, "sleep 5; touch /ready"]}}}}`, 5 * time.Second, 9 * time.Second},
		{"no-image", `{kubetab.dev/image-pull.first: fail}`, `{name: first, image: nginx}`, 0, 4 * time.Second},
		{"no-settings", `{}`, `{name: first, image: nginx, env: [{name: A, valueFrom: {configMapKeyRef: {name: none, key: a}}}]}`, 0, 4 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t)
			c.create(`{metadata: {name: p, annotations: ` + test.annotations + `}, spec: {containers: [` + test.first + `, ` + second + `]}}`)
			states := func() (first, second v1.ContainerState) {
				s := c.get("p").Status.ContainerStatuses
				if len(s) < 2 {
					return first, second
				}
				return s[0].State, s[1].State
			}
			took := c.pass("the second container runs", 20*time.Second, func() bool {
				first, second := states()
				if second.Running == nil && first.Running != nil && !t.Failed() {
					t.Errorf("the first is reported before it holds up nothing: %+v", first)
				}
				return second.Running != nil
			})
			if took < test.atLeast || took > test.atMost {
				t.Errorf("that took %v, and not %v to %v", took, test.atLeast, test.atMost)
			}
			// One that is held up by a hook is not begun with, whatever is reported.
			if first, second := states(); strings.HasPrefix(test.name, "post-start") && second.Running.StartedAt.Sub(first.Running.StartedAt.Time) < 5*time.Second {
				t.Errorf("the second started at %v, and the first at %v", second.Running.StartedAt, first.Running.StartedAt)
			}
			golden(t, "in-order-"+test.name, c.events("p"))
		})
	}
}

// A hook that fails ends its container, and holds up nothing any more; one that takes too long does not keep a Pod from being deleted.
func TestPostStartHooksThatFail(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: first, image: nginx, lifecycle: {postStart: {exec: {command: ["false"]}}}}, {name: second, image: busybox, command: [sleep, "1000"]}]}}`)
	c.pass("the second runs, and the first again and again", time.Minute, func() bool {
		s := c.get("p").Status.ContainerStatuses
		return len(s) == 2 && s[1].State.Running != nil && s[0].RestartCount > 1
	})
	if got := c.events("p"); !strings.Contains(got, "FailedPostStartHook") {
		t.Error(got)
	}
	c.create(`{metadata: {name: q}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: nginx, lifecycle: {postStart: {exec: {command: [sleep, "1000"]}}}}]}}`)
	c.pass("it has started", 10*time.Second, func() bool { return strings.Contains(c.events("q"), "Started") })
	c.delete("q")
	c.pass("deleted", 10*time.Second, c.gone("q"))
}

func TestMissingConfigMap(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct{ name, spec, reason string }{
		{"environment", `{containers: [{name: main, image: busybox, command: [sh, -c, "echo $COLOR; sleep 100"], env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color}}}]}]}`, "CreateContainerConfigError"},
		{"volume", `{containers: [{name: main, image: busybox, command: [sh, -c, "cat /etc/settings/color; sleep 100"], volumeMounts: [{name: v, mountPath: /etc/settings}]}], volumes: [{name: v, configMap: {name: settings}}]}`, "ContainerCreating"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := start(t)
			seen := c.record("p")
			c.create(`{metadata: {name: p}, spec: ` + test.spec + `}`)
			c.pass("waiting", 10*time.Second, func() bool {
				return c.waiting("p", test.reason)() && c.counted("p", "Failed")+c.counted("p", "FailedMount") > 0
			})
			if _, err := c.client.CoreV1().ConfigMaps("default").Create(ctx, &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"color": "blue"}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.pass("ready", 3*time.Minute, c.ready("p"))
			golden(t, "missing-configmap-"+test.name, seen.String())
		})
	}
}

func TestEphemeralContainer(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: "registry.k8s.io/pause:3.10"}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	seen := c.record("p")
	c.until("the transcript has begun", func() bool { return seen.String() != "" })
	p := c.get("p")
	p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug", Image: "busybox", Command: []string{"sh", "-c", "echo here; exit 4"}}}}
	if _, err := c.client.CoreV1().Pods("default").UpdateEphemeralContainers(context.Background(), "p", p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.pass("ended", 10*time.Second, func() bool {
		s := c.get("p").Status.EphemeralContainerStatuses
		return len(s) > 0 && s[0].State.Terminated != nil
	})
	golden(t, "ephemeral", seen.String())
}

func TestChangedImageAndResize(t *testing.T) {
	ctx := context.Background()
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: "nginx:1.27", resources: {requests: {cpu: 100m}}}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	if _, err := c.client.CoreV1().Pods("default").Patch(ctx, "p", types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"200m"}}}]}}`), metav1.PatchOptions{}, "resize"); err != nil {
		t.Fatal(err)
	}
	c.pass("resized", 10*time.Second, func() bool {
		s := c.get("p").Status.ContainerStatuses[0]
		return s.Resources != nil && s.Resources.Requests.Cpu().String() == "200m" && s.AllocatedResources.Cpu().String() == "200m" && s.RestartCount == 0
	})
	if _, err := c.client.CoreV1().Pods("default").Patch(ctx, "p", types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"main","image":"nginx:1.28"}]}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.pass("restarted with the new image", 20*time.Second, func() bool {
		s := c.get("p").Status
		return s.ContainerStatuses[0].RestartCount == 1 && s.ContainerStatuses[0].State.Running != nil && strings.HasSuffix(s.ContainerStatuses[0].Image, ":1.28") && s.ObservedGeneration == 3
	})
}

// Giving a Pod that cannot pull its image another one helps at once.
func TestImageIsCorrected(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: "nginx:typo"}]}}`)
	c.pass("in back-off", time.Minute, c.waiting("p", "ImagePullBackOff"))
	if _, err := c.client.CoreV1().Pods("default").Patch(context.Background(), "p", types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"main","image":"nginx:1.28"}]}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if took := c.pass("ready", time.Minute, c.ready("p")); took > 3*time.Second {
		t.Errorf("the Pod was ready after %v", took)
	}
}

func TestHeartbeats(t *testing.T) {
	ctx := context.Background()
	c := start(t, func(n *node.Config) { n.Count = 3 })
	renewed := func(name string) time.Time {
		l, err := c.client.CoordinationV1().Leases(v1.NamespaceNodeLease).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return time.Time{}
		}
		return l.Spec.RenewTime.Time
	}
	c.pass("three nodes and their leases", time.Minute, func() bool {
		l, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		return err == nil && len(l.Items) == 3 && !renewed("node-3").IsZero()
	})
	first := renewed("node-1")
	if took := c.pass("renewed", 30*time.Second, func() bool { return renewed("node-1").After(first) }); took > 11*time.Second {
		t.Errorf("the lease was renewed after %v", took)
	}
	// A kubelet that is stopped renews nothing, while others do.
	if _, err := c.client.CoreV1().Nodes().Patch(ctx, "node-2", types.MergePatchType, []byte(`{"metadata":{"annotations":{"kubetab.dev/kubelet":"stopped"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	first, stopped := renewed("node-1"), time.Time{}
	c.pass("renewed again", time.Minute, func() bool { return renewed("node-1").After(first) })
	first, stopped = renewed("node-1"), renewed("node-2")
	c.pass("renewed without node-2", time.Minute, func() bool { return renewed("node-1").After(first) })
	if got := renewed("node-2"); !got.Equal(stopped) {
		t.Errorf("a stopped kubelet renewed its lease at %v", got)
	}
	n, err := c.client.CoreV1().Nodes().Get(ctx, "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Status.Allocatable.Cpu().Value() != 4 || n.Spec.PodCIDR != "10.244.0.0/24" || n.Status.Addresses[0].Address != "172.18.0.2" || n.Status.NodeInfo.KubeletVersion == "" {
		t.Errorf("node-1 reports %+v %+v", n.Spec, n.Status)
	}
}

func TestNodesRefuse(t *testing.T) {
	if _, err := node.New(node.Config{}); err == nil {
		t.Error("nodes without a client were made")
	}
}
