package main

import (
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
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

// givenFiles is there in an engine that has its files: the page then adds none of its own. web/src/page/files/workspace
// has the same.
const givenFiles = temp + "/.kubetab-files"

// giveFiles puts the files of a bundle where the terminal finds them. It fails as package os does, and no file is there then.
func giveFiles(files []bundle.File) error {
	if len(files) == 0 {
		return nil
	}
	err := cluster.WriteFiles(home, files)
	if err == nil {
		err = os.WriteFile(givenFiles, nil, 0o644)
	}
	if err != nil {
		takeFiles()
	}
	return err
}

// takeFiles takes back what giveFiles has given, because the engine has another cluster.
func takeFiles() {
	_ = os.RemoveAll(home) // what cannot be removed harms nobody
	_ = os.Remove(givenFiles)
}

// withShell serves /kubetab/ beside the API. The error is that of a listener.
func withShell(api http.Handler, outside http.RoundTripper, tokens map[string]string) (http.Handler, *shell.Shell, error) {
	listener, err := net.Listen("tcp", apiAddress)
	if err != nil {
		return nil, nil, err
	}
	s, err := shell.New(shell.Config{API: bridge.Answered(api), Tokens: tokens, Home: home, Temp: temp, OwnsFiles: true, Listener: listener, Outside: outside})
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
