package server

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Listen opens the TCP address host:port; port 0 is a free one. flag is the name of the flag the address came from,
// for the error, which says what is wrong with the address and what to do: it is in use, not of this machine, below
// 1024 without the right to it, or not host:port at all.
func Listen(flag, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("--%s %s: not host:port, such as 127.0.0.1:6443", flag, address)
	}
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %s: address in use: stop who listens there, or choose another (port 0 picks a free one)", flag, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("--%s %s: not an address of this machine: 127.0.0.1 and 0.0.0.0 always are", flag, address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--%s %s: permission denied: choose a port above 1023", flag, address)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return nil, fmt.Errorf("--%s %s: %w", flag, address, err)
}

// ClientAddress returns the host:port that a client on this machine reaches the listener l by: the loopback address
// where l listens on all interfaces.
func ClientAddress(l net.Listener) string {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return l.Addr().String()
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}
