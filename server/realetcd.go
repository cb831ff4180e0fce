package server

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// CheckEtcd waits until one of the etcd client URLs takes a connection, for as long as patience says: an etcd that was
// started together with us needs a moment. Without this the engine would start, and wait for its store for ever. Errors:
// a URL that is none, or nothing listens at any of them, or ctx ends.
func CheckEtcd(ctx context.Context, urls []string, patience time.Duration) error {
	addresses := make([]string, len(urls))
	for i, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("--etcd-servers %s: not a URL such as http://127.0.0.1:2379", raw)
		}
		addresses[i] = u.Host
		if u.Port() == "" {
			addresses[i] = net.JoinHostPort(u.Hostname(), "2379")
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf(
		"--etcd-servers %s: no etcd answers there: start it, or correct the address", strings.Join(urls, ",")))
	defer cancel()
	for {
		for _, address := range addresses {
			conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
			if err == nil {
				return conn.Close()
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
