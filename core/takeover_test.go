package core

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/resume"
)

// inProtobuf is a record as a store has it.
func inProtobuf(t *testing.T, of runtime.Object) []byte {
	t.Helper()
	var record bytes.Buffer
	if err := protobufserializer.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme).Encode(of, &record); err != nil {
		t.Fatal(err)
	}
	return record.Bytes()
}

// TestTakeOver: an engine that was frozen becomes what another one is that it has
// nothing in common with, but for what it cannot read.
func TestTakeOver(t *testing.T) {
	ctx := t.Context()
	theirs := map[string]etcd.Entry{}
	earlier, err := etcd.Open(etcd.Options{Tap: func(e etcd.Entry) { theirs[e.Name] = e }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := earlier.Close(); err != nil {
			t.Error(err)
		}
	})
	put := func(key string, record []byte) {
		t.Helper()
		if _, err := earlier.Client().KV.Put(ctx, key, string(record)); err != nil {
			t.Fatal(err)
		}
	}
	mine := inProtobuf(t, &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: "default", UID: "of-an-earlier-visit"},
	})
	put("/registry/configmaps/default/mine", mine)
	put("/registry/configmaps/default/broken", []byte("k8s\x00nothing"))
	var entries []etcd.Entry
	for _, e := range theirs {
		entries = append(entries, e)
	}
	identity, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}

	e := start(t, Config{Resume: resume.Config{AwaitIdentity: true}})
	if err := e.ResumePoint().Freeze(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.ResumePoint().TakeOver(ctx, identity[:10], nil, entries); err == nil || !strings.Contains(err.Error(), "restore the identity") {
		t.Errorf("half an identity: %v", err)
	}
	if _, err := e.ResumePoint().TakeOver(ctx, identity, entries, entries); !errors.Is(err, etcd.ErrBase) {
		t.Errorf("entries that do not follow their base: %v", err)
	}
	left, err := e.ResumePoint().TakeOver(ctx, identity, nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Key != "/registry/configmaps/default/broken" {
		t.Errorf("left out: %v", left)
	}
	c := clientFor(t, e)
	found, err := c.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uid := ""
	for _, each := range found.Items {
		if each.Name == "mine" {
			uid = string(each.UID)
		}
	}
	if uid != "of-an-earlier-visit" {
		t.Errorf("the UID is %q", uid)
	}
}

// TestControllersTakeOver: controllers hear of what was taken over when all of it
// is there, and make nothing that is there already.
func TestControllersTakeOver(t *testing.T) {
	ctx := t.Context()
	ofSets := metav1.ListOptions{FieldSelector: "involvedObject.kind=ReplicaSet"}
	var mu sync.Mutex
	theirs := map[string]etcd.Entry{}
	earlier := start(t, Config{Nodes: 1, Resume: resume.Config{Tap: func(e etcd.Entry) {
		mu.Lock()
		defer mu.Unlock()
		theirs[e.Name] = e
	}}})
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](4),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.k8s.io/pause:3.10"}}},
			},
		},
	}
	ready := func(c kubernetes.Interface, replicas int32) {
		t.Helper()
		eventually(t, "the replicas", func(ctx context.Context) (bool, error) {
			d, err := c.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
			return err == nil && d.Status.ReadyReplicas == replicas, err
		})
	}
	before := clientFor(t, earlier)
	eventually(t, "the account", func(ctx context.Context) (bool, error) {
		_, err := before.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if _, err := before.AppsV1().Deployments("default").Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready(before, 4)
	// The recorder writes them when it comes to it, and who closes the engine loses those that it has not written.
	eventually(t, "the events of the four", func(ctx context.Context) (bool, error) {
		all, err := before.CoreV1().Events("default").List(ctx, ofSets)
		return err == nil && len(all.Items) == 4, err
	})
	if err := earlier.Close(); err != nil {
		t.Fatal(err)
	}
	var entries []etcd.Entry
	for _, e := range theirs {
		if len(e.Record) > 0 {
			entries = append(entries, e)
		}
	}
	identity, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}

	e := start(t, Config{Resume: resume.Config{AwaitIdentity: true}, Nodes: 1})
	<-e.started
	if err := e.ResumePoint().Freeze(); err != nil {
		t.Fatal(err)
	}
	if left, err := e.ResumePoint().TakeOver(ctx, identity, nil, entries); err != nil || len(left) > 1 { // the API server's note of its last compaction
		t.Fatal(left, err)
	}
	c := clientFor(t, e)
	if _, err := c.AppsV1().Deployments("default").Patch(ctx, "web", types.MergePatchType, []byte(`{"spec": {"replicas": 5}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	ready(c, 5)
	// Whatever the controller has made, it has told of in order: the fifth comes last.
	eventually(t, "the fifth Pod", func(ctx context.Context) (bool, error) {
		all, err := c.CoreV1().Events("default").List(ctx, ofSets)
		if err != nil {
			return false, err
		}
		if len(all.Items) > 5 {
			t.Fatalf("%d times a Pod was made or deleted for 5 replicas", len(all.Items))
		}
		return len(all.Items) == 5, nil
	})
}
