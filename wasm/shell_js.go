package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/core/shell"
	"github.com/kubetab/kubetab/wasm/bridge"
)

// The files of the terminal, which the host keeps in memory.
const (
	home = "/home/kubetab"
	temp = "/tmp"
)

// apiAddress is where kubectl and curl find the API, on a network that exists in this program only.
const apiAddress = "127.0.0.1:6443"

// peopleTokens are tokens for the kubeconfig of the terminal. They are no secrets: a snapshot holds them, and who can
// reach the API at all is the administrator without any.
func peopleTokens() map[string]string {
	tokens := map[string]string{}
	for _, p := range people.All {
		tokens[p.Name] = rand.Text()
	}
	return tokens
}

// workspace returns the files of the terminal's home that go into a bundle: not what kubectl keeps for itself, its
// kubeconfig with it, and not what is in a cache. A home that nobody has opened has none. It fails as package os does.
func workspace() (found []bundle.File, err error) {
	root := os.DirFS(home)
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case path == "." && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".kube" || entry.Name() == ".cache"):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(root, path)
		if err == nil && !isKubeconfig(data) {
			found = append(found, bundle.File{Path: path, Data: data})
		}
		return err
	})
	// Folders are walked before names that a sign before the slash follows.
	slices.SortFunc(found, func(a, b bundle.File) int { return strings.Compare(a.Path, b.Path) })
	return found, err
}

// isKubeconfig reports whether a file holds credentials of kubectl, wherever a person has put it.
func isKubeconfig(data []byte) bool {
	config, err := clientcmd.Load(data)
	return err == nil && len(config.AuthInfos) > 0
}

// withShell serves /kubetab/ beside the API. The error is that of a listener.
func withShell(api http.Handler, tokens map[string]string) (http.Handler, *shell.Shell, error) {
	listener, err := net.Listen("tcp", apiAddress)
	if err != nil {
		return nil, nil, err
	}
	s, err := shell.New(shell.Config{API: bridge.Answered(api), Tokens: tokens, Home: home, Temp: temp, Listener: listener})
	if err != nil {
		return nil, nil, err
	}
	page := s.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The clock, etcd, compaction and bundles are the API server's own.
		own := strings.HasPrefix(r.URL.Path, core.ClockPath) || slices.Contains([]string{core.EtcdPath, core.CompactPath, bundle.Path}, r.URL.Path)
		if !own && strings.HasPrefix(r.URL.Path, "/kubetab/") {
			page.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}), s, nil
}
