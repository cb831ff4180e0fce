package controllers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
)

func TestEndpointSlicesFollowReadyPods(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := c.client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	deployment := newDeployment("web", 2)
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	endpoints := func(wantReady int) {
		eventually(t, fmt.Sprintf("%d ready endpoints", wantReady), func(ctx context.Context) (bool, error) {
			slices, err := c.client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=web"})
			if err != nil {
				return false, err
			}
			got := 0
			for _, slice := range slices.Items {
				for _, e := range slice.Endpoints {
					if e.Conditions.Ready != nil && *e.Conditions.Ready {
						got++
					}
				}
			}
			legacy, err := c.client.CoreV1().Endpoints(namespace).Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			old := 0
			for _, subset := range legacy.Subsets {
				old += len(subset.Addresses)
			}
			return got == wantReady && old == wantReady, fmt.Errorf("%d in slices, %d in Endpoints", got, old)
		})
	}
	endpoints(2)

	// Of the next two one may start before an old one ends, and neither is ever
	// ready: the old ones keep serving.
	c.patch(t, namespace, "web", map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotationHold: "yes"}}})
	eventually(t, "a Pod that is not ready", func(ctx context.Context) (bool, error) {
		pods, err := c.pods(ctx, namespace, "app=web")
		if err != nil {
			return false, err
		}
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodRunning && !ready(pod) {
				return true, nil
			}
		}
		return false, nil
	})
	endpoints(2)
	if err := c.client.AppsV1().Deployments(namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	endpoints(0)
}

func TestEndpointsOfNobodyAreMirrored(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	meta := metav1.ObjectMeta{Name: "outside"}
	if _, err := c.client.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 the mirroring controller is there for those who still write Endpoints
	addresses := &corev1.Endpoints{ObjectMeta: meta, Subsets: []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{{IP: "192.0.2.7"}}, Ports: []corev1.EndpointPort{{Port: 8080}}}}}
	if _, err := c.client.CoreV1().Endpoints(namespace).Create(t.Context(), addresses, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a mirrored slice", func(ctx context.Context) (bool, error) {
		slices, err := c.client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelManagedBy + "=endpointslicemirroring-controller.k8s.io"})
		return err == nil && len(slices.Items) == 1 && len(slices.Items[0].Endpoints) == 1 && slices.Items[0].Endpoints[0].Addresses[0] == "192.0.2.7", err
	})
}

func TestABudgetRefusesAnEviction(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MinAvailable: &intstr.IntOrString{Type: intstr.Int, IntVal: 2}}}
	if _, err := c.client.PolicyV1().PodDisruptionBudgets(namespace).Create(t.Context(), budget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), newDeployment("web", 3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, "web")
	allowed := func(want int32) {
		eventually(t, fmt.Sprintf("%d disruptions to be allowed", want), func(ctx context.Context) (bool, error) {
			b, err := c.client.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, "web", metav1.GetOptions{})
			return err == nil && b.Status.DisruptionsAllowed == want && b.Status.CurrentHealthy == 2+want, err
		})
	}
	evict := func() error {
		pods, err := c.pods(t.Context(), namespace, "app=web")
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods {
			if pod.DeletionTimestamp == nil { // a budget has no say about a Pod that is going already
				return c.client.PolicyV1().Evictions(namespace).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: namespace}})
			}
		}
		t.Fatal("all Pods are going")
		return nil
	}
	allowed(1)
	if err := evict(); err != nil {
		t.Fatalf("the first eviction: %v", err)
	}
	c.rolledOut(t, namespace, "web")

	// Of two Pods with a budget of two none may go.
	allowed(1)
	// The controller may be writing the status.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale, err := c.client.AppsV1().Deployments(namespace).GetScale(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 2
		_, err = c.client.AppsV1().Deployments(namespace).UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, "web")
	allowed(0)
	if err := evict(); !apierrors.IsTooManyRequests(err) {
		t.Errorf("an eviction too many: %v, want 429 TooManyRequests", err)
	}
}

func TestAQuotaRefuses(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2"), "count/configmaps": resource.MustParse("2")}}}
	if _, err := c.client.CoreV1().ResourceQuotas(namespace).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Upstream's controller compares what it counts with the quota in its cache. Where that is older than what admission
	// has just added, nothing seems to have changed, and it looks again after its resync, or when the quota is changed.
	const patience = 5 * time.Second
	used := func(name corev1.ResourceName, want int64) {
		asked := time.Now()
		eventually(t, fmt.Sprintf("%d %s to be counted", want, name), func(ctx context.Context) (bool, error) {
			q, err := c.client.CoreV1().ResourceQuotas(namespace).Get(ctx, "few", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			got, ok := q.Status.Used[name]
			if ok && got.Value() == want {
				return true, nil
			}
			if time.Since(asked) > patience {
				asked = time.Now()
				q.Spec.Hard[corev1.ResourceServices] = *resource.NewQuantity(asked.Unix(), resource.DecimalSI)
				if _, err := c.client.CoreV1().ResourceQuotas(namespace).Update(ctx, q, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
					return false, err
				}
			}
			return false, fmt.Errorf("%s", got.String())
		})
	}
	used(corev1.ResourcePods, 0)
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), newDeployment("web", 3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	used(corev1.ResourcePods, 2)
	_, err := c.client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "third"}, Spec: podSpec()}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a Pod too many: %v, want 403 Forbidden", err)
	}
	// What goes is given back by the controller: admission only ever adds.
	if err := c.client.AppsV1().Deployments(namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	used(corev1.ResourcePods, 0)

	// A kind of which nobody else keeps whole objects. There may be
	// kube-root-ca.crt already, or soon.
	maps := c.client.CoreV1().ConfigMaps(namespace)
	var before int64
	if rootCAPublished {
		before = 1
	}
	// Admission adds to the quota as it knows it, a few times; where the controller has just written, the client is told.
	eventually(t, "a ConfigMap that the quota allows", func(ctx context.Context) (bool, error) {
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, metav1.CreateOptions{})
		return err == nil, err
	})
	used("count/configmaps", before+1)
	if err := maps.Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	used("count/configmaps", before)
}
