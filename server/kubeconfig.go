package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetab/kubetab/core/people"
)

const (
	// kubeconfigName names the cluster, and named the user and the context of files of before there were several.
	kubeconfigName = "kubetab"
	// kubeconfigMarker is the name of the extension of the cluster entry by which a file is known to be ours. An
	// extension, not a comment: `kubectl config set-context` rewrites the file and keeps only what is data.
	kubeconfigMarker = "kubetab.io/written-by"
)

// Kubeconfig is what a client needs to talk to a server as one of people.All, the first of whom is the current context.
type Kubeconfig struct {
	Server string            // URL of the API
	CA     []byte            // PEM
	Tokens map[string]string // bearer tokens by the person's name
}

// ErrForeignKubeconfig is returned when the file at the path of the kubeconfig was not written by Kubetab, or holds
// clusters, users or contexts of others by now.
var ErrForeignKubeconfig = errors.New("a kubeconfig that kubetab did not write is never overwritten")

// CheckKubeconfig tells whether [WriteKubeconfig] may write to path: nothing is there, or a kubeconfig with nothing in
// it but what Kubetab wrote. Errors: ErrForeignKubeconfig, or the file cannot be read or has no folder to be in, with what
// to do in the text.
func CheckKubeconfig(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		return nil // /dev/null, /dev/stdout: nothing is there that could be lost, and to read may block
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = os.Stat(filepath.Dir(path)); err == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w: choose another with --kubeconfig FILE", path, cause(err))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil // what mktemp leaves
	}
	if !ours(data) {
		return fmt.Errorf("kubeconfig %s: %w: choose another file with --kubeconfig FILE", path, ErrForeignKubeconfig)
	}
	return nil
}

// WriteKubeconfig writes k to path with mode 0600, whole or not at all. Errors: as [CheckKubeconfig], or the file
// cannot be written.
func WriteKubeconfig(path string, k Kubeconfig) error {
	if err := CheckKubeconfig(path); err != nil {
		return err
	}
	marker, err := json.Marshal(map[string]string{"provider": kubeconfigName, "server": k.Server})
	if err != nil {
		return err
	}
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[kubeconfigName] = &clientcmdapi.Cluster{
		Server:                   k.Server,
		CertificateAuthorityData: k.CA,
		Extensions: map[string]runtime.Object{
			kubeconfigMarker: &runtime.Unknown{Raw: marker, ContentType: runtime.ContentTypeJSON},
		},
	}
	for _, person := range people.All {
		cfg.AuthInfos[person.Name] = &clientcmdapi.AuthInfo{Token: k.Tokens[person.Name]}
		cfg.Contexts[person.Name] = &clientcmdapi.Context{Cluster: kubeconfigName, AuthInfo: person.Name}
	}
	cfg.CurrentContext = people.All[0].Name
	data, err := clientcmd.Write(*cfg)
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	if err := writePrivate(path, data); err != nil {
		return fmt.Errorf("kubeconfig %s: %w: choose another file with --kubeconfig FILE", path, cause(err))
	}
	return nil
}

// ours reports whether data is a kubeconfig with our marker and with no cluster, user or context of anybody else.
func ours(data []byte) bool {
	cfg, err := clientcmd.Load(data)
	if err != nil {
		return false
	}
	cluster := cfg.Clusters[kubeconfigName]
	if cluster == nil || cluster.Extensions[kubeconfigMarker] == nil {
		return false
	}
	mine := func(name string) bool {
		return name == kubeconfigName || slices.ContainsFunc(people.All, func(p people.Person) bool { return p.Name == name })
	}
	for _, names := range []iter.Seq[string]{maps.Keys(cfg.Clusters), maps.Keys(cfg.AuthInfos), maps.Keys(cfg.Contexts)} {
		for name := range names {
			if !mine(name) {
				return false
			}
		}
	}
	return true
}
