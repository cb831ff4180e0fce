package shell

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetab/kubetab/core/people"
)

// clusterName is the engine's in the kubeconfig.
const clusterName = "kubetab"

// kubeconfig is the path of the file that the learner starts with.
func (s *Shell) kubeconfig() string { return filepath.Join(s.config.Home, ".kube", "config") }

// newKubeconfig has a context for each of the people, and the first one's is current.
func (s *Shell) newKubeconfig() *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters[clusterName] = &clientcmdapi.Cluster{Server: s.cluster.Server}
	for _, person := range people.All {
		config.AuthInfos[person.Name] = &clientcmdapi.AuthInfo{Token: s.config.Tokens[person.Name]}
		config.Contexts[person.Name] = &clientcmdapi.Context{Cluster: clusterName, AuthInfo: person.Name}
	}
	config.CurrentContext = people.All[0].Name
	return config
}

// own is the placeholder for what belongs to one engine, in a kubeconfig that
// outlives it: for the engine's address, and with a person's name after it for
// the person's token.
const own = "kubetab:"

// outlive replaces this engine's address and tokens in config with placeholders.
func (s *Shell) outlive(config *clientcmdapi.Config) {
	for _, info := range config.AuthInfos {
		for name, token := range s.config.Tokens {
			if info.Token == token {
				info.Token = own + name
			}
		}
	}
	for _, cluster := range config.Clusters {
		if cluster.Server == s.cluster.Server {
			cluster.Server = own
		}
	}
}

// revive is the inverse of outlive, in another engine perhaps.
func (s *Shell) revive(config *clientcmdapi.Config) {
	for _, info := range config.AuthInfos {
		for name, token := range s.config.Tokens {
			if info.Token == own+name {
				info.Token = token
			}
		}
	}
	for _, cluster := range config.Clusters {
		if cluster.Server == own {
			cluster.Server = s.cluster.Server
		}
	}
}

// unreadableName is a file in the home folder: it gets a text that was kept as a
// kubeconfig and cannot be read as one.
const unreadableName = "kubeconfig.unreadable"

// RestoreKubeconfig makes the kubeconfig what it was in an earlier engine, from the
// text with which GET /kubetab/kubeconfig answered there. What has been added to
// the present kubeconfig stays, and so does a namespace that was given to one of
// its contexts. Its current context stays if it is not the first one and has
// another user.
//
// It fails on text that is no kubeconfig, or an empty one: the present
// kubeconfig then stays as it is, and the text goes into a file of the home
// folder. Other errors are those of reading the present kubeconfig and of
// files.
func (s *Shell) RestoreKubeconfig(text []byte) error {
	if err := s.prepare(); err != nil {
		return err
	}
	kept, err := clientcmd.Load(text)
	if err == nil && len(kept.Contexts)+len(kept.AuthInfos)+len(kept.Clusters) == 0 {
		err = errors.New("it has neither contexts nor users nor clusters")
	}
	if err != nil {
		err = fmt.Errorf("the kubeconfig of an earlier visit cannot be read and is in ~/%s; the first one is back: %w", unreadableName, err)
		defer s.files.changed()
		return errors.Join(err, os.WriteFile(filepath.Join(s.config.Home, unreadableName), text, 0o600))
	}
	s.revive(kept)
	return s.changeKubeconfig(func(present *clientcmdapi.Config) *clientcmdapi.Config {
		first := s.newKubeconfig()
		added(kept.Clusters, present.Clusters, first.Clusters)
		added(kept.AuthInfos, present.AuthInfos, first.AuthInfos)
		added(kept.Contexts, present.Contexts, first.Contexts)
		for name, c := range present.Contexts {
			if was := kept.Contexts[name]; was != nil && c.Namespace != "" {
				was.Namespace = c.Namespace
			}
		}
		now, _ := s.actsAs(present)
		then, _ := s.actsAs(kept)
		if name := present.CurrentContext; name != first.CurrentContext && present.Contexts[name] != nil && now != then {
			c := present.Contexts[name]
			kept.CurrentContext, kept.Contexts[name] = name, c
			if present.AuthInfos[c.AuthInfo] != nil {
				kept.AuthInfos[c.AuthInfo] = present.AuthInfos[c.AuthInfo]
			}
		}
		return kept
	})
}

// added puts into kept what is in present and not in first.
func added[T any](kept, present, first map[string]T) {
	for name, value := range present {
		if _, ok := first[name]; !ok {
			kept[name] = value
		}
	}
}

// changeKubeconfig replaces the kubeconfig with the one that change returns, and tells
// its followers and open terminals. When change returns nil, the kubeconfig stays as it
// is. Calls exclude one another, because a change between reading and writing would be
// lost.
func (s *Shell) changeKubeconfig(change func(present *clientcmdapi.Config) *clientcmdapi.Config) error {
	if err := s.prepare(); err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	present, err := clientcmd.LoadFromFile(s.kubeconfig())
	if err != nil {
		return err
	}
	next := change(present)
	if next == nil {
		return nil
	}
	if err := s.writeKubeconfig(next); err != nil {
		return err
	}
	s.files.changed()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.terminals {
		t.reprompt()
	}
	return nil
}

// writeKubeconfig puts a file in the place of the kubeconfig: whoever reads it finds
// either. The caller holds s.changing.
func (s *Shell) writeKubeconfig(config *clientcmdapi.Config) error {
	next := s.kubeconfig() + ".new"
	if err := clientcmd.WriteToFile(*config, next); err != nil {
		return err
	}
	return os.Rename(next, s.kubeconfig())
}

// mostKubeconfig is how large a kubeconfig may be that the page gives back.
const mostKubeconfig = 1 << 20

// putKubeconfig is PUT /kubetab/kubeconfig.
func (s *Shell) putKubeconfig(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostKubeconfig))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if err := s.RestoreKubeconfig(text); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// getKubeconfig is GET /kubetab/kubeconfig: the file as RestoreKubeconfig takes
// it, without anything that only this engine knows.
func (s *Shell) getKubeconfig(w http.ResponseWriter, _ *http.Request) {
	if err := s.prepare(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	config, err := clientcmd.LoadFromFile(s.kubeconfig())
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	s.outlive(config)
	text, err := clientcmd.Write(*config)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text) // fails when the client has gone
}
