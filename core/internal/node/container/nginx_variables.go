package container

import (
	"net"
	"net/http"
	"os"
	"strings"
)

// expand replaces variables.
func (s *nginxBlock) expand(text string, r *http.Request) string {
	return os.Expand(text, func(name string) string { return s.variable(name, r) })
}

// variable is what a variable is for a request.
func (s *nginxBlock) variable(name string, r *http.Request) string {
	switch name {
	case "hostname":
		return s.c.cfg.Hostname
	case "host":
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			return host
		}
		return r.Host
	case "http_host":
		return r.Host
	case "uri", "document_uri":
		return r.URL.Path
	case "request":
		return r.Method + " " + s.variable("request_uri", r) + " HTTP/1.1"
	case "request_uri":
		if strings.HasPrefix(r.RequestURI, "/") { // what was asked for, whatever try_files has made of it
			return r.RequestURI
		}
		return r.URL.RequestURI()
	case "args", "query_string":
		return r.URL.RawQuery
	case "request_method":
		return r.Method
	case "server_name":
		return find(s.block, "server_name").arg()
	case "remote_addr":
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		return from
	case "remote_user":
		user, _, _ := r.BasicAuth()
		return user
	case "server_addr":
		return s.c.cfg.IP
	case "server_protocol":
		return "HTTP/1.1"
	case "request_time":
		return "0.000"
	case "time_local":
		return s.c.stamp("02/Jan/2006:15:04:05 +0000")
	case "time_iso8601":
		return s.c.stamp("2006-01-02T15:04:05+00:00")
	case "scheme":
		if r.TLS != nil {
			return "https"
		}
		return "http"
	}
	if header, ok := strings.CutPrefix(name, "http_"); ok {
		return r.Header.Get(strings.ReplaceAll(header, "_", "-"))
	}
	return ""
}
