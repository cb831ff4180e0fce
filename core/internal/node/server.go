package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/kubeletapi"
	"github.com/kubetab/kubetab/core/internal/node/lifecycle"
	"github.com/kubetab/kubetab/core/internal/node/network"
)

// serve answers the connections of the dialer until the returned function is
// called.
func (n *Nodes) serve(ctx context.Context) (stop func()) {
	// Made when first asked for: an engine that is copied has none to share.
	certificate := sync.OnceValues(func() (*tls.Certificate, error) { return kubeletapi.Certificate(n.addresses()) })
	kubelets, pods, secure := network.Listen(), network.Listen(), network.Listen()
	quiet := log.New(io.Discard, "", 0) // clients that go away are no news
	api := &http.Server{
		Handler: n.kubeletAPI(), ErrorLog: quiet,
		TLSConfig: &tls.Config{
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() },
			NextProtos:     []string{"http/1.1"}, // upgrades need HTTP/1.1
		},
		ConnContext: network.WithAddress, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	inside := &http.Server{Handler: http.HandlerFunc(n.servePod), ErrorLog: quiet, ConnContext: network.WithAddress, BaseContext: func(net.Listener) context.Context { return ctx }}
	n.running.Go(func() { _ = api.ServeTLS(kubelets, "", "") })
	secured := &http.Server{
		Handler: inside.Handler, ErrorLog: quiet, ConnContext: network.WithAddress, BaseContext: inside.BaseContext,
		TLSConfig: &tls.Config{GetCertificate: n.certificateOfDialled, NextProtos: []string{"http/1.1"}},
	}
	n.running.Go(func() { _ = inside.Serve(pods) })
	n.running.Go(func() { _ = secured.ServeTLS(secure, "", "") })
	metrics := n.config.Dialer.set(n, func(ctx context.Context, protocol, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return nil, err
		}
		if number == kubeletPort && n.kubeletAt(host) != nil {
			return kubelets.DialAddress(ctx, address)
		}
		to, at, err := n.cluster.Network.Resolve(host, container.Port{Number: number})
		if err != nil {
			return nil, err
		}
		l, ok := hosts{n}.Listening(to, at)
		if !ok {
			return nil, fmt.Errorf("dial %s %s: %w", protocol, address, network.ErrRefused)
		}
		listener := pods
		if l.TLS != nil {
			listener = secure
		}
		return listener.DialAddress(ctx, net.JoinHostPort(to, strconv.Itoa(at.Number)))
	})
	if metrics {
		n.running.Go(func() {
			if err := announceMetrics(ctx, n.config.Client); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "There will be no metrics")
			}
		})
	}
	return func() {
		n.config.Dialer.set(nil, nil)
		_ = api.Close() // connections in memory: nothing to flush
		_ = inside.Close()
		_ = secured.Close()
		for _, l := range []*network.Listener{kubelets, pods, secure} {
			_ = l.Close()
			l.Hangup()
		}
	}
}

// certificateOfDialled returns the certificate of what listens in a Pod at the address that the client has dialled.
func (n *Nodes) certificateOfDialled(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	address := hello.Conn.LocalAddr().String()
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	l, ok := hosts{n}.Listening(host, container.Port{Number: port})
	if !ok || l.TLS == nil {
		return nil, fmt.Errorf("%s: %w", address, network.ErrRefused)
	}
	return l.TLS, nil
}

// addresses returns the names and the addresses of the nodes.
func (n *Nodes) addresses() (names []string, ips []net.IP) {
	for _, k := range n.kubelets {
		names, ips = append(names, k.name), append(ips, net.ParseIP(k.ip))
	}
	return names, ips
}

func (n *Nodes) kubeletAt(ip string) *kubelet {
	for _, k := range n.kubelets {
		if k.ip == ip || k.name == ip {
			return k
		}
	}
	return nil
}

// servePod answers a request that the API server proxies to a Pod.
func (n *Nodes) servePod(w http.ResponseWriter, r *http.Request) {
	host, port := network.DialledAddress(r)
	l, ok := hosts{n}.Listening(host, container.Port{Number: port})
	if !ok || l.HTTP == nil {
		panic(http.ErrAbortHandler) // the connection is reset
	}
	network.Enter(l.HTTP, "10.0.0.1").ServeHTTP(w, r)
}

// kubeletAPI is what all kubelets serve.
func (n *Nodes) kubeletAPI() http.Handler {
	return kubeletapi.New(kubeletapi.Config{Find: n.find, Now: n.clock.Now, Go: n.goWait, Own: map[string]http.Handler{
		"GET /pods":             n.ofDialled((*kubelet).listPods),
		"GET /runningpods/":     n.ofDialled((*kubelet).listPods),
		"GET /stats/summary":    n.ofDialled((*kubelet).summary),
		"GET /metrics":          n.ofDialled(shows(ownMetrics)),
		"GET /metrics/cadvisor": n.ofDialled(shows(cadvisorMetrics)),
		"GET /metrics/resource": n.ofDialled(shows(resourceMetrics)),
	}})
}

// ofDialled answers with what the kubelet that the client dialled says of itself.
func (n *Nodes) ofDialled(answer func(*kubelet, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		host, _ := network.DialledAddress(r)
		k := n.kubeletAt(host)
		if k == nil {
			http.NotFound(w, r)
			return
		}
		answer(k, w, r)
	}
}

// here returns the Pods that the kubelet runs, in the order of their namespaces and names.
func (k *kubelet) here() []*lifecycle.Pod {
	k.cluster.mu.Lock()
	var here []*lifecycle.Pod
	for _, p := range k.cluster.byUID {
		if p.Node == k.host {
			here = append(here, p)
		}
	}
	k.cluster.mu.Unlock()
	slices.SortFunc(here, func(a, b *lifecycle.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return here
}

// listPods answers /pods and /runningpods/.
func (k *kubelet) listPods(w http.ResponseWriter, _ *http.Request) {
	list := v1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []v1.Pod{}}
	for _, p := range k.here() {
		list.Items = append(list.Items, *p.Latest())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// find returns a Pod for the kubelets' API. It fails, in the words of a kubelet, when there
// is none of that name and when it is not on a node.
func (n *Nodes) find(namespace, name string) (kubeletapi.Pod, error) {
	obj, err := n.pods.Pods(namespace).Get(name)
	if err != nil {
		return kubeletapi.Pod{}, fmt.Errorf("pod %q does not exist", name)
	}
	n.mu.Lock()
	p := n.byUID[obj.UID]
	n.mu.Unlock()
	if p == nil {
		return kubeletapi.Pod{}, fmt.Errorf("pod %q not found in pod manager", name)
	}
	return kubeletapi.Pod{Name: p.Name, UID: string(p.UID), Container: p.Container, Listening: expecting(p)}, nil
}
