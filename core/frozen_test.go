package core

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/resume"
)

// A frozen engine ends when it is closed, also while somebody waits to write,
// while others freeze and thaw it, and before it has started.
func TestCloseOfAFrozenEngine(t *testing.T) {
	closes := func(t *testing.T, e *Engine) {
		t.Helper()
		ended := make(chan error, 1)
		go func() { ended <- e.Close() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatal("Close hangs")
		}
		if err := e.ResumePoint().Freeze(); err == nil {
			t.Error("an engine that has ended is frozen")
		}
	}
	create := func(ctx context.Context, t *testing.T, e *Engine, name string) error {
		t.Helper()
		_, err := clientFor(t, e).CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	newEngine := func(t *testing.T) *Engine {
		t.Helper()
		e, err := New(t.Context(), Config{Resume: resume.Config{AwaitIdentity: true}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	t.Run("while somebody waits to write", func(t *testing.T) {
		e := newEngine(t)
		if err := e.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // twice is harmless
			if err := e.ResumePoint().Freeze(); err != nil {
				t.Fatal(err)
			}
		}
		impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := create(impatient, t, e, "impatient"); err == nil {
			t.Error("a frozen engine has written")
		}
		var writer sync.WaitGroup
		writer.Go(func() { _ = create(t.Context(), t, e, "patient") }) // that it ends is all that is asked
		closes(t, e)
		writer.Wait()
	})
	t.Run("while it starts", func(t *testing.T) {
		e := newEngine(t)
		if err := e.ResumePoint().Freeze(); err != nil {
			t.Fatal(err)
		}
		closes(t, e)
	})
}

// What needs a store of the engine's own says so, and what does not works over
// servers, too.
func TestAnEngineOverServers(t *testing.T) {
	db, err := etcd.Open(etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // in memory: nothing to lose
	address, unregister := registerStore(db)
	t.Cleanup(unregister)
	put := func(key string, record []byte) {
		t.Helper()
		if _, err := db.Client().KV.Put(t.Context(), key, string(record)); err != nil {
			t.Fatal(err)
		}
	}
	put("/registry/sea.example/boats/default/ada", []byte(`{"kind":"Boat","apiVersion":"sea.example/v1","metadata":{"name":"ada"}}`))

	e := start(t, Config{EtcdServers: []string{address}})
	if err := e.ResumePoint().Freeze(); err == nil || !strings.Contains(err.Error(), "etcd servers") {
		t.Errorf("Freeze: %v", err)
	}
	if _, err := e.ResumePoint().Renew(t.Context()); err == nil || !strings.Contains(err.Error(), "etcd servers") {
		t.Errorf("Renew: %v", err)
	}
	unserved, err := e.Cluster().Unserved(t.Context())
	if want := (cluster.KindCount{APIVersion: "sea.example/v1", Kind: "Boat", Count: 1}); err != nil || len(unserved) != 1 || unserved[0] != want {
		t.Errorf("Unserved: %v, %v, want %v", unserved, err, want)
	}
}
