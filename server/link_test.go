package server_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// link is a network between a client and a server that can be cut: a TCP proxy. While it is cut, a connection ends as soon
// as it has begun. The link keeps its address meanwhile: one that is given up may be another's a moment later.
type link struct {
	address string // where the client connects

	mu     sync.Mutex
	target string
	isCut  bool
	conns  map[net.Conn]bool
}

func newLink(t *testing.T, api string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{address: listener.Addr().String(), conns: map[net.Conn]bool{}}
	l.mend(api)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go l.carry(client)
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		l.cut()
	})
	return l
}

// mend leads connections to the server with the URL api.
func (l *link) mend(api string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target, l.isCut = strings.TrimPrefix(api, "https://"), false
}

// cut ends all connections, and those that begin.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for c := range l.conns {
		c.Close()
	}
}

func (l *link) carry(client net.Conn) {
	l.mu.Lock()
	target, isCut := l.target, l.isCut
	l.mu.Unlock()
	if isCut {
		client.Close()
		return
	}
	server, err := net.Dial("tcp", target)
	if err != nil {
		client.Close()
		return
	}
	l.mu.Lock()
	l.conns[client], l.conns[server] = true, true
	if l.isCut { // meanwhile
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
