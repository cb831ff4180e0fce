package node

import (
	"io"
	"net"

	"google.golang.org/grpc/test/bufconn"
)

// Idle reports whether no Pod takes a step or waits for one, and no event waits
// for being written.
func (n *Nodes) Idle() bool {
	return n.queue.Len() == 0 && n.stepping.Load() == 0 && len(n.events.waiting) == 0
}

// Connection returns both ends of a connection to a kubelet.
func Connection() (client, server net.Conn, err error) {
	listener := bufconn.Listen(connBuffer)
	defer listener.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := (addressed{listener, &connections{}}).Accept(); err == nil {
			accepted <- conn
		}
	}()
	conn, err := listener.Dial()
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.WriteString(conn, "172.18.0.2:10250\n"); err != nil {
		return nil, nil, err
	}
	return conn, <-accepted, nil
}
