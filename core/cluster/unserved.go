package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	clientv3kubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubetab/kubetab/core/internal/records"
)

// storedAs is what metav1.TypeMeta is, as the key of a map. In a page, what hashes a type of this project is there from
// the start, and a map of metav1.TypeMeta would have the whole rest of the module fetched: see wasm/split.
type storedAs struct{ apiVersion, kind string }

// unservedPage is how many records are looked at together.
const unservedPage = 500

// Unserved counts the objects that were made while other settings served their
// kinds: they stay as they are, and are there again with those settings. It reads
// the whole store. It fails when discovery does, and with ctx's error.
func (c *Cluster) Unserved(ctx context.Context) ([]KindCount, error) {
	client, err := discovery.NewDiscoveryClientForConfig(c.of.Client)
	if err != nil {
		return nil, err
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	served := map[schema.GroupKind]bool{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			served[schema.GroupKind{Group: cmp.Or(resource.Group, gv.Group), Kind: resource.Kind}] = true
		}
	}
	counts := map[storedAs]int{}
	err = c.eachStored(ctx, func(of metav1.TypeMeta) {
		if !served[schema.FromAPIVersionAndKind(of.APIVersion, of.Kind).GroupKind()] && !records.IsInternal(of.Kind) {
			counts[storedAs{of.APIVersion, of.Kind}]++
		}
	})
	if err != nil {
		return nil, err
	}
	unserved := []KindCount{}
	for of, n := range counts {
		unserved = append(unserved, KindCount{of.apiVersion, of.kind, n})
	}
	slices.SortFunc(unserved, func(a, b KindCount) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	})
	return unserved, nil
}

// eachStored calls f with the type of each record that has one.
func (c *Cluster) eachStored(ctx context.Context, f func(metav1.TypeMeta)) error {
	store, err := c.dial()
	if err != nil {
		return err
	}
	defer store.Close()
	options := clientv3kubernetes.ListOptions{Limit: unservedPage}
	var reader records.Reader
	for {
		page, err := store.Kubernetes.List(ctx, records.Prefix+"/", options)
		if err != nil {
			return fmt.Errorf("read the store: %w", err)
		}
		for _, kv := range page.Kvs {
			if of, ok := reader.Type(kv.Value); ok {
				f(of)
			}
		}
		if len(page.Kvs) == 0 || int64(len(page.Kvs)) >= page.Count {
			return nil
		}
		options.Continue = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
		options.Revision = page.Revision
	}
}
