package kubectl

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// credentialsHeader has the name of a client's credentials that HTTP has no header for: a certificate, which TLS would
// present, and that there are none at all. Nobody can guess a name, and it is good for as long as the client is.
const credentialsHeader = "Kubetab-Credentials"

// credentials are what clients of the server have besides tokens. The zero value has none.
type credentials struct {
	mu sync.Mutex
	by map[string][]*x509.Certificate // by name, the client's own first; empty for a client without any
}

// lend keeps certificates until ctx ends, and returns their name.
func (c *credentials) lend(ctx context.Context, certificates []*x509.Certificate) (name string) {
	name = rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string][]*x509.Certificate{}
	}
	c.by[name] = certificates
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.by, name)
	})
	return name
}

// Serve returns api for requests of the cluster's clients: they are who their kubeconfig says.
func (c *Cluster) Serve(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(credentialsHeader)
		if name == "" {
			api.ServeHTTP(w, r)
			return
		}
		c.credentials.mu.Lock()
		certificates, known := c.credentials.by[name]
		c.credentials.mu.Unlock()
		r.Header.Del(credentialsHeader)
		if known {
			r = r.WithContext(people.WithoutDefault(r.Context()))
			r.TLS = &tls.ConnectionState{PeerCertificates: certificates}
		}
		api.ServeHTTP(w, r)
	})
}

// Present returns r as a request of a client that has certificates, as the first of which it is known, or none. The server knows them
// until the context of r ends.
func (c *Cluster) Present(r *http.Request, certificates []*x509.Certificate) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Set(credentialsHeader, c.credentials.lend(r.Context(), certificates))
	return r
}

// authenticated makes config, which is for our cluster, one whose requests come from who it says.
func (c *Cluster) authenticated(ctx context.Context, config *rest.Config) {
	if config.CertFile == "" && len(config.CertData) == 0 {
		config.TLSClientConfig = rest.TLSClientConfig{}
		if config.BearerToken == "" && config.BearerTokenFile == "" && config.ExecProvider == nil && config.AuthProvider == nil {
			c.presents(ctx, config, nil)
		}
		return
	}
	certificates, err := certificatesOf(config)
	config.TLSClientConfig = rest.TLSClientConfig{}
	if err != nil {
		config.Transport = refusing{fmt.Errorf("the client certificate: %w", err)}
		return
	}
	c.presents(ctx, config, certificates)
}

// certificatesOf returns the client certificates of a configuration that has some. The errors are those of reading the files, and of
// coreutils.Certificates.
func certificatesOf(config *rest.Config) ([]*x509.Certificate, error) {
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, err
	}
	return coreutils.Certificates(config.CertData, config.KeyData)
}

func (c *Cluster) presents(ctx context.Context, config *rest.Config, certificates []*x509.Certificate) {
	name := c.credentials.lend(ctx, certificates)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return presenting{name, next} })
}

// presenting presents the credentials of a name.
type presenting struct {
	name string
	next http.RoundTripper
}

func (p presenting) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(credentialsHeader, p.name)
	return p.next.RoundTrip(r)
}

// refusing fails all requests.
type refusing struct{ err error }

func (f refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	return nil, f.err
}
