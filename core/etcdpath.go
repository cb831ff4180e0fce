package core

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kubetab/kubetab/core/etcd"
)

// EtcdPath answers a GET with whether the store of this process answers the API
// server, and a PUT by stopping it or starting it again:
//
//	GET /kubetab/etcd  {"stopped": false}
//	PUT /kubetab/etcd  {"stopped": true}
//
// Both answer with the state. While the store is stopped, the API server is one
// whose etcd is gone: /readyz and /livez fail, the watch cache answers what it
// may, and everything else waits until its deadline. Nothing is lost. Another
// engine on the same store begins with a store that answers.
//
// Like CompactPath it is a non-resource URL that RBAC guards. With a real etcd it
// does not exist.
const EtcdPath = "/kubetab/etcd"

const etcdBody = 1 << 10 // bytes

type etcdState struct {
	Stopped bool `json:"stopped"`
}

func installEtcd(server *genericapiserver.GenericAPIServer, store *etcd.DB) {
	server.Handler.NonGoRestfulMux.UnlistedHandle(EtcdPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodPut:
			if err := setEtcd(store, http.MaxBytesReader(w, r.Body, etcdBody)); err != nil {
				writeStatus(w, metav1.Status{Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: "etcd: " + err.Error()})
				return
			}
		default:
			w.Header().Set("Allow", "GET, HEAD, PUT")
			writeStatus(w, metav1.Status{Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed, Message: "etcd's state is read with GET and changed with PUT"})
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(etcdState{store.Stopped()}) // the client has gone: nobody to tell
	}))
}

func setEtcd(store *etcd.DB, body io.Reader) error {
	var want struct {
		Stopped *bool `json:"stopped"`
	}
	if err := decodeOne(body, &want); err != nil {
		return err
	}
	switch {
	case want.Stopped == nil:
		return errors.New("nothing to change: give stopped")
	case *want.Stopped:
		store.Stop()
	default:
		store.Resume()
	}
	return nil
}
