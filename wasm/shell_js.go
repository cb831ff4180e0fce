package main

import (
	"crypto/rand"
	"net"
	"net/http"
	"strings"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/shell"
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
	for _, p := range core.People {
		tokens[p.Name] = rand.Text()
	}
	return tokens
}

// withShell serves /kubetab/ beside the API. The error is that of a listener.
func withShell(api http.Handler, tokens map[string]string) (http.Handler, *shell.Shell, error) {
	listener, err := net.Listen("tcp", apiAddress)
	if err != nil {
		return nil, nil, err
	}
	s, err := shell.New(shell.Config{API: api, Tokens: tokens, Home: home, Temp: temp, Listener: listener})
	if err != nil {
		return nil, nil, err
	}
	page := s.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The clock and compaction are the API server's own.
		own := strings.HasPrefix(r.URL.Path, core.ClockPath) || r.URL.Path == core.CompactPath
		if !own && strings.HasPrefix(r.URL.Path, "/kubetab/") {
			page.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}), s, nil
}
