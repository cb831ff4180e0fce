package core

import (
	"net"
	"strconv"
	"sync"
)

// addressListener is a listener that has an address and never a connection.
// Upstream's generic API server wants one: it reads the port from it, and its
// run loop, which also owns graceful termination, serves on it.
type addressListener struct {
	addr   net.Addr
	closed chan struct{}
	once   sync.Once
}

// newAddressListener returns a listener for host:port. A host that is no IP
// address becomes 10.0.0.1, since upstream asks for an IP.
func newAddressListener(hostport string) *addressListener {
	addr := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 6443}
	if host, port, err := net.SplitHostPort(hostport); err == nil {
		if ip := net.ParseIP(host); ip != nil {
			addr.IP = ip
		}
		if p, err := strconv.ParseUint(port, 10, 16); err == nil {
			addr.Port = int(p)
		}
	}
	return &addressListener{addr: addr, closed: make(chan struct{})}
}

// Accept blocks until Close and then returns net.ErrClosed.
func (l *addressListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l *addressListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *addressListener) Addr() net.Addr { return l.addr }
