package openssl

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// readCertificate returns the first certificate of a file. what is its name in messages. The errors are those of find and of
// crypto/x509.
func (r *run) readCertificate(name, what string) (*x509.Certificate, error) {
	b, err := r.find(name, what, pemCertificate, "X509 CERTIFICATE", "TRUSTED CERTIFICATE")
	if err != nil {
		return nil, err
	}
	c, err := x509.ParseCertificate(b.Bytes)
	if err != nil {
		return nil, unreadable(what, name, err)
	}
	return c, nil
}

// readRequest returns the request of a file. The errors are those of find and of crypto/x509.
func (r *run) readRequest(name string) (*x509.CertificateRequest, error) {
	b, err := r.find(name, "certificate request", pemRequest, "NEW CERTIFICATE REQUEST")
	if err != nil {
		return nil, fmt.Errorf("%w\nUnable to load X509 request", err)
	}
	c, err := x509.ParseCertificateRequest(b.Bytes)
	if err != nil {
		return nil, unreadable("certificate request", name, err)
	}
	return c, nil
}

// certificateText shows a certificate as -text does.
func certificateText(c *x509.Certificate, style nameStyle) string {
	var b strings.Builder
	algorithm := outer(c.Raw).Algorithm.Algorithm
	fmt.Fprintf(&b, "Certificate:\n    Data:\n        Version: %d (0x%x)\n", c.Version, c.Version-1)
	b.WriteString("        Serial Number:" + serialText(c.SerialNumber))
	fmt.Fprintf(&b, "        Signature Algorithm: %s\n", signatureName(algorithm))
	fmt.Fprintf(&b, "        Issuer: %s\n", style.text(c.RawIssuer))
	fmt.Fprintf(&b, "        Validity\n            Not Before: %s\n            Not After : %s\n", timeText(c.NotBefore), timeText(c.NotAfter))
	fmt.Fprintf(&b, "        Subject: %s\n", style.text(c.RawSubject))
	b.WriteString(subjectKeyText(c.RawSubjectPublicKeyInfo, c.PublicKey))
	if len(c.Extensions) > 0 {
		b.WriteString("        X509v3 extensions:\n" + extensionsText(c.Extensions, 12))
	}
	b.WriteString(signatureText(algorithm, c.Signature))
	return b.String()
}

// requestText shows a request as -text does.
func requestText(c *x509.CertificateRequest, style nameStyle) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Certificate Request:\n    Data:\n        Version: %d (0x%x)\n", c.Version+1, c.Version)
	fmt.Fprintf(&b, "        Subject: %s\n", style.text(c.RawSubject))
	b.WriteString(subjectKeyText(c.RawSubjectPublicKeyInfo, c.PublicKey))
	b.WriteString("        Attributes:\n" + attributesText(c))
	b.WriteString("            Requested Extensions:\n" + extensionsText(c.Extensions, 16))
	b.WriteString(signatureText(outer(c.Raw).Algorithm.Algorithm, c.Signature))
	return b.String()
}

// attributesText shows the attributes of a request which are not extensions, and says if there is none at all.
func attributesText(c *x509.CertificateRequest) string {
	var body requestBody
	if err := decode(c.RawTBSCertificateRequest, &body); err != nil || len(body.Attributes) == 0 {
		return "            (none)\n"
	}
	var b strings.Builder
	for _, raw := range body.Attributes {
		var a requestAttribute
		if err := decode(raw.FullBytes, &a); err != nil || a.OID.Equal(oidExtensionRequest) {
			continue
		}
		for _, v := range a.Values {
			fmt.Fprintf(&b, "            %-25s:%s\n", attributeOf(a.OID).long, plain([]byte(decodeString(v))))
		}
	}
	return b.String()
}

// outer returns what is around a certificate or a request, which has been parsed before.
func outer(der []byte) signed {
	var s signed
	_, _ = asn1.Unmarshal(der, &s) // crypto/x509 has read it
	return s
}

// subjectKeyText shows a public key within a certificate.
func subjectKeyText(der []byte, key any) string {
	var v struct {
		Algorithm pkix.AlgorithmIdentifier
		Bits      asn1.BitString
	}
	_, _ = asn1.Unmarshal(der, &v) // crypto/x509 has read it
	algorithm := v.Algorithm.Algorithm.String()
	if name := keyAlgorithms[algorithm]; name != "" {
		algorithm = name
	}
	return fmt.Sprintf("        Subject Public Key Info:\n            Public Key Algorithm: %s\n", algorithm) + indent(keyText(key), 16)
}

func signatureText(algorithm asn1.ObjectIdentifier, value []byte) string {
	return fmt.Sprintf("    Signature Algorithm: %s\n    Signature Value:\n", signatureName(algorithm)) + hexLines(value, "        ", 18)
}

// serialText shows a serial number behind its name: small ones in the same line, others in the next.
func serialText(n *big.Int) string {
	if n.IsInt64() {
		return fmt.Sprintf(" %d (0x%x)\n", n, n)
	}
	return "\n            " + strings.ToLower(colons(serialBytes(n))) + "\n"
}

// timeText shows a time as OpenSSL does.
func timeText(t time.Time) string { return t.UTC().Format("Jan _2 15:04:05 2006 GMT") }

// certificateBlock is a certificate for PEM.
func certificateBlock(der []byte) *pem.Block { return &pem.Block{Type: pemCertificate, Bytes: der} }
