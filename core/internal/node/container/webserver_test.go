package container

import (
	"strings"
	"testing"
)

// busybox' httpd serves a folder, in the background unless it is told otherwise, with
// its own pages for what is not there.
func TestBusyboxHTTPD(t *testing.T) {
	made := "mkdir -p /www/sub; echo hello > /www/index.html; echo x > /www/a.txt; "
	for script, port := range map[string]int{made + "exec httpd -f -p 8080 -h /www": 8080, made + "cd /www; httpd -fp8080": 8080, made + "httpd -p 0.0.0.0:81 -h /www; sleep 1000": 81} {
		b := run(t, "busybox", "sh", "-c", script)
		b.step(t, func() bool { _, ok := b.Listening(Port{Number: port}); return ok })
		for target, want := range map[string]string{"/": "hello\n", "/a.txt": "x\n", "/nope": "<HTML><HEAD><TITLE>404 Not Found</TITLE></HEAD>\n<BODY><H1>404 Not Found</H1>\nThe requested URL was not found\n</BODY></HTML>\n"} {
			if got, code := b.answer(t, port, target); got != want || (code == 404) != (target == "/nope") {
				t.Errorf("%s %s: %q, %d", script, target, got, code)
			}
		}
	}
	b := run(t, "busybox", "sleep", "1000")
	if got, code := b.exec(t, "httpd", "-p", "8080", "-h", "/etc"); got != "" || code != 0 {
		t.Errorf("exec: %q, %d", got, code)
	}
	if got, _ := b.answer(t, 8080, "/os-release"); !strings.Contains(got, "Alpine") {
		t.Errorf("in the background: %q", got)
	}
	if got, code := b.exec(t, "sh", "-c", "httpd -p 8080 2>&1; killall httpd && httpd -p 8080"); code != 0 || !strings.Contains(got, "in use") {
		t.Errorf("once more: %q, %d", got, code)
	}
}

func TestPythonServesFiles(t *testing.T) {
	b := run(t, "python:3.12", "sh", "-c", "mkdir -p /srv/sub; echo x > '/srv/a b.txt'; cd /srv; python3 -m http.server 9000")
	b.step(t, func() bool { _, ok := b.Listening(Port{Number: 9000}); return ok })
	if got, _ := b.answer(t, 9000, "/"); !strings.Contains(got, "<title>Directory listing for /</title>") || !strings.Contains(got, "<li><a href=\"a%20b.txt\">a b.txt</a></li>\n<li><a href=\"sub/\">sub/</a></li>\n") {
		t.Errorf("listing: %q", got)
	}
	if got, code := b.answer(t, 9000, "/none"); code != 404 || !strings.Contains(got, "Error code: 404") {
		t.Errorf("missing: %q, %d", got, code)
	}
	if _, ok := run(t, "python", "python", "-m", "http.server", "--directory", "/etc").Listening(Port{Number: 8000}); !ok {
		t.Error("nothing listens at 8000")
	}
	if got, code := run(t, "python", "sleep", "1000").exec(t, "python", "-c", "import flask"); code != 1 || got != "python: this container is simulated: it runs simple scripts alone\n" {
		t.Errorf("a program: %q, %d", got, code)
	}
}

// Packages whose programs are there can be installed.
func TestPackages(t *testing.T) {
	for _, test := range []struct {
		image, script string
		code          int
		want          string
	}{
		{"debian", "apt-get update > /dev/null && apt-get install -y curl dnsutils procps > /dev/null && echo done", 0, "done\n"},
		{"alpine", "apk add --no-cache curl bind-tools > /dev/null && echo done", 0, "done\n"},
		{"debian", "apt-get install -y gcc", 1, "Reading package lists"},
		{"alpine", "apk add gcc", 1, ""},
		{"alpine", "apt-get update", 127, "sh: apt-get: not found\n"},
	} {
		b := run(t, test.image, "sleep", "1000")
		if got, code := b.exec(t, "sh", "-c", test.script); code != test.code || test.code != 1 && got != test.want {
			t.Errorf("%s: %q, %d", test.script, got, code)
		}
	}
}
