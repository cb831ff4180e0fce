package cluster

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
)

// large is a cluster of this build with so many ConfigMaps of 1 KB, and Pods as a
// Deployment's are when they run.
func large(t testing.TB, configMaps, pods int) *bundle.Bundle {
	t.Helper()
	b := &bundle.Bundle{Kubernetes: version.Get().GitVersion, Name: "large", Time: time.Unix(1_700_000_000, 0).UTC()}
	serializer := protobufserializer.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	put := func(key string, object runtime.Object) {
		var wire bytes.Buffer
		if err := serializer.Encode(object, &wire); err != nil {
			t.Fatal(err)
		}
		rev := int64(2 + len(b.State.Records))
		b.State.Records = append(b.State.Records, etcd.RecordState{Key: key, Value: wire.Bytes(), CreateRevision: rev, ModRevision: rev, Version: 1})
		b.State.Revision = rev
	}
	made := metav1.NewTime(b.Time)
	for i := range configMaps {
		name := fmt.Sprintf("settings-%04d", i)
		text := strings.Repeat(fmt.Sprintf("%s: a line of the file\n", name), 28)
		put("/registry/configmaps/default/"+name, &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), CreationTimestamp: made, Labels: map[string]string{"app": "web"}},
			Data:       map[string]string{"file": text},
		})
	}
	for i := range pods {
		name := fmt.Sprintf("web-7d4b9c6f58-%05d", i)
		put("/registry/pods/default/"+name, runningPod(name, made))
	}
	slices.SortFunc(b.State.Records, func(a, b etcd.RecordState) int { return strings.Compare(a.Key, b.Key) })
	return b
}

func runningPod(name string, made metav1.Time) *corev1.Pod {
	yes, seconds := true, int64(300)
	tolerates := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
	}
	is := func(what corev1.PodConditionType) corev1.PodCondition {
		return corev1.PodCondition{Type: what, Status: corev1.ConditionTrue, LastTransitionTime: made, ObservedGeneration: 1}
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, GenerateName: "web-7d4b9c6f58-", Namespace: "default", UID: types.UID(name), CreationTimestamp: made, Generation: 1,
			Labels:          map[string]string{"app": "web", "pod-template-hash": "7d4b9c6f58"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d4b9c6f58", UID: "owner", Controller: &yes, BlockOwnerDeletion: &yes}},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &made, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"owner\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"nginx\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}`),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: "default-scheduler", ServiceAccountName: "default",
			SecurityContext: &corev1.PodSecurityContext{}, EnableServiceLinks: &yes,
			Containers:  []corev1.Container{{Name: "nginx", Image: "nginx:1.29", ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log", VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}}}},
			Volumes:     []corev1.Volume{{Name: "kube-api-access", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			Tolerations: []corev1.Toleration{tolerates(corev1.TaintNodeNotReady), tolerates(corev1.TaintNodeUnreachable)},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, HostIP: "10.0.0.1", PodIP: "10.244.0.9", StartTime: &made,
			Conditions:        []corev1.PodCondition{is(corev1.PodInitialized), is(corev1.PodReady), is(corev1.ContainersReady), is(corev1.PodScheduled)},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "nginx", Ready: true, Image: "nginx:1.29", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: made}}}},
		},
	}
}

// BenchmarkOpen is what an engine does with a bundle of 1,000 objects.
func BenchmarkOpen(b *testing.B) {
	of := large(b, 800, 200)
	var file bytes.Buffer
	if err := bundle.Write(&file, of); err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := bundle.Read(bytes.NewReader(file.Bytes()), bundle.DefaultLimits()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if o, err := Check(of); err != nil || len(o.Entries) < 1000 {
				b.Fatal(err)
			}
		}
	})
	b.Run("entries", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := of.State.Entries(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("summarize", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Summarize(of, Opening{})
		}
	})
}
