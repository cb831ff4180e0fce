package container

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// exec runs a command line in the container and returns what it prints and its exit
// code.
func (b *box) exec(t *testing.T, argv ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code, err := b.Exec(context.Background(), argv, nil, &out, &out, nil)
	if missing := (NotFoundError{}); errors.As(err, &missing) {
		return "not found", 127
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), code
}

// The programs of a server tell what they are and reach the server that runs, and start
// no second one.
func TestControlOfServers(t *testing.T) {
	for _, test := range []struct{ image, line, want string }{
		{"nginx:1.16.1", "nginx -v", "nginx version: nginx/1.16.1\n"},
		{"nginx", "nginx -t", "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\nnginx: configuration file /etc/nginx/nginx.conf test is successful\n"},
		{"nginx", "nginx -s nothing", "nginx: invalid option: \"-s nothing\"\n"},
		{"httpd:2.4", "httpd -v", "Server version: Apache/2.4.66 (Unix)\nServer built:   Dec  9 2025 02:02:52\n"},
		{"httpd", "apachectl -t", "Syntax OK\n"},
		{"httpd", "apachectl configtest", "Syntax OK\n"},
		{"redis:6.0.5", "redis-server --version", "Redis server v=6.0.5 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=0\n"},
		{"postgres:16", "postgres --version", "postgres (PostgreSQL) 16.0\n"},
		{"mysql:8.0", "mysqld --version", "/usr/sbin/mysqld  Ver 8.0.0 for Linux on x86_64 (MySQL Community Server - GPL)\n"},
		{"nginx", "which nginx", "/usr/sbin/nginx\n"},
	} {
		b := run(t, test.image, "sleep", "1000")
		if got, _ := b.exec(t, strings.Fields(test.line)...); got != test.want {
			t.Errorf("%s: %s\n got %q\nwant %q", test.image, test.line, got, test.want)
		}
		if got, _ := b.exec(t, "sh", "-c", test.line); got != test.want {
			t.Errorf("%s: sh -c %q\n got %q\nwant %q", test.image, test.line, got, test.want)
		}
	}
}

func TestNginxIsSignalled(t *testing.T) {
	image, _ := Resolve("nginx")
	scripted := []string{"sh", "-c", "nginx -g 'daemon off;'; echo code $?"}
	for _, argv := range [][]string{image.Argv, {"sh", "-c", "exec nginx -g 'daemon off;'"}, {"sh", "-c", "nginx -g 'daemon off;'"}, scripted} {
		for _, signal := range []string{"quit", "stop"} {
			b := run(t, "nginx", argv...)
			b.step(t, func() bool { _, listens := b.Listening(Port{Number: 80}); return listens })
			if got, code := b.exec(t, "nginx", "-s", "reload"); !strings.HasSuffix(got, ": signal process started\n") || code != 0 || !b.Running() {
				t.Errorf("reload of %q: %q, %d", argv, got, code)
			}
			if got, code := b.exec(t, "nginx"); code != 1 || !strings.Contains(got, "bind() to 0.0.0.0:80 failed (98: Address already in use)") {
				t.Errorf("a second nginx beside %q: %q, %d", argv, got, code)
			}
			// What Kubernetes' documentation has as a preStop hook.
			hook := make(chan struct{})
			go func() {
				defer close(hook)
				_, _ = b.Exec(context.Background(), []string{"sh", "-c", "nginx -s " + signal + "; while killall -0 nginx; do sleep 1; done"}, nil, nil, nil, nil) // it may end with the container
			}()
			b.step(t, func() bool { return len(b.ended) > 0 })
			<-hook
			if code := <-b.ended; code != 0 {
				t.Errorf("%s of %q: exit code %d", signal, argv, code)
			}
		}
	}
	b := run(t, "nginx", "sh", "-c", "nginx && echo up && sleep 1000")
	b.step(t, func() bool { return strings.Contains(b.Log.Tail(9, 1000), "up\n") })
	if got, code := b.exec(t, "sh", "-c", "pgrep nginx > /dev/null && nginx -s stop 2> /dev/null; nginx -s stop 2>&1 | tail -n 1"); code != 0 || !strings.HasPrefix(got, `nginx: [error] open() "/run/nginx.pid" failed`) {
		t.Errorf("in the background: %q, %d", got, code)
	}
	if code := <-run(t, "nginx", "nginx").ended; code != 0 {
		t.Errorf("a daemon that is the first process: exit code %d", code)
	}
}

// Who execs a program that an image does not have is told so, whatever the image: what
// the container itself runs is a server where nothing else is known.
func TestExecOfWhatIsNotThere(t *testing.T) {
	for _, test := range []struct {
		image string
		argv  []string
	}{{"me/app", []string{"./run"}}, {"me/app", nil}, {"nginx", nil}, {"busybox", []string{"sleep", "1000"}}, {"me/app", []string{"sh", "-c", "./prepare & ./run --now"}}} {
		b := run(t, test.image, test.argv...)
		if !b.Running() {
			t.Errorf("%s %q has ended", test.image, test.argv)
		}
		if got, code := b.exec(t, "zookeeper-ready", "2181"); got != "not found" || code != 127 {
			t.Errorf("%s: %q, %d", test.image, got, code)
		}
		if got, code := b.exec(t, "sh", "-c", "zookeeper-ready 2181"); got != "sh: zookeeper-ready: not found\n" || code != 127 {
			t.Errorf("%s: %q, %d", test.image, got, code)
		}
	}
	if _, err := tryRun(t, "busybox", "nginx"); err == nil {
		t.Error("nginx is in busybox")
	}
}
