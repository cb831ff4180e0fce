package network

import (
	"errors"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// net/http interrupts its own read with a deadline before it hands a connection
// over to an upgraded protocol, and takes it back at once.
func TestADeadlineThatIsTakenBackEndsNoConnection(t *testing.T) {
	listener := Listen()
	defer listener.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	client, err := listener.DialAddress(t.Context(), "172.18.0.2:10250")
	if err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	defer client.Close()
	defer server.Close()
	if address := server.LocalAddr().String(); address != "172.18.0.2:10250" {
		t.Fatalf("the client has dialled %s", address)
	}
	for i := range 5000 {
		for _, deadline := range []time.Time{time.Unix(1, 0), {}} {
			if err := server.SetDeadline(deadline); err != nil {
				t.Fatal(err)
			}
		}
		read := make(chan error, 1)
		go func() {
			_, err := server.Read(make([]byte, 1))
			read <- err
		}()
		runtime.Gosched() // time for a timer to ring
		if _, err := client.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := <-read; err != nil {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	if err := server.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("with a deadline that has passed: %v", err)
	}
}
