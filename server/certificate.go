package server

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	servingLife   = 365 * 24 * time.Hour
	// renewBefore is how long before its end a certificate is replaced.
	renewBefore = 30 * 24 * time.Hour
	// clockSkew is how far a client's clock may be behind ours.
	clockSkew = time.Hour
)

// newAuthority returns a self-signed certificate authority for key.
func newAuthority(key crypto.Signer, now time.Time) (*x509.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// The serial number keeps two authorities apart in a trust store that holds both.
		Subject:               pkix.Name{CommonName: "kubetab-ca", SerialNumber: serial.Text(16)},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	return sign(template, template, key.Public(), key)
}

// newServingCertificate returns a certificate of ca for hosts, each a DNS name or an IP address.
func newServingCertificate(ca *x509.Certificate, caKey, key crypto.Signer, hosts []string, now time.Time) (*x509.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	end := now.Add(servingLife)
	if end.After(ca.NotAfter) {
		end = ca.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "kube-apiserver"},
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     end,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return sign(template, ca, key.Public(), caKey)
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

// fits tells whether cert may go on serving: signed by ca, for all of hosts, and not about to expire.
func fits(cert, ca *x509.Certificate, hosts []string, now time.Time) bool {
	for _, host := range hosts {
		if cert.VerifyHostname(host) != nil {
			return false
		}
	}
	return cert.CheckSignatureFrom(ca) == nil && now.Before(cert.NotAfter.Add(-renewBefore))
}

func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
}

// Hosts returns the names and addresses a client may reach the API by, for the serving certificate: those of the
// machine itself, of the `kubernetes` Service inside a cluster (with its address serviceIP), the host part of listen,
// and extra. A listen address that stands for all interfaces adds the addresses of all interfaces and the host name.
func Hosts(listen, serviceIP string, extra []string) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", serviceIP}
	host, _, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		if name, err := os.Hostname(); err == nil {
			hosts = append(hosts, strings.ToLower(name))
		}
		addresses, _ := net.InterfaceAddrs() // without them the names above still work
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
				hosts = append(hosts, n.IP.String())
			}
		}
	} else if err == nil {
		hosts = append(hosts, host)
	}
	seen, unique := map[string]bool{"": true}, hosts[:0]
	for _, h := range append(hosts, extra...) {
		if !seen[h] {
			seen[h] = true
			unique = append(unique, h)
		}
	}
	return unique
}
