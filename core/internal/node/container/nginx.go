package container

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

const nginxRoot = "/usr/share/nginx/html"

// nginx is the server of a configuration: server blocks with what listens, locations, return, proxy_pass, root, alias,
// try_files and logs. Other directives are read and have no effect. A container without a configuration has ports.
type nginx struct {
	c        *Container
	ports    []int
	logs     *nginxLogs
	requests atomic.Int64 // that the error log has told of
}

func (c *Container) newNginx(ports []int) *nginx {
	return &nginx{c: c, ports: ports, logs: &nginxLogs{c: c}}
}

// nginxSoftware is what nginx calls itself.
func (c *Container) nginxSoftware() string { return "nginx/" + c.root().cfg.Image.version() }

// read returns the directives of the configuration, nil if there is none. The error is in nginx's words.
func (n *nginx) read() (all []directive, err error) {
	t := n.c.tree()
	left := nginxBytes
	if _, err := t.Stat(nginxFile, true); err != nil {
		p := &nginxParser{tree: t, left: &left, file: nginxFile}
		some, err := p.include("/etc/nginx/conf.d/*.conf", nginxDepth)
		if err != nil || len(some) == 0 {
			return nil, err
		}
		return []directive{{name: "http", block: some}}, nil
	}
	if all, err = readNginx(t, nginxFile, nginxDepth, &left); err != nil {
		return nil, err
	}
	if find(all, "events").name == "" {
		return nil, fmt.Errorf("no %q section in configuration", "events")
	}
	return all, nil
}

// listeners returns what answers where a configuration says.
func (n *nginx) listeners(all []directive) (map[int]Listener, error) {
	if all == nil {
		http := []directive{{name: "log_format", args: []string{"main", nginxMain}}, {name: "access_log", args: []string{"", "main"}}}
		return listen(&nginxPort{servers: []*nginxBlock{{nginx: n, http: http}}}, n.ports...), nil
	}
	served := map[int]*nginxPort{}
	http := find(all, "http").block
	for _, d := range http {
		if d.name != "server" {
			continue
		}
		if err := n.server(d, &nginxBlock{nginx: n, main: all, http: http, block: d.block}, served); err != nil {
			return nil, err
		}
	}
	listeners := map[int]Listener{}
	for number, p := range served {
		listeners[number] = Listener{HTTP: p, TLS: p.certificate}
	}
	return listeners, nil
}

// server adds a server block to the ports that it listens on.
func (n *nginx) server(d directive, s *nginxBlock, ports map[int]*nginxPort) error {
	secure := find(d.block, "ssl")
	if secure.name != "" && isAfter(n.c.cfg.Image.version(), "1.24") { // which was the last to know it
		return fmt.Errorf("unknown directive %q in %s", secure.name, secure.at())
	}
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
		if !slices.Contains(l.args, "ssl") && secure.arg() != "on" || p.certificate != nil {
			continue
		}
		if p.certificate, err = n.certificate(d, s.http, l); err != nil {
			return err
		}
	}
	return nil
}

// certificate is that of a server block that listens with TLS.
func (n *nginx) certificate(d directive, http []directive, l directive) (*tls.Certificate, error) {
	of := func(name string) string {
		for _, b := range [][]directive{d.block, http} {
			if found := find(b, name); found.name != "" {
				return coreutils.Absolute("/etc/nginx", found.arg())
			}
		}
		return ""
	}
	file, key := of("ssl_certificate"), of("ssl_certificate_key")
	if file == "" {
		return nil, fmt.Errorf("no %q is defined for the %q directive in %s", "ssl_certificate", "listen ... ssl", l.at())
	}
	certificate, err := n.c.certificate(file, key)
	if err != nil {
		return nil, fmt.Errorf("cannot load certificate %q: BIO_new_file() failed (SSL: error:80000002:system library::No such file or directory:calling fopen(%s, r) error:10000080:BIO routines::no such file)", file, file)
	}
	return certificate, nil
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
	*nginx
	main, http, block []directive // all directives, those of http and its own
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
		s.pass(w, r, block, d.arg(), prefix)
		return
	}
	if find(block, "stub_status").name != "" {
		s.log(w, r, block, http.StatusOK, "text/plain", "Active connections: 1 \nserver accepts handled requests\n 1 1 1 \nReading: 0 Writing: 1 Waiting: 0 \n")
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
		if s.try(w, r, root, block, d.args, depth) {
			return
		}
	}
	if d := find(block, "alias"); d.name != "" {
		root = d.arg()
		r = moved(r, "/"+strings.TrimPrefix(r.URL.Path, prefix))
	}
	s.files(root, block).ServeHTTP(w, r)
}

// files answers with the files of a folder, and logs as the block says.
func (s *nginxBlock) files(root string, block []directive) http.Handler {
	return s.c.site(root, s.c.nginxSoftware(), func(r *http.Request, served served) {
		if served.err != nil {
			s.missing(r, block, served.file, served.err)
		}
		s.access(r, block, served.status, served.size)
	})
}

// try looks for the files of try_files. It reports whether it has answered; the request is for the file that is there if not.
func (s *nginxBlock) try(w http.ResponseWriter, r *http.Request, root string, block []directive, names []string, depth int) bool {
	for _, name := range names[:len(names)-1] {
		name = s.expand(name, r)
		info, err := s.c.tree().Stat(path.Join(root, name), true)
		if err == nil && info.IsDir() == strings.HasSuffix(name, "/") {
			s.files(root, block).ServeHTTP(w, moved(r, name))
			return true
		}
	}
	last := s.expand(names[len(names)-1], r)
	if code, isCode := strings.CutPrefix(last, "="); isCode {
		status, err := strconv.Atoi(code)
		if err != nil || status < 100 || status > 999 {
			status = http.StatusNotFound
		}
		s.log(w, r, block, status, "text/html", s.page(status))
		return true
	}
	s.answer(w, moved(r, last), depth-1)
	return true
}

// moved is a request for another path.
func moved(r *http.Request, to string) *http.Request {
	to, _, _ = strings.Cut(to, "?")
	asked := r.URL.RequestURI()
	r = r.Clone(r.Context())
	r.URL.Path = to
	if !strings.HasPrefix(r.RequestURI, "/") { // which is for the log
		r.RequestURI = asked
	}
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
	s.log(w, r, block, status, kind, text)
}

// nginxHops is the key for how many servers have passed a request on.
type nginxHops struct{}

// pass asks another server.
func (s *nginxBlock) pass(w http.ResponseWriter, r *http.Request, block []directive, to, prefix string) {
	to = s.expand(to, r)
	u, err := url.Parse(to)
	if err != nil || u.Host == "" {
		s.log(w, r, block, http.StatusInternalServerError, "text/html", s.page(http.StatusInternalServerError))
		return
	}
	hops, _ := r.Context().Value(nginxHops{}).(int)
	if hops == nginxDepth { // to itself, over and over
		s.log(w, r, block, http.StatusInternalServerError, "text/html", s.page(http.StatusInternalServerError))
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
		s.log(w, r, block, http.StatusBadGateway, "text/html", s.page(http.StatusBadGateway))
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Server", s.c.nginxSoftware())
	w.WriteHeader(response.StatusCode)
	n, _ := io.Copy(w, response.Body) // fails when the client is gone
	s.access(r, block, response.StatusCode, int(n))
}

// log answers, and writes it to the log.
func (s *nginxBlock) log(w http.ResponseWriter, r *http.Request, block []directive, status int, kind, text string) {
	w.Header().Set("Server", s.c.nginxSoftware())
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, text)
	}
	s.access(r, block, status, len(text))
}

// page is what nginx shows for a status.
func (s *nginxBlock) page(status int) string {
	title := strconv.Itoa(status) + " " + http.StatusText(status)
	return "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title + "</h1></center>\r\n<hr><center>" + s.c.nginxSoftware() + "</center>\r\n</body>\r\n</html>\r\n"
}
