package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Frontend is the two listeners of a server and what stands behind them. Page and Site may be nil: no page is served.
type Frontend struct {
	API     net.Listener // plain TCP; Serve puts TLS on it
	Handler http.Handler // of the API
	TLS     *tls.Config  // see [Keys.ServingCertificate]

	Page net.Listener // plain HTTP
	Site http.Handler

	// DrainTime is how long requests may go on after the end was asked for; 0 means 10 s.
	DrainTime time.Duration
	// ErrorLog gets what net/http has to say about single connections, such as a failed TLS handshake. Nil drops it.
	ErrorLog *log.Logger
}

// Serve serves until ctx ends and then stops in order: no new connections, the end of every watch, the rest of the
// requests under way. It returns nil when all requests came to their end, in which case the engine behind Handler may
// be closed. Errors: a listener failed, or requests were still under way after DrainTime and were cut off.
func (f *Frontend) Serve(ctx context.Context) error {
	drain := NewDrain()
	logger := f.ErrorLog
	if logger == nil {
		logger = log.New(io.Discard, "", 0)
	}
	// The limits are kube-apiserver's (k8s.io/apiserver/pkg/server.SecureServingInfo.Serve).
	api := &http.Server{
		Handler:           drain.Handler(Gather(f.Handler)),
		TLSConfig:         f.TLS,
		MaxHeaderBytes:    1 << 20,
		IdleTimeout:       90 * time.Second,
		ReadHeaderTimeout: 32 * time.Second,
		ErrorLog:          logger,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          1000,
			MaxReceiveBufferPerStream:     256 << 10,
			MaxReceiveBufferPerConnection: 256 << 10 * 100,
		},
	}
	servers := []*http.Server{api}
	failed := make(chan error, 2)
	go func() { failed <- api.ServeTLS(f.API, "", "") }()
	if f.Page != nil {
		page := &http.Server{
			Handler:           f.Site,
			MaxHeaderBytes:    64 << 10,
			IdleTimeout:       90 * time.Second,
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          logger,
		}
		servers = append(servers, page)
		go func() { failed <- page.Serve(f.Page) }()
	}

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-failed:
	}

	drainTime := f.DrainTime
	if drainTime == 0 {
		drainTime = 10 * time.Second
	}
	limit, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	// First the drain: it refuses what still comes in, so that a client whose watch has just ended does not start the
	// next one on the same connection. Shutdown closes the listeners and tells HTTP/2 clients to go away.
	drain.Begin()
	var wait sync.WaitGroup
	cut := make(chan error, len(servers))
	for _, s := range servers {
		wait.Go(func() {
			if err := s.Shutdown(limit); err != nil {
				s.Close()
				cut <- fmt.Errorf("requests still under way after %v were cut off", drainTime)
			}
		})
	}
	wait.Wait()
	close(cut)
	if failure != nil && !errors.Is(failure, http.ErrServerClosed) {
		return failure
	}
	return <-cut
}

// TLSConfig returns the settings of the API's listener: the serving certificate of k, HTTP/2 and HTTP/1.1, TLS 1.2 or
// newer, and client certificates where a client has one. They are verified by the engine's authenticator and not here,
// so that a client with an unknown one gets 401 and not a broken handshake, as with kube-apiserver.
func TLSConfig(k *Keys) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: k.ServingCertificate,
		ClientAuth:     tls.RequestClientCert,
	}
}
