package core

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/internal/records"
)

// TestBundlesOfEarlierVersions: what builds of earlier versions have saved is taken over whole. docs/moving.md says how the
// files in testdata are made.
func TestBundlesOfEarlierVersions(t *testing.T) {
	files, err := filepath.Glob("testdata/v*.kubetab")
	if err != nil || len(files) == 0 {
		t.Fatalf("no bundles: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			b, err := bundle.Read(file, bundle.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			var cfg Config
			opening, err := cfg.Open(b)
			if err != nil {
				t.Fatal(err)
			}
			if len(opening.LeftOut) > 0 {
				t.Errorf("left out: %v", opening.LeftOut)
			}
			wanted := map[types.UID]string{}
			for _, r := range b.State.Records {
				_, object, err := records.Decode(r.Key, r.Value)
				if err != nil {
					t.Fatal(err)
				}
				if object == nil { // a custom resource
					object = &unstructured.Unstructured{}
					if err := object.(*unstructured.Unstructured).UnmarshalJSON(r.Value); err != nil {
						t.Fatal(err)
					}
				}
				// What an API server stores for itself has no UID.
				if o, err := meta.Accessor(object); err == nil && o.GetUID() != "" {
					wanted[o.GetUID()] = r.Key
				}
			}
			if len(wanted) < 100 {
				t.Fatalf("the bundle has only %d objects", len(wanted))
			}
			// Nobody to delete what is looked for.
			cfg.Nodes, cfg.Controllers, cfg.NoScheduler = 0, []string{"-*"}, true
			for uid := range served(t, start(t, cfg)) {
				delete(wanted, uid)
			}
			for uid, key := range wanted {
				t.Errorf("%s, %s, is not served", key, uid)
			}
		})
	}
}

// served are the UIDs of all objects that can be listed.
func served(t *testing.T, e *Engine) map[types.UID]bool {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	lists, err := client.ServerPreferredResources()
	// The bundles have an APIService whose server is nowhere.
	if failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err); err != nil && len(failed) != 1 {
		t.Fatal(err)
	}
	found := map[types.UID]bool{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			objects, err := dynamicFor(t, e).Resource(gv.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Errorf("%s of %s: %v", r.Name, gv, err)
				continue
			}
			for _, o := range objects.Items {
				found[o.GetUID()] = true
			}
		}
	}
	return found
}
