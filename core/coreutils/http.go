package coreutils

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
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

// roundTripper is a System as http.Client wants it.
type roundTripper struct{ System }

// Request sends a request as curl and wget do: without a scheme the address is
// one of plain HTTP, a limit of zero is none. Errors: an address that is none,
// and what http.Client.Do returns.
func (k *Call) Request(method, address string, body io.Reader, header http.Header, follow bool, limit time.Duration) (*http.Response, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
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
	response, err := k.Request(method, address, body, header, true, limit)
	if err != nil {
		dns, text := Lost(err)
		switch {
		case dns:
			return k.Fail("bad address '%s'", text)
		case errors.Is(err, context.Canceled):
			return k.Fail("download timed out")
		}
		host := response2host(address)
		return k.Fail("can't connect to remote host (%s): %s", host, "Connection refused")
	}
	defer response.Body.Close()
	if !quiet {
		fmt.Fprintf(k.Stderr, "Connecting to %s\n", response2host(address))
	}
	if response.StatusCode >= 400 {
		return k.Fail("server returned error: HTTP/1.1 %s", response.Status)
	}
	if spider {
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
	data, err := io.ReadAll(response.Body)
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

func response2host(address string) string {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if u.Port() == "" {
		return u.Host + ":80"
	}
	return u.Host
}

func addHeader(h http.Header, text string) {
	name, value, ok := strings.Cut(text, ":")
	if ok {
		h[http.CanonicalHeaderKey(strings.TrimSpace(name))] = []string{strings.TrimSpace(value)}
	}
}

func curl(k *Call) int {
	header := http.Header{"User-Agent": {"curl/8.5.0"}, "Accept": {"*/*"}}
	method, address, output, format := "", "", "", ""
	var data []string
	var limit time.Duration
	var silent, fails, include, headOnly, follow, showError bool
	for i := 0; i < len(k.Args); i++ {
		arg := k.Args[i]
		value := func() string {
			if i+1 < len(k.Args) {
				i++
				return k.Args[i]
			}
			return ""
		}
		take := func(letter byte, rest func() string) bool {
			switch letter {
			case 's':
				silent = true
			case 'S':
				showError = true
			case 'f':
				fails = true
			case 'i':
				include = true
			case 'I':
				headOnly = true
			case 'L':
				follow = true
			case 'X':
				method = rest()
				return true
			case 'H':
				addHeader(header, rest())
				return true
			case 'd':
				data = append(data, rest())
				return true
			case 'o':
				output = rest()
				return true
			case 'w':
				format = rest()
				return true
			case 'm':
				limit, _ = ParseDuration(rest())
				return true
			case 'A':
				header.Set("User-Agent", rest())
				return true
			case 'u', 'b', 'c', 'E':
				rest()
				return true
			}
			return false
		}
		long := map[string]byte{"--silent": 's', "--fail": 'f', "--include": 'i', "--head": 'I', "--location": 'L', "--request": 'X', "--header": 'H', "--data": 'd', "--output": 'o', "--write-out": 'w', "--max-time": 'm', "--connect-timeout": 'm', "--cacert": 'E', "--user-agent": 'A', "--show-error": 'S', "--user": 'u', "--retry": 'E'}
		switch {
		case strings.HasPrefix(arg, "--"):
			name, inline, ok := strings.Cut(arg, "=")
			if letter, known := long[name]; known {
				take(letter, func() string {
					if ok {
						return inline
					}
					return value()
				})
			}
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			for j := 1; j < len(arg); j++ {
				rest := arg[j+1:]
				if take(arg[j], func() string {
					if rest != "" {
						return rest
					}
					return value()
				}) {
					break
				}
			}
		default:
			address = arg
		}
	}
	if address == "" {
		fmt.Fprintln(k.Stderr, "curl: no URL specified!")
		return 2
	}
	var body io.Reader
	if data != nil {
		body = strings.NewReader(strings.Join(data, "&"))
		if method == "" {
			method = http.MethodPost
		}
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if headOnly {
		method = http.MethodHead
	}
	if method == "" {
		method = http.MethodGet
	}
	report := func(status int) { // what -w asks for
		text := fmt.Sprintf("%03d", status)
		fmt.Fprint(k.Stdout, strings.NewReplacer("%{http_code}", text, "%{response_code}", text, `\n`, "\n").Replace(format))
	}
	response, err := k.Request(method, address, body, header, follow, limit)
	if err != nil {
		report(0)
		code, text := 7, ""
		host, port, _ := net.SplitHostPort(response2host(address))
		switch dns, name := Lost(err); {
		case dns:
			code, text = 6, "Could not resolve host: "+name
		case errors.Is(err, context.Canceled):
			code, text = 28, "Connection timed out"
		default:
			text = fmt.Sprintf("Failed to connect to %s port %s after 0 ms: Couldn't connect to server", host, port)
		}
		if !silent || showError {
			fmt.Fprintf(k.Stderr, "curl: (%d) %s\n", code, text)
		}
		return code
	}
	defer response.Body.Close()
	if fails && response.StatusCode >= 400 {
		report(response.StatusCode)
		if !silent || showError {
			fmt.Fprintf(k.Stderr, "curl: (22) The requested URL returned error: %d\n", response.StatusCode)
		}
		return 22
	}
	var b bytes.Buffer
	if include || headOnly {
		fmt.Fprintf(&b, "HTTP/1.1 %s\r\n", response.Status)
		_ = response.Header.Write(&b)
		b.WriteString("\r\n")
	}
	if output == "" {
		_, err = io.Copy(k.Stdout, io.MultiReader(&b, response.Body))
	} else {
		_, err = io.Copy(&b, response.Body)
		if err == nil {
			err = k.Files.WriteFile(k.Path(output), b.Bytes(), 0o644)
		}
	}
	if err != nil {
		return 23
	}
	report(response.StatusCode)
	return 0
}
