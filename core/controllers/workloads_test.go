package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/controllers"
)

func newDeployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels)}}
}

// rolledOut waits for what kubectl rollout status waits for.
func (c *cluster) rolledOut(t *testing.T, namespace, name string) *appsv1.Deployment {
	t.Helper()
	var d *appsv1.Deployment
	eventually(t, "rollout of "+name, func(ctx context.Context) (_ bool, err error) {
		if d, err = c.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		s, want := d.Status, *d.Spec.Replicas
		return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == want && s.Replicas == want && s.AvailableReplicas == want,
			fmt.Errorf("%+v", s)
	})
	return d
}

func TestADeploymentBecomesPodsOnNodes(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), newDeployment("web", 4), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, "web")

	sets, err := c.client.AppsV1().ReplicaSets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 {
		t.Fatalf("%d ReplicaSets, %v; want 1", len(sets.Items), err)
	}
	pods, err := c.pods(t.Context(), namespace, "app=web")
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]int{}
	for _, pod := range pods {
		on[pod.Spec.NodeName]++
		if owner := metav1.GetControllerOf(&pod); owner == nil || owner.UID != sets.Items[0].UID {
			t.Errorf("%s belongs to %v, want the ReplicaSet %s", pod.Name, owner, sets.Items[0].Name)
		}
	}
	if on["alpha"] != 2 || on["beta"] != 2 {
		t.Errorf("4 Pods on %v, want them spread over alpha and beta", on)
	}
	c.event(t, namespace, "web", "ScalingReplicaSet")
	c.event(t, namespace, pods[0].Name, "Scheduled")
}

func TestARolloutStopsAtABadImageAndIsUndone(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	deployments := c.client.AppsV1().Deployments(namespace)
	if _, err := deployments.Create(t.Context(), newDeployment("web", 3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	good := c.rolledOut(t, namespace, "web")

	c.patch(t, namespace, "web", map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotationHold: "no such image"}}})
	eventually(t, "the new ReplicaSet to start one Pod", func(ctx context.Context) (bool, error) {
		d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		// A quarter of 3, rounded up, may be on top; rounded down, missing.
		return d.Status.UpdatedReplicas == 1 && d.Status.Replicas == 4 && d.Status.AvailableReplicas == 3, fmt.Errorf("%+v", d.Status)
	})

	// What kubectl rollout undo does: the template of the revision before.
	old, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/template", "value": good.Spec.Template}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deployments.Patch(t.Context(), "web", types.JSONPatchType, old, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	d := c.rolledOut(t, namespace, "web")
	if got := d.Annotations["deployment.kubernetes.io/revision"]; got != "3" {
		t.Errorf("revision %q after create, change and undo, want 3", got)
	}
	sets, err := c.client.AppsV1().ReplicaSets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 2 {
		t.Errorf("%d ReplicaSets, %v; want 2: the undo reuses the first", len(sets.Items), err)
	}
}

// patch changes a Deployment's template.
func (c *cluster) patch(t *testing.T, namespace, name string, change any) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": change}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.AppsV1().Deployments(namespace).Patch(t.Context(), name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestADeletedDeploymentTakesItsPodsAlong(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), newDeployment("web", 2), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, "web")
	if err := c.client.AppsV1().Deployments(namespace).Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "everything to be gone", func(ctx context.Context) (bool, error) {
		pods, err := c.pods(ctx, namespace, "")
		if err != nil || len(pods) > 0 {
			return false, err
		}
		_, err = c.client.AppsV1().Deployments(namespace).Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func TestAJobEnds(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	jobs := c.client.BatchV1().Jobs(namespace)
	for name, tc := range map[string]struct {
		exit string
		want batchv1.JobConditionType
	}{
		"good": {"0", batchv1.JobComplete},
		"bad":  {"1", batchv1.JobFailed},
	} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{
			Completions: ptr.To(int32(2)), BackoffLimit: ptr.To(int32(0)), Template: template(nil)}}
		job.Spec.Template.Annotations = map[string]string{annotationExit: tc.exit}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		if name == "good" {
			job.Spec.TTLSecondsAfterFinished = ptr.To(int32(1))
		}
		w, err := jobs.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if _, err := jobs.Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		got := batchv1.JobConditionType("")
		for e := range w.ResultChan() {
			for _, condition := range e.Object.(*batchv1.Job).Status.Conditions {
				if condition.Status == corev1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
					got = condition.Type
				}
			}
			if got != "" {
				break
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %s", name, got, tc.want)
		}
	}
	eventually(t, "the finished Job to be deleted after its time", func(ctx context.Context) (bool, error) {
		_, err := jobs.Get(ctx, "good", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func TestACronJobStartsJobs(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "tick"}, Spec: batchv1.CronJobSpec{
		Schedule: "@every 1s", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template(nil)}}}}
	cron.Spec.JobTemplate.Spec.Template.Annotations = map[string]string{annotationExit: "0"}
	cron.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if _, err := c.client.BatchV1().CronJobs(namespace).Create(t.Context(), cron, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a Job to complete", func(ctx context.Context) (bool, error) {
		jobs, err := c.client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		complete := 0
		for _, job := range jobs.Items {
			complete += int(job.Status.Succeeded)
		}
		return complete >= 1, fmt.Errorf("%d have", complete)
	})
	if err := c.client.BatchV1().CronJobs(namespace).Delete(t.Context(), "tick", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestAStatefulSetBindsClaims(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	labels := map[string]string{"app": "db"}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To(int32(2)), ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels),
		PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, WhenScaled: appsv1.RetainPersistentVolumeClaimRetentionPolicyType},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: newClaim().Spec}},
	}}
	set.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	if _, err := c.client.AppsV1().StatefulSets(namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both replicas to be ready", func(ctx context.Context) (bool, error) {
		s, err := c.client.AppsV1().StatefulSets(namespace).Get(ctx, "db", metav1.GetOptions{})
		return err == nil && s.Status.ReadyReplicas == 2, err
	})
	var volumes []string
	for _, name := range []string{"data-db-0", "data-db-1"} {
		claim, err := c.client.CoreV1().PersistentVolumeClaims(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		volumes = append(volumes, claim.Spec.VolumeName)
		if claim.Status.Phase != corev1.ClaimBound || *claim.Spec.StorageClassName != controllers.StorageClass {
			t.Errorf("%s is %s in class %v, want Bound in %s", name, claim.Status.Phase, claim.Spec.StorageClassName, controllers.StorageClass)
		}
		c.event(t, namespace, name, "ProvisioningSucceeded")
	}

	// The claims go with the set, and their volumes with the claims.
	if err := c.client.AppsV1().StatefulSets(namespace).Delete(t.Context(), "db", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, volume := range volumes {
		eventually(t, "the volume "+volume+" to be deleted", func(ctx context.Context) (bool, error) {
			_, err := c.client.CoreV1().PersistentVolumes().Get(ctx, volume, metav1.GetOptions{})
			return apierrors.IsNotFound(err), nil
		})
	}
}

func newClaim() *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func TestADaemonSetRunsOnEveryNode(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	labels := map[string]string{"app": "agent"}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels)}}
	if _, err := c.client.AppsV1().DaemonSets(namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	everywhere := func(want ...string) {
		eventually(t, fmt.Sprintf("a ready Pod on each of %v", want), func(ctx context.Context) (bool, error) {
			pods, err := c.pods(ctx, namespace, "app=agent")
			if err != nil {
				return false, err
			}
			on := map[string]int{}
			for _, pod := range pods {
				if ready(pod) && pod.DeletionTimestamp == nil {
					on[pod.Spec.NodeName]++
				}
			}
			ok := len(on) == len(want)
			for _, name := range want {
				ok = ok && on[name] == 1
			}
			return ok, fmt.Errorf("%v", on)
		})
	}
	everywhere("alpha", "beta")
	if err := shared.nodes.add(t.Context(), newNode("gamma")); err != nil {
		t.Fatal(err)
	}
	everywhere("alpha", "beta", "gamma")
	shared.nodes.remove(t, "gamma")
	if err := c.client.AppsV1().DaemonSets(namespace).Delete(t.Context(), "agent", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// The collector looks every 20 s, and waits 40 s before it believes that a node
// is gone; the Pod is made with the cluster, so that other tests use the time.
func TestThePodsOfAGoneNodeAreCollected(t *testing.T) {
	c := sharedCluster(t)
	eventually(t, "the Pod of a node that does not exist to be deleted", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, orphan, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}
