// Package testserver takes the place of k8s.io/apiserver/pkg/storage/etcd3/testserver
// while upstream's tests run: see core/etcd/upstreamtest. Where upstream starts an
// etcd, it opens a store of this project.
package testserver

import (
	"os"
	"testing"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/embed"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"

	"github.com/kubetab/kubetab/core/etcd"
)

// NewTestConfig returns etcd's default configuration, for tests that change it.
func NewTestConfig(testing.TB) *embed.Config { return embed.NewConfig() }

// RunEtcd opens an empty store and returns a client of it that counts requests, as
// upstream's does. The store is closed when the test ends.
//
// With KUBETAB_KUBERNETES_CLIENT=general the requests of kubernetes.Interface take
// upstream's way over KV instead of the store's own.
func RunEtcd(t testing.TB, cfg *embed.Config) *kubernetes.Client {
	t.Helper()
	if cfg == nil {
		cfg = NewTestConfig(t)
	}
	db, err := etcd.Open(etcd.Options{
		ProgressInterval: cfg.WatchProgressNotifyInterval,
		MaxRequestBytes:  int(cfg.MaxRequestBytes),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	client := db.Client()
	if os.Getenv("KUBETAB_KUBERNETES_CLIENT") == "general" {
		client.Kubernetes = kubernetes.Client{Client: client.Client}
	}
	recorder := storagetesting.NewKubernetesRecorder(client.Kubernetes)
	client.KV = storagetesting.NewKVRecorder(client.KV, recorder)
	client.Kubernetes = recorder
	return client
}
