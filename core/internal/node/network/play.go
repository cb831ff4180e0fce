package network

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

// play lets a handler answer a request, without a connection.
func play(h http.Handler, r *http.Request, from string) (response *http.Response, err error) {
	defer func() {
		if aborted := recover(); aborted == http.ErrAbortHandler {
			response, err = nil, fmt.Errorf("read tcp %s: connection reset by peer", r.URL.Host)
		} else if aborted != nil {
			panic(aborted)
		}
	}()
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if r.URL.Scheme == "https" {
		in.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: r.URL.Hostname()}
	}
	w := &answer{header: http.Header{}}
	Enter(h, from).ServeHTTP(w, in)
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// Enter lets a handler answer requests of a client at an address. What the terminal's requests bear is for the page's list of
// requests, and for the network behind the simulated one: no server in the cluster sees it.
func Enter(h http.Handler, from string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Kubetab-Client") != "" {
			r.Header.Del("Kubetab-Client")
			r.Header.Del("Connection")
		}
		r.RemoteAddr = net.JoinHostPort(from, clientPort)
		h.ServeHTTP(w, r)
	})
}

// answer collects what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}
