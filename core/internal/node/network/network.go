package network

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

var everything = labels.Everything()

// Network is the network of one cluster. Its fields do not change once it is in use; its
// methods and those of Views are safe for concurrent use.
type Network struct {
	Services   corelisters.ServiceLister
	Slices     discoverylisters.EndpointSliceLister
	ConfigMaps corelisters.ConfigMapLister
	Namespaces corelisters.NamespaceLister
	Policies   networkinglisters.NetworkPolicyLister
	// API answers what is sent to https://kubernetes.default.svc. Nil means that nothing
	// does.
	API http.RoundTripper
	// Hosts says what has which address.
	Hosts Hosts
	// Clock is what connections wait on that nobody answers.
	Clock clock.WithTickerAndDelayedExecution

	turn atomic.Uint64 // which endpoint is next
}

// Hosts are the Pods and nodes by their addresses. Its methods are safe for concurrent use.
type Hosts interface {
	// Listening returns what listens at the address of a Pod, or in the network of a node.
	Listening(address string, port container.Port) (container.Listener, bool)
	// Pod returns the Pod that has an address of its own, nil for an address that no Pod has.
	Pod(address string) *v1.Pod
	// Node returns the node of that name or address. Both are empty if there is none.
	Node(nameOrAddress string) (name, address string)
	// HostPort returns where a port of a node leads because a container asks for it as its hostPort.
	HostPort(node string, port container.Port) (pod string, to container.Port, ok bool)
}

// Pod is what the network knows of the Pod that looks at it.
type Pod struct {
	*v1.Pod
	Hostname, IP string
	Node         string             // the node's address
	Resolver     container.Resolver // what /etc/resolv.conf says
	// Listening returns what listens at the Pod's own port.
	Listening func(container.Port) (container.Listener, bool)
	// Ports returns the ports of which Listening knows something.
	Ports func() []container.Port
}

// View is the network as a Pod sees it: names of Services, their addresses, those of
// Pods, and the API server. It implements container.Network.
type View struct {
	network *Network
	pod     Pod
	outside bool // pod is not there
	probes  bool // it is the kubelet's
}

// From returns the network as p sees it.
func (n *Network) From(p Pod) View { return View{network: n, pod: p} }

// Outside returns the network as a machine sees it that is in the network of the nodes, but none of the cluster: it
// reaches nodes and load balancers.
func (n *Network) Outside() View {
	return View{network: n, pod: Pod{IP: ControlPlane().String()}, outside: true}
}

// OfKubelet returns the network as the kubelet of the Pod sees it, for probes: no NetworkPolicy applies, and a connection
// that nobody answers fails at once.
func (v View) OfKubelet() View {
	v.probes = true
	return v
}

// ErrRefused says that nothing listens at an address.
var ErrRefused = errors.New("connect: connection refused")

func refused(address string, port container.Port) error {
	return fmt.Errorf("dial %s %s: %w", protocol(port), at(address, port), ErrRefused)
}

// timedOut is what becomes of a connection that nobody answers.
func timedOut(address string, port container.Port) error {
	return fmt.Errorf("dial %s %s: i/o timeout%w", protocol(port), at(address, port), quietly{os.ErrDeadlineExceeded})
}

// quietly is an error whose text is said already.
type quietly struct{ error }

func (quietly) Error() string   { return "" }
func (q quietly) Unwrap() error { return q.error }

func protocol(p container.Port) string {
	if p.UDP {
		return "udp"
	}
	return "tcp"
}

func at(address string, port container.Port) string {
	return net.JoinHostPort(address, strconv.Itoa(port.Number))
}

// end is what a connection has come to.
type end struct {
	container.Listener
	address string // of the Pod or the node
	from    string // the client, as the server sees it
	api     bool   // it is the API server
}

// reach follows an address to what listens there. The error is that of the connection; it may take until ctx ends.
func (v View) reach(ctx context.Context, host string, port container.Port) (end, error) {
	to, err := v.find(ctx, host, port)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return end{}, v.wait(ctx, connectLimit, err)
	case errors.Is(err, errNoRoute):
		return end{}, v.wait(ctx, neighbourLimit, err)
	}
	return to, err
}

// find is reach without the time that passes where nobody answers.
func (v View) find(ctx context.Context, host string, port container.Port) (end, error) {
	addresses, _, err := v.Lookup(ctx, host)
	if err != nil {
		return end{}, err
	}
	address := addresses[0]
	if len(addresses) > 1 {
		address = addresses[v.network.turn.Add(1)%uint64(len(addresses))]
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart("tcp", net.JoinHostPort(address, strconv.Itoa(port.Number)))
	}
	if net.ParseIP(address).IsUnspecified() { // Linux connects to the machine itself
		address = "127.0.0.1"
	}
	if !v.outside && v.isOwn(address) {
		if l, ok := v.pod.Listening(port); ok {
			return end{Listener: l, address: address, from: address}, nil
		}
	}
	if v.outside {
		if err := v.network.outsideReaches(address, port); err != nil {
			return end{}, err
		}
	}
	if v.isAPI(address, port) {
		if !v.allowed(peer{address: ControlPlane().String()}, container.Port{Number: apiPort}) {
			return end{}, timedOut(address, port)
		}
		return end{api: true, address: address}, nil
	}
	machine := address
	if !v.outside && isLoopback(address) { // what else has the network of the Pod's node listens there, too
		machine = v.pod.IP
	}
	to, err := v.route(machine, port)
	if err == nil && !v.allowed(peer{to.address, v.network.Hosts.Pod(to.address)}, to.port) {
		err = timedOut(address, port)
	}
	if err != nil {
		return end{}, err
	}
	l, ok := v.network.Hosts.Listening(to.address, to.port)
	if !ok {
		l, ok = listens(to.address, to.port)
	}
	if machine != address && to.address == machine {
		to.from = address
	}
	switch {
	case ok:
		return end{Listener: l, address: to.address, from: to.from}, nil
	case v.isOwn(to.address) || v.network.isThere(to.address):
		return end{}, refused(address, port)
	}
	return end{}, v.absent(address, port)
}

// allowed reports whether NetworkPolicies let the Pod connect.
func (v View) allowed(to peer, port container.Port) bool {
	return v.probes || v.network.allowed(peer{v.pod.IP, v.pod.Pod}, to, port)
}

// isOwn reports whether an address is the Pod's own.
func (v View) isOwn(address string) bool {
	return isLoopback(address) || address == v.pod.IP
}

// wait returns err when a client learns that nobody answers, after limit, or ctx's error.
func (v View) wait(ctx context.Context, limit time.Duration, err error) error {
	if v.probes {
		return err
	}
	timer := v.network.Clock.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-timer.C():
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Ports returns the ports at which something listens in the Pod.
func (v View) Ports() []container.Port {
	if v.pod.Ports == nil {
		return nil
	}
	return v.pod.Ports()
}

// Connect returns what listens.
func (v View) Connect(ctx context.Context, host string, port container.Port) (container.Listener, error) {
	end, err := v.reach(ctx, host, port)
	return end.Listener, err
}

// RoundTrip brings a request to what listens at its address.
func (v View) RoundTrip(r *http.Request) (*http.Response, error) {
	host, port, err := addressOf(r)
	if err != nil {
		return nil, err
	}
	hops, _ := r.Context().Value(hopsKey{}).(int)
	if hops == mostHops {
		return nil, timedOut(host, port)
	}
	end, err := v.reach(r.Context(), host, port)
	r = r.WithContext(context.WithValue(r.Context(), hopsKey{}, hops+1))
	switch {
	case err != nil:
		return nil, err
	case end.api && r.URL.Scheme == "https":
		return v.askAPI(r)
	case end.api || r.URL.Scheme == "http" && end.TLS != nil:
		return play(http.HandlerFunc(insecure), r, end.from)
	case end.HTTP == nil:
		return nil, fmt.Errorf("read tcp %s: connection reset by peer", at(host, port))
	case r.URL.Scheme == "https":
		if end.TLS == nil && !end.Any {
			return nil, plainServer{}
		}
		if err := coreutils.CheckCertificate(r, end.Chain()); err != nil {
			return nil, err
		}
	}
	return play(end.HTTP, r, end.from)
}

// mostHops is how many servers a request passes, each of which asks the next: one that asks itself would never end.
const mostHops = 32

// hopsKey is the context key of how many a request has passed.
type hopsKey struct{}

// insecure answers who speaks HTTP to a server of TLS, as package http's does.
func insecure(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "Client sent an HTTP request to an HTTPS server.", http.StatusBadRequest)
}

// plainServer is the error of who speaks TLS to a server of HTTP, in package http's words.
type plainServer struct{}

func (plainServer) Error() string { return "http: server gave HTTP response to HTTPS client" }
func (plainServer) Unwrap() error {
	return tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}
}

// addressOf returns where a request is to go.
func addressOf(r *http.Request) (string, container.Port, error) {
	port := container.Port{Number: 80}
	if r.URL.Scheme == "https" {
		port.Number = 443
	}
	if text := r.URL.Port(); text != "" {
		var err error
		if port.Number, err = strconv.Atoi(text); err != nil {
			return "", port, err
		}
	}
	return r.URL.Hostname(), port, nil
}

// askAPI sends a request to the API server, which judges it by its own credentials.
func (v View) askAPI(r *http.Request) (*http.Response, error) {
	if err := coreutils.CheckAuthority(r, v.authority); err != nil {
		return nil, err
	}
	to := r.Clone(people.WithoutDefault(r.Context()))
	to.URL.Scheme, to.URL.Host = "http", "in-process"
	to.Header.Set("Kubetab-Client", "pod") // as requestlog.FromPod
	return v.network.API.RoundTrip(to)
}

// authority is that of the API server's certificate, as Pods find it.
func (v View) authority() ([]byte, error) {
	namespace := metav1.NamespaceDefault
	if !v.outside {
		namespace = v.pod.Namespace
	}
	m, err := v.network.ConfigMaps.ConfigMaps(namespace).Get("kube-root-ca.crt")
	if err != nil {
		return nil, err
	}
	return []byte(m.Data["ca.crt"]), nil
}
