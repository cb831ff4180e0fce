package coreutils

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// curlVersion is what curl says of itself.
const curlVersion = "8.5.0"

// curlCommand is a run of curl: what its options say.
type curlCommand struct {
	*Call
	method, address, output, format, authorities, certificate, key, headers string
	remote                                                                  string // address and port of who was asked last

	header http.Header
	data   []string          // of -d and its like, in their order
	form   *multipart.Writer // of -F; nil where there is none
	parts  bytes.Buffer      // what that has written
	places map[string]string // of --resolve and --connect-to: where a HOST:PORT is; both may be empty, and HOST *
	body   []byte            // of -T
	limit  time.Duration
	on     map[string]bool // options without a value
}

// bundle is the file of the authorities to trust: that of the options, or of the environment. It is "" for none.
func (c *curlCommand) bundle() string {
	return cmp.Or(c.authorities, c.Env.Get("CURL_CA_BUNDLE").String(), c.Env.Get("SSL_CERT_FILE").String())
}

func curl(k *Call) int {
	own := *k
	c := &curlCommand{Call: &own, header: http.Header{"User-Agent": {"curl/" + curlVersion}, "Accept": {"*/*"}}, on: map[string]bool{}, places: map[string]string{}}
	if code := c.parse(); code != 0 {
		return code
	}
	switch {
	case c.on["version"]:
		fmt.Fprintf(k.Stdout, "curl %s\nProtocols: http https\n", curlVersion)
		return 0
	case c.on["help"]:
		fmt.Fprintln(k.Stdout, "Usage: curl [options...] <url>")
		for _, name := range slices.Sorted(maps.Keys(curlFlags)) {
			fmt.Fprintf(k.Stdout, "     --%s\n", name)
		}
		for _, name := range slices.Sorted(maps.Keys(curlValues)) {
			fmt.Fprintf(k.Stdout, "     --%s <value>\n", name)
		}
		return 0
	case c.address == "":
		return c.misused("no URL specified!")
	}
	if !c.on["insecure"] {
		var pem []byte
		if file := c.bundle(); file != "" {
			var err error
			if pem, err = k.Files.ReadFile(k.Path(file)); err != nil && (c.authorities != "" || strings.HasPrefix(c.address, "https:")) {
				return c.fail(77, "error setting certificate file: %s", file)
			}
		}
		own.Context = trusting(k.Context, pem)
	}
	if c.certificate != "" {
		if own.Context = c.presenting(); own.Context == nil {
			return c.fail(58, "could not load PEM client certificate from %s", c.certificate)
		}
	}
	return c.exchange()
}

// presenting returns the context of requests with the certificate, and nil where there is none or its key is another's.
func (c *curlCommand) presenting() context.Context {
	certificate, err := c.Files.ReadFile(c.Path(c.certificate))
	if err != nil {
		return nil
	}
	key := certificate // a file of both
	if c.key != "" {
		if key, err = c.Files.ReadFile(c.Path(c.key)); err != nil {
			return nil
		}
	}
	all, err := Certificates(certificate, key)
	if err != nil {
		return nil
	}
	return context.WithValue(c.Context, certificatesKey{}, all)
}

// read returns what is in a file, or in standard input for "-".
func (c *curlCommand) read(name string) ([]byte, error) {
	if name == "-" {
		return ReadAll(c.Stdin)
	}
	return c.Files.ReadFile(c.Path(name))
}

// misused prints what is wrong with the command line and returns curl's code for
// that.
func (c *curlCommand) misused(format string, args ...any) int {
	fmt.Fprintf(c.Stderr, "curl: "+format+"\ncurl: try 'curl --help' or 'curl --manual' for more information\n", args...)
	return 2
}

// fail prints an error as curl does and returns its code.
func (c *curlCommand) fail(code int, format string, args ...any) int {
	if !c.on["silent"] || c.on["show-error"] {
		fmt.Fprintf(c.Stderr, "curl: (%d) %s\n", code, fmt.Sprintf(format, args...))
	}
	return code
}

// curlAnswer is what -w tells of.
type curlAnswer struct {
	status int
	kind   string // of content
	size   int64
	took   time.Duration
	at     string // who has answered in the end
	moves  int    // on the way there
}

// report prints what -w asks for.
func (c *curlCommand) report(a curlAnswer) {
	status, took := fmt.Sprintf("%03d", a.status), fmt.Sprintf("%.6f", a.took.Seconds())
	size := strconv.FormatInt(a.size, 10)
	ip, port, err := net.SplitHostPort(c.remote)
	if err != nil { // nobody was asked
		ip, port = "", ""
	}
	fmt.Fprint(c.Stdout, strings.NewReplacer("%{http_code}", status, "%{response_code}", status, "%{content_type}", a.kind, "%{size_download}", size,
		"%{time_total}", took, "%{time_starttransfer}", took, "%{time_connect}", took, "%{time_namelookup}", took, "%{time_appconnect}", took, "%{time_pretransfer}", took,
		"%{remote_ip}", ip, "%{remote_port}", port, "%{url}", c.address, "%{url_effective}", a.at, "%{method}", c.method, "%{http_version}", "1.1", "%{num_redirects}", strconv.Itoa(a.moves),
		"%%", "%", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(c.format))
}

// content completes the request by what it sends, and returns that.
func (c *curlCommand) content() io.Reader {
	method, body := http.MethodGet, io.Reader(nil)
	switch {
	case c.on["upload-file"]:
		method, body = http.MethodPut, bytes.NewReader(c.body)
	case c.form != nil:
		_ = c.form.Close() // a buffer takes it all
		method, body = http.MethodPost, &c.parts
		c.header.Set("Content-Type", c.form.FormDataContentType())
	case c.on["get"] && c.data != nil:
		mark := "?"
		if strings.Contains(c.address, "?") {
			mark = "&"
		}
		c.address += mark + strings.Join(c.data, "&")
	case c.data != nil:
		method, body = http.MethodPost, strings.NewReader(strings.Join(c.data, "&"))
		if c.header.Get("Content-Type") == "" {
			c.header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if c.on["head"] {
		method = http.MethodHead
	}
	if c.method == "" {
		c.method = method
	}
	return body
}

// exchange sends the request and prints the answer.
func (c *curlCommand) exchange() int {
	body := c.content()
	began := c.System.Clock().Now()
	answer := curlAnswer{at: c.address}
	c.Context = httptrace.WithClientTrace(c.Context, &httptrace.ClientTrace{ConnectStart: func(_, at string) { c.trying(at) }})
	response, err := c.Request(c.method, c.placed(), body, c.header, c.on["location"], c.limit)
	answer.took = c.System.Clock().Since(began)
	if err != nil {
		if c.remote != "" && c.on["verbose"] {
			host, port, _ := net.SplitHostPort(c.remote)
			fmt.Fprintf(c.Stderr, "* connect to %s port %s failed: Connection refused\n", host, port)
		}
		c.report(answer)
		return c.lost(err, answer.took)
	}
	defer response.Body.Close()
	answer.status, answer.kind = response.StatusCode, response.Header.Get("Content-Type")
	for asked := response.Request; asked.Response != nil; asked = asked.Response.Request {
		answer.at = response.Request.URL.String()
		answer.moves++
	}
	c.tell(response)
	if c.on["fail"] && response.StatusCode >= 400 {
		c.report(answer)
		return c.fail(22, "The requested URL returned error: %d", response.StatusCode)
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %s\r\n", response.Status)
	_ = response.Header.Write(&head) // a buffer takes it all
	head.WriteString("\r\n")
	out, code := c.to(c.output)
	if code != 0 {
		return code
	}
	defer out.Close()
	if c.headers != "" {
		to, code := c.to(c.headers)
		if code != 0 {
			return code
		}
		defer to.Close()
		if _, err := to.Write(head.Bytes()); err != nil {
			return 23
		}
	}
	if !c.on["include"] && !c.on["head"] {
		head.Reset()
	}
	if _, err := out.Write(head.Bytes()); err != nil {
		return 23
	}
	if answer.size, err = io.Copy(out, response.Body); err != nil {
		return 23
	}
	c.report(answer)
	if c.on["fail-with-body"] && answer.status >= 400 {
		return c.fail(22, "The requested URL returned error: %d", answer.status)
	}
	return 0
}

// to opens what is to be written: a file, or standard output for "" and "-".
func (c *curlCommand) to(name string) (io.WriteCloser, int) {
	if name == "" && c.on["remote-name"] {
		at, err := url.Parse(schemed(c.address))
		if err != nil {
			return nil, c.fail(3, "URL using bad/illegal format or missing URL")
		}
		if name = path.Base(at.Path); strings.HasSuffix(at.Path, "/") || name == "." {
			return nil, c.fail(23, "Remote file name has no length")
		}
	}
	if name == "" || name == "-" {
		return unclosed{c.Stdout}, 0
	}
	f, err := c.Files.Open(c.Path(name), writeFlags, 0o644)
	if err != nil {
		return nil, c.fail(23, "Failure writing output to destination")
	}
	return f, 0
}

// unclosed is what others close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// placed is the address with the place of --resolve in it.
func (c *curlCommand) placed() string {
	at, err := url.Parse(schemed(c.address))
	if err != nil {
		return c.address
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	place := ""
	for _, asked := range []string{at.Hostname() + ":" + port, "*:" + port, at.Hostname() + ":", ":" + port, ":"} {
		if place = c.places[asked]; place != "" {
			break
		}
	}
	host, placePort, err := net.SplitHostPort(place)
	if err != nil {
		return c.address
	}
	if host == "" {
		host = at.Hostname()
	}
	if placePort == "" {
		placePort = port
	}
	if c.header.Get("Host") == "" {
		c.header.Set("Host", at.Host)
	}
	c.Context = context.WithValue(c.Context, serverNameKey{}, at.Hostname())
	at.Host = net.JoinHostPort(host, placePort)
	return at.String()
}

// trying prints for -v who is asked.
func (c *curlCommand) trying(at string) {
	if c.remote = at; c.on["verbose"] {
		fmt.Fprintf(c.Stderr, "*   Trying %s...\n", at)
	}
}

// tell prints for -v what was sent and what has come, but for what is in them.
func (c *curlCommand) tell(response *http.Response) {
	if !c.on["verbose"] {
		return
	}
	r := response.Request
	if c.remote == "" { // who is asked is none of the cluster's
		c.trying(hostOf(r.URL.String()))
	}
	ip, port, _ := net.SplitHostPort(c.remote)
	fmt.Fprintf(c.Stderr, "* Connected to %s (%s) port %s\n", r.URL.Hostname(), ip, port)
	fmt.Fprintf(c.Stderr, "> %s %s HTTP/1.1\r\n> Host: %s\r\n", r.Method, r.URL.RequestURI(), r.Host)
	show := func(mark string, header http.Header) {
		var text bytes.Buffer
		_ = header.WriteSubset(&text, map[string]bool{"Host": true, "Kubetab-Client": true}) // a buffer takes it all
		for line := range strings.SplitAfterSeq(text.String(), "\n") {
			if line != "" {
				fmt.Fprint(c.Stderr, mark+" "+line)
			}
		}
		fmt.Fprint(c.Stderr, mark+" \r\n")
	}
	show(">", r.Header)
	fmt.Fprintf(c.Stderr, "< HTTP/1.1 %s\r\n", response.Status)
	show("<", response.Header)
}

// lost says why there is no answer after a time, and returns curl's code for that.
func (c *curlCommand) lost(err error, took time.Duration) int {
	if why := distrusted(err); why != "" {
		return c.fail(60, "%s", why+`
More details here: https://curl.se/docs/sslcerts.html

curl failed to verify the legitimacy of the server and therefore could not
establish a secure connection to it. To learn more about this situation and
how to fix it, please visit the web page mentioned above.`)
	}
	defer c.advise(err)
	dns, name := Lost(err)
	switch {
	case isPlain(err):
		return c.fail(35, "OpenSSL/3.0.15: error:0A00010B:SSL routines::wrong version number")
	case dns:
		return c.fail(6, "Could not resolve host: %s", name)
	case errors.Is(err, context.Canceled), os.IsTimeout(err), errors.Is(err, os.ErrDeadlineExceeded):
		return c.fail(28, "Connection timed out")
	}
	if !errors.Is(err, syscall.EHOSTUNREACH) {
		took = 0 // a refusal comes at once
	}
	host, port, _ := net.SplitHostPort(hostOf(c.address))
	return c.fail(7, "Failed to connect to %s port %s after %d ms: Couldn't connect to server", host, port, took.Milliseconds())
}
