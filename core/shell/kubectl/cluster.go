package kubectl

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
)

// Cluster is the API server that commands talk to.
type Cluster struct {
	// Server is its URL as it stands in kubeconfigs. Its scheme is https, since
	// clients send tokens nowhere else, though nothing is encrypted on the way
	// to a listener in the same process.
	Server string
	// Token is for discovery, which all commands share.
	Token string
	// Dial connects to an address of the process: the server's own, or that of
	// a kubectl proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	transport   *http.Transport
	discovery   *Discovery
	credentials credentials
}

// NewCluster returns the cluster at the URL server. Errors: a URL that is none.
func NewCluster(server, token string, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*Cluster, error) {
	if _, err := url.Parse(server); err != nil {
		return nil, err
	}
	c := &Cluster{
		Server: server, Token: token, Dial: dial,
		// On js, net/http asks the browser unless it is told how to dial.
		transport: &http.Transport{DialContext: dial, DisableCompression: true},
	}
	c.discovery = &Discovery{cluster: c}
	return c, nil
}

// Client returns a round tripper for any address of the process, in plain HTTP
// for the server's own.
func (c *Cluster) Client() http.RoundTripper { return plain{c, c.transport} }

// Close lets idle connections go.
func (c *Cluster) Close() { c.transport.CloseIdleConnections() }

// serves reports whether host, as in a rest.Config, is the cluster's.
func (c *Cluster) serves(host string) bool {
	return strings.TrimSuffix(host, "/") == strings.TrimSuffix(c.Server, "/")
}

// wrap makes config one whose requests end with ctx and reach the cluster.
func (c *Cluster) wrap(ctx context.Context, config *rest.Config) *rest.Config {
	if c.serves(config.Host) {
		config.Proxy = nil
		config.Transport = c.transport
		c.authenticated(ctx, config)
	} else {
		config.Dial = c.Dial
	}
	// Around the transport, and around that of WebSockets, which client-go makes
	// itself.
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return bound{ctx, plain{c, next}} })
	return config
}

// plain sends what is for the cluster as plain HTTP.
type plain struct {
	cluster *Cluster
	next    http.RoundTripper
}

func (t plain) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.cluster.serves(r.URL.Scheme + "://" + r.URL.Host) {
		r = r.Clone(r.Context())
		r.URL.Scheme = "http"
	}
	return t.next.RoundTrip(r)
}

// bound ends requests and the bodies of their answers with a context that is
// not theirs.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
}

func (t bound) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	done := func() {
		stop()
		cancel(context.Canceled)
	}
	response, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		done()
		return nil, err
	}
	if response.StatusCode == http.StatusSwitchingProtocols || response.Body == nil {
		return response, nil // the connection is the caller's now
	}
	response.Body = &closer{response.Body, done}
	return response, nil
}

type closer struct {
	io.ReadCloser
	done func()
}

func (c *closer) Close() error {
	err := c.ReadCloser.Close()
	c.done()
	return err
}
