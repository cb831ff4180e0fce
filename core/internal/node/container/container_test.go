package container

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/clock"
)

// A client that is slow to begin with what the process says, and quick with its
// input: the process has read that, answered and ended before Attach goes on.
func TestAttachHasTheAnswerToItsInput(t *testing.T) {
	image, err := Resolve("busybox")
	if err != nil {
		t.Fatal(err)
	}
	now := clock.New(nil)
	now.Pause()
	disk := NewDisk(now, 0)
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended, attaching := make(chan int, 1), false
	c, err := Start(ctx, Config{
		Clock: now, Image: image, Argv: []string{"sh", "-c", "read a; echo you said $a"}, Stdin: true,
		Files: func() *Tree { return image.Tree(disk) }, Network: alone{}, OnExit: func(code int) { ended <- code },
		Go: func(f func()) {
			running.Go(f)
			if attaching {
				<-ended
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	attaching = true
	var out bytes.Buffer
	if err := c.Attach(ctx, strings.NewReader("hello\n"), &out, nil); err != nil || out.String() != "you said hello\n" {
		t.Errorf("attached: %q, %v", out.String(), err)
	}
}

func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		`echo $COLOR; echo "$HOSTNAME"`:                                         "blue\nbox\n",
		`for i in a b; do printf "%s " $i; done; echo`:                          "a b \n",
		`x=$(echo inner | tr a-z A-Z); echo ${x%R}`:                             "INNE\n",
		`f() { return 4; }; f; echo $?`:                                         "4\n",
		`case $COLOR in b*) echo yes;; *) echo no;; esac`:                       "yes\n",
		`echo a > /tmp/f; echo b >> /tmp/f; wc -l < /tmp/f; rm /tmp/f; ls /tmp`: "2\n",
		`mkdir -p /a/b && cd /a/b && touch c && find /a -type f`:                "/a/b/c\n",
		`echo one two | while read x y; do echo $y; done`:                       "two\n",
		`printf 'b\na\nb\n' | sort | uniq -c | sed 's/^ *//'`:                   "1 a\n2 b\n",
		`echo hello | grep -c l; echo hello | grep -q z || echo none`:           "1\nnone\n",
		`echo secret | base64; echo c2VjcmV0Cg== | base64 -d`:                   "c2VjcmV0Cg==\nsecret\n",
		`cat /nope`: "cat: can't open '/nope': No such file or directory\n",
		`nope`:      "sh: nope: not found\n",
		`env | grep COLOR; printenv COLOR; unset COLOR; printenv COLOR || echo unset`:            "COLOR=blue\nblue\nunset\n",
		`expr 2 + 3; seq -s x 1 >/dev/null; seq 2 4 | tail -n 1`:                                 "5\n4\n",
		`echo x > /dev/stderr; echo y >&2; echo z > /proc/1/fd/1`:                                "x\ny\nz\n",
		`cd /tmp && tar cf a.tar -C /etc os-release && tar tf a.tar`:                             "os-release\n",
		`ln -s /etc/os-release /tmp/l && head -n 1 /tmp/l`:                                       "NAME=\"Alpine Linux\"\n",
		`set -e; false; echo never`:                                                              "",
		`cat <(echo a; echo b | tr b c) - < <(echo d); eval 'wc -l <(echo e)' | cut -d ' ' -f 1`: "a\nc\nd\n1\n",
		`sh -c 'cat <(echo a); echo b | tee >(tr b c)'; ls /tmp`:                                 "a\nb\nc\n",
		`sh -c 'echo $0 $1' name arg; sh -c 'exit 7'; echo $?`:                                   "name arg\n7\n",
		`wget -qO- http://db || curl -s http://db; echo $?`:                                      "wget: can't connect to remote host (db): Connection refused\n7\n",
	} {
		if got := run(t, "alpine", "sh", "-c", script).output(); got != want {
			t.Errorf("%s\n got %q\nwant %q", script, got, want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		argv []string
		code int
	}{
		{[]string{"true"}, 0}, {[]string{"false"}, 1}, {[]string{"sh", "-c", "exit 42"}, 42}, {[]string{"/bin/sh", "-c", "kill -9 1; exit 5"}, 5},
		{[]string{"sh", "-c", "nope"}, 127}, {[]string{"test", "-f", "/etc/os-release"}, 0}, {[]string{"cat", "/nope"}, 1}, {[]string{"sh", "-c", "if"}, 2},
		// Go would end the process at the end of the stack.
		{[]string{"sh", "-c", "f() { f; }; f"}, 1}, {[]string{"sh", "-c", "f() { echo $(f); }; f"}, 1},
		// It would take all memory there is, and the API server with it.
		{[]string{"sh", "-c", "x=x; while true; do x=$x$x; done"}, 137}, {[]string{"sh", "-c", "x=x; for ((;;)); do x=$x$x; done"}, 137},
		{[]string{"awk", "BEGIN { s = \"x\"; while (1) s = s s }"}, 2}, {[]string{"awk", "BEGIN { while (length(s) < 9000) s = s \"x\"; while (1) a[n++] = s n }"}, 137},
	} {
		if got := <-run(t, "busybox", test.argv...).ended; got != test.code {
			t.Errorf("%q exits with %d, want %d", test.argv, got, test.code)
		}
	}
}

func TestSleepIsOnTheClock(t *testing.T) {
	b := run(t, "busybox", "sh", "-c", "date +%s > /tmp/a; sleep 1h; date +%s > /tmp/b; expr $(cat /tmp/b) - $(cat /tmp/a)")
	for len(b.ended) == 0 {
		if err := b.clock.Step(30 * time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	var n int
	for _, digit := range strings.TrimSpace(b.output()) {
		n = n*10 + int(digit-'0')
	}
	if n < 3600 {
		t.Errorf("an hour's sleep took %d s", n)
	}
}

// What a script has put into the background is seen, and ended, by who looks into the container.
func TestProcessesOfAContainer(t *testing.T) {
	b := run(t, "busybox", "sh", "-c", "sleep 1000 & { sleep 2000; } & echo up; wait $!; echo $?; wait %1; echo $?")
	b.step(t, b.main.isWaiting)
	exec := func(script string) (printed string) {
		t.Helper()
		var out bytes.Buffer
		if _, err := b.Exec(context.Background(), []string{"sh", "-c", script}, nil, &out, &out, nil); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got, want := exec("ps | sed -n '3,4p'; jobs; kill -0 8 9 && kill 9; kill 99; sleep 5 & kill $!; wait $!; echo $?"),
		"    8 root      0:00 sleep 1000\n    9 root      0:00 { sleep 2000; }\nsh: can't kill pid 99: No such process\n143\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	b.step(t, func() bool { return b.Log.Tail(9, 1000) == "up\n143\n" })
	if got := exec("kill -KILL 8"); got != "" {
		t.Errorf("prints %q", got)
	}
	if got := b.output(); got != "up\n143\n137\n" {
		t.Errorf("log %q", got)
	}
}

// A job must not take what the script is to read.
func TestJobsReadNothing(t *testing.T) {
	b := run(t, "busybox", "sleep", "1000")
	var out bytes.Buffer
	script := "cat & wait; read a & wait; read a; echo $a; cat"
	if _, err := b.Exec(context.Background(), []string{"sh", "-c", script}, strings.NewReader("one\ntwo\n"), &out, &out, nil); err != nil || out.String() != "one\ntwo\n" {
		t.Errorf("prints %q, %v", out.String(), err)
	}
}

// Images of programs have an entrypoint that starts what it is given.
func TestEntrypointScripts(t *testing.T) {
	for _, test := range []struct{ name, image, args, want string }{
		{"another program", "redis", "echo hello", "hello\n"},
		{"a shell", "curlimages/curl", "sh -c id", "uid=0(root) gid=0(root) groups=0(root)\n"},
		{"options of its own", "curlimages/curl", "-s -o /dev/null -w code:%{http_code} http://db", "code:000"},
	} {
		image, err := Resolve(test.image)
		if err != nil {
			t.Fatal(err)
		}
		if got := run(t, test.image, image.CommandLine(nil, strings.Fields(test.args))...).output(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	for _, test := range [][]string{{"alpine", "nope"}, {"alpine", "/usr/bin/nope"}, {"registry.k8s.io/pause:3.10", "sh"}, {"busybox", "bash"}, {"busybox", ""}} {
		var missing NotFoundError
		if _, err := tryRun(t, test[0], test[1:]...); !errors.As(err, &missing) || missing.Command != test[1] {
			t.Errorf("%q: %v, want a NotFoundError", test, err)
		}
	}
}

func TestImages(t *testing.T) {
	for name, exists := range map[string]bool{
		"nginx": true, "nginx:1.27-alpine": true, "nginx:1.16.1": true, "nginx:1.161": false, "nginx:typo": false, "redis:7-alpine3.20": true,
		"registry.k8s.io/e2e-test-images/agnhost:2.40": true, "k8s.gcr.io/pause:2.0": true, "ghcr.io/me/app:v1.2.3": true, "me/app@sha256:" + strings.Repeat("a", 64): true,
		"nginx:1.91": false, "nginx:2.0": false, "nginx:2": false, "nginx:1.9.1": true, "nginx:1.29.4": true, "nginx:1": true, "nginx:1.91-alpine": false, "nginx:alpine3.22": true, "nginx:not-a-version": false, "bitnami/nginx:2": false,
		"httpd:2.4.66": true, "httpd:3": false, "redis:99": false, "busybox:1.99": false, "busybox:musl": true, "ubuntu:24.04": true, "ubuntu:99.04": false, "debian:buster-slim": true, "debian:99": false, "python:slim": true, "python:4": false, "node:lts-alpine": true, "traefik:v3.1": true, "traefik:v9": false,
		"curlimages/curl:not-a-version": false, "me/app:doesnotexist": false, "me/app:dont-exist": false, "me/app:wrong": false, "me/app:bad": false, "me/app:nonexistent": false, "me/app:invalid-tag": false, "me/app:99.9": true, "nginxinc/nginx-unprivileged:1.29": true, "nginxinc/nginx-unprivileged:2": false,
		"ngnix": false, "nginxx": false, "bussybox": false, "postgress:16": false, "docker.io/library/reddis": false, "me/ngnix": true, "myapp": true, "my-app:1": true, "caddy": true, "node": true, "web": true,
		"no-such-image": false, "registry.invalid/app": false, "me/does-not-exist:v1": false, "invalidator/app": true, "postgres:16": true, "busybox:1.28": true,
	} {
		_, err := Resolve(name)
		var pull PullError
		if (err == nil) != exists || err != nil && !errors.As(err, &pull) {
			t.Errorf("%s: %v, want it to exist: %t", name, err, exists)
		}
	}
	if _, err := Resolve("Nginx"); err == nil || errors.As(err, new(PullError)) {
		t.Errorf("a name that is no reference: %v", err)
	}
	image, _ := Resolve("nginx")
	for _, test := range []struct{ command, args, want string }{
		{"", "", "/docker-entrypoint.sh nginx -g daemon off;"}, {"sh", "", "sh"}, {"", "x", "/docker-entrypoint.sh x"}, {"a b", "c", "a b c"},
	} {
		if got := strings.Join(image.CommandLine(strings.Fields(test.command), strings.Fields(test.args)), " "); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestDatabaseNeedsAPassword(t *testing.T) {
	b := run(t, "postgres:16")
	if code := <-b.ended; code != 1 || !strings.Contains(b.Log.Tail(9, 1000), "superuser password is not specified") {
		t.Errorf("exit code %d: %s", code, b.Log.Tail(9, 1000))
	}
}

func TestReadOnlyAndMounts(t *testing.T) {
	c := clock.New(nil)
	disk := NewDisk(c, 0)
	tree := disk.NewTree()
	data, config := disk.NewDir(0o755), disk.NewDir(0o755)
	disk.Project(config, map[string]Content{"a": {Data: []byte("1"), Mode: 0o644}, "deep/b": {Data: []byte("2"), Mode: 0o600}}, nil)
	tree.Mount("/data", data, false)
	tree.MountWritable(data)
	tree.Mount("/config", config, true)
	tree.Freeze()
	for p, allowed := range map[string]bool{"/data/x": true, "/config/a": false, "/config/new": false, "/etc/x": false, "/tmp/x": false, "/dev/null": true} {
		if err := tree.WriteFile(p, []byte("x"), 0o644); (err == nil) != allowed {
			t.Errorf("write %s: %v, want it to work: %t", p, err, allowed)
		}
	}
	for p, want := range map[string]string{"/config/a": "1", "/config/deep/b": "2", "/config/../config/..data/a": "1", "/data/x": "x"} {
		if got, err := tree.ReadFile(p); err != nil || string(got) != want {
			t.Errorf("read %s: %q, %v", p, got, err)
		}
	}
	// A new content replaces the old one at once, also through a subPath's parent.
	disk.Project(config, map[string]Content{"a": {Data: []byte("new"), Mode: 0o644}}, nil)
	if got, err := tree.ReadFile("/config/a"); err != nil || string(got) != "new" {
		t.Errorf("after an update: %q, %v", got, err)
	}
	if err := tree.Remove("/data", true); err == nil {
		t.Error("a mount point was removed")
	}
}

func TestAwk(t *testing.T) {
	script := `printf 'a 1\nb 2\n' >f; awk -v x=3 '{ n += $2 } END { print n * x; print ENVIRON["COLOR"] >"g" }' f; cat g; awk 'BEGIN { system("echo $0 | cat"); exit 4 }'; echo $?`
	if got, want := run(t, "busybox", "sh", "-c", script).output(), "9\nblue\nsh\n4\n"; got != want {
		t.Errorf("%q, and not %q", got, want)
	}
}

// TestOpenSSL makes a CA and a certificate in a Pod, and has others not read the keys.
func TestOpenSSL(t *testing.T) {
	script := `cd /tmp
openssl req -x509 -newkey ed25519 -noenc -keyout ca.key -subj /CN=ca -days 10 -out ca.crt
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out web.key
printf '[req]\nprompt = no\ndistinguished_name = dn\nreq_extensions = ext\n[dn]\nCN = $ENV::COLOR\n[ext]\nsubjectAltName = DNS:web\n' >csr.conf
openssl req -new -key web.key -config csr.conf | openssl x509 -req -CA ca.crt -CAkey ca.key -copy_extensions copy -out web.crt
openssl verify -CAfile ca.crt web.crt
openssl x509 -in web.crt -noout -subject -ext subjectAltName
for f in ca.key web.key web.crt; do ls -l $f; done | cut -c1-10
cat web.key | openssl pkey -noout -check`
	want := "-----\nCertificate request self-signature ok\nsubject=CN = blue\nweb.crt: OK\n" +
		"subject=CN = blue\nX509v3 Subject Alternative Name: \n    DNS:web\n-rw-------\n-rw-------\n-rw-r--r--\nKey is valid\n"
	if got := run(t, "busybox", "sh", "-c", script).output(); got != want {
		t.Errorf("%s\nand not\n%s", got, want)
	}
}

// TestAddresses: what shows that the containers of a Pod share an address.
func TestAddresses(t *testing.T) {
	for script, want := range map[string]string{
		"ip a | awk '/inet/ {print $2, $NF}'":               "127.0.0.1/8 lo\n10.0.0.9/24 eth0\n",
		"ip -4 addr show eth0 | grep -o 'link/ether [^ ]*'": "link/ether 02:42:0a:00:00:09\n",
		"ip route":                         "default via 10.0.0.1 dev eth0 \n10.0.0.0/24 dev eth0 scope link  src 10.0.0.9 \n",
		"ifconfig | grep -o 'inet addr.*'": "inet addr:10.0.0.9  Bcast:10.0.0.255  Mask:255.255.255.0\ninet addr:127.0.0.1  Mask:255.0.0.0\n",
		"ip neigh 2>&1; echo $?":           "ip: neigh is not simulated: address and route are\n1\n",
	} {
		if got := run(t, "busybox", "sh", "-c", script).output(); got != want {
			t.Errorf("%s:\n%s\nand not\n%s", script, got, want)
		}
	}
}
