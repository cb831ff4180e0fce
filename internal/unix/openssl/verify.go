package openssl

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

var verifyCommand = command{
	usage: "verify [options] [cert...]", flags: "partial_chain show_chain verbose no-CAfile no-CApath",
	values: "CAfile trusted untrusted nameopt attime verify_hostname", free: true, do: verify,
}

// mostDepth is how many certificates a chain may have.
const mostDepth = 100

// problem is why a certificate does not verify, in OpenSSL's words and numbers.
type problem struct {
	code  int
	depth int // of the certificate in the chain
	text  string
}

// chains is what certificates are verified with.
type chains struct {
	trusted, untrusted []*x509.Certificate
	partial            bool // a trusted certificate need not be a root
	now                time.Time
}

// verify says for each certificate whether a chain leads from it to one of -CAfile. The status is 2 if one does not.
func verify(r *run) error {
	style, err := r.nameStyle()
	if err != nil {
		return err
	}
	with := chains{partial: r.has("partial_chain"), now: r.System.Clock().Now()}
	if r.has("attime") {
		seconds, err := r.number("attime", 0)
		if err != nil {
			return err
		}
		with.now = time.Unix(int64(seconds), 0)
	}
	for _, o := range r.given {
		into := &with.trusted
		switch o.name {
		case "untrusted":
			into = &with.untrusted
		case "CAfile", "trusted":
		default:
			continue
		}
		all, err := r.readCertificates(o.value)
		if err != nil {
			return fmt.Errorf("Error loading file %s\n%w", o.value, err)
		}
		*into = append(*into, all...)
	}
	files := r.rest
	if len(files) == 0 {
		files = []string{""}
	}
	var failed error
	for _, file := range files {
		if !r.verifyOne(file, with, style) {
			failed = status(2)
		}
	}
	return failed
}

// readCertificates returns all certificates of a file. The errors are those of findAll and of crypto/x509.
func (r *run) readCertificates(file string) ([]*x509.Certificate, error) {
	blocks, err := r.findAll(file, "certificate file", pemCertificate, "X509 CERTIFICATE", "TRUSTED CERTIFICATE")
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	for _, b := range blocks {
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, unreadable("certificate file", file, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// verifyOne reports whether the certificate of a file verifies, and prints it.
func (r *run) verifyOne(file string, with chains, style nameStyle) bool {
	c, err := r.readCertificate(file, "certificate file")
	if err != nil {
		fmt.Fprintf(r.Stderr, "%v\nUnable to load certificate file\n", err)
		return false
	}
	if isStandard(file) {
		file = "stdin"
	}
	chain, problems := with.verify(c)
	if host := r.value("verify_hostname"); host != "" && !matchesHost(c, host) {
		problems = append(problems, problem{62, 0, "hostname mismatch"})
	}
	for _, p := range problems {
		fmt.Fprintf(r.Stderr, "%s\nerror %d at %d depth lookup: %s\n", style.text(chain[p.depth].RawSubject), p.code, p.depth, p.text)
	}
	if len(problems) > 0 {
		fmt.Fprintf(r.Stderr, "error %s: verification failed\n", file)
		return false
	}
	fmt.Fprintf(&r.out, "%s: OK\n", file)
	if r.has("show_chain") {
		r.out.WriteString("Chain:\n")
		for depth, c := range chain {
			origin := ""
			if !slices.ContainsFunc(with.trusted, c.Equal) {
				origin = " (untrusted)"
			}
			fmt.Fprintf(&r.out, "depth=%d: %s%s\n", depth, style.text(c.RawSubject), origin)
		}
	}
	return true
}

// verify returns the chain of a certificate, itself first, and what is wrong with it. As OpenSSL does, it stops at what a chain
// cannot do without, and goes on after what is too old.
func (v chains) verify(leaf *x509.Certificate) (chain []*x509.Certificate, problems []problem) {
	chain, trusted := v.build(leaf)
	last := len(chain) - 1
	isRoot := issued(chain[last], chain[last])
	switch {
	case trusted && (isRoot || v.partial):
	case isRoot && last == 0:
		problems = append(problems, problem{18, 0, "self-signed certificate"})
	case isRoot:
		return chain, []problem{{19, last, "self-signed certificate in certificate chain"}}
	case trusted && last > 0:
		return chain, []problem{{2, last, "unable to get issuer certificate"}}
	default:
		return chain, []problem{{20, last, "unable to get local issuer certificate"}}
	}
	problems = append(problems, authorities(chain)...)
	for depth := last; depth >= 0; depth-- {
		c := chain[depth]
		signer := chain[min(depth+1, last)]
		if depth < last || isRoot && !trusted {
			if usage := signer.KeyUsage; usage != 0 && usage&x509.KeyUsageCertSign == 0 && depth < last {
				return chain, append(problems, problem{32, depth + 1, "key usage does not include certificate signing"})
			}
			if err := signer.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature); err != nil {
				return chain, append(problems, problem{7, depth, "certificate signature failure"})
			}
		}
		switch {
		case v.now.Before(c.NotBefore):
			return chain, append(problems, problem{9, depth, "certificate is not yet valid"})
		case v.now.After(c.NotAfter):
			problems = append(problems, problem{10, depth, "certificate has expired"})
		}
	}
	return chain, problems
}

// build returns the chain from leaf to a trusted root, as far as it goes, and whether its last certificate is trusted.
func (v chains) build(leaf *x509.Certificate) (chain []*x509.Certificate, trusted bool) {
	chain = []*x509.Certificate{leaf}
	for trusted = slices.ContainsFunc(v.trusted, leaf.Equal); len(chain) < mostDepth; {
		c := chain[len(chain)-1]
		if issued(c, c) || trusted && v.partial {
			break
		}
		isNext := func(by *x509.Certificate) bool { return issued(by, c) && !slices.ContainsFunc(chain, by.Equal) }
		if at := slices.IndexFunc(v.trusted, isNext); at >= 0 {
			chain, trusted = append(chain, v.trusted[at]), true
		} else if at := slices.IndexFunc(v.untrusted, isNext); at >= 0 && !trusted {
			chain = append(chain, v.untrusted[at])
		} else {
			break
		}
	}
	return chain, trusted
}

// issued reports whether by may have issued c: its name is that of the issuer, and its key's identifier is not another.
func issued(by, c *x509.Certificate) bool {
	if !bytes.Equal(by.RawSubject, c.RawIssuer) {
		return false
	}
	return by.SubjectKeyId == nil || c.AuthorityKeyId == nil || bytes.Equal(by.SubjectKeyId, c.AuthorityKeyId)
}

// authorities returns what is wrong with the certificates of a chain that have issued others.
func authorities(chain []*x509.Certificate) []problem {
	var problems []problem
	below := 0 // authorities that are not self-issued
	for depth, c := range chain[1:] {
		depth++
		isOld := c.Version < 3 && len(c.Extensions) == 0
		if !c.IsCA && !(isOld && issued(c, c)) {
			problems = append(problems, problem{79, depth, "invalid CA certificate"})
		}
		if c.IsCA && c.BasicConstraintsValid && (c.MaxPathLen > 0 || c.MaxPathLenZero) && below > c.MaxPathLen {
			problems = append(problems, problem{25, depth, "path length constraint exceeded"})
		}
		if !bytes.Equal(c.RawSubject, c.RawIssuer) {
			below++
		}
	}
	return problems
}
