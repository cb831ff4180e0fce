package coreutils

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// curlLetters are the short names of options, and curlValues those that have a
// value.
var (
	curlLetters = map[byte]string{'A': "user-agent", 'b': "cookie", 'c': "cookie-jar", 'd': "data", 'E': "cert", 'f': "fail", 'H': "header", 'i': "include",
		'I': "head", 'k': "insecure", 'L': "location", 'm': "max-time", 'o': "output", 'S': "show-error", 's': "silent", 'T': "upload-file", 'u': "user",
		'w': "write-out", 'X': "request", 'x': "proxy"}
	curlValues = map[string]bool{"cacert": true, "cert": true, "connect-timeout": true, "cookie": true, "cookie-jar": true, "data": true, "data-binary": true,
		"data-raw": true, "header": true, "json": true, "key": true, "max-time": true, "output": true, "proxy": true, "request": true, "resolve": true,
		"retry": true, "retry-delay": true, "upload-file": true, "url": true, "user": true, "user-agent": true, "write-out": true}
)

// curlCommand is a run of curl: what its options say.
type curlCommand struct {
	*Call
	method, address, output, format, authorities, certificate, key string

	header http.Header
	data   []string // of -d and its like, in their order
	body   []byte   // of -T
	limit  time.Duration
	on     map[string]bool // options without a value
}

func curl(k *Call) int {
	c := &curlCommand{Call: k, header: http.Header{"User-Agent": {"curl/8.5.0"}, "Accept": {"*/*"}}, on: map[string]bool{}}
	if code := c.parse(); code != 0 {
		return code
	}
	if c.address == "" {
		return c.misused("no URL specified!")
	}
	if !c.on["insecure"] {
		var pem []byte
		if c.authorities != "" {
			var err error
			if pem, err = k.Files.ReadFile(k.Path(c.authorities)); err != nil {
				return c.fail(77, "error setting certificate file: %s", c.authorities)
			}
		}
		careful := *k
		careful.Context = trusting(k.Context, pem)
		c.Call = &careful
	}
	if c.certificate != "" {
		careful := *c.Call
		if careful.Context = c.presenting(); careful.Context == nil {
			return c.fail(58, "could not load PEM client certificate from %s", c.certificate)
		}
		c.Call = &careful
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
	ctx, err := presenting(c.Context, certificate, key)
	if err != nil {
		return nil
	}
	return ctx
}

// parse takes the arguments apart. It returns what to exit with, 0 to go on.
func (c *curlCommand) parse() int {
	args := c.Args
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		// value is the rest of the argument, or the next one.
		value := func(rest string) (string, bool) {
			if rest != "" || len(args) == 0 {
				return rest, rest != ""
			}
			rest, args = args[0], args[1:]
			return rest, true
		}
		if name, isLong := strings.CutPrefix(arg, "--"); isLong {
			text := ""
			if curlValues[name] {
				var ok bool
				if text, ok = value(""); !ok {
					return c.misused("option %s: requires parameter", arg)
				}
			}
			if code := c.set(name, text); code != 0 {
				return code
			}
			continue
		}
		if len(arg) < 2 || arg[0] != '-' {
			c.address = arg
			continue
		}
		for i := 1; i < len(arg); i++ {
			name := curlLetters[arg[i]]
			if !curlValues[name] {
				c.on[name] = true
				continue
			}
			text, ok := value(arg[i+1:])
			if !ok {
				return c.misused("option -%c: requires parameter", arg[i])
			}
			if code := c.set(name, text); code != 0 {
				return code
			}
			break
		}
	}
	return 0
}

// set takes in an option. It returns what to exit with, 0 to go on.
func (c *curlCommand) set(name, value string) int {
	switch name {
	case "url":
		c.address = value
	case "request":
		c.method = value
	case "header":
		addHeader(c.header, value)
	case "user-agent":
		c.header.Set("User-Agent", value)
	case "user":
		c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(value)))
	case "output":
		c.output = value
	case "write-out":
		c.format = value
	case "cacert":
		c.authorities = value
	case "cert":
		c.certificate = value
	case "key":
		c.key = value
	case "max-time", "connect-timeout":
		c.limit, _ = ParseDuration(value)
	case "data", "data-binary", "data-raw", "json":
		if from, isFile := strings.CutPrefix(value, "@"); isFile && name != "data-raw" {
			text, err := c.read(from)
			if err != nil {
				return c.fail(26, "Failed to open %s", from)
			}
			if value = string(text); name == "data" {
				value = strings.NewReplacer("\r", "", "\n", "").Replace(value)
			}
		}
		c.data = append(c.data, value)
		if name == "json" {
			c.header.Set("Content-Type", "application/json")
			c.header.Set("Accept", "application/json")
		}
	case "upload-file":
		text, err := c.read(value)
		if err != nil {
			return c.fail(26, "Failed to open %s", value)
		}
		c.body = text
		c.on[name] = true
	default:
		c.on[name] = true
	}
	return 0
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
	fmt.Fprintf(c.Stderr, "curl: "+format+"\n", args...)
	return 2
}

// fail prints an error as curl does and returns its code.
func (c *curlCommand) fail(code int, format string, args ...any) int {
	if !c.on["silent"] || c.on["show-error"] {
		fmt.Fprintf(c.Stderr, "curl: (%d) %s\n", code, fmt.Sprintf(format, args...))
	}
	return code
}

// report prints what -w asks for.
func (c *curlCommand) report(status int) {
	text := fmt.Sprintf("%03d", status)
	fmt.Fprint(c.Stdout, strings.NewReplacer("%{http_code}", text, "%{response_code}", text, `\n`, "\n").Replace(c.format))
}

// exchange sends the request and prints the answer.
func (c *curlCommand) exchange() int {
	method, body := http.MethodGet, io.Reader(nil)
	switch {
	case c.on["upload-file"]:
		method, body = http.MethodPut, bytes.NewReader(c.body)
	case c.data != nil:
		method, body = http.MethodPost, strings.NewReader(strings.Join(c.data, "&"))
		if c.header.Get("Content-Type") == "" {
			c.header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	case c.on["head"]:
		method = http.MethodHead
	}
	if c.method != "" {
		method = c.method
	}
	response, err := c.Request(method, c.address, body, c.header, c.on["location"], c.limit)
	if err != nil {
		c.report(0)
		return c.lost(err)
	}
	defer response.Body.Close()
	if c.on["fail"] && response.StatusCode >= 400 {
		c.report(response.StatusCode)
		return c.fail(22, "The requested URL returned error: %d", response.StatusCode)
	}
	var b bytes.Buffer
	if c.on["include"] || c.on["head"] {
		fmt.Fprintf(&b, "HTTP/1.1 %s\r\n", response.Status)
		_ = response.Header.Write(&b) // a buffer takes it all
		b.WriteString("\r\n")
	}
	out := c.Stdout
	if c.output != "" {
		f, err := c.Files.Open(c.Path(c.output), writeFlags, 0o644)
		if err != nil {
			return c.fail(23, "Failure writing output to destination")
		}
		defer f.Close()
		out = f
	}
	if _, err = io.Copy(out, io.MultiReader(&b, response.Body)); err != nil {
		return 23
	}
	c.report(response.StatusCode)
	return 0
}

// lost says why there is no answer, and returns curl's code for that.
func (c *curlCommand) lost(err error) int {
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return c.fail(60, "%s", `SSL certificate problem: unable to get local issuer certificate
More details here: https://curl.se/docs/sslcerts.html

curl failed to verify the legitimacy of the server and therefore could not
establish a secure connection to it. To learn more about this situation and
how to fix it, please visit the web page mentioned above.`)
	}
	dns, name := Lost(err)
	switch {
	case dns:
		return c.fail(6, "Could not resolve host: %s", name)
	case errors.Is(err, context.Canceled), os.IsTimeout(err):
		return c.fail(28, "Connection timed out")
	}
	host, port, _ := net.SplitHostPort(hostOf(c.address))
	return c.fail(7, "Failed to connect to %s port %s after 0 ms: Couldn't connect to server", host, port)
}
