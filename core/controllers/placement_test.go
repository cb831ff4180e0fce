package controllers_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// pod returns a Pod that asks for so many CPUs and only runs on nodes that
// these tests do not share, as long as node is not "".
func podFor(name, node, cpu string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec()}
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	if node != "" {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "only", Value: node}}
	}
	return pod
}

// ownNode adds a node that other tests' Pods do not tolerate.
func ownNode(t *testing.T, name string) {
	t.Helper()
	node := newNode(name)
	node.Spec.Taints = []corev1.Taint{{Key: "only", Value: name, Effect: corev1.TaintEffectNoSchedule}}
	if err := shared.nodes.add(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shared.nodes.remove(t, name) })
}

func (c *cluster) create(t *testing.T, namespace string, pod *corev1.Pod) {
	t.Helper()
	if _, err := c.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) runsOn(t *testing.T, namespace, name, node string) {
	t.Helper()
	eventually(t, name+" on "+node, func(ctx context.Context) (bool, error) {
		pod, err := c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.Spec.NodeName == node && pod.Status.Phase != corev1.PodPending, err
	})
}

func TestAPodThatFitsNowhereSaysWhy(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	c.create(t, namespace, podFor("big", "", "100"))
	e := c.event(t, namespace, "big", "FailedScheduling")
	if want := "0/2 nodes are available: 2 Insufficient cpu."; !strings.HasPrefix(e.Message, want) {
		t.Errorf("event: %q, want %q", e.Message, want)
	}
	if e.ReportingController != "default-scheduler" {
		t.Errorf("reported by %q, want default-scheduler", e.ReportingController)
	}
	eventually(t, "the condition PodScheduled", func(ctx context.Context) (bool, error) {
		pod, err := c.client.CoreV1().Pods(namespace).Get(ctx, "big", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled {
				return condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable, nil
			}
		}
		return false, nil
	})
}

func TestATaintKeepsPodsAwayAndDrivesThemOut(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	ownNode(t, "tainted")
	intolerant := podFor("intolerant", "tainted", "1")
	intolerant.Spec.Tolerations = nil
	c.create(t, namespace, intolerant)
	c.event(t, namespace, "intolerant", "FailedScheduling")
	c.create(t, namespace, podFor("tolerant", "tainted", "1"))
	c.runsOn(t, namespace, "tolerant", "tainted")

	// A controller may be writing it.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := c.client.CoreV1().Nodes().Get(t.Context(), "tainted", metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "out", Effect: corev1.TaintEffectNoExecute})
		_, err = c.client.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Pod to be driven out", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().Pods(namespace).Get(ctx, "tolerant", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	c.event(t, namespace, "tolerant", "TaintManagerEviction")
}

func TestAFinishedPodFreesItsRoom(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	ownNode(t, "small")
	first := podFor("first", "small", "3")
	first.Annotations = map[string]string{annotationExit: "0"}
	first.Spec.RestartPolicy = corev1.RestartPolicyNever
	c.create(t, namespace, first)
	c.runsOn(t, namespace, "first", "small")
	c.create(t, namespace, podFor("second", "small", "3"))
	c.runsOn(t, namespace, "second", "small")
}

func TestAHigherPriorityPreempts(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	ownNode(t, "contested")
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}
	if _, err := c.client.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.create(t, namespace, podFor("low", "contested", "3"))
	c.runsOn(t, namespace, "low", "contested")
	high := podFor("high", "contested", "3")
	high.Spec.PriorityClassName = "high"
	c.create(t, namespace, high)
	c.runsOn(t, namespace, "high", "contested")
	if _, err := c.client.CoreV1().Pods(namespace).Get(t.Context(), "low", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Pod of low priority: %v, want NotFound", err)
	}
	c.event(t, namespace, "low", "Preempted")
}

func TestPodsSpreadOverATopology(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	deployment := newDeployment("apart", 3)
	deployment.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: deployment.Spec.Selector}}}}
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two Pods apart and one without room", func(ctx context.Context) (bool, error) {
		pods, err := c.pods(ctx, namespace, "app=apart")
		if err != nil {
			return false, err
		}
		on := map[string]int{}
		for _, pod := range pods {
			on[pod.Spec.NodeName]++
		}
		return on["alpha"] == 1 && on["beta"] == 1 && on[""] == 1, nil
	})
}
