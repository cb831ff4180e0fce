package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/test/bufconn"
)

const connBuffer = 64 << 10 // bytes in flight on a connection in memory

// Listener is a listener in memory. Its connections know the address that their client
// has dialled: it is their local address.
type Listener struct {
	*bufconn.Listener
	open connections
}

// Listen returns a listener that accepts connections of DialAddress.
func Listen() *Listener { return &Listener{Listener: bufconn.Listen(connBuffer)} }

// DialAddress connects to the listener as to an address, host:port. It fails when ctx ends
// first and when the listener is closed.
func (l *Listener) DialAddress(ctx context.Context, address string) (net.Conn, error) {
	conn, err := l.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	// The first thing on a connection is the address that was dialled.
	if _, err := fmt.Fprintf(conn, "%s\n", address); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &addressedConn{Conn: conn, address: dialled(address)}, nil
}

// Hangup closes the connections that were accepted, those as well that an HTTP server no
// longer knows because they have been upgraded.
func (l *Listener) Hangup() { l.open.close() }

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

// Accept waits for a connection. It fails when the listener is closed.
func (l *Listener) Accept() (net.Conn, error) {
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
		accepted := &addressedConn{Conn: conn, address: dialled(address), open: &l.open}
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

// WithAddress is an http.Server's ConnContext, for DialledAddress.
func WithAddress(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, addressKey{}, c.LocalAddr().String())
}

// DialledAddress returns the host and the port that the client of a request has dialled,
// which are zero on a server without WithAddress.
func DialledAddress(r *http.Request) (host string, port int) {
	address, _ := r.Context().Value(addressKey{}).(string)
	host, text, _ := net.SplitHostPort(address)
	port, _ = strconv.Atoi(text)
	return host, port
}
