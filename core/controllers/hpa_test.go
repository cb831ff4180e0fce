package controllers_test

import (
	"context"
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
)

// Pod metrics are served by a custom resource of the names that metrics.k8s.io
// has: what the autoscaler reads is a list of objects under that path, whoever
// keeps them.
func TestAnAutoscalerScales(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	crds, err := apiextensions.NewForConfig(c.engine.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	anything := &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "pods.metrics.k8s.io", Annotations: map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, a test"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "metrics.k8s.io", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "pods", Singular: "podmetrics", Kind: "PodMetrics", ListKind: "PodMetricsList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: anything}}},
		}}
	if _, err := crds.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	deployment := newDeployment("busy", 1)
	deployment.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, "busy")
	pods, err := c.pods(t.Context(), namespace, "app=busy")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d Pods, %v; want 1", len(pods), err)
	}
	client, err := dynamic.NewForConfig(c.engine.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	metrics := client.Resource(schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}).Namespace(namespace)
	// While a Pod is young, what was measured over a window that began before
	// it became ready does not count.
	eventually(t, "the metrics to be accepted", func(ctx context.Context) (bool, error) {
		_, err := metrics.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics",
			"metadata":  map[string]any{"name": pods[0].Name, "labels": map[string]any{"app": "busy"}},
			"timestamp": metav1.Now().UTC().Format("2006-01-02T15:04:05Z"), "window": "0s",
			"containers": []any{map[string]any{"name": "c", "usage": map[string]any{"cpu": "150m", "memory": "10Mi"}}},
		}}, metav1.CreateOptions{})
		return err == nil, err
	})

	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "busy"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "busy"},
		MinReplicas:    ptr.To(int32(1)), MaxReplicas: 3,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To(int32(50))}}}},
	}}
	if _, err := c.client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Create(t.Context(), hpa, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// 150% of what was asked for, where 50% is wanted: three times as many.
	eventually(t, "three replicas", func(ctx context.Context) (bool, error) {
		d, err := c.client.AppsV1().Deployments(namespace).Get(ctx, "busy", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		h, err := c.client.AutoscalingV2().HorizontalPodAutoscalers(namespace).Get(ctx, "busy", metav1.GetOptions{})
		return d.Status.ReadyReplicas == 3, conditions(err, h)
	})
	c.event(t, namespace, "busy", "SuccessfulRescale")
}

// conditions is what the autoscaler says of itself, as an error to show.
func conditions(err error, h *autoscalingv2.HorizontalPodAutoscaler) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%+v", h.Status.Conditions)
}
