package container

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/clock"
)

// configured is an nginx with files.
func configured(t *testing.T, files map[string]string) (*Container, *Server) {
	t.Helper()
	image, err := Resolve("nginx")
	if err != nil {
		t.Fatal(err)
	}
	c := &Container{ctx: t.Context(), first: 1, cfg: Config{Clock: clock.New(nil), Image: image, Hostname: "web-0", IP: "10.244.0.2", Network: alone{}}}
	tree := image.Tree(NewDisk(clock.New(nil), 1<<20))
	for name, text := range files {
		if err := tree.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.tree = func() *Tree { return tree }
	c.Log = NewLog(c.cfg.Clock)
	c.cfg.Capabilities = Capabilities(false, nil, nil)
	return c, c.startNginx(nil, []int{80}, false)
}

func TestNginxFollowsItsConfiguration(t *testing.T) {
	_, s := configured(t, map[string]string{
		"/usr/share/nginx/html/about.html": "about",
		"/etc/nginx/conf.d/default.conf": `
# two servers
server {
    listen 80 default_server; listen [::]:80 ipv6only=on;
    location / { try_files $uri $uri.html =404; }
    location = /exact { return 200 "host $hostname\n"; }
    location /old { return 301 https://$host/new; }
    location /static/ { alias /usr/share/nginx/html/; }
    location /up/ { proxy_pass http://127.0.0.1:9/; }
    location ~ \.php$ { return 403; }
    location /health { access_log off; add_header X-Of ${host}; return 204; }
}
server { listen 8080; server_name a.example b.example; return 200 'other'; }`,
	})
	for _, test := range []struct {
		port       int
		path       string
		status     int
		body, head string
	}{
		{80, "/about", 200, "about", ""},
		{80, "/nothing", 404, "404 Not Found", ""},
		{80, "/exact", 200, "host web-0\n", ""},
		{80, "/old/x", 301, "301 Moved Permanently", "https://example.com/new"},
		{80, "/static/about.html", 200, "about", ""},
		{80, "/up/x", 502, "502 Bad Gateway", ""},
		{80, "/x.php", 403, "403 Forbidden", ""},
		{80, "/health", 204, "", ""},
		{8080, "/", 200, "other", ""},
	} {
		w := httptest.NewRecorder()
		s.Ports[test.port].HTTP.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://example.com"+test.path, nil))
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.body) || w.Header().Get("Location") != test.head {
			t.Errorf("%d %s: %d %q %q", test.port, test.path, w.Code, w.Body, w.Header())
		}
	}
}

func TestNginxSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"server { listen 80 ":        "unexpected end of file, expecting \";\" or \"}\" in /etc/nginx/conf.d/default.conf:1",
		"}":                          "unexpected \"}\" in /etc/nginx/conf.d/default.conf:1",
		"server { listen 443 ssl; }": "no \"ssl_certificate\" is defined",
		"server { listen 443 ssl; ssl_certificate /no; }":  "cannot load certificate \"/no\"",
		"server { listen 443 ssl; ssl_certificate a/b; }":  "cannot load certificate \"/etc/nginx/a/b\"",
		"server {\n    listen 443;\n    ssl on;\n}":        "[emerg] unknown directive \"ssl\" in /etc/nginx/conf.d/default.conf:3",
		"error_log /none/error.log;":                       "[emerg] open() \"/none/error.log\" failed (2: No such file or directory)",
		strings.Repeat("a { ", 20):                         "too many levels",
		"include conf.d/*.conf; include conf.d/*.conf;":    "too many levels",
		strings.Repeat("include /etc/nginx/big;\n", 10000): "too large a configuration",
	} {
		files := map[string]string{"/etc/nginx/conf.d/default.conf": text}
		if strings.Contains(text, "big") {
			files["/etc/nginx/big"] = strings.Repeat("a;", 1000)
		}
		_, s := configured(t, files)
		if !s.ExitsAtOnce || s.ExitCode != 1 || !strings.Contains(strings.Join(s.Lines, "\n"), want) {
			t.Errorf("%.40s: %d %v, want %s", text, s.ExitCode, s.Lines, want)
		}
	}
}

// A reload has nginx listen as its configuration says by now; one that is wrong is told of, and
// changes nothing.
func TestNginxReloads(t *testing.T) {
	b := run(t, "nginx")
	listens := func(port int) bool { _, ok := b.Listening(Port{Number: port}); return ok }
	b.step(t, func() bool { return listens(80) })
	write := func(text string) {
		t.Helper()
		if err := b.Files().WriteFile("/etc/nginx/conf.d/default.conf", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("server { listen 8080; return 200 new; }")
	if got, code := b.exec(t, "nginx", "-s", "reload"); code != 0 || !listens(8080) || listens(80) {
		t.Errorf("%q, %d: 8080 %v, 80 %v", got, code, listens(8080), listens(80))
	}
	write("server { listen 9090; location / {")
	for _, argv := range [][]string{{"nginx", "-s", "reload"}, {"nginx", "-t"}} {
		if got, code := b.exec(t, argv...); code != 1 || !strings.Contains(got, "[emerg]") || !listens(8080) || listens(9090) {
			t.Errorf("%v of what is torn: %q, %d", argv, got, code)
		}
	}
}

// itself is a network in which every address is the one server.
type itself struct {
	alone
	server *http.Handler
}

func (n itself) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	(*n.server).ServeHTTP(w, r)
	return w.Result(), nil
}

// A server that passes requests on to itself answers with an error, and takes no stack for ever.
func TestNginxThatAsksItself(t *testing.T) {
	c, _ := configured(t, map[string]string{"/etc/nginx/conf.d/default.conf": "server { listen 80; location / { proxy_pass http://127.0.0.1/; } }"})
	var h http.Handler
	c.cfg.Network = itself{server: &h}
	h = c.startNginx(nil, []int{80}, false).Ports[80].HTTP
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("%d", w.Code)
	}
}
