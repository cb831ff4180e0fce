package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

var testNow = time.Now()

// running is a Frontend that serves a handler of the test, and a client that trusts it.
type running struct {
	url    string
	client *http.Client
	stop   context.CancelFunc // what SIGTERM does
	served chan error
}

func start(t *testing.T, http2 bool, handler http.HandlerFunc) *running {
	t.Helper()
	l, err := Listen("listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := mustOpenKeys(t, "", testNow)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(k.CA())
	var protocols http.Protocols
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, Protocols: &protocols}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{url: "https://" + ClientAddress(l), client: &http.Client{Transport: transport}, stop: stop, served: make(chan error, 1)}
	front := Frontend{API: l, Handler: handler, TLS: TLSConfig(k), DrainTime: 10 * time.Second}
	go func() { r.served <- front.Serve(ctx) }()
	t.Cleanup(func() { stop(); transport.CloseIdleConnections() })
	return r
}

func eachProtocol(t *testing.T, test func(t *testing.T, http2 bool)) {
	t.Run("HTTP/1.1", func(t *testing.T) { test(t, false) })
	t.Run("HTTP/2", func(t *testing.T) { test(t, true) })
}

// A watch handler writes events until its context ends, as upstream's does.
func watchHandler(ended chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "event\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	}
}

func TestShutdownEndsAWatchCleanly(t *testing.T) {
	eachProtocol(t, func(t *testing.T, http2 bool) {
		ended := make(chan struct{})
		r := start(t, http2, watchHandler(ended))
		res, err := r.client.Get(r.url + "/api/v1/pods?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		body := bufio.NewReader(res.Body)
		if line, err := body.ReadString('\n'); line != "event\n" || err != nil {
			t.Fatalf("first event %q, %v", line, err)
		}
		if want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[http2]; res.Proto != want {
			t.Fatalf("%s, want %s", res.Proto, want)
		}
		r.stop()
		// io.EOF from a chunked or framed body is the regular end; a cut connection is io.ErrUnexpectedEOF or a reset.
		if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
			t.Errorf("the stream ended with %q, %v: want its regular end", rest, err)
		}
		<-ended
		if err := <-r.served; err != nil {
			t.Error(err)
		}
	})
}

func TestShutdownLetsARequestFinish(t *testing.T) {
	eachProtocol(t, func(t *testing.T, http2 bool) {
		inside, finish := make(chan struct{}), make(chan struct{})
		r := start(t, http2, func(w http.ResponseWriter, r *http.Request) {
			close(inside)
			select {
			case <-finish:
				io.WriteString(w, "written")
			case <-r.Context().Done():
				io.WriteString(w, "cancelled")
			}
		})
		got := make(chan string)
		go func() {
			res, err := r.client.Post(r.url+"/api/v1/namespaces", "application/json", strings.NewReader("{}"))
			if err != nil {
				got <- err.Error()
				return
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(body)
		}()
		<-inside
		r.stop()
		for { // until the listener is closed, so that the end is certainly under way
			c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "https://"))
			if err != nil {
				break
			}
			c.Close()
		}
		close(finish)
		if body := <-got; body != "written" {
			t.Errorf("the request under way got %q", body)
		}
		if err := <-r.served; err != nil {
			t.Error(err)
		}
	})
}

func TestShutdownHasALimit(t *testing.T) {
	l, err := Listen("listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := mustOpenKeys(t, "", testNow)
	inside, never := make(chan struct{}), make(chan struct{})
	defer close(never)
	ctx, stop := context.WithCancel(context.Background())
	front := Frontend{API: l, TLS: TLSConfig(k), DrainTime: 20 * time.Millisecond, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-never
	})}
	served := make(chan error, 1)
	go func() { served <- front.Serve(ctx) }()
	go func() {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		client.Get("https://" + ClientAddress(l))
	}()
	<-inside
	stop()
	if err := <-served; err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("error %v, want that a request was cut off", err)
	}
}

func TestDrainRefusesWhatComesLate(t *testing.T) {
	d := NewDrain()
	h := d.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") }))
	if res := fetch(h, "GET", "/api"); res.StatusCode != http.StatusOK {
		t.Fatalf("before: status %d", res.StatusCode)
	}
	d.Begin()
	res := fetch(h, "GET", "/api")
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "1" || !strings.Contains(string(body), `"kind":"Status"`) {
		t.Errorf("after: status %d, headers %v, body %s", res.StatusCode, res.Header, body)
	}
}

func TestIsStream(t *testing.T) {
	for target, want := range map[string]bool{
		"/api/v1/pods":                                false,
		"/api/v1/pods?watch=true":                     true,
		"/api/v1/pods?watch=1":                        true,
		"/api/v1/pods?watch":                          true,
		"/api/v1/pods?watch=false":                    false,
		"/api/v1/pods?watch=0":                        false,
		"/api/v1/watch/namespaces/default/pods/a":     true,
		"/api/v1/namespaces/default/pods/watch":       false,
		"/api/v1/namespaces/n/pods/p/log?follow=true": true,
	} {
		r, err := http.NewRequest("GET", target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := isStream(r); got != want {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
}

func TestListenErrorsSayWhatToDo(t *testing.T) {
	l, err := Listen("listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{
		l.Addr().String():  "address in use",
		"127.0.0.1":        "not host:port",
		"192.0.2.1:0":      "not an address of this machine",
		"127.0.0.1:999999": "invalid port",
	} {
		_, err := Listen("http", address)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--http "+address+": ") {
			t.Errorf("%s: error %v, want one with %q", address, err, want)
		}
	}
}

func TestCheckEtcd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx := context.Background()
	if err := CheckEtcd(ctx, []string{"http://127.0.0.1:1", "http://" + l.Addr().String()}, time.Minute); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"127.0.0.1:2379", "unix:///x", "http://"} {
		if err := CheckEtcd(ctx, []string{bad}, time.Minute); err == nil || !strings.Contains(err.Error(), "not a URL") {
			t.Errorf("%s: error %v", bad, err)
		}
	}
	if err := CheckEtcd(ctx, []string{"http://127.0.0.1:1"}, time.Millisecond); err == nil || !strings.Contains(err.Error(), "no etcd answers there") {
		t.Errorf("error %v, want that nobody answers", err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := CheckEtcd(stopped, []string{"http://127.0.0.1:1"}, time.Minute); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}
