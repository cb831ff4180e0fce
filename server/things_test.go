package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/server/internal/process"
)

const (
	askEvery = 100 * time.Millisecond
	mostP99  = 200 * time.Millisecond
	most     = time.Second
	// enough answers tell whether the server is well, and many what is slower than ninety-nine of a hundred.
	enough = 100
	many   = 300
	// asleep is longer than kubelets may be silent before their nodes are taken for lost (50 s).
	asleep = 65 * time.Second
)

// TestThings does what people do that is more than a line, natively, beside a probe that asks for /readyz every 100 ms:
// nobody waits long, and every object that was acknowledged is there afterwards. web/tests/browser/things.long.test.ts does
// it in a tab.
func TestThings(t *testing.T) {
	if os.Getenv("KUBETAB_TIMING") == "" {
		t.Skip("how long answers take is measured with nothing beside it: make test-things")
	}
	thing := func(name string, do func(*testing.T, things, *asking)) {
		t.Run(name, func(t *testing.T) {
			p := startKubetab(t, "--nodes", "2", "--controllers", "*", "--scheduler")
			config := restConfig(t, p)
			there := things{process: p, config: config, client: clientset(t, config)}
			there.create(t, "kept")
			asking := probe(t, config)
			do(t, there, asking)
			asking.isWell(t)
			there.areKept(t, "kept")
		})
	}

	thing("a script makes 10,000 objects", func(t *testing.T, c things, _ *asking) {
		names := numbered("of-script-", 10_000)
		atOnce(t, 20, names, func(name string) error { return c.make(t.Context(), name) })
		c.areKept(t, names...)
	})

	thing("100,000 replicas", func(t *testing.T, c things, _ *asking) {
		labels := map[string]string{"app": "crowd"}
		crowd := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "crowd"}, Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(100_000)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}},
		}}
		if _, err := c.client.AppsV1().Deployments("default").Create(t.Context(), crowd, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		<-time.After(30 * time.Second) // what is measured is what it does beside others
		if err := c.client.AppsV1().Deployments("default").Delete(t.Context(), "crowd", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})

	thing("a script begins 2,000 watches", func(t *testing.T, c things, _ *asking) {
		var bookmarked atomic.Int32
		atOnce(t, 2000, numbered("watch-", 2000), func(string) error {
			w, err := c.client.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
			if err != nil {
				return err
			}
			t.Cleanup(w.Stop)
			go func() {
				for e := range w.ResultChan() {
					if m, is := e.Object.(*corev1.ConfigMap); is && m.Name == "seen" {
						bookmarked.Add(1)
					}
				}
			}()
			return nil
		})
		c.create(t, "seen")
		eventually(t, "all who watch have heard", func() bool { return bookmarked.Load() == 2000 })
	})

	thing("a policy that denies everything", func(t *testing.T, c things, _ *asking) {
		policies := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		bindings := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		everything := admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.OperationAll},
			Rule:       admissionv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
		}}
		deny := metav1.ObjectMeta{Name: "deny-all"}
		if _, err := policies.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: deny, Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionv1.Fail), Validations: []admissionv1.Validation{{Expression: "false"}},
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{everything}},
		}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := bindings.Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: deny, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "deny-all", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a ConfigMap is denied", func() bool { return apierrors.IsInvalid(c.make(t.Context(), "denied")) })
		// Policies are no subject of policies: this is the way out.
		if err := bindings.Delete(t.Context(), "deny-all", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a ConfigMap is taken", func() bool { return c.make(t.Context(), "taken") == nil })
	})

	thing("the machine sleeps", func(t *testing.T, c things, asking *asking) {
		nginx := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
		pods := c.client.CoreV1().Pods("default")
		if _, err := pods.Create(t.Context(), nginx, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		running := func() types.UID {
			pod, err := pods.Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
				return ""
			}
			return pod.UID
		}
		eventually(t, "the Pod runs", func() bool { return running() != "" })
		before := running()
		goOn := asking.pause()
		c.process.Signal(syscall.SIGSTOP)
		<-time.After(asleep)
		c.process.Signal(syscall.SIGCONT)
		goOn()
		eventually(t, "the nodes are ready", func() bool {
			nodes, err := c.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
			return err == nil && len(nodes.Items) == 2 && !slices.ContainsFunc(nodes.Items, func(n corev1.Node) bool { return !isReady(n) || len(n.Spec.Taints) > 0 })
		})
		if after := running(); after != before {
			t.Errorf("the Pod %s is now %q", before, after)
		}
		c.create(t, "awake")
	})
}

func isReady(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// eventually fails the test unless condition holds within startLimit.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return names
}

// atOnce calls do for each of names, for n at a time, and fails the test with the first error.
func atOnce(t *testing.T, n int, names []string, do func(name string) error) {
	t.Helper()
	next := make(chan string)
	var (
		all    sync.WaitGroup
		failed atomic.Pointer[error]
	)
	for range n {
		all.Go(func() {
			for name := range next {
				if err := do(name); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	for _, name := range names {
		next <- name
	}
	close(next)
	all.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
}

// things is a server to which people do things.
type things struct {
	process *process.Process
	config  *rest.Config
	client  *kubernetes.Clientset
}

func (c things) make(ctx context.Context, name string) error {
	_, err := c.client.CoreV1().ConfigMaps("default").Create(ctx, configMap(name), metav1.CreateOptions{})
	return err
}

func (c things) create(t *testing.T, name string) {
	t.Helper()
	if err := c.make(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// areKept fails the test unless a ConfigMap of each name is there.
func (c things) areKept(t *testing.T, names ...string) {
	t.Helper()
	found, err := c.client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, m := range found.Items {
		there[m.Name] = true
	}
	lost := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return there[name] })
	if len(lost) > 0 {
		t.Errorf("%d of %d that were acknowledged are not there: %s", len(lost), len(names), strings.Join(lost[:min(10, len(lost))], " "))
	}
}

// asking is what a probe has asked so far.
type asking struct {
	open sync.RWMutex // each question holds it as a reader

	mu       sync.Mutex
	took     []time.Duration
	failures []string
}

// probe asks for /readyz every 100 ms until the test ends, whether or not there are answers: one that waited for the last
// would ask seldom while the server is slow, and think it quick.
func probe(t *testing.T, config *rest.Config) *asking {
	t.Helper()
	security, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	// Connections of its own: those of client-go are for all clients of the process, each with so many streams.
	transport, err := rest.HTTPWrappersForConfig(config, &http.Transport{TLSClientConfig: security})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: transport}
	t.Cleanup(client.CloseIdleConnections)
	a := &asking{}
	go func() {
		every := time.NewTicker(askEvery)
		defer every.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-every.C:
			}
			if a.open.TryRLock() { // no pause
				go a.ask(t.Context(), client, config.Host+"/readyz")
			}
		}
	}()
	return a
}

// ask asks once, and gives open back.
func (a *asking) ask(ctx context.Context, client *http.Client, url string) {
	defer a.open.RUnlock()
	began := time.Now()
	failure := func() string {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err.Error()
		}
		response, err := client.Do(r)
		if err != nil {
			return err.Error()
		}
		defer response.Body.Close()
		if text, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK {
			return fmt.Sprintf("%s %s", response.Status, text)
		}
		return ""
	}()
	if ctx.Err() != nil {
		return // the test is over
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.took = append(a.took, time.Since(began))
	if failure != "" {
		a.failures = append(a.failures, failure)
	}
}

// pause waits for the answers to what has been asked. Nothing is asked until goOn is called.
func (a *asking) pause() (goOn func()) {
	a.open.Lock()
	return a.open.Unlock
}

// isWell fails the test if an answer was not 200, or came late.
func (a *asking) isWell(t *testing.T) {
	t.Helper()
	eventually(t, "the probe has asked often", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.took) >= enough
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.took)
	n := len(a.took)
	p99, worst := a.took[n*99/100], a.took[n-1]
	t.Logf("/readyz: %d answers, p50 %v, p99 %v, at most %v", n, a.took[n/2].Round(time.Millisecond), p99.Round(time.Millisecond), worst.Round(time.Millisecond))
	if len(a.failures) > 0 {
		t.Errorf("%d answers were no 200, such as %s", len(a.failures), a.failures[0])
	}
	if n >= many && p99 > mostP99 || worst > most {
		t.Errorf("p99 %v of %v, at most %v of %v", p99, mostP99, worst, most)
	}
}
