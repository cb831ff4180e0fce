package core

import (
	"encoding/json"
	"fmt"
	"net/http"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// CompactPath answers a POST by compacting the store's history up to now, for
// lessons and tests that want to see a resourceVersion expire without waiting
// for the five minutes of the ordinary compaction. It is a non-resource URL:
// RBAC guards it, and system:masters may.
const CompactPath = "/kubetab/compact"

// installCompact registers CompactPath. It speaks to the store as an etcd
// client does, in this process or not, and like a compaction from outside it
// leaves the watch cache as it is.
func installCompact(server *genericapiserver.GenericAPIServer, servers []string) {
	server.Handler.NonGoRestfulMux.UnlistedHandle(CompactPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			writeStatus(w, metav1.Status{Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed, Message: "compaction changes the store: use POST"})
			return
		}
		revision, err := compact(r, servers)
		if err != nil {
			writeStatus(w, metav1.Status{Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "compact: " + err.Error()})
			return
		}
		writeStatus(w, metav1.Status{Code: http.StatusOK, Message: fmt.Sprintf("compacted up to revision %d", revision)})
	}))
}

// compact compacts up to the newest revision and returns it.
func compact(r *http.Request, servers []string) (int64, error) {
	transport := storagebackend.NewDefaultConfig(storagePrefix, nil).Transport
	transport.ServerList = servers
	client, err := newETCD3Client(transport)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	now, err := client.KV.Get(r.Context(), storagePrefix, clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	_, err = client.KV.Compact(r.Context(), now.Header.Revision, clientv3.WithCompactPhysical())
	return now.Header.Revision, err
}

func writeStatus(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Status = metav1.StatusSuccess
	if status.Code != http.StatusOK {
		status.Status = metav1.StatusFailure
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) // the client has gone: nobody to tell
}
