package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/kubetab/kubetab/core"
)

// prepared is a cluster of ../tutorials/clusters on an engine.
type prepared struct {
	*testing.T
	ctx     context.Context
	client  kubernetes.Interface
	objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func prepare(t *testing.T, name string) *prepared {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	e, client := living(t, core.Config{Nodes: 2})
	p := &prepared{T: t, ctx: ctx, client: client, objects: dynamic.NewForConfigOrDie(e.RESTConfig())}
	p.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(p.client.Discovery()))
	files, err := filepath.Glob(filepath.Join("..", "tutorials", "clusters", name, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for {
			o := &unstructured.Unstructured{}
			if err := decoder.Decode(&o.Object); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			p.until(fmt.Sprintf("%s: apply %s %s", file, o.GetKind(), o.GetName()), func() error { return p.apply(o) })
			if o.GetKind() == "ResourceQuota" {
				p.until("admission knows the quota", func() error { return p.limited(o.GetNamespace()) })
			}
		}
	}
	return p
}

// apply fails while the kind is not there yet.
func (p *prepared) apply(o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	mapping, err := p.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		p.mapper.Reset()
		return err
	}
	var resource dynamic.ResourceInterface = p.objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		resource = p.objects.Resource(mapping.Resource).Namespace(o.GetNamespace())
	}
	_, err = resource.Apply(p.ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "kubectl"})
	if err != nil && !apierrors.IsNotFound(err) {
		p.Fatalf("%s %s is refused: %v", o.GetKind(), o.GetName(), err)
	}
	return err
}

// limited fails while admission has not heard of a namespace's quota, which it does by a watch. A visitor's browser applies
// so much between the quota and what it limits that it has heard.
func (p *prepared) limited(namespace string) error {
	much := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1000")}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: v1.PodSpec{Containers: []v1.Container{{
		Name: "probe", Image: "nginx", Resources: v1.ResourceRequirements{Requests: much},
	}}}}
	_, err := p.client.CoreV1().Pods(namespace).Create(p.ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil:
		return errors.New("a Pod over the quota is let in")
	case strings.Contains(err.Error(), "exceeded quota"):
		return nil
	}
	return err
}

// until waits until condition has no error any more.
func (p *prepared) until(what string, condition func() error) {
	p.Helper()
	for {
		err := condition()
		if err == nil {
			return
		}
		select {
		case <-p.ctx.Done():
			p.Fatalf("waited in vain: %s: %v", what, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// available waits for a Deployment with so many Pods that serve.
func (p *prepared) available(namespace, name string, replicas int32) {
	p.Helper()
	p.until(name, func() error {
		d, err := p.client.AppsV1().Deployments(namespace).Get(p.ctx, name, metav1.GetOptions{})
		if err == nil && (d.Status.AvailableReplicas != replicas || d.Status.Replicas != replicas) {
			err = fmt.Errorf("%d of %d Pods are available, want %d", d.Status.AvailableReplicas, d.Status.Replicas, replicas)
		}
		return err
	})
}

// serving waits for so many ready addresses of a Service.
func (p *prepared) serving(namespace, service string, addresses int) {
	p.Helper()
	p.until("endpoints of "+service, func() error {
		slices, err := p.client.DiscoveryV1().EndpointSlices(namespace).List(p.ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + service})
		if err != nil {
			return err
		}
		ready := 0
		for _, s := range slices.Items {
			for _, e := range s.Endpoints {
				if e.Conditions.Ready != nil && *e.Conditions.Ready {
					ready++
				}
			}
		}
		if len(slices.Items) == 0 || ready != addresses {
			return fmt.Errorf("%d ready addresses in %d slices, want %d", ready, len(slices.Items), addresses)
		}
		return nil
	})
}

// pods waits until every Pod with a label is as condition says, and there are so many.
func (p *prepared) pods(namespace, app string, count int, condition func(*v1.Pod) error) {
	p.Helper()
	p.until("Pods of "+app, func() error {
		list, err := p.client.CoreV1().Pods(namespace).List(p.ctx, metav1.ListOptions{LabelSelector: "app=" + app})
		if err != nil {
			return err
		}
		if len(list.Items) != count {
			return fmt.Errorf("%d Pods, want %d", len(list.Items), count)
		}
		for i := range list.Items {
			if err := condition(&list.Items[i]); err != nil {
				return fmt.Errorf("%w: %+v", err, list.Items[i].Status)
			}
		}
		return nil
	})
}

func TestTheShopRuns(t *testing.T) {
	p := prepare(t, "shop")
	p.available("shop", "orders", 2)
	p.available("shop", "storefront", 3) // as the autoscaler wants it
	for service, addresses := range map[string]int{"orders": 2, "storefront": 3, "cart": 1} {
		p.serving("shop", service, addresses)
	}
	p.until("the volume of the cart", func() error {
		claim, err := p.client.CoreV1().PersistentVolumeClaims("shop").Get(p.ctx, "data-cart-0", metav1.GetOptions{})
		if err == nil && claim.Status.Phase != v1.ClaimBound {
			err = fmt.Errorf("the claim is %s", claim.Status.Phase)
		}
		return err
	})
	p.until("the autoscaler sees usage", func() error {
		hpa, err := p.client.AutoscalingV2().HorizontalPodAutoscalers("shop").Get(p.ctx, "storefront", metav1.GetOptions{})
		if err == nil && len(hpa.Status.CurrentMetrics) == 0 {
			err = fmt.Errorf("%+v", hpa.Status.Conditions)
		}
		return err
	})
	p.until("the budget allows one disruption", func() error {
		budget, err := p.client.PolicyV1().PodDisruptionBudgets("shop").Get(p.ctx, "storefront", metav1.GetOptions{})
		if err == nil && budget.Status.DisruptionsAllowed != 1 {
			err = fmt.Errorf("%d are allowed", budget.Status.DisruptionsAllowed)
		}
		return err
	})
	page, err := p.client.CoreV1().Services("shop").ProxyGet("http", "storefront", "http", "/", nil).DoRaw(p.ctx)
	if err != nil || !strings.Contains(string(page), "The shop is open") {
		t.Errorf("%s %v", page, err)
	}
}

// TestTheSystemRuns has CoreDNS counted as serving, and asked: the network answers no longer by itself.
func TestTheSystemRuns(t *testing.T) {
	p := prepare(t, "system")
	p.available("kube-system", "coredns", 2)
	p.serving("kube-system", "kube-dns", 2)
	p.until("a kube-proxy on each node", func() error {
		set, err := p.client.AppsV1().DaemonSets("kube-system").Get(p.ctx, "kube-proxy", metav1.GetOptions{})
		if err == nil && set.Status.NumberAvailable != 2 {
			err = fmt.Errorf("%d are available", set.Status.NumberAvailable)
		}
		return err
	})
	asker := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "asker"}, Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyNever, Containers: []v1.Container{{
		Name: "asker", Image: "busybox", Command: []string{"nslookup", "kubernetes.default.svc.cluster.local"},
	}}}}
	p.until("a Pod asks", func() error {
		_, err := p.client.CoreV1().Pods("default").Create(p.ctx, asker, metav1.CreateOptions{})
		return err
	})
	p.until("it has an answer", func() error {
		pod, err := p.client.CoreV1().Pods("default").Get(p.ctx, "asker", metav1.GetOptions{})
		if err == nil && pod.Status.Phase != v1.PodSucceeded {
			err = fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return err
	})
	pods, err := p.client.CoreV1().Pods("kube-system").List(p.ctx, metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"})
	if err != nil {
		t.Fatal(err)
	}
	counted := ""
	for _, pod := range pods.Items {
		text, err := p.client.CoreV1().Pods("kube-system").ProxyGet("http", pod.Name, "9153", "/metrics", nil).DoRaw(p.ctx)
		if err != nil {
			t.Fatal(err)
		}
		counted += string(text)
	}
	if !strings.Contains(counted, `coredns_dns_responses_total{plugin="",rcode="NOERROR",server="dns://:53",view="",zone="."} 1`) {
		t.Errorf("CoreDNS counts\n%s", counted)
	}
}

func TestFerriesKeepTheirRules(t *testing.T) {
	p := prepare(t, "custom")
	ferries := p.objects.Resource(schema.GroupVersionResource{Group: "harbour.example.com", Version: "v1", Resource: "ferries"}).Namespace("harbour")
	puffin, err := ferries.Get(p.ctx, "puffin", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if trips, _, _ := unstructured.NestedInt64(puffin.Object, "spec", "trips"); trips != 1 {
		t.Errorf("trips are %d by default, want 1", trips)
	}
	patch := func(spec string) error {
		_, err := ferries.Patch(p.ctx, "puffin", types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
		return err
	}
	for spec, words := range map[string]string{
		`{"to":"Mallaig"}`: "a ferry has to go somewhere",
		`{"from":"Eigg2"}`: "the home port of a ferry does not change",
		`{"trips":30}`:     "less than or equal to 24",
	} {
		if err := patch(spec); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", spec, err, words)
		}
	}
	p.until("the policy denies", func() error {
		err := patch(`{"trips":20}`)
		if err == nil {
			return fmt.Errorf("20 trips are taken")
		}
		if !strings.Contains(err.Error(), "no more than 12 trips a day") {
			return err
		}
		return nil
	})
	p.until("the role view has the ferries", func() error {
		view, err := p.client.RbacV1().ClusterRoles().Get(p.ctx, "view", metav1.GetOptions{})
		if err == nil && !slices.ContainsFunc(view.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "ferries") }) {
			err = fmt.Errorf("%d rules without ferries", len(view.Rules))
		}
		return err
	})
}

func TestWhatIsBrokenIsBrokenAsMeant(t *testing.T) {
	p := prepare(t, "broken")
	waiting := func(reason string) func(*v1.Pod) error {
		return func(pod *v1.Pod) error {
			for _, c := range pod.Status.ContainerStatuses {
				if c.State.Waiting != nil && c.State.Waiting.Reason == reason {
					return nil
				}
			}
			return fmt.Errorf("no container waits for %s", reason)
		}
	}
	p.pods("trouble", "gallery", 1, waiting("ImagePullBackOff"))
	p.pods("trouble", "worker", 1, waiting("CrashLoopBackOff"))
	p.pods("trouble", "model", 1, func(pod *v1.Pod) error {
		for _, c := range pod.Status.Conditions {
			if c.Type == v1.PodScheduled && c.Reason == v1.PodReasonUnschedulable && strings.Contains(c.Message, "Insufficient cpu") {
				return nil
			}
		}
		return fmt.Errorf("it is not said to be unschedulable")
	})
	p.pods("trouble", "guestbook", 2, func(pod *v1.Pod) error {
		if len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].State.Running != nil && !pod.Status.ContainerStatuses[0].Ready {
			return nil
		}
		return fmt.Errorf("it does not run without being ready")
	})
	p.serving("trouble", "guestbook", 0)
	p.available("trouble", "blog", 2)
	p.serving("trouble", "blog", 0)
	p.available("crowded", "choir", 2)
	for namespace, words := range map[string]string{"trouble": "Readiness probe failed", "crowded": "exceeded quota: small"} {
		p.until("an event says "+words, func() error {
			events, err := p.client.CoreV1().Events(namespace).List(p.ctx, metav1.ListOptions{})
			if err == nil && !slices.ContainsFunc(events.Items, func(e v1.Event) bool { return strings.Contains(e.Message, words) }) {
				err = fmt.Errorf("%d events, none of which does", len(events.Items))
			}
			return err
		})
	}
	log, err := p.client.CoreV1().Pods("trouble").List(p.ctx, metav1.ListOptions{LabelSelector: "app=worker"})
	if err != nil || len(log.Items) != 1 {
		t.Fatal(err)
	}
	text, err := p.client.CoreV1().Pods("trouble").GetLogs(log.Items[0].Name, &v1.PodLogOptions{Previous: true}).DoRaw(p.ctx)
	if err != nil || !strings.Contains(string(text), "QUEUE_URL is not set") {
		t.Errorf("the log: %q %v", text, err)
	}
}
