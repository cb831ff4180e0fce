package node_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/internal/node"
	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/internal/testlog"
)

var update = flag.Bool("update", false, "write testdata from what the tests see")

func TestMain(m *testing.M) {
	testlog.Quiet()
	m.Run()
}

// cluster is an engine with nodes on a clock that stands still unless it is moved.
type cluster struct {
	*testing.T
	client *kubernetes.Clientset
	clock  *clock.Clock
	nodes  *node.Nodes
	dialer *node.Dialer
	engine *core.Engine
	stop   func() // ends the nodes
}

// controllers are those without which Pods, namespaces and claims do not come
// and go. The others go by the real time.
var controllers = []string{"serviceaccount-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller", "namespace-controller", "garbage-collector-controller"}

// start returns a cluster that ends with the test, with everything in it.
func start(t *testing.T, change ...func(*node.Config)) *cluster {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t, goleak.IgnoreCurrent(), leftovers) })
	e, err := core.New(context.Background(), core.Config{NoScheduler: true, Controllers: controllers, DefaultUser: people.All[0].User()})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{T: t, clock: clock.New(nil), dialer: node.NewDialer(), engine: e}
	c.clock.Pause()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c.stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(func() {
		c.stop()
		if err := e.Close(); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	if c.client, err = kubernetes.NewForConfig(e.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	if err := e.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	config := node.Config{Client: c.client, Informers: informers.NewSharedInformerFactory(c.client, 0), Clock: c.clock, Dialer: c.dialer, API: e.RESTConfigFor(nil).Transport}
	for _, f := range change {
		f(&config)
	}
	if c.nodes, err = node.New(config); err != nil {
		t.Fatal(err)
	}
	running.Go(func() {
		if err := c.nodes.Run(ctx); err != nil {
			t.Errorf("run the nodes: %v", err)
		}
		config.Informers.Shutdown()
	})
	c.until("the account default exists", func() bool {
		_, err := c.client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	return c
}

// leftovers are goroutines of upstream's that an engine leaves for a moment.
var leftovers = goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/watch.(*Broadcaster).loop")

// patience is for what hangs, not for what is slow.
const patience = 4 * time.Minute

// until waits for a condition without moving the clock.
func (c *cluster) until(what string, condition func() bool) {
	c.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			c.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// pass lets time pass in small steps until a condition holds, at most limit.
// Between the steps everything comes to rest. It returns how much has passed.
func (c *cluster) pass(what string, limit time.Duration, condition func() bool) time.Duration {
	c.Helper()
	const step = 50 * time.Millisecond
	started := c.clock.Now()
	for {
		for range 6 {
			if condition() {
				return c.clock.Since(started)
			}
			c.rest()
		}
		if c.clock.Since(started) >= limit {
			c.Fatalf("%v have passed in vain: %s", limit, what)
		}
		if err := c.clock.Step(max(step, limit/400)); err != nil {
			c.Fatal(err)
		}
	}
}

// rest gives what runs a moment to come to rest.
func (c *cluster) rest() {
	time.Sleep(2 * time.Millisecond)
	c.until("the kubelets are idle", c.nodes.Idle)
}

// create creates a Pod from YAML, on node-1 unless it says otherwise.
func (c *cluster) create(text string) *v1.Pod {
	c.Helper()
	p := &v1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), p); err != nil {
		c.Fatal(err)
	}
	if p.Namespace == "" {
		p.Namespace = "default"
	}
	if p.Spec.NodeName == "" {
		p.Spec.NodeName = "node-1"
	}
	made, err := c.client.CoreV1().Pods(p.Namespace).Create(context.Background(), p, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return made
}

func (c *cluster) get(name string) *v1.Pod {
	c.Helper()
	p, err := c.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return &v1.Pod{}
	}
	return p
}

// running reports whether all of a Pod's containers are ready.
func (c *cluster) ready(name string) func() bool {
	return func() bool {
		for _, x := range c.get(name).Status.Conditions {
			if x.Type == v1.PodReady {
				return x.Status == v1.ConditionTrue
			}
		}
		return false
	}
}

func (c *cluster) phase(name string, want v1.PodPhase) func() bool {
	return func() bool { return c.get(name).Status.Phase == want }
}

// waiting reports whether a container of the Pod waits for a reason.
func (c *cluster) waiting(name, reason string) func() bool {
	return func() bool {
		s := c.get(name).Status
		for _, x := range append(s.InitContainerStatuses, s.ContainerStatuses...) {
			if x.State.Waiting != nil && x.State.Waiting.Reason == reason {
				return true
			}
		}
		return false
	}
}

// transcript records what a Pod goes through, as a watcher sees it.
type transcript struct {
	c    *cluster
	name string
	stop func()
	done chan struct{}
	mu   sync.Mutex
	text bytes.Buffer
	last string
	gone bool // the Pod was deleted, and last is how it was before
}

// record starts a transcript of the Pod of that name.
func (c *cluster) record(name string) *transcript {
	c.Helper()
	w, err := c.client.CoreV1().Pods("default").Watch(context.Background(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		c.Fatal(err)
	}
	t := &transcript{c: c, name: name, stop: w.Stop, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for e := range w.ResultChan() {
			if p, ok := e.Object.(*v1.Pod); ok {
				t.see(e.Type, p)
			}
		}
	}()
	c.Cleanup(func() { w.Stop(); <-t.done })
	return t
}

func (t *transcript) see(kind watch.EventType, p *v1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = kind == watch.Deleted
	if t.gone {
		t.text.WriteString("deleted\n")
		return
	}
	text := describe(p)
	if text != t.last {
		t.text.WriteString(text)
		t.last = text
	}
}

// describe is a Pod's status in a few lines, without what differs between runs.
func describe(p *v1.Pod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", p.Status.Phase)
	if p.DeletionTimestamp != nil {
		b.WriteString(" (terminating)")
	}
	if p.Status.Reason != "" {
		fmt.Fprintf(&b, " %s: %s", p.Status.Reason, p.Status.Message)
	}
	for _, x := range p.Status.Conditions {
		short := map[v1.PodConditionType]string{v1.PodReadyToStartContainers: "sandbox", v1.PodInitialized: "initialized", v1.PodReady: "ready", v1.ContainersReady: "", v1.PodScheduled: ""}[x.Type]
		switch {
		case short == "" && x.Type == v1.DisruptionTarget:
			fmt.Fprintf(&b, " DisruptionTarget=%s(%s)", x.Status, x.Reason)
		case short != "" && x.Status == v1.ConditionTrue:
			b.WriteString(" " + short)
		}
	}
	b.WriteString("\n")
	for _, list := range []struct {
		kind string
		all  []v1.ContainerStatus
	}{{"init ", p.Status.InitContainerStatuses}, {"", p.Status.ContainerStatuses}, {"ephemeral ", p.Status.EphemeralContainerStatuses}} {
		for _, x := range list.all {
			fmt.Fprintf(&b, "  %s%s: ", list.kind, x.Name)
			switch {
			case x.State.Running != nil:
				b.WriteString("running")
				if x.Started != nil && !*x.Started {
					b.WriteString(", not started")
				}
			case x.State.Waiting != nil:
				b.WriteString("waiting: " + x.State.Waiting.Reason)
				if m := x.State.Waiting.Message; m != "" {
					b.WriteString(": " + strings.ReplaceAll(m, string(p.UID), "UID"))
				}
			case x.State.Terminated != nil:
				fmt.Fprintf(&b, "terminated: %s (%d)", x.State.Terminated.Reason, x.State.Terminated.ExitCode)
				if m := x.State.Terminated.Message; m != "" {
					b.WriteString(" " + strings.TrimSpace(m))
				}
			}
			if x.Ready {
				b.WriteString(", ready")
			}
			if x.RestartCount > 0 {
				fmt.Fprintf(&b, ", restarts %d", x.RestartCount)
			}
			if last := x.LastTerminationState.Terminated; last != nil {
				fmt.Fprintf(&b, ", last: %s (%d)", last.Reason, last.ExitCode)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// events are the Pod's events, in order, as "Type Reason message (count)".
func (c *cluster) events(name string) string {
	c.Helper()
	c.rest()
	list, err := c.client.CoreV1().Events("default").List(context.Background(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
	if err != nil {
		c.Fatal(err)
	}
	uid := ""
	if len(list.Items) > 0 {
		uid = string(list.Items[0].InvolvedObject.UID)
	}
	items := list.Items
	// Those of one moment are in the order in which they were written.
	sortEvents(items)
	var b strings.Builder
	for _, e := range items {
		where := ""
		if e.InvolvedObject.FieldPath != "" {
			where = " " + e.InvolvedObject.FieldPath
		}
		fmt.Fprintf(&b, "  %s %s%s: %s", e.Type, e.Reason, where, strings.TrimSpace(strings.ReplaceAll(e.Message, uid, "UID")))
		if e.Count > 1 {
			fmt.Fprintf(&b, " (x%d)", e.Count)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// golden compares a text with the file of that name in testdata.
func golden(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); run with -update if it should:\n%s", file, diff)
	}
}

// String waits until the transcript shows how the Pod is now, and returns it.
func (t *transcript) String() string {
	for range 10 { // what follows from the last step at the same moment belongs to it
		t.c.rest()
	}
	t.c.until("the transcript is complete", func() bool {
		now := t.c.get(t.name)
		t.mu.Lock()
		defer t.mu.Unlock()
		if now.Name == "" {
			return t.gone
		}
		return !t.gone && t.last == describe(now)
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
