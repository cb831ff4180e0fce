package controllers_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

// A volume that is retained stays when its claim is gone, and can be deleted then, as with
// an external provisioner.
func TestARetainedVolumeCanBeDeleted(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "user"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}}}
	if _, err := c.client.CoreV1().PersistentVolumeClaims(namespace).Create(t.Context(), newClaim(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.create(t, namespace, pod) // the class waits for one
	name := ""
	eventually(t, "the claim to be bound", func(ctx context.Context) (bool, error) {
		claim, err := c.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, "claim", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		name = claim.Spec.VolumeName
		return claim.Status.Phase == corev1.ClaimBound, nil
	})
	volumes := c.client.CoreV1().PersistentVolumes()
	policy := func(to string, protected bool) {
		t.Helper()
		if _, err := volumes.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"persistentVolumeReclaimPolicy":"`+to+`"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, to+" to be followed", func(ctx context.Context) (bool, error) {
			pv, err := volumes.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			for _, f := range pv.Finalizers {
				if f == storagehelpers.PVDeletionInTreeProtectionFinalizer {
					return protected, nil
				}
			}
			return !protected, nil
		})
	}
	policy("Retain", false)
	policy("Delete", true)
	policy("Retain", false)
	if err := c.client.CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, *metav1.NewDeleteOptions(0)); err != nil {
		t.Fatal(err)
	}
	if err := c.client.CoreV1().PersistentVolumeClaims(namespace).Delete(t.Context(), "claim", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume to be released", func(ctx context.Context) (bool, error) {
		pv, err := volumes.Get(ctx, name, metav1.GetOptions{})
		return err == nil && pv.Status.Phase == corev1.VolumeReleased, err
	})
	if err := volumes.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the volume to be gone", func(ctx context.Context) (bool, error) {
		_, err := volumes.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}
