package container

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const nginxRoot = "/usr/share/nginx/html"

// nginx is the server of a configuration: server blocks with what listens, locations, return, proxy_pass, root, alias and
// try_files. Other directives are read and have no effect. A container without a configuration has ports.
func (c *Container) nginx(args []string, ports []int, byEntrypoint bool) *Server {
	listeners, err := c.nginxListeners(ports)
	if err != nil {
		return &Server{ExitsAtOnce: true, ExitCode: 1, Errors: true, Lines: []string{c.stamp(nginxTime) + " [emerg] 1#1: " + err.Error(), "nginx: [emerg] " + err.Error()}}
	}
	lines := []string{c.stamp(nginxTime) + " [notice] 1#1: " + c.nginxSoftware(), c.stamp(nginxTime) + " [notice] 1#1: start worker processes"}
	if byEntrypoint {
		lines = append([]string{"/docker-entrypoint.sh: Configuration complete; ready for start up"}, lines...)
	}
	s := &Server{Lines: lines, Errors: true, Daemon: !c.staysInForeground(args), Ports: listeners}
	s.reload = func() (map[int]Listener, error) { return c.nginxListeners(ports) }
	return s
}

// nginxSoftware is what nginx calls itself.
func (c *Container) nginxSoftware() string { return "nginx/" + c.root().cfg.Image.version() }

// nginxListeners reads the configuration. The error is in nginx's words.
func (c *Container) nginxListeners(ports []int) (map[int]Listener, error) {
	if len(ports) == 0 {
		ports = []int{80}
	}
	standard := listen(c.site(nginxRoot, c.nginxSoftware()), ports...)
	t := c.tree()
	var all []directive
	left := nginxBytes
	if _, err := t.Stat(nginxFile, true); err == nil {
		if all, err = readNginx(t, nginxFile, nginxDepth, &left); err != nil {
			return nil, err
		}
		if find(all, "events").name == "" {
			return nil, fmt.Errorf("no %q section in configuration", "events")
		}
	} else {
		p := &nginxParser{tree: t, left: &left, file: nginxFile}
		some, err := p.include("/etc/nginx/conf.d/*.conf", nginxDepth)
		if err != nil || len(some) == 0 {
			return standard, err
		}
		all = []directive{{name: "http", block: some}}
	}
	served := map[int]*nginxPort{}
	listeners := map[int]Listener{}
	for _, d := range find(all, "http").block {
		if d.name != "server" {
			continue
		}
		if err := c.nginxServer(d, served); err != nil {
			return nil, err
		}
	}
	for number, p := range served {
		listeners[number] = Listener{HTTP: p, TLS: p.certificate}
	}
	return listeners, nil
}

// nginxServer adds a server block to the ports that it listens on.
func (c *Container) nginxServer(d directive, ports map[int]*nginxPort) error {
	s := &nginxBlock{c: c, block: d.block}
	listens := slices.DeleteFunc(slices.Clone(d.block), func(d directive) bool { return d.name != "listen" })
	if len(listens) == 0 {
		listens = []directive{{name: "listen", args: []string{"80"}}}
	}
	for _, l := range listens {
		text := l.arg()
		if strings.HasPrefix(text, "unix:") {
			continue
		}
		number, err := strconv.Atoi(text[strings.LastIndexByte(text, ':')+1:])
		if err != nil {
			number = 80 // an address alone
		}
		p := ports[number]
		if p == nil {
			p = &nginxPort{}
			ports[number] = p
		}
		if slices.Contains(l.args, "default_server") {
			p.servers = slices.Insert(p.servers, 0, s)
		} else {
			p.servers = append(p.servers, s)
		}
		if !slices.Contains(l.args, "ssl") || p.certificate != nil {
			continue
		}
		file, key := find(d.block, "ssl_certificate").arg(), find(d.block, "ssl_certificate_key").arg()
		if file == "" {
			return fmt.Errorf("no %q is defined for the %q directive in %s", "ssl_certificate", "listen ... ssl", nginxFile)
		}
		if p.certificate, err = c.certificate(file, key); err != nil {
			return fmt.Errorf("cannot load certificate %q: BIO_new_file() failed (SSL: error:80000002:system library::No such file or directory:calling fopen(%s, r))", file, file)
		}
	}
	return nil
}

// nginxPort is what answers on a port: the server of the name that a client asks for, or the first.
type nginxPort struct {
	certificate *tls.Certificate
	servers     []*nginxBlock
}

func (p *nginxPort) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	for _, s := range p.servers {
		if slices.Contains(find(s.block, "server_name").args, host) {
			s.ServeHTTP(w, r)
			return
		}
	}
	p.servers[0].ServeHTTP(w, r)
}

// nginxBlock is a server block.
type nginxBlock struct {
	c     *Container
	block []directive
}

func (s *nginxBlock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, nginxDepth)
}

// location returns the block of the location that a path is in, and its prefix; the server's own if it is in none.
func (s *nginxBlock) location(of string) ([]directive, string) {
	best, prefix := s.block, ""
	isFinal := false
	for _, d := range s.block {
		if d.name != "location" || len(d.args) == 0 {
			continue
		}
		last := d.args[len(d.args)-1]
		switch modifier := d.args[0]; {
		case modifier == "=" && last == of:
			return d.block, last
		case (modifier == last || modifier == "^~") && strings.HasPrefix(of, last) && len(last) >= len(prefix):
			best, prefix, isFinal = d.block, last, modifier == "^~"
		}
	}
	if isFinal {
		return best, prefix
	}
	for _, d := range s.block {
		if d.name != "location" || len(d.args) < 2 || !strings.HasPrefix(d.args[0], "~") || d.args[0] == "^~" {
			continue
		}
		pattern := d.args[1]
		if d.args[0] == "~*" {
			pattern = "(?i)" + pattern
		}
		if e, err := regexp.Compile(pattern); err == nil && e.MatchString(of) {
			return d.block, ""
		}
	}
	return best, prefix
}

// answer answers a request. A server answers at most depth times, for try_files that lead in circles.
func (s *nginxBlock) answer(w http.ResponseWriter, r *http.Request, depth int) {
	block, prefix := s.location(r.URL.Path)
	for _, d := range slices.Concat(s.block, block) {
		if d.name == "add_header" && len(d.args) > 1 {
			w.Header().Set(d.args[0], s.expand(d.args[1], r))
		}
	}
	if d := find(block, "return"); d.name != "" {
		s.give(w, r, block, d)
		return
	}
	if d := find(s.block, "return"); d.name != "" {
		s.give(w, r, s.block, d)
		return
	}
	if d := find(block, "proxy_pass"); d.name != "" {
		s.pass(w, r, d.arg(), prefix)
		return
	}
	if find(block, "stub_status").name != "" {
		s.log(w, r, http.StatusOK, "text/plain", "Active connections: 1 \nserver accepts handled requests\n 1 1 1 \nReading: 0 Writing: 1 Waiting: 0 \n")
		return
	}
	root := nginxRoot
	for _, b := range [][]directive{s.block, block} {
		if d := find(b, "root"); d.name != "" {
			root = path.Join("/etc/nginx", d.arg())
			if strings.HasPrefix(d.arg(), "/") {
				root = d.arg()
			}
		}
	}
	if d := find(block, "try_files"); len(d.args) > 1 && depth > 0 {
		if s.try(w, r, root, d.args, depth) {
			return
		}
	}
	if d := find(block, "alias"); d.name != "" {
		root = d.arg()
		r = moved(r, "/"+strings.TrimPrefix(r.URL.Path, prefix))
	}
	s.c.site(root, s.c.nginxSoftware()).ServeHTTP(w, r)
}

// try looks for the files of try_files. It reports whether it has answered; the request is for the file that is there if not.
func (s *nginxBlock) try(w http.ResponseWriter, r *http.Request, root string, names []string, depth int) bool {
	for _, name := range names[:len(names)-1] {
		name = s.expand(name, r)
		info, err := s.c.tree().Stat(path.Join(root, name), true)
		if err == nil && info.IsDir() == strings.HasSuffix(name, "/") {
			s.c.site(root, s.c.nginxSoftware()).ServeHTTP(w, moved(r, name))
			return true
		}
	}
	last := s.expand(names[len(names)-1], r)
	if code, isCode := strings.CutPrefix(last, "="); isCode {
		status, err := strconv.Atoi(code)
		if err != nil || status < 100 || status > 999 {
			status = http.StatusNotFound
		}
		s.log(w, r, status, "text/html", s.page(status))
		return true
	}
	s.answer(w, moved(r, last), depth-1)
	return true
}

// moved is a request for another path.
func moved(r *http.Request, to string) *http.Request {
	to, _, _ = strings.Cut(to, "?")
	r = r.Clone(r.Context())
	r.URL.Path = to
	return r
}

// give answers as a return directive says.
func (s *nginxBlock) give(w http.ResponseWriter, r *http.Request, block []directive, d directive) {
	status, err := strconv.Atoi(d.arg())
	text := ""
	switch {
	case err != nil: // an address alone
		status, text = http.StatusFound, d.arg()
	case len(d.args) > 1:
		text = d.args[1]
	}
	text = s.expand(text, r)
	kind := "text/plain"
	for _, b := range [][]directive{s.block, block} {
		if d := find(b, "default_type"); d.name != "" {
			kind = d.arg()
		}
	}
	switch {
	case status < 100 || status > 999:
		status = http.StatusInternalServerError
	case status >= 300 && status < 400 && text != "":
		w.Header().Set("Location", text)
		text, kind = s.page(status), "text/html"
	case text == "" && status >= 400:
		text, kind = s.page(status), "text/html"
	}
	s.log(w, r, status, kind, text)
}

// nginxHops is the key for how many servers have passed a request on.
type nginxHops struct{}

// pass asks another server.
func (s *nginxBlock) pass(w http.ResponseWriter, r *http.Request, to, prefix string) {
	to = s.expand(to, r)
	u, err := url.Parse(to)
	if err != nil || u.Host == "" {
		s.log(w, r, http.StatusInternalServerError, "text/html", s.page(http.StatusInternalServerError))
		return
	}
	hops, _ := r.Context().Value(nginxHops{}).(int)
	if hops == nginxDepth { // to itself, over and over
		s.log(w, r, http.StatusInternalServerError, "text/html", s.page(http.StatusInternalServerError))
		return
	}
	out := r.Clone(context.WithValue(r.Context(), nginxHops{}, hops+1))
	if u.Path != "" {
		out.URL.Path = u.Path + strings.TrimPrefix(r.URL.Path, prefix)
		out.URL.RawPath = ""
	}
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = u.Scheme, u.Host, u.Host, ""
	response, err := s.c.cfg.Network.RoundTrip(out)
	if err != nil {
		s.log(w, r, http.StatusBadGateway, "text/html", s.page(http.StatusBadGateway))
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Server", s.c.nginxSoftware())
	w.WriteHeader(response.StatusCode)
	n, _ := io.Copy(w, response.Body) // fails when the client is gone
	s.c.access(r, response.StatusCode, int(n))
}

// log answers, and writes it to the log.
func (s *nginxBlock) log(w http.ResponseWriter, r *http.Request, status int, kind, text string) {
	w.Header().Set("Server", s.c.nginxSoftware())
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, text)
	}
	s.c.access(r, status, len(text))
}

// expand replaces variables.
func (s *nginxBlock) expand(text string, r *http.Request) string {
	return os.Expand(text, func(name string) string {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		switch name {
		case "hostname":
			return s.c.cfg.Hostname
		case "host":
			return host
		case "http_host":
			return r.Host
		case "uri", "document_uri":
			return r.URL.Path
		case "request_uri":
			return r.URL.RequestURI()
		case "args", "query_string":
			return r.URL.RawQuery
		case "request_method":
			return r.Method
		case "remote_addr":
			return from
		case "server_addr":
			return s.c.cfg.IP
		case "scheme":
			return scheme
		}
		if header, ok := strings.CutPrefix(name, "http_"); ok {
			return r.Header.Get(strings.ReplaceAll(header, "_", "-"))
		}
		return ""
	})
}

// page is what nginx shows for a status.
func (s *nginxBlock) page(status int) string {
	title := strconv.Itoa(status) + " " + http.StatusText(status)
	return "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title + "</h1></center>\r\n<hr><center>" + s.c.nginxSoftware() + "</center>\r\n</body>\r\n</html>\r\n"
}
