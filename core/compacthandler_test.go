package core

import (
	"context"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

func TestCompactionOnDemand(t *testing.T) {
	e := sharedEngine(t)
	c := clientFor(t, e)
	newNamespace(t, c, "compacted")
	old, err := c.CoreV1().Namespaces().Get(t.Context(), "compacted", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	newNamespace(t, c, "compacted-later")
	if res, _ := send(t, e.RESTConfigFor(viewer), http.MethodPost, CompactPath); res.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer compacts: %d, want 403", res.StatusCode)
	}
	if res, _ := send(t, e.RESTConfig(), http.MethodPost, CompactPath); res.StatusCode != http.StatusOK {
		t.Errorf("compact: %d, want 200", res.StatusCode)
	}
	// Events have no watch cache: what the store has forgotten is gone.
	_, err = c.CoreV1().Events("compacted").List(t.Context(), metav1.ListOptions{ResourceVersion: old.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("a list at the old revision: %v, want Expired (410)", err)
	}
	if res, _ := get(t, e, CompactPath); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d, want 405", res.StatusCode)
	}
	// Caches hear of it as of another API server's compaction; they look every 15 s.
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ConfigMaps("compacted").List(ctx, metav1.ListOptions{ResourceVersion: old.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		if apierrors.IsResourceExpired(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		t.Errorf("a list at the old revision from a cache: %v, want Expired (410)", err)
	}
}
