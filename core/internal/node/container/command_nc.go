package container

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

const (
	datagramBytes = 64 << 10 // the most that one datagram carries
	ncRequest     = 8 << 20  // the most of a request that nc sends to a server of HTTP
)

// nc speaks with what listens at a port: requests of HTTP as they are typed, lines to servers that take lines, datagrams.
func nc(k *call) int {
	f := k.Flags("wpisqIOX")
	if f.On['l'] {
		return ncListen(k, f)
	}
	if len(f.Rest) < 2 {
		return k.Fail("missing host and port")
	}
	host := f.Rest[0]
	number, err := strconv.Atoi(f.Rest[1])
	if err != nil {
		return k.Fail("bad port '%s'", f.Rest[1])
	}
	limit, _ := coreutils.ParseDuration(f.Value['w'])
	ctx, cancel := k.within(limit)
	defer cancel()
	port := Port{Number: number, UDP: f.On['u']}
	l, err := k.session.c.cfg.Network.Connect(ctx, host, port)
	if err != nil {
		dns, text := coreutils.Lost(err)
		switch {
		case dns:
			return k.Fail("bad address '%s'", text)
		case isTimeout(err):
			return k.Fail("%s (%s:%d): Connection timed out", host, k.address(host), number)
		case isUnreachable(err) && !port.UDP:
			return k.Fail("%s (%s:%d): No route to host", host, k.address(host), number)
		case port.UDP && !f.On['z']: // nobody is told that a datagram is lost
			return 1
		}
		return k.Fail("%s (%s:%d): Connection refused", host, k.address(host), number)
	}
	if f.On['v'] {
		fmt.Fprintf(k.Stderr, "%s (%s:%d) open\n", host, k.address(host), number)
	}
	if f.On['z'] {
		return 0
	}
	return k.talk(ctx, l, net.JoinHostPort(host, f.Rest[1]))
}

// address is the first address of a host, or the host itself where it has none.
func (k *call) address(host string) string {
	addresses, _, err := k.session.c.cfg.Network.Lookup(k, host)
	if err != nil || len(addresses) == 0 {
		return host
	}
	return addresses[0]
}

// talk speaks with what listens at an address, host:port, until the input ends.
func (k *call) talk(ctx context.Context, l Listener, at string) int {
	switch {
	case l.Datagram != nil:
		return ncDatagrams(k, l)
	case l.Stream != nil:
		l.Stream(ctx, k.Stdin, k.Stdout)
	case l.TLS != nil:
		fmt.Fprint(k.Stdout, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	case l.HTTP != nil:
		return ncHTTP(k, ctx, at)
	}
	return 0
}

// ncDatagrams sends each line of its input, and prints the answers.
func ncDatagrams(k *call, l Listener) int {
	from := net.JoinHostPort(k.session.c.cfg.IP, "40000")
	lines := bufio.NewReaderSize(k.Stdin, datagramBytes)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			if _, err := k.Stdout.Write(l.Datagram(from, line)); err != nil {
				return 1
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0
		}
	}
}

// ncHTTP sends the request that is typed, and prints the answer as it is on the wire.
func ncHTTP(k *call, ctx context.Context, at string) int {
	typed := bufio.NewReader(io.LimitReader(k.Stdin, ncRequest))
	r, err := http.ReadRequest(typed)
	if errors.Is(err, io.EOF) {
		return 0 // nothing was typed
	}
	if err == nil && r.ProtoAtLeast(1, 1) && r.Host == "" {
		err = errors.New("missing required Host header")
	}
	var response *http.Response
	if err == nil {
		r.URL.Scheme, r.URL.Host, r.RequestURI = "http", at, ""
		response, err = k.session.RoundTrip(r.WithContext(ctx))
	}
	if err != nil {
		fmt.Fprint(k.Stdout, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request")
		return 0
	}
	defer response.Body.Close()
	response.Request, response.ProtoMinor, response.Close = r, r.ProtoMinor, true
	response.Header.Set("Date", k.session.Clock().Now().UTC().Format(http.TimeFormat))
	if err := response.Write(k.Stdout); err != nil {
		return 1
	}
	return 0
}

// ncListen prints what is sent to it, and answers with its own input. It ends with the first connection, unless it is to stay.
func ncListen(k *call, f coreutils.Flags) int {
	port := f.Value['p']
	if port == "" && len(f.Rest) > 0 {
		port = f.Rest[len(f.Rest)-1]
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return k.Fail("bad port '%s'", port)
	}
	served := make(chan struct{})
	var once sync.Once
	done := func() {
		if !f.On['k'] {
			once.Do(func() { close(served) })
		}
	}
	var input []byte // what clients are answered with
	read := make(chan struct{})
	k.System.Go(func() {
		input, _ = coreutils.ReadAll(k.Stdin) // of what is too long, nothing is sent
		close(read)
	})
	// answer returns the input when it is there.
	answer := func(ctx context.Context) []byte {
		select {
		case <-read:
			return input
		case <-ctx.Done():
		case <-k.Done():
		}
		return nil
	}
	var one sync.Mutex // connections wait for each other, and for standard output
	l := Listener{Stream: func(ctx context.Context, in io.Reader, out io.Writer) {
		one.Lock()
		defer one.Unlock()
		defer done()
		_, _ = io.Copy(k.Stdout, in) // ends with either
		_, _ = out.Write(answer(ctx))
	}, HTTP: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		defer done()
		_ = r.Write(k.Stdout)
		response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer(r.Context()))), r)
		if err != nil {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		defer response.Body.Close()
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		_, _ = io.Copy(w, response.Body)
	})}
	s := &Server{Ports: map[int]Listener{n: l}}
	if f.On['u'] {
		l = Listener{Datagram: func(_ string, b []byte) []byte {
			one.Lock()
			defer one.Unlock()
			_, _ = k.Stdout.Write(b)
			return nil
		}}
		s = &Server{Datagrams: map[int]Listener{n: l}}
	}
	defer k.session.c.root().serve(s)()
	select {
	case <-served:
		return 0
	case <-k.Done():
		return 143
	}
}
