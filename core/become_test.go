package core

import (
	"bytes"
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
	"github.com/kubetab/kubetab/core/resume"
)

// toBecome returns an engine that was frozen when it had nothing more to do.
func toBecome(t *testing.T, nodes int) *Engine {
	t.Helper()
	e := start(t, Config{Resume: resume.Config{AwaitIdentity: true}, Nodes: nodes})
	<-e.started
	c := clientFor(t, e)
	eventually(t, "rest", func(ctx context.Context) (bool, error) {
		namespaces, err := c.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		if err != nil || len(namespaces.Items) < 4 {
			return false, err
		}
		for _, ns := range namespaces.Items {
			if _, err := c.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{}); err != nil {
				return false, nil
			}
		}
		all, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil || len(all.Items) < nodes {
			return false, err
		}
		for _, node := range all.Items {
			if len(node.Spec.Taints) > 0 {
				return false, nil
			}
		}
		return true, nil
	})
	return e
}

// TestBecome: an engine that was frozen becomes the cluster of a bundle exactly, though
// it has come to other resource versions itself, and lives on.
func TestBecome(t *testing.T) {
	ctx := t.Context()
	b, _ := sent(t, saved(t, living(t, Config{Nodes: 1}), cluster.SaveOptions{}))
	opening, err := cluster.Check(b)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}

	e := toBecome(t, 1)
	c := clientFor(t, e)
	own, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "own"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watching, err := c.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: own.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ResumePoint().Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := e.ResumePoint().Become(ctx, identity, opening.Entries, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").Get(ctx, "own", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an object of before: %v", err)
	}
	// The watch ends without an event, and does not go on as if nothing had happened.
	for event := range watching.ResultChan() {
		if event.Type != watch.Bookmark {
			t.Errorf("%s %v", event.Type, event.Object)
		}
	}
	again, err := c.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: own.ResourceVersion})
	if err == nil {
		event := <-again.ResultChan()
		err = apierrors.FromObject(event.Object)
		again.Stop()
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("a watch from a resource version of before: %v", err)
	}

	// What nobody but a person changes is byte for byte what it was.
	now := map[string]etcd.RecordState{}
	for _, r := range saved(t, e, cluster.SaveOptions{}).State.Records {
		now[r.Key] = r
	}
	quiet := map[string]bool{"Namespace": true, "ClusterRole": true, "PriorityClass": true, "Boat": true, "CustomResourceDefinition": true, "Deployment": true, "ReplicaSet": true, "ServiceAccount": true}
	compared := 0
	for _, r := range b.State.Records {
		if of, _ := records.Type(r.Value); !quiet[of.Kind] {
			continue
		}
		compared++
		if got := now[r.Key]; !bytes.Equal(got.Value, r.Value) || got.ModRevision != r.ModRevision || got.CreateRevision != r.CreateRevision || got.Version != r.Version {
			t.Errorf("%s has changed from revision %d to %d", r.Key, r.ModRevision, got.ModRevision)
		}
	}
	if compared < 80 {
		t.Errorf("%d records were compared", compared)
	}
	before := map[types.UID]bool{}
	pods, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil || len(pods.Items) != 3 {
		t.Fatalf("%d Pods, %v", len(pods.Items), err)
	}
	for _, pod := range pods.Items {
		before[pod.UID] = true
	}

	// Controllers, scheduler and kubelets go on with what they find.
	goesOn(t, c, before)
	eventually(t, "the root certificate", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ConfigMaps("default").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, nil
	})
	eventually(t, "the boat", func(ctx context.Context) (bool, error) {
		custom, err := dynamicFor(t, e).Resource(boat).Namespace("default").Get(ctx, "ada", metav1.GetOptions{})
		return err == nil && custom.Object["sails"] == int64(2), nil
	})
}

// TestBecomeRefuses: entries that are damaged change nothing, and the engine can be
// renewed instead.
func TestBecomeRefuses(t *testing.T) {
	ctx := t.Context()
	identity, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	e := toBecome(t, 0)
	if err := e.ResumePoint().Become(ctx, identity, nil, nil); !errors.Is(err, resume.ErrNotFrozen) {
		t.Errorf("an engine that was not frozen: %v", err)
	}
	if err := e.ResumePoint().Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := e.ResumePoint().Become(ctx, identity, nil, []etcd.Entry{{Name: "r0000000000000009", Record: []byte("damaged")}}); err == nil {
		t.Error("damaged entries were taken")
	}
	if err := e.ResumePoint().Become(ctx, []byte("{"), nil, nil); err == nil {
		t.Error("a damaged identity was taken")
	}
	if _, err := e.ResumePoint().Renew(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := clientFor(t, e).CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "next"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}
