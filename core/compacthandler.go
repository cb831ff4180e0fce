package core

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage/etcd3"

	"github.com/kubetab/kubetab/internal/status"
)

// CompactPath answers a POST by compacting the store's history up to now, for
// lessons and tests that want to see a resourceVersion expire without waiting
// for the five minutes of the ordinary compaction. It is a non-resource URL:
// RBAC guards it, and system:masters may.
//
// Caches look for a compaction every 15 s: until then a continue token of before
// may still work.
const CompactPath = "/kubetab/compact"

// installCompact registers CompactPath. It speaks to the store as an etcd
// client does, in this process or not.
func installCompact(server *genericapiserver.GenericAPIServer, servers []string) {
	server.Handler.NonGoRestfulMux.UnlistedHandle(CompactPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			status.Refuse(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "compaction changes the store: use POST")
			return
		}
		revision, err := compact(r.Context(), servers)
		if err != nil {
			status.Refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "compact: "+err.Error())
			return
		}
		status.Write(w, metav1.Status{Code: http.StatusOK, Message: fmt.Sprintf("compacted up to revision %d", revision)})
	}))
}

// compactRevKey is where API servers tell each other what has been compacted;
// its version is their logical time. Upstream does not export its name:
// k8s.io/apiserver/pkg/storage/etcd3.compactRevKey.
const compactRevKey = "compact_rev_key"

// compact compacts up to the newest revision and returns it. It does so as the
// compaction of another API server would, so that this one's caches hear of it.
func compact(ctx context.Context, servers []string) (int64, error) {
	client, err := dialStore(servers)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for {
		last, err := client.KV.Get(ctx, compactRevKey)
		if err != nil {
			return 0, err
		}
		var version int64
		if len(last.Kvs) > 0 {
			version = last.Kvs[0].Version
		}
		_, _, compacted, err := etcd3.Compact(ctx, client.Client, version, last.Header.Revision)
		if err != nil || compacted >= last.Header.Revision {
			return compacted, err
		}
		// The API server's own compaction came in between.
	}
}
