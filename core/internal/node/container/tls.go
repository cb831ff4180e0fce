package container

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// certificate reads a certificate and its key from files of the container. It fails as the file system and
// tls.X509KeyPair do.
func (c *Container) certificate(certificate, key string) (*tls.Certificate, error) {
	chain, err := c.readFile(certificate)
	if err != nil {
		return nil, err
	}
	secret, err := c.readFile(key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// readFile returns what is in a file. It fails in the words of package os on Linux.
func (c *Container) readFile(name string) ([]byte, error) {
	data, err := c.tree().ReadFile(coreutils.Absolute("/", name))
	if err != nil {
		return nil, fmt.Errorf("open %s: %s", name, strings.ToLower(coreutils.Reason(err)))
	}
	return data, nil
}

// Chain returns the certificates with which the listener says who it is, its own first; none without TLS.
func (l Listener) Chain() []*x509.Certificate {
	if l.TLS == nil {
		return nil
	}
	var all []*x509.Certificate
	for _, der := range l.TLS.Certificate {
		one, err := x509.ParseCertificate(der)
		if err != nil {
			return nil
		}
		all = append(all, one)
	}
	return all
}

// secured returns listeners like listen's, with TLS.
func secured(ports map[int]Listener, certificate *tls.Certificate) map[int]Listener {
	for port, l := range ports {
		l.TLS = certificate
		ports[port] = l
	}
	return ports
}
