package coreutils

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
)

// CheckCertificate checks the certificate of a server that r is for as TLS does: chain is the server's, its own first. It
// returns nil for a sender who does not check, as with curl -k, and otherwise what x509.Certificate.Verify and
// VerifyHostname return. A certificate without alternative names is that of its common name, as for OpenSSL.
func CheckCertificate(r *http.Request, chain []*x509.Certificate) error {
	trusted, minds := r.Context().Value(authoritiesKey{}).([]byte)
	if !minds {
		return nil
	}
	if len(chain) == 0 {
		return x509.UnknownAuthorityError{}
	}
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool()}
	options.Roots.AppendCertsFromPEM(trusted)
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	own := chain[0]
	if _, err := own.Verify(options); err != nil {
		return err
	}
	host, ok := r.Context().Value(serverNameKey{}).(string)
	if !ok {
		host = r.URL.Hostname()
	}
	if len(own.DNSNames)+len(own.IPAddresses) == 0 && own.Subject.CommonName == host {
		return nil
	}
	return own.VerifyHostname(host)
}

// serverNameKey is the context key of the name that a server's certificate must have, where it is not that of the address.
type serverNameKey struct{}

// distrusted words why a client does not trust a server's certificate, as OpenSSL and curl do. It is empty for other errors.
func distrusted(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	switch {
	case errors.As(err, &unknown) && unknown.Cert != nil && string(unknown.Cert.RawIssuer) == string(unknown.Cert.RawSubject):
		return "SSL certificate problem: self-signed certificate"
	case errors.As(err, &unknown):
		return "SSL certificate problem: unable to get local issuer certificate"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "SSL certificate problem: certificate has expired"
	case errors.As(err, &invalid):
		return "SSL certificate problem: " + invalid.Error()
	case errors.As(err, &name):
		return "SSL: no alternative certificate subject name matches target host name '" + name.Host + "'"
	}
	return ""
}

// isPlain reports whether a server has answered a client's TLS in plain text.
func isPlain(err error) bool {
	var header tls.RecordHeaderError
	return errors.As(err, &header)
}
