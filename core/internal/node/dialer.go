package node

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"

	"github.com/kubetab/kubetab/core/internal/node/network"
)

// Dialer is how the API server reaches what has an address in the cluster: the
// kubelets' own API at port 10250, and Pods. It exists before the nodes do, so
// that the chain can be built with it; until Nodes.Run it refuses every
// connection. It is safe for concurrent use.
type Dialer struct {
	mu      sync.Mutex
	dial    utilnet.DialFunc
	nodes   *Nodes // that run
	metrics bool   // InstallMetrics has been called
}

// NewDialer returns a dialer that no nodes serve yet.
func NewDialer() *Dialer { return &Dialer{} }

// Lookup is KubeletClientConfig.Lookup. It never fails.
func (d *Dialer) Lookup(egressselector.NetworkContext) (utilnet.DialFunc, error) {
	return d.DialContext, nil
}

// DialContext connects to an address of the cluster in memory. An address that
// nobody has is refused.
func (d *Dialer) DialContext(ctx context.Context, protocol, address string) (net.Conn, error) {
	d.mu.Lock()
	dial := d.dial
	d.mu.Unlock()
	if dial == nil {
		return nil, fmt.Errorf("dial %s %s: %w", protocol, address, network.ErrRefused)
	}
	return dial(ctx, protocol, address)
}

// RoundTrip sends a request to the cluster as from a machine outside: to node ports, host ports and load balancers. It
// fails with what wraps network.ErrRefused, with a net.DNSError for a name that nobody has, with a network.InsideError for what
// can be reached in the cluster alone, and with an error of package os or ctx where nobody answers.
func (d *Dialer) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	nodes := d.nodes
	d.mu.Unlock()
	if nodes == nil {
		if name := r.URL.Hostname(); net.ParseIP(name) == nil {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}}
		}
		return nil, fmt.Errorf("dial tcp %s: %w", r.URL.Host, network.ErrRefused)
	}
	return nodes.cluster.Network.Outside().RoundTrip(r)
}

// set says which nodes there are, and how to reach them. It reports whether
// the server asks them for metrics.
func (d *Dialer) set(n *Nodes, dial utilnet.DialFunc) (metrics bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nodes, d.dial = n, dial
	return d.metrics
}
