package shell

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	v1 "k8s.io/api/core/v1"

	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// serviceNames are those of the API server's Service in the cluster's DNS.
var serviceNames = map[string]bool{
	"kubernetes": true, "kubernetes.default": true, "kubernetes.default.svc": true, "kubernetes.default.svc.cluster.local": true,
}

// RoundTrip sends a request of curl: to the cluster at its address or, as from
// inside of a Pod, at its Service, and to what listens in the process, such as
// kubectl proxy. What nodes and load balancers show outside of the cluster is reached, too, and what the
// page can fetch of other sites. The page's list of requests says that it is the terminal's.
func (k *session) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Kubetab-Client", requestlog.FromTerminal)
	server := strings.TrimPrefix(k.shell.cluster.Server, "https://")
	isServer := r.URL.Scheme == "https" && r.URL.Host == server
	if serviceNames[r.URL.Hostname()] {
		if port := r.URL.Port(); r.URL.Scheme != "https" || port != "" && port != "443" {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		}
		isServer, r.URL.Host = true, server
	}
	if isServer {
		authority := func() ([]byte, error) { return k.shell.authority(r) }
		if err := coreutils.CheckAuthority(r, authority); err != nil {
			return nil, err
		}
		if certificates := coreutils.ClientCertificates(r.Context()); len(certificates) > 0 {
			r = k.shell.cluster.Present(r, certificates)
		}
	}
	if response, err := k.shell.outside(r); response != nil || err != nil {
		return response, err
	}
	if !isServer {
		if response, err := k.shell.web(r.Context(), r, k.id); response != nil || err != nil {
			return response, err
		}
		r.Close = true // what listens in the process, such as kubectl proxy, is to end when it no longer does
	}
	return k.shell.cluster.Client().RoundTrip(r)
}

// outside sends a request to an address or a name that nodes and load balancers have. It returns neither an answer nor
// an error for others.
func (s *Shell) outside(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	ip := net.ParseIP(host)
	if s.config.Outside == nil || host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		return nil, nil
	}
	response, err := s.config.Outside.RoundTrip(r)
	if err != nil {
		if unknown, _ := coreutils.Lost(err); unknown {
			return nil, nil
		}
	}
	return response, err
}

// authority asks the cluster of r, as the terminal's administrator, for the CA
// that has signed the API server's certificate. Every namespace has it in a
// ConfigMap.
func (s *Shell) authority(r *http.Request) ([]byte, error) {
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, s.cluster.Server+"/api/v1/namespaces/default/configmaps/kube-root-ca.crt", nil)
	if err != nil {
		return nil, err
	}
	ask.Header.Set("Authorization", "Bearer "+s.cluster.Token)
	ask.Header.Set("Kubetab-Client", requestlog.FromTrust)
	response, err := s.cluster.Client().RoundTrip(ask)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the cluster has no kube-root-ca.crt: %s", response.Status)
	}
	var m v1.ConfigMap
	if err := json.NewDecoder(response.Body).Decode(&m); err != nil {
		return nil, err
	}
	return []byte(m.Data["ca.crt"]), nil
}
