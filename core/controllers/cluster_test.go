package controllers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/applyconfigurations/coordination/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/internal/testlog"
)

// cluster is an engine with controllers and the scheduler, and nodes that do
// what these tests need of kubelets.
type cluster struct {
	engine *core.Engine
	client *kubernetes.Clientset
	end    func() error
}

// orphan is a Pod on a node that does not exist.
const orphan = "orphan"

// rootCAPublished says whether namespaces of the shared cluster have the
// ConfigMap kube-root-ca.crt.
const rootCAPublished = true

// startCluster returns a ready cluster without nodes.
func startCluster(ctx context.Context, cfg core.Config) (*cluster, error) {
	engine, err := core.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(engine.RESTConfig())
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	if err := engine.Ready(ctx); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &cluster{engine, client, engine.Close}, nil
}

// shared is the cluster of the tests that start none of their own. It has the
// nodes alpha and beta.
var shared struct {
	once    sync.Once
	cluster *cluster
	nodes   *nodes
	err     error
}

func sharedCluster(t *testing.T) *cluster {
	t.Helper()
	shared.once.Do(func() {
		ctx := context.Background()
		if shared.cluster, shared.err = startCluster(ctx, core.Config{Keys: testKeys, ClusterCIDR: "10.244.0.0/16"}); shared.err != nil {
			return
		}
		if shared.nodes, shared.err = runNodes(ctx, shared.cluster.client); shared.err != nil {
			return
		}
		for _, name := range []string{"alpha", "beta"} {
			if shared.err = shared.nodes.add(ctx, newNode(name)); shared.err != nil {
				return
			}
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: orphan}, Spec: podSpec()}
		pod.Spec.NodeName = "gone"
		// Refused until the namespace has its service account.
		shared.err = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := shared.cluster.client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, pod, metav1.CreateOptions{})
			return err == nil, nil
		})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

func TestMain(m *testing.M) {
	testlog.Quiet()
	code := m.Run()
	if shared.nodes != nil {
		shared.nodes.stop()
	}
	if shared.cluster != nil {
		if err := shared.cluster.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// eventually fails the test unless condition holds within two minutes: the slowest
// controller, of Pods whose node is gone, may take eighty seconds. The error says
// what was seen instead, and is shown if it was the last.
func eventually(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		ok, err := condition(ctx)
		last = err
		return ok, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, errors.Join(err, last))
	}
}

// newNamespace returns the name of a namespace in which Pods can be created.
func (c *cluster) newNamespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	name = strings.TrimRight(name[:min(len(name), 60)], "-")
	if _, err := c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the service account default", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err
	})
	return name
}

func (c *cluster) pods(ctx context.Context, namespace, selector string) ([]corev1.Pod, error) {
	list, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// event waits for an event about the object with the given reason.
func (c *cluster) event(t *testing.T, namespace, object, reason string) corev1.Event {
	t.Helper()
	var found corev1.Event
	eventually(t, fmt.Sprintf("event %s of %s", reason, object), func(ctx context.Context) (bool, error) {
		list, err := c.client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, e := range list.Items {
			if e.InvolvedObject.Name == object && e.Reason == reason {
				found = e
				return true, nil
			}
		}
		return false, nil
	})
	return found
}

func newNode(name string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("4"),
		corev1.ResourceMemory: resource.MustParse("8Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}},
		},
	}
}

// What a Pod's annotations say to the nodes of these tests.
const (
	annotationExit = "test/exit" // the exit code with which the container ends at once
	annotationHold = "test/hold" // the Pod runs and never becomes ready
)

// nodes do for Pods what kubelets do, as far as controllers notice: they run
// and become ready, or end, and go when they are deleted.
type nodes struct {
	client kubernetes.Interface
	stop   func()

	mu    sync.Mutex
	names []string

	ips map[types.UID]string // of Pods
}

func runNodes(ctx context.Context, client kubernetes.Interface) (*nodes, error) {
	ctx, cancel := context.WithCancel(ctx)
	n := &nodes{client: client, ips: map[types.UID]string{}}
	pods, err := client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		cancel()
		return nil, err
	}
	var running sync.WaitGroup
	running.Go(func() {
		for e := range pods.ResultChan() {
			if pod, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Deleted {
				if err := n.handle(ctx, pod); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
					panic(err)
				}
			}
		}
	})
	running.Go(func() { wait.UntilWithContext(ctx, n.heartbeat, 10*time.Second) })
	n.stop = func() {
		cancel()
		pods.Stop()
		running.Wait()
	}
	return n, nil
}

func (n *nodes) add(ctx context.Context, node *corev1.Node) error {
	if _, err := n.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	n.mu.Lock()
	n.names = append(n.names, node.Name)
	n.mu.Unlock()
	n.heartbeat(ctx)
	return nil
}

func (n *nodes) heartbeat(ctx context.Context) {
	n.mu.Lock()
	names := append([]string(nil), n.names...)
	n.mu.Unlock()
	for _, name := range names {
		lease := coordination.Lease(name, corev1.NamespaceNodeLease).WithSpec(coordination.LeaseSpec().
			WithHolderIdentity(name).WithLeaseDurationSeconds(40).WithRenewTime(metav1.NowMicro()))
		// An error is worth no more than the next beat.
		_, _ = n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Apply(ctx, lease, metav1.ApplyOptions{FieldManager: "kubelet"})
	}
}

func (n *nodes) handle(ctx context.Context, pod *corev1.Pod) error {
	pods := n.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.Spec.NodeName == "":
		return nil
	case pod.DeletionTimestamp != nil:
		now := int64(0)
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	case pod.Status.Phase != corev1.PodPending:
		return nil
	}
	// A second event may tell of the Pod as it was before its status was written.
	ip := n.ips[pod.UID]
	if ip == "" {
		ip = fmt.Sprintf("10.1.%d.%d", len(n.ips)/250, len(n.ips)%250+1)
		n.ips[pod.UID] = ip
	}
	ready, running := true, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	phase := corev1.PodRunning
	if code, ok := pod.Annotations[annotationExit]; ok {
		ready, phase = false, corev1.PodSucceeded
		ended := &corev1.ContainerStateTerminated{FinishedAt: metav1.Now()}
		if code != "0" {
			phase, ended.ExitCode = corev1.PodFailed, 1
		}
		running = corev1.ContainerState{Terminated: ended}
	}
	if _, ok := pod.Annotations[annotationHold]; ok {
		ready = false
	}
	status := corev1.PodStatus{Phase: phase, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, StartTime: new(metav1.Time)}
	*status.StartTime = metav1.Now()
	for _, condition := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		value := corev1.ConditionTrue
		if condition != corev1.PodInitialized && !ready {
			value = corev1.ConditionFalse
		}
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: condition, Status: value, LastTransitionTime: metav1.Now()})
	}
	for _, container := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{Name: container.Name, Image: container.Image, Ready: ready, State: running})
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}
}

func template(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()}
}

func ready(pod corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// remove deletes a node, whose Pods are then nobody's: the Pod garbage
// collector's.
func (n *nodes) remove(t *testing.T, name string) {
	t.Helper()
	n.mu.Lock()
	n.names = slices.DeleteFunc(n.names, func(one string) bool { return one == name })
	n.mu.Unlock()
	if err := n.client.CoreV1().Nodes().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
