package conformance

import (
	"net/url"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/internal/testaddress"
)

// realEtcd starts an empty etcd and returns a client of it.
func realEtcd(t testing.TB) *kubernetes.Client {
	t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.UnsafeNoFsync = true
	cfg.LogLevel = "fatal"
	cfg.LogOutputs = []string{"stderr"}
	client, peer := loopback(), loopback()
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = client, client
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peer, peer
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	c, err := kubernetes.New(clientv3.Config{Endpoints: []string{client[0].String()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func loopback() []url.URL {
	return []url.URL{{Scheme: "http", Host: testaddress.New()}}
}

// ours returns a client of an empty store of this project.
func ours(t testing.TB) *kubernetes.Client {
	t.Helper()
	db, err := etcd.Open(etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db.Client()
}
