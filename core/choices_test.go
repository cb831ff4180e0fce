package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"

	"github.com/kubetab/kubetab/core/choices"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/gates"
	"github.com/kubetab/kubetab/core/resume"
)

// TestEveryVersionOfferedStarts: what choices.For offers boots and says so, and
// what is not offered is refused.
func TestEveryVersionOfferedStarts(t *testing.T) {
	offered, err := choices.For("")
	if err != nil {
		t.Fatal(err)
	}
	if offered.Version != offered.Versions[0] || len(offered.Versions) < 2 {
		t.Fatalf("version %s of %v", offered.Version, offered.Versions)
	}
	for _, v := range offered.Versions[1:] {
		if err := (Config{EmulatedVersion: v}).Check(); err != nil {
			t.Errorf("%s is offered and refused: %v", v, err)
		}
	}
	oldest := offered.Versions[len(offered.Versions)-1]
	e := start(t, Config{EmulatedVersion: oldest})
	_, body := get(t, e, "/version")
	if _, minor, _ := strings.Cut(oldest, "."); !strings.Contains(string(body), `"emulationMinor": "`+minor+`"`) {
		t.Errorf("emulating %s: %s", oldest, body)
	}
	// What is offered for it while another version runs is what that one serves.
	of, err := choices.For(oldest)
	if err != nil {
		t.Fatal(err)
	}
	_, groups := get(t, e, "/apis")
	for _, gv := range of.GroupVersions {
		if gv.Default && strings.Contains(gv.Name, "/") && !strings.Contains(string(groups), `"`+gv.Name+`"`) {
			t.Errorf("%s is said to be on in %s, and is not served", gv.Name, oldest)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestGatesAreThoseOfTheVersion(t *testing.T) {
	find := func(emulated, name string) (choices.Gate, bool) {
		offered, err := choices.For(emulated)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(offered.FeatureGates, func(g choices.Gate) bool { return g.Name == name })
		if i < 0 {
			return choices.Gate{}, false
		}
		return offered.FeatureGates[i], true
	}
	for _, name := range []string{"AllAlpha", "AllBeta", "APIServerIdentity"} {
		if _, ok := find("", name); !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if g, _ := find("", "APIServerIdentity"); g.Default {
		t.Error("APIServerIdentity is said to be on, and is off here")
	}
	// Every gate that is locked refuses its other value, and every other one takes it unless it needs another gate.
	offered, err := choices.For("")
	if err != nil {
		t.Fatal(err)
	}
	locked := 0
	for _, g := range offered.FeatureGates {
		err := (Config{FeatureGates: map[string]bool{g.Name: !g.Default}}).Check()
		_, ours := gates.Off[g.Name]
		if g.Locked && !ours {
			locked++
			if err == nil {
				t.Errorf("%s is locked and takes %t", g.Name, !g.Default)
			}
		} else if err != nil && !strings.Contains(err.Error(), "depends on features that are disabled") {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
	if locked == 0 {
		t.Error("no gate is locked")
	}
}

func TestCheckRefusesWhatWouldNotStart(t *testing.T) {
	for want, cfg := range map[string]Config{
		"unrecognized feature gate: Nope": {FeatureGates: map[string]bool{"Nope": true}},
		"is not between":                  {EmulatedVersion: "1.20"},
		`emulated version "x"`:            {EmulatedVersion: "x"},
		"unknown api groups":              {RuntimeConfig: map[string]string{"nope.example/v1": "true"}},
		"has not been registered":         {RuntimeConfig: map[string]string{"batch/v9": "true"}},
		"invalid value api/all=maybe":     {RuntimeConfig: map[string]string{"api/all": "maybe"}},
		"list of known controllers":       {Controllers: []string{"-nope"}},
	} {
		err := cfg.Check()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if e, err := New(t.Context(), cfg); err == nil {
			t.Errorf("%q starts all the same: %v", want, e.Close())
		}
	}
}

// TestAllBetaEndsWithTheEngine: gates that others have moved go back, too.
func TestAllBetaEndsWithTheEngine(t *testing.T) {
	e := start(t, Config{FeatureGates: map[string]bool{"AllBeta": true}})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if utilfeature.DefaultFeatureGate.Enabled(name) != spec.Default {
			t.Errorf("%s is %t after the engine has ended", name, !spec.Default)
		}
	}
}

// TestOtherSettingsOnTheSameStore: an engine that is given what another one has
// done, and other settings, is what a kube-apiserver is that was restarted on its
// etcd.
func TestOtherSettingsOnTheSameStore(t *testing.T) {
	var told []etcd.Entry
	identity, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	alpha := map[string]string{"internal.apiserver.k8s.io/v1alpha1": "true"}

	first := start(t, Config{RuntimeConfig: alpha, Resume: resume.Config{Identity: identity, Tap: func(e etcd.Entry) { told = append(told, e) }}})
	newNamespace(t, clientFor(t, first), "kept")
	before, err := clientFor(t, first).CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	versions := schema.GroupVersionResource{Group: "internal.apiserver.k8s.io", Version: "v1alpha1", Resource: "storageversions"}
	stored := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "internal.apiserver.k8s.io/v1alpha1", "kind": "StorageVersion", "metadata": map[string]any{"name": "example.things"}, "spec": map[string]any{},
	}}
	objects, err := dynamic.NewForConfig(first.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := objects.Resource(versions).Create(t.Context(), stored, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if unserved, err := first.Cluster().Unserved(t.Context()); err != nil || len(unserved) > 0 {
		t.Errorf("with its settings: %v %v", unserved, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	newest := map[string]etcd.Entry{}
	for _, e := range told {
		for _, name := range e.Supersedes {
			delete(newest, name)
		}
		if newest[e.Name] = e; len(e.Record) == 0 {
			delete(newest, e.Name)
		}
	}
	var entries []etcd.Entry
	for _, e := range newest {
		entries = append(entries, e)
	}
	second := start(t, Config{EmulatedVersion: "1.36", Resume: resume.Config{Identity: identity, Entries: entries}})
	after, err := clientFor(t, second).CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.UID != before.UID || after.ResourceVersion != before.ResourceVersion || !after.CreationTimestamp.Equal(&before.CreationTimestamp) {
		t.Errorf("the namespace was %v and is %v", before.ObjectMeta, after.ObjectMeta)
	}
	unserved, err := second.Cluster().Unserved(t.Context())
	if err != nil || len(unserved) != 1 || unserved[0] != (cluster.KindCount{APIVersion: "internal.apiserver.k8s.io/v1alpha1", Kind: "StorageVersion", Count: 1}) {
		t.Errorf("%v %v", unserved, err)
	}
	newNamespace(t, clientFor(t, second), "new")
	eventually(t, "controllers work", func(ctx context.Context) (bool, error) {
		_, err := clientFor(t, second).CoreV1().ServiceAccounts("new").Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err := second.Close(); err != nil {
		t.Error(err)
	}

	for name, cfg := range map[string]Config{
		"entries":  {Resume: resume.Config{Entries: []etcd.Entry{{Name: "r0000000000000002", Record: []byte("damaged")}}}},
		"identity": {Resume: resume.Config{Identity: []byte("damaged")}},
	} {
		if _, err := New(t.Context(), cfg); !errors.Is(err, resume.ErrKept) {
			t.Errorf("damaged %s: %v, want ErrKept", name, err)
		}
	}
}

func TestChoicesAreInOneOrder(t *testing.T) {
	first, err := choices.For("")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		again, err := choices.For("")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.GroupVersions, first.GroupVersions) {
			t.Fatalf("group versions\n%v\nand then\n%v", first.GroupVersions, again.GroupVersions)
		}
	}
}
