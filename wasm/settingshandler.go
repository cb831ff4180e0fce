package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/choices"
)

// settingsPath is where the page finds what it may start an engine with:
//
//	GET  /kubetab/settings?emulated-version=1.36  an Offer, of that version or the running one
//	POST /kubetab/settings                        settings -> 204, or 422 with what is wrong with them
//
// Both are for the page itself, without credentials, as all of package shell is.
const settingsPath = "/kubetab/settings"

// mostNodes is how many a page may ask for: each is a kubelet with its heartbeats.
const mostNodes = 100

// mostSettings is how large a body of settings may be, in bytes.
const mostSettings = 64 << 10

// check says why an engine would not start with s.
func (s settings) check() error {
	if s.Nodes < 0 || s.Nodes > mostNodes {
		return fmt.Errorf("%d nodes: give a number from 0 to %d", s.Nodes, mostNodes)
	}
	return s.engine().Check()
}

// withSettings serves settingsPath beside the API. running are the settings of engine.
func withSettings(api http.Handler, running settings, engine *core.Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != settingsPath {
			api.ServeHTTP(w, r)
			return
		}
		if r.Header.Get("Authorization") != "" || r.TLS != nil {
			http.Error(w, settingsPath+" is for the page itself, without credentials", http.StatusForbidden)
			return
		}
		switch r.Method {
		case http.MethodGet:
			version := running.EmulatedVersion
			if asked := r.URL.Query(); asked.Has("emulated-version") {
				version = asked.Get("emulated-version")
			}
			offered, err := choices.For(version)
			if err != nil {
				http.Error(w, err.Error(), http.StatusUnprocessableEntity)
				return
			}
			unserved, err := engine.Cluster().Unserved(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			_ = json.NewEncoder(w).Encode(Offer{defaultNodes, mostNodes, offered, unserved}) // fails when the client has gone
		case http.MethodPost:
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostSettings))
			if err == nil && len(body) == 0 {
				err = errors.New("the body is empty")
			}
			var wanted settings
			if err == nil {
				wanted, err = parseSettings(string(body))
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			if err := wanted.check(); err != nil {
				http.Error(w, err.Error(), http.StatusUnprocessableEntity)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Allow", "GET, POST")
			http.Error(w, "settings are read with GET and tried with POST", http.StatusMethodNotAllowed)
		}
	})
}
