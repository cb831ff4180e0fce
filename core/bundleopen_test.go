package core

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
	"github.com/kubetab/kubetab/core/resume"
)

// TestBundleIsExact: an engine that begins with a bundle of this version has each
// object of the cluster byte for byte, at its resource version, and goes on from there.
func TestBundleIsExact(t *testing.T) {
	ours := clock.New(nil)
	files := []bundle.File{{Path: "notes/note.txt", Data: []byte("of-a-person\n")}}
	first := living(t, Config{
		Nodes: 2, Clock: ours, Controllers: []string{"*", "-cronjob-controller"},
		Workspace: func() ([]bundle.File, error) { return files, nil },
	})
	if err := ours.Step(48 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := ours.SetRate(60); err != nil {
		t.Fatal(err)
	}
	ours.Pause()
	b, _ := sent(t, saved(t, first, cluster.SaveOptions{Name: "shop"}))
	if b.Name != "shop" || *b.Settings.Nodes != 2 || len(b.Settings.Controllers) != 2 || b.Kubernetes == "" {
		t.Errorf("%+v", b.Settings)
	}

	theirs := clock.New(nil)
	cfg := Config{Clock: theirs}
	opening, err := cfg.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	if !opening.Exact || len(opening.LeftOut) > 0 || cfg.Nodes != 2 || len(cfg.Controllers) != 2 {
		t.Errorf("%+v, %d nodes, controllers %v", opening, cfg.Nodes, cfg.Controllers)
	}
	if s := theirs.State(); !s.Paused || s.Rate != 60 || time.Until(s.Now) < 47*time.Hour {
		t.Errorf("the clock: %+v", s)
	}
	// Nobody to change what is compared.
	cfg.Nodes, cfg.Controllers, cfg.NoScheduler = 0, []string{"-*"}, true
	second := start(t, cfg)
	now := map[string]etcd.RecordState{}
	again := saved(t, second, cluster.SaveOptions{})
	if !reflect.DeepEqual(again.Files, files) {
		t.Errorf("its files are %q", again.Files)
	}
	for _, r := range again.State.Records {
		now[r.Key] = r
	}
	kinds := map[string]bool{}
	for _, r := range b.State.Records {
		of, _ := records.Type(r.Value)
		kinds[of.Kind] = true
		got, ok := now[r.Key]
		if !ok {
			t.Errorf("%s is not there", r.Key)
			continue
		}
		if strings.HasSuffix(r.Key, "/default/kubernetes") && (of.Kind == "Endpoints" || of.Kind == "EndpointSlice") {
			continue // an API server that starts puts its own address there
		}
		if !bytes.Equal(got.Value, r.Value) || got.ModRevision != r.ModRevision || got.CreateRevision != r.CreateRevision || got.Version != r.Version || got.Lease != r.Lease {
			t.Errorf("%s has changed from revision %d to %d", r.Key, r.ModRevision, got.ModRevision)
		}
	}
	for _, kind := range []string{"Pod", "ReplicaSet", "Node", "Lease", "Event", "Boat", "CustomResourceDefinition", "APIService", "ClusterRole", "Secret"} {
		if !kinds[kind] {
			t.Errorf("the bundle has no %s", kind)
		}
	}
	custom, err := dynamicFor(t, second).Resource(boat).Namespace("default").Get(t.Context(), "ada", metav1.GetOptions{})
	if err != nil || custom.Object["sails"] != int64(2) {
		t.Errorf("the boat: %v, %v", custom, err)
	}
	made, err := clientFor(t, second).CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "next"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if next := saved(t, second, cluster.SaveOptions{}).State.Revision; next <= b.State.Revision {
		t.Errorf("%s at revision %d, which does not follow %d", made.Name, next, b.State.Revision)
	}
}

// TestBundleGoesOn: controllers, scheduler and kubelets go on with what they find, and
// make nothing twice.
func TestBundleGoesOn(t *testing.T) {
	b, _ := sent(t, saved(t, living(t, Config{Nodes: 1}), cluster.SaveOptions{}))
	cfg := Config{}
	if _, err := cfg.Open(b); err != nil {
		t.Fatal(err)
	}
	e := start(t, cfg)
	c := clientFor(t, e)
	before := map[types.UID]bool{}
	for _, r := range b.State.Records {
		if strings.HasPrefix(r.Key, "/registry/pods/") {
			pod, _, err := records.Schemes[0].UniversalDeserializer().Decode(r.Value, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			before[pod.(*corev1.Pod).UID] = true
		}
	}
	goesOn(t, c, before)
}

// goesOn has the Deployment web scaled from three to four: the Pods of before stay, and
// a token is made that is of this cluster.
func goesOn(t *testing.T, c kubernetes.Interface, before map[types.UID]bool) {
	t.Helper()
	if _, err := c.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec": {"replicas": 4}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the fourth replica", func(ctx context.Context) (bool, error) {
		d, err := c.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == 4, err
	})
	pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, pod := range pods.Items {
		if before[pod.UID] {
			same++
		}
	}
	if same != 3 || len(pods.Items) != 4 {
		t.Errorf("%d of %d Pods are those of before", same, len(pods.Items))
	}
	eventually(t, "a token of this cluster", func(ctx context.Context) (bool, error) {
		s, err := c.CoreV1().Secrets("default").Get(ctx, "token", metav1.GetOptions{})
		return err == nil && len(s.Data[corev1.ServiceAccountTokenKey]) > 0, err
	})
}

// TestBundleOfAnotherVersion: what this build can read is there, with UIDs and times,
// and what it cannot is told.
func TestBundleOfAnotherVersion(t *testing.T) {
	mine := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: "default", UID: "of-another-build"},
	}
	b, _ := sent(t, &bundle.Bundle{
		Kubernetes: "v1.36.0+kubetab", Time: time.Now(),
		State: etcd.State{Revision: 1 << 40, Records: []etcd.RecordState{
			{Key: "/registry/configmaps/default/broken", Value: []byte("k8s\x00nothing"), CreateRevision: 3, ModRevision: 9, Version: 2},
			{Key: "/registry/configmaps/default/mine", Value: inProtobuf(t, mine), CreateRevision: 5, ModRevision: 1 << 39, Version: 7},
		}},
	})
	var told []etcd.LeftOut
	cfg := Config{Resume: resume.Config{OnLeftOut: func(left []etcd.LeftOut) { told = left }}}
	opening, err := cfg.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, cfg)
	for what, left := range map[string][]etcd.LeftOut{"Open": opening.LeftOut, "OnLeftOut": told} {
		if len(left) != 1 || left[0].Key != "/registry/configmaps/default/broken" {
			t.Errorf("%s: %v", what, left)
		}
	}
	got, err := clientFor(t, e).CoreV1().ConfigMaps("default").Get(t.Context(), "mine", metav1.GetOptions{})
	if err != nil || got.UID != "of-another-build" || opening.Exact {
		t.Errorf("%v, %v", got, err)
	}
	b.Kubernetes = saved(t, e, cluster.SaveOptions{}).Kubernetes
	if _, err := cfg.Open(b); !errors.Is(err, cluster.ErrBundle) || !strings.Contains(err.Error(), "record 1, /registry/configmaps/default/broken") {
		t.Errorf("a damaged record of this version: %v", err)
	}
	b.State.Records = b.State.Records[1:]
	b.Settings.FeatureGates = map[string]bool{"NoSuchGate": true}
	if _, err := cfg.Open(b); !errors.Is(err, cluster.ErrBundle) || !strings.Contains(err.Error(), "NoSuchGate") {
		t.Errorf("settings that no engine starts with: %v", err)
	}
}

// TestBundleNeedsAnEmptyStore: no cluster is lost by opening another.
func TestBundleNeedsAnEmptyStore(t *testing.T) {
	store, err := etcd.Open(etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Client().KV.Put(t.Context(), "/registry/mine", "v"); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Store: store}
	if _, err := cfg.Open(&bundle.Bundle{Kubernetes: "v1.36.0", State: etcd.State{Revision: 9}}); err != nil {
		t.Fatal(err)
	}
	cfg.Resume.Entries = append(cfg.Resume.Entries, etcd.Entry{})
	if _, err := New(t.Context(), cfg); !errors.Is(err, ErrNotEmpty) {
		t.Error(err)
	}
}

// TestMisplacedRecords: a record that is not what its key says is refused.
func TestMisplacedRecords(t *testing.T) {
	object := func(name string) []byte {
		return inProtobuf(t, &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}})
	}
	custom := []byte(`{"apiVersion": "sea.example/v1", "kind": "Boat", "metadata": {"name": "ada", "namespace": "default"}}`)
	for key, tc := range map[string]struct {
		record []byte
		want   string
	}{
		"/registry/configmaps/default/web":        {object("web"), ""},
		"/registry/pods/default/web":              {object("web"), "not below /registry/configmaps/"},
		"/registry/configmaps/default/other":      {object("web"), "does not end with /default/web"},
		"/registry/configmaps/kube-system/web":    {object("web"), "does not end with /default/web"},
		"/registry/sea.example/boats/default/ada": {custom, ""},
		"/registry/pods/default/ada":              {custom, "not below /registry/sea.example/"},
		"/registry/sea.example/boats/default/bob": {custom, "does not end with /default/ada"},
		"/elsewhere/configmaps/default/web":       {object("web"), "none of an API's"},
		"/registry/configmaps/default/..":         {object(".."), `no object is called ".."`},
		"/registry/sea.example/boats/../../x/ada": {bytes.Replace(custom, []byte("default"), []byte("../../x"), 1), `no object is called "../../x": a name may not contain '/'`},
	} {
		err := records.Unservable(key, tc.record)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", key, err, tc.want)
		}
	}
}

// TestPlacesOfKinds: places guesses the names of all built-in resources as upstream
// has them.
func TestPlacesOfKinds(t *testing.T) {
	e := start(t, Config{RuntimeConfig: map[string]string{"api/all": "true"}, Controllers: []string{"-*"}, NoScheduler: true})
	client, err := discovery.NewDiscoveryClientForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "create") || !slices.Contains(r.Verbs, "list") {
				continue // a subresource, or nothing that is stored
			}
			n++
			found := records.Places(gv.WithKind(r.Kind))
			special := map[string]string{"nodes": "minions/", "services": "services/specs/", "endpoints": "services/endpoints/", "replicationcontrollers": "controllers/", "ingresses": "ingress/"}
			if found[0] != r.Name+"/" && found[0] != special[r.Name] {
				t.Errorf("%s of %s: %v", r.Name, gv, found)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d resources", n)
	}
}
