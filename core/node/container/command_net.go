package container

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

func contextWithCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// netCommands talk to other containers.
var netCommands = map[string]func(*call) int{
	"wget": wget, "curl": curl, "nslookup": nslookup, "dig": nslookup, "host": nslookup, "nc": nc, "ping": ping, "redis-cli": redisCLI, "grpc_health_probe": nothing, "pg_isready": nothing, "mysqladmin": nothing,
}

// lost is an error of a client whose server is not there.
func lost(err error) (dns bool, text string) {
	var d *net.DNSError
	if errors.As(err, &d) {
		return true, d.Name
	}
	return false, err.Error()
}

func (k *call) request(method, address string, body io.Reader, header http.Header, follow bool, limit time.Duration) (*http.Response, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	ctx := k.Context
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		timer := k.session.c.cfg.Clock.AfterFunc(limit, cancel)
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
	client := &http.Client{Transport: transport{k.session.c.cfg.Network}}
	if !follow {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return client.Do(r)
}

// transport is a network as http.Client wants it.
type transport struct{ network Network }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.network.RoundTrip(r) }

func wget(k *call) int {
	output, address, quiet, spider := "", "", false, false
	header := http.Header{"User-Agent": {"Wget"}}
	var body io.Reader
	method := http.MethodGet
	limit := time.Duration(0)
	for i := 0; i < len(k.args); i++ {
		arg := k.args[i]
		value := func() string {
			if i+1 < len(k.args) {
				i++
				return k.args[i]
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
			limit, _ = parseSleep(strings.TrimPrefix(arg, "--timeout="))
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
						limit, _ = parseSleep(rest)
					}
					break
				}
			}
		default:
			address = arg
		}
	}
	if address == "" {
		return k.fail("missing URL")
	}
	response, err := k.request(method, address, body, header, true, limit)
	if err != nil {
		dns, text := lost(err)
		switch {
		case dns:
			return k.fail("bad address '%s'", text)
		case errors.Is(err, context.Canceled):
			return k.fail("download timed out")
		}
		host := response2host(address)
		return k.fail("can't connect to remote host (%s): %s", host, "Connection refused")
	}
	defer response.Body.Close()
	if !quiet {
		fmt.Fprintf(k.stderr, "Connecting to %s\n", response2host(address))
	}
	if response.StatusCode >= 400 {
		return k.fail("server returned error: HTTP/1.1 %s", response.Status)
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
		if _, err = io.Copy(k.stdout, response.Body); err != nil {
			return 1
		}
		return 0
	}
	data, err := io.ReadAll(response.Body)
	if err == nil {
		err = k.tree.WriteFile(k.path(output), data, 0o644)
	}
	if err != nil {
		return k.fail("%s: %s", output, reason(err))
	}
	if !quiet {
		fmt.Fprintf(k.stderr, "'%s' saved\n", output)
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

func curl(k *call) int {
	header := http.Header{"User-Agent": {"curl/8.5.0"}, "Accept": {"*/*"}}
	method, address, output, format := "", "", "", ""
	var data []string
	var limit time.Duration
	var silent, fails, include, headOnly, follow, showError bool
	for i := 0; i < len(k.args); i++ {
		arg := k.args[i]
		value := func() string {
			if i+1 < len(k.args) {
				i++
				return k.args[i]
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
				limit, _ = parseSleep(rest())
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
		fmt.Fprintln(k.stderr, "curl: no URL specified!")
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
		fmt.Fprint(k.stdout, strings.NewReplacer("%{http_code}", text, "%{response_code}", text, `\n`, "\n").Replace(format))
	}
	response, err := k.request(method, address, body, header, follow, limit)
	if err != nil {
		report(0)
		code, text := 7, ""
		host, port, _ := net.SplitHostPort(response2host(address))
		switch dns, name := lost(err); {
		case dns:
			code, text = 6, "Could not resolve host: "+name
		case errors.Is(err, context.Canceled):
			code, text = 28, "Connection timed out"
		default:
			text = fmt.Sprintf("Failed to connect to %s port %s after 0 ms: Couldn't connect to server", host, port)
		}
		if !silent || showError {
			fmt.Fprintf(k.stderr, "curl: (%d) %s\n", code, text)
		}
		return code
	}
	defer response.Body.Close()
	if fails && response.StatusCode >= 400 {
		report(response.StatusCode)
		if !silent || showError {
			fmt.Fprintf(k.stderr, "curl: (22) The requested URL returned error: %d\n", response.StatusCode)
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
		_, err = io.Copy(k.stdout, io.MultiReader(&b, response.Body))
	} else {
		_, err = io.Copy(&b, response.Body)
		if err == nil {
			err = k.tree.WriteFile(k.path(output), b.Bytes(), 0o644)
		}
	}
	if err != nil {
		return 23
	}
	report(response.StatusCode)
	return 0
}

func nslookup(k *call) int {
	f := k.flags("")
	if len(f.rest) == 0 {
		return k.fail("missing name")
	}
	name := f.rest[0]
	addresses, full, err := k.session.c.cfg.Network.Lookup(name)
	fmt.Fprintf(k.stdout, "Server:\t\t10.0.0.10\nAddress:\t10.0.0.10:53\n\n")
	if err != nil {
		fmt.Fprintf(k.stdout, "** server can't find %s: NXDOMAIN\n\n", full)
		return 1
	}
	for _, a := range addresses {
		fmt.Fprintf(k.stdout, "Name:\t%s\nAddress: %s\n", full, a)
	}
	fmt.Fprintln(k.stdout)
	return 0
}

func nc(k *call) int {
	f := k.flags("wpi")
	if f.on['l'] {
		port := f.value['p']
		if port == "" && len(f.rest) > 0 {
			port = f.rest[len(f.rest)-1]
		}
		n, err := strconv.Atoi(port)
		if err != nil {
			return k.fail("bad port '%s'", port)
		}
		defer k.session.c.root().serve(&Server{Ports: map[int]Listener{n: {}}})()
		<-k.Done()
		return 143
	}
	if len(f.rest) < 2 {
		return k.fail("missing host and port")
	}
	port, err := strconv.Atoi(f.rest[1])
	if err != nil {
		return k.fail("bad port '%s'", f.rest[1])
	}
	if err := k.session.c.cfg.Network.Dial(k, f.rest[0], port); err != nil {
		dns, text := lost(err)
		if dns {
			return k.fail("bad address '%s'", text)
		}
		return k.fail("%s (%s:%d): Connection refused", f.rest[0], f.rest[0], port)
	}
	if f.on['v'] {
		fmt.Fprintf(k.stderr, "%s (%s:%d) open\n", f.rest[0], f.rest[0], port)
	}
	return 0
}

func ping(k *call) int {
	f := k.flags("cWwi")
	if len(f.rest) == 0 {
		return k.fail("missing host")
	}
	addresses, _, err := k.session.c.cfg.Network.Lookup(f.rest[0])
	if err != nil {
		return k.fail("bad address '%s'", f.rest[0])
	}
	count := math32
	if n, err := strconv.Atoi(f.value['c']); err == nil {
		count = n
	}
	fmt.Fprintf(k.stdout, "PING %s (%s): 56 data bytes\n", f.rest[0], addresses[0])
	for i := range count {
		fmt.Fprintf(k.stdout, "64 bytes from %s: seq=%d ttl=63 time=0.1 ms\n", addresses[0], i)
		if i < count-1 && k.pause(time.Second) != 0 {
			return 143
		}
	}
	fmt.Fprintf(k.stdout, "\n--- %s ping statistics ---\n%d packets transmitted, %d packets received, 0%% packet loss\n", f.rest[0], count, count)
	return 0
}

const math32 = 1 << 30 // a count that is never reached

// redisCLI knows enough of Redis for probes and first steps: the data is that
// of the server in the same container.
func redisCLI(k *call) int {
	f := k.flags("hpan")
	if len(f.rest) == 0 {
		return 0
	}
	host := f.value['h']
	if host == "" {
		host = k.session.c.cfg.IP
	}
	port := 6379
	if n, err := strconv.Atoi(f.value['p']); err == nil {
		port = n
	}
	body, err := json.Marshal(f.rest)
	if err != nil {
		return 1
	}
	response, err := k.request(http.MethodPost, fmt.Sprintf("http://%s:%d/", host, port), bytes.NewReader(body), http.Header{redisHeader: {"1"}}, false, 0)
	if err != nil {
		fmt.Fprintf(k.stderr, "Could not connect to Redis at %s:%d: Connection refused\n", host, port)
		return 1
	}
	defer response.Body.Close()
	if _, err := io.Copy(k.stdout, response.Body); err != nil {
		return 1
	}
	return 0
}
