package coreutils

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// httpCommands speak HTTP.
var httpCommands = map[string]func(*Call) int{"wget": wget, "curl": curl}

// Lost words the error of a client whose server is not there, and tells whether
// it is its name that is not known.
func Lost(err error) (dns bool, text string) {
	var d *net.DNSError
	if errors.As(err, &d) {
		return true, d.Name
	}
	return false, err.Error()
}

// advise prints what a program of the name says besides the error of a client, if the error has advice.
func (k *Call) advise(err error) {
	var adviser interface{ Advice() string }
	if errors.As(err, &adviser) {
		fmt.Fprintln(k.Stderr, adviser.Advice())
	}
}

// roundTripper is a System as http.Client wants it.
type roundTripper struct{ System }

// authoritiesKey is the context key of the certificate authorities that the sender of a
// request trusts.
type authoritiesKey struct{}

// trusting returns a context for requests to servers whose certificate one of
// the authorities has signed. authorities are certificates in PEM.
func trusting(ctx context.Context, authorities []byte) context.Context {
	return context.WithValue(ctx, authoritiesKey{}, authorities)
}

// certificatesKey is the context key of the certificates that the sender of a request presents.
type certificatesKey struct{}

// ClientCertificates returns the certificates, its own first, that a client such as curl presents to a server that asks for one.
func ClientCertificates(ctx context.Context) []*x509.Certificate {
	certificates, _ := ctx.Value(certificatesKey{}).([]*x509.Certificate)
	return certificates
}

// Certificates returns the certificates of a client, its own first, from PEM. It fails in the words of crypto/tls: for what is none, and
// where key is another's.
func Certificates(certificate, key []byte) ([]*x509.Certificate, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	for _, der := range pair.Certificate {
		one, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// CheckAuthority takes the place of TLS's check of a server's certificate: a request
// that stays in the process is not encrypted. authority returns the CA that has
// signed the certificate, in PEM. CheckAuthority returns x509.UnknownAuthorityError
// when the sender of r does not trust that CA, nil when the sender trusts it or does
// not check, as with curl -k, and authority's errors.
func CheckAuthority(r *http.Request, authority func() ([]byte, error)) error {
	trusted, minds := r.Context().Value(authoritiesKey{}).([]byte)
	if !minds {
		return nil
	}
	if len(trusted) == 0 {
		return x509.UnknownAuthorityError{}
	}
	signer, err := authority()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for block, rest := pem.Decode(signer); block != nil; block, rest = pem.Decode(rest) {
		known[string(block.Bytes)] = true
	}
	for block, rest := pem.Decode(trusted); block != nil; block, rest = pem.Decode(rest) {
		if known[string(block.Bytes)] {
			return nil
		}
	}
	return x509.UnknownAuthorityError{}
}

// schemed is an address with its scheme: without one it is that of plain HTTP.
func schemed(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return "http://" + address
}

// Request sends a request as curl and wget do: without a scheme the address is
// one of plain HTTP, a limit of zero is none. Errors: an address that is none,
// and what http.Client.Do returns.
func (k *Call) Request(method, address string, body io.Reader, header http.Header, follow bool, limit time.Duration) (*http.Response, error) {
	address = schemed(address)
	ctx := k.Context
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		timer := k.System.Clock().AfterFunc(limit, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if r.URL.Path == "" {
		r.URL.Path = "/"
	}
	for name, values := range header {
		r.Header[name] = values
		if name == "Host" && len(values) > 0 {
			r.Host = values[0]
		}
	}
	client := &http.Client{Transport: roundTripper{k.System}}
	if !follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return client.Do(r)
}

// hostOf returns the host and the port of an address.
func hostOf(address string) string {
	u, err := url.Parse(schemed(address))
	switch {
	case err != nil:
		return address
	case u.Port() != "":
		return u.Host
	case u.Scheme == "https":
		return u.Host + ":443"
	}
	return u.Host + ":80"
}

func addHeader(h http.Header, text string) {
	name, value, ok := strings.Cut(text, ":")
	if ok {
		h[http.CanonicalHeaderKey(strings.TrimSpace(name))] = []string{strings.TrimSpace(value)}
	}
}
