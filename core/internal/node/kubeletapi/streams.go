package kubeletapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/network"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

const (
	streamIdle     = 4 * time.Hour // upstream's streamingConnectionIdleTimeout
	streamCreation = 30 * time.Second
	// lateAttach is how long a container that has ended can still be attached to.
	// The client gets what nobody has read, and the attach succeeds. Upstream refuses at once.
	// kubectl run then prints a warning, and once more those lines of the log that
	// are from the second in which it had read the log: the log's sinceTime has
	// whole seconds. A slow kubectl attaches seconds after it has read the log. The
	// time is the shortest back-off of a container that crashes.
	lateAttach = 10 * time.Second
)

// session is one exec or attach on a container, in the shape that upstream's
// streaming server calls.
type session struct {
	server *server
	pod    Pod
	run    *container.Container
}

func (s *server) exec(w http.ResponseWriter, r *http.Request) {
	on, options, ok := s.session(w, r, 0)
	if !ok {
		return
	}
	remotecommand.ServeExec(w, r, on, on.pod.Name, on.pod.UID, r.PathValue("container"), r.URL.Query()["command"], options, streamIdle, streamCreation, remotecommand.SupportedStreamingProtocols)
}

func (s *server) attach(w http.ResponseWriter, r *http.Request) {
	on, options, ok := s.session(w, r, lateAttach)
	if !ok {
		return
	}
	remotecommand.ServeAttach(w, r, on, on.pod.Name, on.pod.UID, r.PathValue("container"), options, streamIdle, streamCreation, remotecommand.SupportedStreamingProtocols)
}

// session finds the container that a request names. The container must run, or
// have ended at most late ago. If ok is false the request has been answered, with
// the status and, for attach and exec, the text of upstream's kubelet.
func (s *server) session(w http.ResponseWriter, r *http.Request, late time.Duration) (on session, o *remotecommand.Options, ok bool) {
	p, c, err := s.find(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return session{}, nil, false
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return session{}, nil, false
	}
	if !c.Running && (c.Current == nil || s.Now().Sub(c.EndedAt) >= late) {
		text := fmt.Sprintf("container not found (%q)", r.PathValue("container"))
		if late > 0 {
			text = fmt.Sprintf("container %s not found in pod %s_%s", r.PathValue("container"), r.PathValue("pod"), r.PathValue("namespace"))
		}
		http.Error(w, text, http.StatusInternalServerError)
		return session{}, nil, false
	}
	return session{s, p, c.Current}, options, true
}

// ExecInContainer implements remotecommand.Executor.
func (s session) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader, out, errs io.WriteCloser, tty bool, sizes <-chan remotecommand.TerminalSize, _ time.Duration) error {
	var stdout, stderr io.Writer
	if out != nil {
		stdout = out
	}
	if errs != nil {
		stderr = errs
	}
	var at *terminal.TTY
	if tty {
		at, stderr = container.NewTerminal(), stdout
		defer s.server.resizing(ctx, sizes, at.Resize)()
	}
	code, err := s.run.Exec(ctx, command, in, stdout, stderr, at)
	switch {
	case err != nil:
		return fmt.Errorf("failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: unable to start container process: %w", err)
	case code != 0:
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
	}
	return nil
}

// AttachContainer implements remotecommand.Attacher.
func (s session) AttachContainer(ctx context.Context, _, _, _ string, in io.Reader, out, errs io.WriteCloser, _ bool, sizes <-chan remotecommand.TerminalSize) error {
	defer s.server.resizing(ctx, sizes, s.run.Resize)()
	var stdout, stderr io.Writer
	if out != nil {
		stdout = out
	}
	if errs != nil {
		stderr = errs
	}
	if stderr == nil {
		stderr = stdout // a terminal has one stream
	}
	err := s.run.Attach(ctx, in, stdout, stderr)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// resizing calls set with the sizes of a client's terminal, until ctx ends or stop is called.
func (s *server) resizing(ctx context.Context, sizes <-chan remotecommand.TerminalSize, set func(columns, rows int)) (stop func()) {
	if sizes == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	s.Go(func() {
		for {
			select {
			case size, ok := <-sizes:
				if !ok {
					return
				}
				if size.Width > 0 && size.Height > 0 {
					set(int(size.Width), int(size.Height))
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return cancel
}

func (s *server) forward(w http.ResponseWriter, r *http.Request) {
	p, _, err := s.find(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, forwarder{s, p}, p.Name, p.UID, options, streamIdle, streamCreation, portforward.SupportedProtocols)
}

// forwarder implements portforward.PortForwarder for a Pod's servers.
type forwarder struct {
	server *server
	pod    Pod
}

func (f forwarder) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	l, ok := f.pod.Listening(container.Port{Number: int(port)})
	if !ok || l.HTTP == nil {
		return fmt.Errorf("error forwarding port %d to pod %s, uid : failed to execute portforward in network namespace: failed to connect to localhost:%d inside namespace, IPv4: dial tcp4 127.0.0.1:%d: connect: connection refused", port, f.pod.UID, port, port)
	}
	// A pipe between the stream and the server gives the server the deadlines
	// with which it interrupts its own reads.
	near, far := net.Pipe()
	server := &http.Server{Handler: network.Enter(l.HTTP, "127.0.0.1"), BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = near.Close() })
	defer stop()
	var conn net.Conn = far
	if l.TLS != nil {
		conn = tls.Server(far, &tls.Config{Certificates: []tls.Certificate{*l.TLS}, NextProtos: []string{"http/1.1"}})
	}
	f.server.Go(func() { _ = server.Serve(&oneConn{conn: conn}) }) // ends when the connection does
	f.server.Go(func() {
		_, _ = io.Copy(near, stream)
	})
	_, err := io.Copy(stream, near)
	_ = near.Close()
	if err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}

// oneConn is a listener with one connection. Nothing follows it.
type oneConn struct {
	conn net.Conn
	once sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	var first net.Conn
	l.once.Do(func() { first = l.conn })
	if first != nil {
		return first, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }
