package node

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/test/bufconn"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kubetab/kubetab/core/node/container"
)

const connBuffer = 64 << 10 // bytes in flight on a connection in memory

// serve answers the connections of the dialer until the returned function is
// called.
func (n *Nodes) serve(ctx context.Context) (stop func()) {
	// Made when first asked for: an engine that is copied has none to share.
	certificate := sync.OnceValues(func() (*tls.Certificate, error) { return selfSigned(n.kubelets) })
	kubelets := bufconn.Listen(connBuffer)
	pods := bufconn.Listen(connBuffer)
	quiet := log.New(io.Discard, "", 0) // clients that go away are no news
	api := &http.Server{
		Handler: n.kubeletAPI(), ErrorLog: quiet,
		TLSConfig: &tls.Config{
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() },
			NextProtos:     []string{"http/1.1"}, // upgrades need HTTP/1.1
		},
		ConnContext: withAddress, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	inside := &http.Server{Handler: http.HandlerFunc(n.servePod), ErrorLog: quiet, ConnContext: withAddress, BaseContext: func(net.Listener) context.Context { return ctx }}
	open := &connections{}
	n.running.Go(func() { _ = api.ServeTLS(addressed{kubelets, open}, "", "") })
	n.running.Go(func() { _ = inside.Serve(addressed{pods, open}) })
	metrics := n.config.Dialer.set(n, func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return nil, err
		}
		listener := pods
		if number == kubeletPort && n.kubeletAt(host) != nil {
			listener = kubelets
		} else if _, _, ok := n.listening(host, number, nil); !ok {
			return nil, fmt.Errorf("dial %s %s: %w", network, address, errRefused)
		}
		conn, err := listener.DialContext(ctx)
		if err != nil {
			return nil, err
		}
		// The first thing on a connection is the address that was dialled.
		if _, err := fmt.Fprintf(conn, "%s\n", address); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return &addressedConn{Conn: conn, address: dialled(address)}, nil
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
		_ = kubelets.Close()
		_ = pods.Close()
		open.close() // those that have been upgraded, too, which the servers no longer know
	}
}

func (n *Nodes) kubeletAt(ip string) *kubelet {
	for _, k := range n.kubelets {
		if k.ip == ip || k.name == ip {
			return k
		}
	}
	return nil
}

// addressed is a listener whose connections begin with the address that the
// client dialled, which becomes their local address.
type addressed struct {
	net.Listener
	open *connections
}

type addressedConn struct {
	net.Conn
	address dialled
	open    *connections // nil at the client's end

	deadline sync.Mutex
	readBy   time.Time // zero: no deadline
}

type dialled string

func (dialled) Network() string  { return "tcp" }
func (d dialled) String() string { return string(d) }

// connections are those that are open.
type connections struct {
	mu  sync.Mutex
	all map[*addressedConn]struct{}
}

func (c *connections) add(conn *addressedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[*addressedConn]struct{}{}
	}
	c.all[conn] = struct{}{}
}

func (c *connections) remove(conn *addressedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, conn)
}

func (c *connections) close() {
	c.mu.Lock()
	all := c.all
	c.all = nil
	c.mu.Unlock()
	for conn := range all {
		_ = conn.Conn.Close() // in memory: nothing to flush
	}
}

func (l addressed) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, err := readLine(conn)
		if err != nil {
			_ = conn.Close() // its client is gone: no reason to serve no others
			continue
		}
		accepted := &addressedConn{Conn: conn, address: dialled(address), open: l.open}
		l.open.add(accepted)
		return accepted, nil
	}
}

// readLine reads up to the end of the line and no further.
func readLine(r io.Reader) (string, error) {
	var line []byte
	var b [1]byte
	for {
		if _, err := r.Read(b[:]); err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[0])
	}
}

// Read makes a deadline look as it does on a socket: temporary. Otherwise TLS
// gives up the connection when net/http hands it over to an upgraded protocol,
// for which it interrupts its own read with a deadline. And only a deadline
// that holds counts: the timer of one that has been taken back may be running
// in bufconn, and would end the upgraded protocol.
func (c *addressedConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
			return n, err
		}
		if c.overdue() {
			return n, os.ErrDeadlineExceeded
		}
	}
}

// overdue reports whether the deadline for reading has passed. If it has not,
// it is set anew, which lets the next read wait.
func (c *addressedConn) overdue() bool {
	c.deadline.Lock()
	defer c.deadline.Unlock()
	if !c.readBy.IsZero() && !time.Now().Before(c.readBy) {
		return true
	}
	_ = c.Conn.SetReadDeadline(c.readBy) // never fails
	return false
}

// SetReadDeadline implements net.Conn.
func (c *addressedConn) SetReadDeadline(t time.Time) error {
	c.deadline.Lock()
	defer c.deadline.Unlock()
	c.readBy = t
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *addressedConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Close closes the connection.
func (c *addressedConn) Close() error {
	if c.open != nil {
		c.open.remove(c)
	}
	return c.Conn.Close()
}

func (c *addressedConn) LocalAddr() net.Addr  { return c.address }
func (c *addressedConn) RemoteAddr() net.Addr { return dialled("10.0.0.1:443") }

type addressKey struct{}

func withAddress(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, addressKey{}, c.LocalAddr().String())
}

func dialledAddress(r *http.Request) (host string, port int) {
	address, _ := r.Context().Value(addressKey{}).(string)
	host, text, _ := net.SplitHostPort(address)
	port, _ = strconv.Atoi(text)
	return host, port
}

// servePod answers a request that the API server proxies to a Pod.
func (n *Nodes) servePod(w http.ResponseWriter, r *http.Request) {
	host, port := dialledAddress(r)
	l, _, ok := n.listening(host, port, nil)
	if !ok || l.HTTP == nil {
		panic(http.ErrAbortHandler) // the connection is reset
	}
	r.RemoteAddr = "10.0.0.1:40000"
	l.HTTP.ServeHTTP(w, r)
}

// selfSigned makes the kubelets' serving certificate. The API server does not
// check it, as by default it does not check those of real ones.
func selfSigned(kubelets []*kubelet) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubelet"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0)}
	for _, k := range kubelets {
		template.DNSNames = append(template.DNSNames, k.name)
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(k.ip))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// kubeletAPI is what a kubelet serves on port 10250, as far as the API server
// and kubectl ask for it.
func (n *Nodes) kubeletAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", n.logs)
	for _, pattern := range []string{"/{namespace}/{pod}/{container}", "/{namespace}/{pod}/{uid}/{container}"} {
		mux.HandleFunc("/exec"+pattern, n.execStream)
		mux.HandleFunc("/attach"+pattern, n.attachStream)
	}
	mux.HandleFunc("/portForward/{namespace}/{pod}", n.forwardStream)
	mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", n.forwardStream)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /pods", n.ofDialled((*kubelet).listPods))
	mux.HandleFunc("GET /runningpods/", n.ofDialled((*kubelet).listPods))
	mux.HandleFunc("GET /stats/summary", n.ofDialled((*kubelet).summary))
	mux.HandleFunc("GET /metrics", n.ofDialled(shows(ownMetrics)))
	mux.HandleFunc("GET /metrics/cadvisor", n.ofDialled(shows(cadvisorMetrics)))
	mux.HandleFunc("GET /metrics/resource", n.ofDialled(shows(resourceMetrics)))
	return mux
}

// ofDialled answers with what the kubelet that the client dialled says of itself.
func (n *Nodes) ofDialled(answer func(*kubelet, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		host, _ := dialledAddress(r)
		k := n.kubeletAt(host)
		if k == nil {
			http.NotFound(w, r)
			return
		}
		answer(k, w, r)
	}
}

// here returns the Pods that the kubelet runs, in the order of their namespaces and names.
func (k *kubelet) here() []*pod {
	k.cluster.mu.Lock()
	var here []*pod
	for _, p := range k.cluster.byUID {
		if p.kubelet == k {
			here = append(here, p)
		}
	}
	k.cluster.mu.Unlock()
	slices.SortFunc(here, func(a, b *pod) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
	})
	return here
}

// listPods answers /pods and /runningpods/.
func (k *kubelet) listPods(w http.ResponseWriter, _ *http.Request) {
	list := v1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []v1.Pod{}}
	for _, p := range k.here() {
		list.Items = append(list.Items, *p.latest())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// find returns the running or last instance of a container, by the names in a
// request's path.
func (n *Nodes) find(r *http.Request) (*pod, *record, error) {
	namespace, name, c := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	obj, err := n.pods.Pods(namespace).Get(name)
	if err != nil {
		return nil, nil, fmt.Errorf("pod %q does not exist", name)
	}
	n.mu.Lock()
	p := n.byUID[obj.UID]
	n.mu.Unlock()
	if p == nil {
		return nil, nil, fmt.Errorf("pod %q not found in pod manager", name)
	}
	if c == "" {
		return p, nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	rec := p.containers[c]
	if rec == nil {
		return nil, nil, fmt.Errorf("container %q not found in pod %q", c, name)
	}
	return p, rec, nil
}

// logs answers GetContainerLogs with the options that upstream's kubelet takes.
func (n *Nodes) logs(w http.ResponseWriter, r *http.Request) {
	var o v1.PodLogOptions
	if err := legacyscheme.ParameterCodec.DecodeParameters(r.URL.Query(), v1.SchemeGroupVersion, &o); err != nil {
		http.Error(w, `{"message": "Unable to decode query."}`, http.StatusBadRequest)
		return
	}
	p, rec, err := n.find(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	p.mu.Lock()
	i, waiting := rec.now, rec.waiting
	if o.Previous {
		// A container that waits for its next run shows the last one either way.
		i = rec.previous
		if rec.now != nil && rec.now.ended != nil && rec.waiting != nil {
			i = rec.now
		}
	}
	p.mu.Unlock()
	full, name := p.name, r.PathValue("container") // not of the spec, which sync may exchange
	switch {
	case o.Previous && (i == nil || i.c == nil):
		http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", name, full), http.StatusBadRequest)
		return
	case i == nil || i.c == nil:
		reason := "ContainerCreating"
		if waiting != nil {
			reason = waiting.Reason
		}
		text := fmt.Sprintf("container %q in pod %q is waiting to start: %s", name, full, reason)
		if reason == "ErrImagePull" || reason == "ImagePullBackOff" {
			text = fmt.Sprintf("container %q in pod %q is waiting to start: %s", name, full, map[string]string{"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}[reason])
		}
		http.Error(w, text, http.StatusBadRequest)
		return
	}
	read := container.ReadOptions{Follow: o.Follow, Timestamps: o.Timestamps, Tail: -1}
	if o.TailLines != nil {
		read.Tail = *o.TailLines
	}
	if o.LimitBytes != nil {
		read.LimitBytes = *o.LimitBytes
	}
	if o.SinceTime != nil {
		read.Since = o.SinceTime.Time
	}
	if o.SinceSeconds != nil {
		read.Since = n.clock.Now().Add(-time.Duration(*o.SinceSeconds) * time.Second)
	}
	if o.Stream != nil && *o.Stream != v1.LogStreamAll {
		read.Stream = container.Stdout
		if *o.Stream == v1.LogStreamStderr {
			read.Stream = container.Stderr
		}
	}
	w.Header().Set("Content-Type", "text/plain")
	out := flushing{w}
	out.flush()
	if err := i.c.Log.Read(r.Context(), out, read); err != nil && !errors.Is(err, context.Canceled) {
		return // the client is gone, or the engine ends: there is nobody to tell
	}
}

// flushing sends each write at once.
type flushing struct{ http.ResponseWriter }

func (f flushing) flush() {
	if flusher, ok := f.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	f.flush()
	return n, err
}
