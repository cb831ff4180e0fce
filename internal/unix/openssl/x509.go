package openssl

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

var x509Command = command{
	usage: "x509 [options]",
	flags: "noout text subject issuer dates startdate enddate serial fingerprint pubkey email modulus ocsp_uri req CAcreateserial x509toreq clrext",
	values: "in inform out outform ext checkend checkhost checkip checkemail nameopt CA CAkey CAserial CAform CAkeyform set_serial days extfile " +
		"extensions copy_extensions signkey key keyform subj passin",
	digest: true, do: certificates,
}

// certificates is `openssl x509`: it shows a certificate, or signs one.
func certificates(r *run) error {
	style, err := r.nameStyle()
	if err != nil {
		return err
	}
	c, err := r.certificateToShow()
	if err != nil {
		return err
	}
	if r.has("x509toreq") {
		return r.toRequest(c)
	}
	if err := r.show(c, style); err != nil {
		return err
	}
	if r.has("checkend") {
		return r.checkEnd(c)
	}
	for _, o := range r.given {
		r.out.WriteString(check(c, o))
	}
	if r.has("noout") {
		return nil
	}
	return r.put(certificateBlock(c.Raw))
}

// certificateToShow returns the certificate of -in, or the one that is signed.
func (r *run) certificateToShow() (*x509.Certificate, error) {
	if r.has("req", "CA", "signkey", "key") && !r.has("x509toreq") {
		der, err := r.issue()
		if err != nil {
			return nil, err
		}
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, saidf("Unable to make a certificate: %w", err)
		}
		return c, nil
	}
	c, err := r.readCertificate(r.value("in"), "certificate")
	if err != nil {
		return nil, fmt.Errorf("%w\nUnable to load certificate", err)
	}
	return c, nil
}

// show prints what the options ask for, in their order.
func (r *run) show(c *x509.Certificate, style nameStyle) error {
	wanted := r.wanted()
	for i, o := range wanted {
		if slices.ContainsFunc(wanted[i+1:], func(later option) bool { return later.name == o.name }) {
			continue // the last place counts
		}
		switch o.name {
		case "text":
			r.out.WriteString(certificateText(c, style))
		case "subject":
			fmt.Fprintf(&r.out, "subject=%s\n", style.text(c.RawSubject))
		case "issuer":
			fmt.Fprintf(&r.out, "issuer=%s\n", style.text(c.RawIssuer))
		case "serial":
			fmt.Fprintf(&r.out, "serial=%X\n", serialBytes(c.SerialNumber))
		case "startdate":
			fmt.Fprintf(&r.out, "notBefore=%s\n", timeText(c.NotBefore))
		case "enddate":
			fmt.Fprintf(&r.out, "notAfter=%s\n", timeText(c.NotAfter))
		case "fingerprint":
			r.fingerprint(c)
		case "email":
			r.emails(c)
		case "ocsp_uri":
			for _, address := range c.OCSPServer {
				fmt.Fprintln(&r.out, address)
			}
		case "modulus":
			if key, is := c.PublicKey.(*rsa.PublicKey); is {
				fmt.Fprintf(&r.out, "Modulus=%X\n", key.N)
			} else {
				fmt.Fprint(&r.out, "Modulus=No modulus for this public key type\n")
			}
		case "pubkey":
			b, err := publicBlock(c.PublicKey)
			if err != nil {
				return fmt.Errorf("Error getting public key\n%w", err)
			}
			r.out.Write(pem.EncodeToMemory(b))
		case "ext":
			r.showExtensions(c, o.value)
		}
	}
	return nil
}

// wanted returns the options that were given, with what -dates is short for.
func (r *run) wanted() []option {
	var all []option
	for _, o := range r.given {
		if o.name == "dates" {
			all = append(all, option{name: "startdate"}, option{name: "enddate"})
		} else {
			all = append(all, o)
		}
	}
	return all
}

// fingerprint prints the digest of the certificate: SHA-1 unless another is asked for.
func (r *run) fingerprint(c *x509.Certificate) {
	name, digest := "SHA1", "sha1"
	if r.digest != "" {
		name, digest = r.digest, r.digest
	}
	h := digests[digest].new()
	h.Write(c.Raw)
	fmt.Fprintf(&r.out, "%s Fingerprint=%s\n", name, colons(h.Sum(nil)))
}

// emails prints the addresses of the subject and of the alternative names, each once.
func (r *run) emails(c *x509.Certificate) {
	var all []string
	n, _ := decodeName(c.RawSubject) // crypto/x509 has read it
	for _, e := range n {
		if e.oid.Equal(oidEmail) {
			all = append(all, e.value)
		}
	}
	for _, address := range append(all, c.EmailAddresses...) {
		if at := slices.Index(all, address); at < 0 {
			all = append(all, address)
		}
	}
	for _, address := range all {
		fmt.Fprintln(&r.out, address)
	}
}

// showExtensions prints the extensions that names lists, in the order that the certificate has.
func (r *run) showExtensions(c *x509.Certificate, names string) {
	wanted := strings.Split(names, ",")
	shown := 0
	for _, e := range c.Extensions {
		for _, known := range extensions {
			if known.oid.Equal(e.Id) && slices.Contains(wanted, known.short) {
				r.out.WriteString(extensionText(e))
				shown++
			}
		}
	}
	if shown == 0 {
		fmt.Fprintln(r.Stderr, "No extensions in certificate")
	}
}

// checkEnd says whether the certificate expires within so many seconds. The status is 1 if it does.
func (r *run) checkEnd(c *x509.Certificate) error {
	seconds, err := r.number("checkend", 0)
	if err != nil {
		return err
	}
	if r.System.Clock().Now().Add(time.Duration(seconds) * time.Second).After(c.NotAfter) {
		r.out.WriteString("Certificate will expire\n")
		return status(1)
	}
	r.out.WriteString("Certificate will not expire\n")
	return nil
}

// check says whether the certificate is for a name or an address, and nothing for other options.
func check(c *x509.Certificate, o option) string {
	kind, matches := "", false
	switch o.name {
	case "checkhost":
		kind, matches = "Hostname", matchesHost(c, o.value)
	case "checkip":
		kind = "IP"
		if _, err := netip.ParseAddr(o.value); err == nil {
			matches = c.VerifyHostname(o.value) == nil
		}
	case "checkemail":
		kind, matches = "Email", slices.Contains(c.EmailAddresses, o.value)
	default:
		return ""
	}
	not := "does"
	if !matches {
		not = "does NOT"
	}
	return fmt.Sprintf("%s %s %s match certificate\n", kind, o.value, not)
}

// matchesHost reports whether the certificate is for a host. As with OpenSSL the common name counts where there is no DNS name.
func matchesHost(c *x509.Certificate, host string) bool {
	if len(c.DNSNames) > 0 {
		_, err := netip.ParseAddr(host)
		return err != nil && c.VerifyHostname(host) == nil
	}
	named := x509.Certificate{DNSNames: []string{c.Subject.CommonName}}
	return named.VerifyHostname(host) == nil
}
