package core

import (
	"errors"
	"io"
	"net/http"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/internal/state"
)

// EtcdPath answers a GET with whether the store of this process answers the API
// server, and a PUT by stopping it or starting it again:
//
//	GET /kubetab/etcd  {"stopped": false}
//	PUT /kubetab/etcd  {"stopped": true}
//
// Both answer with an EtcdState. While the store is stopped, the API server is one
// whose etcd is gone: /readyz and /livez fail, the watch cache answers what it
// may, and everything else waits until its deadline. Nothing is lost. Another
// engine on the same store begins with a store that answers.
//
// Like CompactPath it is a non-resource URL that RBAC guards. With a real etcd it
// does not exist.
const EtcdPath = "/kubetab/etcd"

func installEtcd(server *genericapiserver.GenericAPIServer, store *etcd.DB) {
	server.Handler.NonGoRestfulMux.UnlistedHandle(EtcdPath, &state.Handler{
		Name:   "etcd",
		Method: http.MethodPut,
		State:  func() any { return EtcdState{store.Stopped()} },
		Change: func(body io.Reader) error { return setEtcd(store, body) },
	})
}

func setEtcd(store *etcd.DB, body io.Reader) error {
	var want struct {
		Stopped *bool `json:"stopped"`
	}
	if err := state.Decode(body, &want); err != nil {
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
