// Package realetcd tests `kubetab serve --etcd-servers` against a real etcd, which runs inside the test. It is a package
// of its own so that no other test links etcd's server.
package realetcd

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetab/kubetab/server/internal/process"
)

// patience is for what hangs, not for what is slow.
const patience = 4 * time.Minute

// startEtcd runs one etcd member until stop, and returns a client of it.
func startEtcd(t *testing.T) (address string, client *clientv3.Client, stop func()) {
	t.Helper()
	free, err := url.Parse("http://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := embed.NewConfig()
	cfg.Dir = t.TempDir()
	cfg.LogLevel = "fatal"
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*free}, []url.URL{*free}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*free}, []url.URL{*free}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(member.Close)
	t.Cleanup(stop)
	select {
	case <-member.Server.ReadyNotify():
	case <-time.After(patience):
		t.Fatal("etcd is not ready")
	}
	address = "http://" + member.Clients[0].Addr().String()
	client, err = clientv3.New(clientv3.Config{Endpoints: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return address, client, stop
}

func start(t *testing.T, args ...string) (*process.Process, *kubernetes.Clientset, *rest.Config) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := process.Start(ctx, t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return p, client, config
}

// What is written through the API is a record in etcd, a change that is made in etcd is seen by a watch of the API, and
// when etcd ends the server is not ready: there is no store of our own under it.
func TestEverythingIsInEtcd(whole *testing.T) {
	t := whole
	address, store, stopEtcd := startEtcd(t)
	certs := t.TempDir()
	p, client, config := start(t, "--etcd-servers", address, "--cert-dir", certs)
	if !strings.Contains(p.Greeting, "on etcd") {
		t.Errorf("the greeting does not say where the data is:\n%s", p.Greeting)
	}
	ctx := t.Context()
	made, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"where": "in a real etcd"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const key = "/registry/configmaps/default/kept"
	record, err := store.Get(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if len(record.Kvs) != 1 || !strings.Contains(string(record.Kvs[0].Value), "in a real etcd") {
		t.Fatalf("etcd has %v under %s", record.Kvs, key)
	}
	if revision := strconv.FormatInt(record.Kvs[0].ModRevision, 10); made.ResourceVersion != revision {
		t.Errorf("resourceVersion %s, and revision %s in etcd", made.ResourceVersion, revision)
	}

	t.Run("a restart finds it", func(t *testing.T) {
		p.Signal(syscall.SIGTERM)
		if code, stderr := p.Wait(patience); code != 0 || withoutEtcdClient(stderr) != "" {
			t.Fatalf("code %d, stderr %q", code, stderr)
		}
		var again *kubernetes.Clientset
		var newConfig *rest.Config
		p, again, newConfig = start(whole, // which ends later than this part
			"--etcd-servers", address, "--cert-dir", certs)
		client = again
		got, err := client.CoreV1().ConfigMaps("default").Get(ctx, "kept", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.UID != made.UID || got.ResourceVersion != made.ResourceVersion {
			t.Errorf("after the restart %s at %s, before %s at %s", got.UID, got.ResourceVersion, made.UID, made.ResourceVersion)
		}
		if newConfig.BearerToken != config.BearerToken || string(newConfig.CAData) != string(config.CAData) {
			t.Error("--cert-dir did not keep the authority and the token")
		}
	})

	t.Run("two servers share it", func(t *testing.T) {
		_, other, _ := start(t, "--etcd-servers", address, "--cert-dir", certs)
		// From a revision that the other server has: its watch cache knows nothing from before its own start.
		now, err := other.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watch, err := other.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: now.ResourceVersion, FieldSelector: "metadata.name=second"})
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Stop()
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "second"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		select {
		case event := <-watch.ResultChan():
			if event.Type != "ADDED" {
				t.Errorf("the other server's watch got %+v", event)
			}
		case <-time.After(patience):
			t.Error("a write through one server does not reach a watch of the other")
		}
	})

	t.Run("without etcd it is not ready", func(t *testing.T) {
		stopEtcd()
		limit := time.Now().Add(patience)
		for {
			var code int
			body, _ := client.RESTClient().Get().AbsPath("/readyz").Timeout(10 * time.Second).Do(ctx).StatusCode(&code).Raw()
			if code == http.StatusInternalServerError && strings.Contains(string(body), "etcd") {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("/readyz is %d %s", code, body)
			}
		}
	})
}

// withoutEtcdClient drops the lines that upstream's etcd client writes when a request of its is cancelled, as some are
// whenever a server stops.
func withoutEtcdClient(stderr string) string {
	var kept []string
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, `"logger":"etcd-client"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
