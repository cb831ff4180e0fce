package shell

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// accountPrefix begins the user names of service accounts.
const accountPrefix = "system:serviceaccount:"

// Identity reads the kubeconfig. The error is that it cannot be read.
func (s *Shell) Identity() (Identity, error) {
	if err := s.prepare(); err != nil {
		return Identity{}, err
	}
	text, err := os.ReadFile(s.kubeconfig())
	if err != nil {
		return Identity{}, err
	}
	if len(text) == 0 {
		return Identity{}, errors.New("the kubeconfig is empty: it may be being written")
	}
	config, err := clientcmd.Load(text)
	if err != nil {
		return Identity{}, err
	}
	identity := Identity{Context: config.CurrentContext}
	identity.User, identity.Groups = s.actsAs(config)
	return identity, nil
}

// actsAs names the user of the current context, if the kubeconfig says it.
func (s *Shell) actsAs(config *clientcmdapi.Config) (name string, groups []string) {
	if c := config.Contexts[config.CurrentContext]; c != nil {
		if info := config.AuthInfos[c.AuthInfo]; info != nil {
			return s.userOf(info)
		}
	}
	return "", []string{}
}

// userOf names the user of a kubeconfig.
func (s *Shell) userOf(info *clientcmdapi.AuthInfo) (name string, groups []string) {
	if info.Impersonate != "" {
		return info.Impersonate, append([]string{}, info.ImpersonateGroups...)
	}
	if info.ClientCertificate != "" || len(info.ClientCertificateData) > 0 {
		if subject := s.subjectOf(info); subject != nil {
			return subject.CommonName, append([]string{}, subject.Organization...)
		}
		return "", []string{}
	}
	for _, person := range people.All {
		if info.Token != "" && info.Token == s.config.Tokens[person.Name] {
			return person.Name, append([]string{}, person.Groups...)
		}
	}
	return "", []string{}
}

// subjectOf returns whom the client certificate of a user is for: the API server looks at that first. Nil is for none that can be read.
func (s *Shell) subjectOf(info *clientcmdapi.AuthInfo) *pkix.Name {
	text := info.ClientCertificateData
	if len(text) == 0 {
		text, _ = os.ReadFile(coreutils.Absolute(filepath.Dir(s.kubeconfig()), info.ClientCertificate))
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return &certificate.Subject
}

// Become makes who the user of the kubeconfig's current context, unless it is
// already. The context of a person is the one that the kubeconfig begins with.
// For others it is one in which the first person impersonates them, as kubectl
// --as does. A missing context is made. The context of a service account has the
// account's namespace, as in its Pods. The error is that of the file.
func (s *Shell) Become(who Identity) error {
	return s.changeKubeconfig(func(config *clientcmdapi.Config) *clientcmdapi.Config {
		name := who.User
		if now, _ := s.actsAs(config); now == name {
			return nil
		}
		if isPerson := slices.ContainsFunc(people.All, func(p people.Person) bool { return p.Name == name }); isPerson {
			// Somebody may have removed them.
			if config.AuthInfos[name] == nil {
				config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: s.config.Tokens[name]}
			}
			if config.Contexts[name] == nil {
				config.Contexts[name] = &clientcmdapi.Context{Cluster: clusterName, AuthInfo: name}
			}
		} else {
			c := &clientcmdapi.Context{Cluster: clusterName}
			if account, ok := strings.CutPrefix(name, accountPrefix); ok {
				c.Namespace, _, _ = strings.Cut(account, ":")
				name = "sa:" + account
			}
			c.AuthInfo = name
			config.Contexts[name] = c
			config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: s.config.Tokens[people.All[0].Name], Impersonate: who.User, ImpersonateGroups: who.Groups}
		}
		if config.CurrentContext == name {
			return nil
		}
		config.CurrentContext = name
		return config
	})
}

// getIdentity is GET /kubetab/identity; with ?watch=1 a line for each change.
func (s *Shell) getIdentity(w http.ResponseWriter, r *http.Request) {
	wake, stop := s.files.follow()
	defer stop()
	if !r.URL.Query().Has("watch") {
		now, err := s.Identity()
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		respond(w, http.StatusOK, now)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	if err := flush.Flush(); err != nil {
		return
	}
	var told []byte
	for {
		// While the file is being written or is broken, no line is sent. When it is
		// whole again, a line is sent even if the identity is the same: the page may
		// have changed its own meanwhile.
		if now, err := s.Identity(); err != nil {
			told = nil
		} else {
			line, err := json.Marshal(now)
			if err != nil {
				return
			}
			if !bytes.Equal(line, told) {
				told = line
				if _, err := w.Write(append(line, '\n')); err != nil {
					return
				}
				if err := flush.Flush(); err != nil {
					return
				}
			}
		}
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		}
	}
}

// putIdentity is PUT /kubetab/identity.
func (s *Shell) putIdentity(w http.ResponseWriter, r *http.Request) {
	var who Identity
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostInput)).Decode(&who); err != nil || who.User == "" {
		http.Error(w, "the body is no JSON of {user, groups}", http.StatusBadRequest)
		return
	}
	if err := s.Become(who); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// actingAs returns the current context of the session's kubeconfig, unless it is the
// one that every session starts with.
func (k *session) actingAs() string {
	path := k.shell.kubeconfig()
	if v := k.environment().Get("KUBECONFIG"); v.IsSet() {
		path = v.String()
	}
	if v, ok := k.runner.Vars["KUBECONFIG"]; ok {
		path = v.String()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "" // several, or none: kubectl says what it makes of it
	}
	if !bytes.Equal(text, k.kubeconfig.text) {
		k.kubeconfig.text, k.kubeconfig.context = text, ""
		if config, err := clientcmd.Load(text); err == nil && config.CurrentContext != people.All[0].Name {
			k.kubeconfig.context = config.CurrentContext
		}
	}
	return k.kubeconfig.context
}

// prompt is who one is, if that is not as usual, the folder and a dollar sign.
func (k *session) prompt() string {
	dir := k.runner.Dir
	if rest, ok := strings.CutPrefix(dir, k.shell.config.Home); ok && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	who := ""
	if context := k.actingAs(); context != "" {
		who = fmt.Sprintf("\x1b[1;33m(%s)\x1b[0m ", tty.Plain(context))
	}
	return who + "\x1b[1;34m" + tty.Plain(dir) + "\x1b[0m $ "
}
