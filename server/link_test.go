package server_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// link is a network between a client and a server that can be cut: a TCP proxy. While it is cut, connections are
// refused, as those to a machine that is restarting.
type link struct {
	address string // where the client connects
	target  string

	mu       sync.Mutex
	listener net.Listener // nil while cut
	conns    map[net.Conn]bool
}

func newLink(t *testing.T, api string) *link {
	t.Helper()
	l := &link{address: "127.0.0.1:0", target: strings.TrimPrefix(api, "https://"), conns: map[net.Conn]bool{}}
	l.mend(t)
	t.Cleanup(l.cut)
	return l
}

// mend takes connections again, at the same address.
func (l *link) mend(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	l.listener, l.address = listener, listener.Addr().String()
	l.mu.Unlock()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.carry(client)
		}
	}()
}

// cut ends all connections and takes no more.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		l.listener.Close()
		l.listener = nil
	}
	for c := range l.conns {
		c.Close()
	}
}

func (l *link) carry(client net.Conn) {
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		client.Close()
		return
	}
	l.mu.Lock()
	l.conns[client], l.conns[server] = true, true
	if l.listener == nil { // cut meanwhile
		client.Close()
		server.Close()
	}
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { io.Copy(server, client); server.Close() })
	both.Go(func() { io.Copy(client, server); client.Close() })
	both.Wait()
	l.mu.Lock()
	delete(l.conns, client)
	delete(l.conns, server)
	l.mu.Unlock()
}
