package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

const clusterDomain = "svc.cluster.local"

// Network is the network of one cluster. Its fields do not change once it is in use; its
// methods and those of Views are safe for concurrent use.
type Network struct {
	Services   corelisters.ServiceLister
	Slices     discoverylisters.EndpointSliceLister
	ConfigMaps corelisters.ConfigMapLister
	// API answers what is sent to https://kubernetes.default.svc. Nil means that nothing
	// does.
	API http.RoundTripper
	// Listening returns what listens at the address of a Pod or of a node.
	Listening func(address string, port int) (container.Listener, bool)

	turn atomic.Uint64 // which endpoint is next
}

// Pod is what the network knows of the Pod that looks at it.
type Pod struct {
	Namespace, Hostname, IP string
	// Listening returns what listens at the Pod's own port.
	Listening func(port int) (container.Listener, bool)
}

// View is the network as a Pod sees it: names of Services, their addresses, those of
// Pods, and the API server. It implements container.Network.
type View struct {
	network *Network
	pod     Pod
}

// From returns the network as p sees it.
func (n *Network) From(p Pod) View { return View{n, p} }

// ErrRefused says that nothing listens at an address.
var ErrRefused = errors.New("connect: connection refused")

func refused(host string, port int) error {
	return fmt.Errorf("dial tcp %s: %w", net.JoinHostPort(host, strconv.Itoa(port)), ErrRefused)
}

// Lookup answers as the cluster's DNS: Services by name, name.namespace and in
// full, Pods of headless Services by hostname, and addresses as themselves.
func (v View) Lookup(name string) ([]string, string, error) {
	if net.ParseIP(name) != nil {
		return []string{name}, name, nil
	}
	if name == "localhost" || name == v.pod.Hostname {
		return []string{v.pod.IP}, name, nil
	}
	full := strings.TrimSuffix(name, ".")
	short := strings.TrimSuffix(strings.TrimSuffix(full, "."+clusterDomain), ".svc")
	parts := strings.Split(short, ".")
	try := func(service, namespace, host string) []string {
		s, err := v.network.Services.Services(namespace).Get(service)
		if err != nil {
			return nil
		}
		if s.Spec.ClusterIP != v1.ClusterIPNone && host == "" {
			return s.Spec.ClusterIPs
		}
		return v.endpoints(s, host)
	}
	var found []string
	canonical := full
	switch len(parts) {
	case 1:
		found = try(parts[0], v.pod.Namespace, "")
		canonical = parts[0] + "." + v.pod.Namespace + "." + clusterDomain
	case 2:
		if found = try(parts[0], parts[1], ""); found == nil {
			found = try(parts[1], v.pod.Namespace, parts[0])
		}
		canonical = short + "." + clusterDomain
	case 3:
		found = try(parts[1], parts[2], parts[0])
		canonical = short + "." + clusterDomain
	}
	if len(found) == 0 {
		return nil, full, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return found, canonical, nil
}

// endpoints are the addresses behind a Service that take traffic, or that of
// one host of a headless one.
func (v View) endpoints(s *v1.Service, host string) []string {
	slices, err := v.network.Slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return nil
	}
	var found []string
	for _, slice := range slices {
		for _, e := range slice.Endpoints {
			if host != "" && (e.Hostname == nil || *e.Hostname != host) {
				continue
			}
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			found = append(found, e.Addresses...)
		}
	}
	return found
}

// reach follows an address to what listens there.
func (v View) reach(host string, port int) (container.Listener, error) {
	addresses, _, err := v.Lookup(host)
	if err != nil {
		return container.Listener{}, err
	}
	address := addresses[0]
	if len(addresses) > 1 {
		address = addresses[v.network.turn.Add(1)%uint64(len(addresses))]
	}
	if l, ok := v.listening(address, port); ok {
		return l, nil
	}
	services, err := v.network.Services.List(labels.Everything())
	if err != nil {
		return container.Listener{}, err
	}
	for _, s := range services {
		if s.Spec.ClusterIP != address {
			continue
		}
		for _, sp := range s.Spec.Ports {
			if int(sp.Port) != port {
				continue
			}
			l, ok := v.behind(s, sp)
			if !ok {
				return container.Listener{}, refused(address, port)
			}
			return l, nil
		}
	}
	return container.Listener{}, refused(address, port)
}

// behind picks an endpoint of a Service's port, one after the other.
func (v View) behind(s *v1.Service, sp v1.ServicePort) (container.Listener, bool) {
	slices, err := v.network.Slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return container.Listener{}, false
	}
	type target struct {
		address string
		port    int
	}
	var ready []target
	for _, slice := range slices {
		for _, ep := range slice.Ports {
			if ep.Port == nil || ep.Name != nil && *ep.Name != sp.Name {
				continue
			}
			for _, e := range slice.Endpoints {
				if e.Conditions.Ready == nil || *e.Conditions.Ready {
					for _, a := range e.Addresses {
						ready = append(ready, target{a, int(*ep.Port)})
					}
				}
			}
		}
	}
	if len(ready) == 0 {
		return container.Listener{}, false
	}
	t := ready[int(v.network.turn.Add(1)%uint64(len(ready)))]
	return v.network.Listening(t.address, t.port)
}

// listening returns what listens at an address, as the Pod sees it.
func (v View) listening(address string, port int) (container.Listener, bool) {
	if address == "127.0.0.1" || address == "::1" || address == v.pod.IP {
		return v.pod.Listening(port)
	}
	return v.network.Listening(address, port)
}

// Dial reports whether something listens.
func (v View) Dial(_ context.Context, host string, port int) error {
	if v.isAPI(host, port) {
		return nil
	}
	_, err := v.reach(host, port)
	return err
}

// RoundTrip brings a request to what listens at its address.
func (v View) RoundTrip(r *http.Request) (*http.Response, error) {
	host, text, err := net.SplitHostPort(r.URL.Host)
	if err != nil {
		host, text = r.URL.Host, "80"
		if r.URL.Scheme == "https" {
			text = "443"
		}
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	if r.URL.Scheme == "https" && v.isAPI(host, port) {
		if err := coreutils.CheckAuthority(r, v.authority); err != nil {
			return nil, err
		}
		to := r.Clone(r.Context())
		to.URL.Scheme, to.URL.Host = "http", "in-process"
		to.Header.Set("Kubetab-Client", "pod") // as requestlog.FromPod
		return v.network.API.RoundTrip(to)
	}
	l, err := v.reach(host, port)
	if err != nil {
		return nil, err
	}
	if l.HTTP == nil {
		return nil, fmt.Errorf("read tcp %s: connection reset by peer", net.JoinHostPort(host, text))
	}
	return play(l.HTTP, r, v.pod.IP)
}

// authority is that of the API server's certificate, as Pods find it.
func (v View) authority() ([]byte, error) {
	m, err := v.network.ConfigMaps.ConfigMaps(v.pod.Namespace).Get("kube-root-ca.crt")
	if err != nil {
		return nil, err
	}
	return []byte(m.Data["ca.crt"]), nil
}

// isAPI reports whether the API server listens at a host's port: it is behind a
// Service without a Pod.
func (v View) isAPI(host string, port int) bool {
	if v.network.API == nil {
		return false
	}
	s, err := v.network.Services.Services(metav1.NamespaceDefault).Get("kubernetes")
	if err != nil {
		return false
	}
	addresses, _, err := v.Lookup(host)
	if err != nil || len(addresses) == 0 {
		return false
	}
	return slices.ContainsFunc(s.Spec.Ports, func(p v1.ServicePort) bool {
		return addresses[0] == s.Spec.ClusterIP && port == int(p.Port) ||
			addresses[0] == ControlPlane().String() && port == p.TargetPort.IntValue()
	})
}

// play lets a handler answer a request, without a connection.
func play(h http.Handler, r *http.Request, from string) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = from + ":40000"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &answer{header: http.Header{}}
	h.ServeHTTP(w, in)
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// answer collects what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
