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
	"net/http/httptrace"
	"net/url"
	"os"
	"path"
	"strings"
	"syscall"
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

// wget sends one request and saves or shows what comes back. It is long because each flag
// changes that request.
func wget(k *Call) int {
	output, address, quiet, spider := "", "", false, false
	header := http.Header{"User-Agent": {"Wget"}}
	var body io.Reader
	method := http.MethodGet
	limit := time.Duration(0)
	for i := 0; i < len(k.Args); i++ {
		arg := k.Args[i]
		value := func() string {
			if i+1 < len(k.Args) {
				i++
				return k.Args[i]
			}
			return ""
		}
		switch {
		case arg == "--spider":
			spider = true
		case strings.HasPrefix(arg, "--header"):
			_, text, ok := strings.Cut(arg, "=")
			if !ok {
				text = value()
			}
			addHeader(header, text)
		case strings.HasPrefix(arg, "--post-data"):
			_, text, ok := strings.Cut(arg, "=")
			if !ok {
				text = value()
			}
			method, body = http.MethodPost, strings.NewReader(text)
		case strings.HasPrefix(arg, "--timeout="):
			limit, _ = ParseDuration(strings.TrimPrefix(arg, "--timeout="))
		case strings.HasPrefix(arg, "--"):
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			for j := 1; j < len(arg); j++ {
				rest := arg[j+1:]
				if arg[j] == 'q' {
					quiet = true
					continue
				}
				if strings.ContainsRune("OTtP", rune(arg[j])) {
					if rest == "" {
						rest = value()
					}
					switch arg[j] {
					case 'O':
						output = rest
					case 'T':
						limit, _ = ParseDuration(rest)
					}
					break
				}
			}
		default:
			address = arg
		}
	}
	if address == "" {
		return k.Fail("missing URL")
	}
	remote, own := "", *k
	own.Context = httptrace.WithClientTrace(k.Context, &httptrace.ClientTrace{ConnectStart: func(_, at string) {
		remote = at
		if name, _, err := net.SplitHostPort(hostOf(address)); err == nil && !quiet {
			fmt.Fprintf(k.Stderr, "Connecting to %s (%s)\n", name, at)
		}
	}})
	response, err := own.Request(method, address, body, header, true, limit)
	if remote == "" { // who is asked is none of the cluster's
		remote = hostOf(address)
	}
	if err != nil {
		defer k.advise(err)
		dns, text := Lost(err)
		switch {
		case dns:
			return k.Fail("bad address '%s'", text)
		case errors.Is(err, context.Canceled):
			return k.Fail("download timed out")
		}
		if isPlain(err) {
			return k.Fail("error getting response: wrong version number")
		}
		why := "Connection refused"
		switch {
		case os.IsTimeout(err), errors.Is(err, os.ErrDeadlineExceeded):
			why = "Connection timed out"
		case errors.Is(err, syscall.EHOSTUNREACH):
			why = "No route to host"
		}
		if ip, _, err := net.SplitHostPort(remote); err == nil {
			remote = ip
		}
		return k.Fail("can't connect to remote host (%s): %s", remote, why)
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		return k.Fail("server returned error: HTTP/1.1 %s", response.Status)
	}
	if spider {
		if !quiet {
			fmt.Fprintln(k.Stderr, "remote file exists")
		}
		return 0
	}
	if output == "" {
		u, _ := url.Parse(address)
		if output = path.Base(u.Path); output == "." || output == "/" {
			output = "index.html"
		}
	}
	if output == "-" {
		if _, err = io.Copy(k.Stdout, response.Body); err != nil {
			return 1
		}
		return 0
	}
	data, err := ReadAll(response.Body)
	if err == nil {
		err = k.Files.WriteFile(k.Path(output), data, 0o644)
	}
	if err != nil {
		return k.Fail("%s: %s", output, Reason(err))
	}
	if !quiet {
		fmt.Fprintf(k.Stderr, "'%s' saved\n", output)
	}
	return 0
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
