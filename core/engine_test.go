package core

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTwoEnginesKeepApart(t *testing.T) {
	one, two := sharedEngine(t), start(t, Config{})
	newNamespace(t, clientFor(t, one), "only-in-one")
	_, err := clientFor(t, two).CoreV1().Namespaces().Get(t.Context(), "only-in-one", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the other engine: %v, want NotFound", err)
	}
}

func TestGatesAreOnePerProcess(t *testing.T) {
	sharedEngine(t)
	for name, cfg := range map[string]Config{
		"gates":   {FeatureGates: map[string]bool{"WatchList": false}},
		"version": {EmulatedVersion: "1.36"},
	} {
		if _, err := New(t.Context(), cfg); !errors.Is(err, ErrOtherGates) {
			t.Errorf("other %s: %v, want ErrOtherGates", name, err)
		}
	}
}

func TestRuntimeConfigTurnsGroupsOff(t *testing.T) {
	e := start(t, Config{RuntimeConfig: map[string]string{"batch/v1": "false"}})
	_, err := clientFor(t, e).Discovery().ServerResourcesForGroupVersion("batch/v1")
	if !apierrors.IsNotFound(err) {
		t.Errorf("discovery of batch/v1: %v, want NotFound", err)
	}
}

func TestAWatchDeliversBeforeTheNextEventExists(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "watched")
	w, err := c.CoreV1().ConfigMaps("watched").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, name := range []string{"a", "b", "c"} {
		if _, err := c.CoreV1().ConfigMaps("watched").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		select {
		case event := <-w.ResultChan():
			if got := event.Object.(*corev1.ConfigMap).Name; got != name {
				t.Fatalf("event for %q, want %q", got, name)
			}
		case <-time.After(patience):
			t.Fatalf("no event for %q", name)
		}
	}
}

// TestReadinessStays: /readyz that has been ok does not fall back while the
// controllers that start afterwards add their informers. It looks without a
// pause: the fall lasts some milliseconds.
func TestReadinessStays(t *testing.T) {
	e, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := clientFor(t, e)
	orphan := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "orphan", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "never", UID: "never"}}}}
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), orphan, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(patience); ; {
		if res, body := get(t, e, "/readyz?verbose"); res.StatusCode != 200 {
			t.Fatalf("readiness fell back:\n%s", body)
		}
		// The garbage collector is the last to start and works once all its
		// informers are in sync.
		if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "orphan", metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return
		} else if err != nil || time.Now().After(limit) {
			t.Fatalf("the object whose owner never was is still there: %v", err)
		}
	}
}
