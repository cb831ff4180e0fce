package node

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

	v1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetab/kubetab/core/coreutils"
	"github.com/kubetab/kubetab/core/node/container"
)

const clusterDomain = "svc.cluster.local"

// network is the cluster's network as a Pod sees it: names of Services, their
// addresses, those of Pods, and the API server. NetworkPolicies do not apply.
type network struct{ pod *pod }

var errRefused = errors.New("connect: connection refused")

func refused(host string, port int) error {
	return fmt.Errorf("dial tcp %s: %w", net.JoinHostPort(host, strconv.Itoa(port)), errRefused)
}

// Lookup answers as the cluster's DNS: Services by name, name.namespace and in
// full, Pods of headless Services by hostname, and addresses as themselves.
func (n network) Lookup(name string) ([]string, string, error) {
	if net.ParseIP(name) != nil {
		return []string{name}, name, nil
	}
	if name == "localhost" || name == hostname(n.pod.latest()) {
		return []string{n.pod.ip}, name, nil
	}
	full := strings.TrimSuffix(name, ".")
	short := strings.TrimSuffix(strings.TrimSuffix(full, "."+clusterDomain), ".svc")
	parts := strings.Split(short, ".")
	try := func(service, namespace, host string) []string {
		s, err := n.pod.cluster.services.Services(namespace).Get(service)
		if err != nil {
			return nil
		}
		if s.Spec.ClusterIP != v1.ClusterIPNone && host == "" {
			return s.Spec.ClusterIPs
		}
		return n.endpoints(s, host)
	}
	var found []string
	canonical := full
	switch len(parts) {
	case 1:
		found = try(parts[0], n.pod.namespace, "")
		canonical = parts[0] + "." + n.pod.namespace + "." + clusterDomain
	case 2:
		if found = try(parts[0], parts[1], ""); found == nil {
			found = try(parts[1], n.pod.namespace, parts[0])
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
func (n network) endpoints(s *v1.Service, host string) []string {
	slices, err := n.pod.cluster.slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
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
func (n network) reach(host string, port int) (container.Listener, *pod, error) {
	addresses, _, err := n.Lookup(host)
	if err != nil {
		return container.Listener{}, nil, err
	}
	address := addresses[0]
	if len(addresses) > 1 {
		address = addresses[n.pod.cluster.turn.Add(1)%uint64(len(addresses))]
	}
	if l, p, ok := n.pod.cluster.listening(address, port, n.pod); ok {
		return l, p, nil
	}
	services, err := n.pod.cluster.services.List(labels.Everything())
	if err != nil {
		return container.Listener{}, nil, err
	}
	for _, s := range services {
		if s.Spec.ClusterIP != address {
			continue
		}
		for _, sp := range s.Spec.Ports {
			if int(sp.Port) != port {
				continue
			}
			l, p, ok := n.behind(s, sp)
			if !ok {
				return container.Listener{}, nil, refused(address, port)
			}
			return l, p, nil
		}
	}
	return container.Listener{}, nil, refused(address, port)
}

// behind picks an endpoint of a Service's port, one after the other.
func (n network) behind(s *v1.Service, sp v1.ServicePort) (container.Listener, *pod, bool) {
	slices, err := n.pod.cluster.slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return container.Listener{}, nil, false
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
		return container.Listener{}, nil, false
	}
	t := ready[int(n.pod.cluster.turn.Add(1)%uint64(len(ready)))]
	return n.pod.cluster.listening(t.address, t.port, nil)
}

// listening returns what listens at a Pod's or node's address.
func (n *Nodes) listening(address string, port int, self *pod) (container.Listener, *pod, bool) {
	if self != nil && (address == "127.0.0.1" || address == "::1" || address == self.ip) {
		l, ok := self.listening(port)
		return l, self, ok
	}
	n.mu.Lock()
	candidates := []*pod{}
	if p := n.byIP[address]; p != nil {
		candidates = append(candidates, p)
	} else {
		for _, p := range n.byUID {
			if p.kubelet.ip == address && p.latest().Spec.HostNetwork {
				candidates = append(candidates, p)
			}
		}
	}
	n.mu.Unlock()
	for _, p := range candidates {
		if l, ok := p.listening(port); ok {
			return l, p, true
		}
	}
	return container.Listener{}, nil, false
}

// listening returns what listens on a port in any of the Pod's containers.
func (p *pod) listening(port int) (container.Listener, bool) {
	for _, c := range p.live() {
		if l, ok := c.Listening(port); ok {
			return l, true
		}
	}
	return container.Listener{}, false
}

// live returns the Pod's containers that run. It needs no lock of sync's: the
// list is replaced, never changed.
func (p *pod) live() []*container.Container {
	list := p.alive.Load()
	if list == nil {
		return nil
	}
	return *list
}

// Dial reports whether something listens.
func (n network) Dial(_ context.Context, host string, port int) error {
	if n.isAPI(host, port) {
		return nil
	}
	_, _, err := n.reach(host, port)
	return err
}

// RoundTrip brings a request to what listens at its address.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
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
	if r.URL.Scheme == "https" && n.isAPI(host, port) {
		if err := coreutils.CheckAuthority(r, n.authority); err != nil {
			return nil, err
		}
		to := r.Clone(r.Context())
		to.URL.Scheme, to.URL.Host = "http", "in-process"
		to.Header.Set("Kubetab-Client", "pod") // for the page's list of requests
		return n.pod.cluster.config.API.RoundTrip(to)
	}
	l, _, err := n.reach(host, port)
	if err != nil {
		return nil, err
	}
	if l.HTTP == nil {
		return nil, fmt.Errorf("read tcp %s: connection reset by peer", net.JoinHostPort(host, text))
	}
	return play(l.HTTP, r, n.pod.ip)
}

// authority is that of the API server's certificate, as Pods find it.
func (n network) authority() ([]byte, error) {
	m, err := n.pod.cluster.configMaps.ConfigMaps(n.pod.namespace).Get("kube-root-ca.crt")
	if err != nil {
		return nil, err
	}
	return []byte(m.Data["ca.crt"]), nil
}

// isAPI reports whether the API server listens at a host's port: it is behind a
// Service without a Pod.
func (n network) isAPI(host string, port int) bool {
	if n.pod.cluster.config.API == nil {
		return false
	}
	s, err := n.pod.cluster.services.Services(metav1.NamespaceDefault).Get("kubernetes")
	if err != nil {
		return false
	}
	addresses, _, err := n.Lookup(host)
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
