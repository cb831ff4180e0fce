package container

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whether nginx starts is up to what its user may do in its folders.
func TestNginxWithLessPrivileges(t *testing.T) {
	const warning = "nginx: [warn] the \"user\" directive makes sense only if the master process runs with super-user privileges, ignored in /etc/nginx/nginx.conf:2\n"
	emptyDirs := func(tree *Tree, at ...string) {
		for _, at := range at {
			dir := tree.disk.NewDir(0o777)
			tree.Mount(at, dir, false)
			tree.MountWritable(dir)
		}
	}
	for name, test := range map[string]struct {
		image  string
		uid    int64
		may    uint64
		files  func(*Tree)
		code   int // -1: it runs
		log    string
		listen bool
	}{
		"root":              {code: -1, may: defaultCapabilities, log: "info: Enabled listen on IPv6 in /etc/nginx/conf.d/default.conf\n", listen: true},
		"a user":            {uid: 101, code: 1, log: warning + "<time> [emerg] 1#1: mkdir() \"/var/cache/nginx/client_temp\" failed (13: Permission denied)\nnginx: [emerg] mkdir() \"/var/cache/nginx/client_temp\" failed (13: Permission denied)\n"},
		"a user's folder":   {uid: 1000, files: func(t *Tree) { emptyDirs(t, "/var/cache/nginx") }, code: 1, log: "nginx: [emerg] open() \"/run/nginx.pid\" failed (13: Permission denied)\n"},
		"a user's folders":  {uid: 1000, files: func(t *Tree) { emptyDirs(t, "/var/cache/nginx", "/var/run") }, code: -1, log: "start worker processes\n", listen: true},
		"no capabilities":   {code: 1, log: "nginx: [emerg] chown(\"/var/cache/nginx/client_temp\", 101) failed (1: Operation not permitted)\n"},
		"no setuid":         {code: -1, may: capChown, log: ": setgid(101) failed (1: Operation not permitted)\n"},
		"just enough":       {code: -1, may: capChown | capSetgid | capSetuid, log: "start worker processes\n", listen: true},
		"read-only":         {may: defaultCapabilities, files: (*Tree).Freeze, code: 1, log: "can not modify /etc/nginx/conf.d/default.conf (read-only file system?)\n"},
		"read-only folder":  {may: defaultCapabilities, files: (*Tree).Freeze, code: 1, log: "nginx: [emerg] mkdir() \"/var/cache/nginx/client_temp\" failed (30: Read-only file system)\n"},
		"read-only but for": {may: defaultCapabilities, files: func(t *Tree) { emptyDirs(t, "/var/cache/nginx", "/run"); t.Freeze() }, code: -1, log: "start worker processes\n", listen: true},
		"unprivileged": {image: "nginxinc/nginx-unprivileged", uid: 101, files: func(t *Tree) { emptyDirs(t, "/tmp"); t.Freeze() }, code: -1,
			log: "start worker processes\n", listen: true},
		"unprivileged without /tmp": {image: "nginxinc/nginx-unprivileged", uid: 101, files: (*Tree).Freeze, code: 1, log: "nginx: [emerg] mkdir() \"/tmp/client_temp\" failed (30: Read-only file system)\n"},
	} {
		if test.image == "" {
			test.image = "nginx"
		}
		b, err := tryRunWith(t, func(c *Config) {
			c.User, c.Capabilities = User{UID: test.uid}, test.may
			made := c.Files
			c.Files = func() *Tree {
				tree := made()
				if test.files != nil {
					test.files(tree)
				}
				return tree
			}
		}, test.image)
		if err != nil {
			t.Fatal(err)
		}
		code := -1
		if b.Brief() {
			code = <-b.ended
		}
		_, listens := b.Listening(Port{Number: b.cfg.Image.Ports[0]})
		log := strings.ReplaceAll(b.Log.Tail(99, 1<<16), b.clock.Now().UTC().Format(nginxTime), "<time>")
		if code != test.code || listens != test.listen || !strings.Contains(log, test.log) {
			t.Errorf("%s: exit code %d, listens %t, log\n%s", name, code, listens, log)
		}
	}
}

// nginx writes its logs to files, which in its image are what the container prints.
func TestNginxLogs(t *testing.T) {
	const get, post = "192.0.2.1 - - [<time>] \"GET / HTTP/1.1\" 200 615 \"-\" \"-\" \"-\"\n", "192.0.2.1 - - [<time>] \"HEAD / HTTP/1.1\" 200 0 \"-\" \"-\" \"-\"\n"
	missing := ": *1 open() \"/usr/share/nginx/html/x\" failed (2: No such file or directory), client: 192.0.2.1, server: localhost, request: \"GET /x HTTP/1.1\", host: \"example.com\"\n"
	ask := func(b *box) {
		t.Helper()
		for _, r := range [][2]string{{"GET", "/"}, {"HEAD", "/"}, {"GET", "/x"}} {
			l, ok := b.Listening(Port{Number: 80})
			if !ok {
				t.Fatalf("nothing listens, and the log says %s", b.Log.Tail(9, 1000))
			}
			l.HTTP.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(r[0], "http://example.com"+r[1], http.NoBody))
		}
	}
	read := func(b *box, name string) string {
		t.Helper()
		data, err := b.Files().ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(data), b.clock.Now().UTC().Format("02/Jan/2006:15:04:05 +0000"), "<time>")
	}
	b := run(t, "nginx")
	if got, _ := b.exec(t, "readlink", "/var/log/nginx/access.log", "/var/log/nginx/error.log"); got != "/dev/stdout\n/dev/stderr\n" {
		t.Errorf("links to %q", got)
	}
	ask(b)
	if log := strings.ReplaceAll(b.Log.Tail(99, 1<<16), b.clock.Now().UTC().Format("02/Jan/2006:15:04:05 +0000"), "<time>"); !strings.Contains(log, get+post) || !strings.Contains(log, missing) || !strings.Contains(log, " 404 153 ") {
		t.Errorf("the container prints %s", log)
	}
	// With a volume there nothing is printed.
	with := func(files map[string]string) *box {
		b, err := tryRunWith(t, func(c *Config) {
			made := c.Files
			c.Files = func() *Tree {
				tree := made()
				tree.Mount("/var/log/nginx", tree.disk.NewDir(0o777), false)
				for name, text := range files {
					if err := tree.WriteFile(name, []byte(text), 0o644); err != nil {
						t.Error(err)
					}
				}
				return tree
			}
		}, "nginx")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b = with(nil)
	printed := b.Log.Tail(99, 1<<16)
	ask(b)
	if log := read(b, "/var/log/nginx/access.log"); !strings.HasPrefix(log, get+post) {
		t.Errorf("access.log: %s", log)
	}
	if log := read(b, "/var/log/nginx/error.log"); !strings.Contains(log, "start worker processes\n") || !strings.HasSuffix(log, missing) {
		t.Errorf("error.log: %s", log)
	}
	if now := b.Log.Tail(99, 1<<16); now != printed || strings.Contains(now, "[notice]") {
		t.Errorf("the container prints %s", now)
	}
	// Who moves a file away gets what is written to it until nginx reopens its logs.
	b.exec(t, "mv", "/var/log/nginx/access.log", "/var/log/nginx/access.log.1")
	before := len(read(b, "/var/log/nginx/access.log.1"))
	ask(b)
	b.exec(t, "nginx", "-s", "reopen")
	ask(b)
	if moved, log := read(b, "/var/log/nginx/access.log.1"), read(b, "/var/log/nginx/access.log"); len(moved) != 2*before || len(log) != before {
		t.Errorf("after a reopen: %q and %q", moved, log)
	}
	// What the configuration says.
	b = with(map[string]string{nginxPages: `
log_format short escape=json '$request_method $uri' ' $status';
server {
    listen 80; root /usr/share/nginx/html; access_log a.log short; access_log /dev/stdout;
    error_log /var/log/nginx/e.log crit;
    location /x { access_log off; }
}`})
	ask(b)
	if got, errs := read(b, "/etc/nginx/a.log"), read(b, "/var/log/nginx/error.log"); got != "GET / 200\nHEAD / 200\n" || strings.Contains(errs, "open()") || strings.Count(b.Log.Tail(99, 1<<16), "] \"") != 2 {
		t.Errorf("as configured: %q, errors %q, printed %s", got, errs, b.Log.Tail(99, 1<<16))
	}
}

// ownCertificate is a certificate with its key, as files have them.
func ownCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	have := server.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(have.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: have.Certificate[0]})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// A certificate may be named relative to nginx's folder, and nginx knew ssl on for a long time.
func TestNginxWithTLS(t *testing.T) {
	for name, works := range map[string]bool{"nginx:1.24": true, "nginx:1.25.3": false} {
		b, err := tryRunWith(t, func(c *Config) {
			made := c.Files
			c.Files = func() *Tree {
				tree := made()
				certificate, key := ownCertificate(t)
				for name, text := range map[string]string{"/etc/nginx/certs/a.crt": certificate, "/etc/nginx/certs/a.key": key,
					nginxPages: "ssl_certificate_key certs/a.key;\nserver { listen 443; ssl on; ssl_certificate certs/a.crt; return 200 safe; }"} {
					_ = tree.MkdirAll("/etc/nginx/certs", 0o755)
					if err := tree.WriteFile(name, []byte(text), 0o644); err != nil {
						t.Error(err)
					}
				}
				return tree
			}
		}, name)
		if err != nil {
			t.Fatal(err)
		}
		l, listens := b.Listening(Port{Number: 443})
		if listens != works || works && (l.TLS == nil || !strings.Contains(b.Log.Tail(99, 1<<16), "the \"ssl\" directive is deprecated, use the \"listen ... ssl\" directive instead in /etc/nginx/conf.d/default.conf:2\n")) {
			t.Errorf("%s: listens %t, log %s", name, listens, b.Log.Tail(99, 1<<16))
		}
	}
}
