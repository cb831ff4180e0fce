package node_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	//lint:ignore SA1019 the interfaces of client-go are still made of it
	"k8s.io/apimachinery/pkg/util/httpstream"
	//lint:ignore SA1019 as above
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/tools/remotecommand"
	clientspdy "k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/kubetab/kubetab/internal/unix/terminal/screen"
)

// kubelet returns a client of node-1's kubelet, which it reaches as the API
// server does: by its address, through the dialer.
func (c *cluster) kubelet() (*http.Client, string) {
	transport := &http.Transport{DialContext: c.dialer.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	c.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, "https://172.18.0.2:10250"
}

// logs reads the log of container main of a Pod with a query.
func (c *cluster) logs(pod, query string) string {
	c.Helper()
	client, address := c.kubelet()
	response, err := client.Get(address + "/containerLogs/default/" + pod + "/main?" + query)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

func TestLogs(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: busybox, command: [sh, -c, "for i in 1 2 3; do echo line $i; sleep 10; done; echo err >&2; exit 1"]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	c.until("the first line", func() bool { return c.logs("p", "") == "line 1\n" })
	client, address := c.kubelet()
	following, err := client.Get(address + "/containerLogs/default/p/main?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer following.Body.Close()
	c.pass("three lines", time.Minute, func() bool { return strings.Count(c.logs("p", ""), "\n") == 3 })
	for query, want := range map[string]string{
		"tailLines=1": "line 3\n", "tailLines=0": "", "limitBytes=4": "line", "sinceSeconds=5": "line 3\n", "sinceSeconds=15": "line 2\nline 3\n",
	} {
		if got := c.logs("p", query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	stamp, rest, _ := strings.Cut(c.logs("p", "timestamps=true&tailLines=1"), " ")
	if _, err := time.Parse(time.RFC3339Nano, stamp); err != nil || rest != "line 3\n" {
		t.Errorf("timestamps: %q %q: %v", stamp, rest, err)
	}
	if got := c.logs("p", "previous=true"); !strings.Contains(got, `previous terminated container "main" in pod "p" not found`) {
		t.Errorf("previous: %q", got)
	}
	c.pass("restarted", time.Minute, func() bool { return c.get("p").Status.ContainerStatuses[0].RestartCount == 1 })
	all, err := io.ReadAll(following.Body) // ends with the run that it follows
	if err != nil || string(all) != "line 1\nline 2\nline 3\nerr\n" {
		t.Errorf("followed: %q, %v", all, err)
	}
	if got := c.logs("p", "previous=true"); got != "line 1\nline 2\nline 3\nerr\n" {
		t.Errorf("previous: %q", got)
	}
}

// spdyUpgrade gives the round tripper the interface that client-go wants.
type spdyUpgrade struct{ *spdy.SpdyRoundTripper }

func (c *cluster) executor(kind, pod, query string) remotecommand.Executor {
	c.Helper()
	_, address := c.kubelet()
	u, err := url.Parse(address + "/" + kind + "/default/" + pod + "/main?" + query)
	if err != nil {
		c.Fatal(err)
	}
	upgrade, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{UpgradeTransport: &http.Transport{DialContext: c.dialer.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}})
	if err != nil {
		c.Fatal(err)
	}
	e, err := remotecommand.NewSPDYExecutorForTransports(upgrade, spdyUpgrade{upgrade}, http.MethodPost, u)
	if err != nil {
		c.Fatal(err)
	}
	return e
}

func (u spdyUpgrade) NewConnection(r *http.Response) (httpstream.Connection, error) {
	return u.SpdyRoundTripper.NewConnection(r)
}

// exec runs a command in container main and returns what it prints and its code.
func (c *cluster) exec(pod, stdin string, argv ...string) (string, string, int) {
	c.Helper()
	query := url.Values{"command": argv, "output": {"1"}, "error": {"1"}}
	options := remotecommand.StreamOptions{}
	var out, errs bytes.Buffer
	options.Stdout, options.Stderr = &out, &errs
	if stdin != "" {
		query.Set("input", "1")
		options.Stdin = strings.NewReader(stdin)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	err := c.executor("exec", pod, query.Encode()).StreamWithContext(ctx, options)
	var exit utilexec.ExitError
	switch {
	case err == nil:
		return out.String(), errs.String(), 0
	case errors.As(err, &exit):
		return out.String(), errs.String(), exit.ExitStatus()
	}
	return out.String(), err.Error(), -1
}

func TestExec(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: nginx, env: [{name: GREETING, value: "hello $(NAME)"}, {name: NAME, value: x}]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	for _, test := range []struct {
		stdin      string
		argv       []string
		out, errs  string
		code       int
		substrings bool
	}{
		{"", []string{"echo", "a b"}, "a b\n", "", 0, false},
		{"", []string{"sh", "-c", "exit 3"}, "", "", 3, false},
		{"", []string{"hostname"}, "p\n", "", 0, false},
		{"", []string{"sh", "-c", "echo $GREETING; echo no >&2; false"}, "hello $(NAME)\n", "no\n", 1, false},
		{"one\ntwo\n", []string{"cat"}, "one\ntwo\n", "", 0, false},
		{"one\ntwo\n", []string{"sh", "-c", "read a; echo got $a; cat"}, "got one\ntwo\n", "", 0, false},
		{"echo from stdin\nexit 5\n", []string{"sh"}, "from stdin\n", "", 5, false},
		{"", []string{"sh", "-c", "seq 3 | sort -r | head -n 2; printf '%s-%d\\n' a 7"}, "3\n2\na-7\n", "", 0, false},
		{"", []string{"sh", "-c", "cat <<EOF\nhome $HOME\nEOF\ntest -f /etc/hostname && ls /usr/share/nginx/html"}, "home /root\n50x.html\nindex.html\n", "", 0, false},
		{"", []string{"sh", "-c", "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i > /tmp/n; cat /tmp/n"}, "3\n", "", 0, false},
		{"", []string{"curl", "-s", "localhost"}, "Welcome to nginx!", "", 0, true},
		{"", []string{"wget", "-qO-", "http://nowhere"}, "", "wget: bad address 'nowhere'\n", 1, false},
		{"", []string{"ls", "/nope"}, "", "ls: cannot access '/nope': No such file or directory\n", 2, false},
		{"", []string{"no-such-program"}, "", `exec: "no-such-program": executable file not found in $PATH`, -1, true},
	} {
		out, errs, code := c.exec("p", test.stdin, test.argv...)
		if test.substrings {
			if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(errs, test.errs) {
				t.Errorf("%q: %q %q %d", test.argv, out, errs, code)
			}
			continue
		}
		if out != test.out || errs != test.errs || code != test.code {
			t.Errorf("%q: %q %q %d, want %q %q %d", test.argv, out, errs, code, test.out, test.errs, test.code)
		}
	}
	// What one exec writes, the next reads, and the server serves.
	if _, _, code := c.exec("p", "", "sh", "-c", "echo changed > /usr/share/nginx/html/index.html"); code != 0 {
		t.Fatal(code)
	}
	if out, _, _ := c.exec("p", "", "curl", "-s", "http://127.0.0.1/"); out != "changed\n" {
		t.Errorf("served %q", out)
	}
	// kubectl cp: an archive in, an archive out.
	archive, _, _ := c.exec("p", "", "tar", "cf", "-", "/etc/hostname")
	if _, errs, code := c.exec("p", archive, "tar", "xmf", "-", "-C", "/tmp"); code != 0 {
		t.Fatalf("tar: %d %s", code, errs)
	}
	if out, _, _ := c.exec("p", "", "cat", "/tmp/etc/hostname"); out != "p\n" {
		t.Errorf("copied %q", out)
	}
	// A signal from inside restarts the container.
	c.exec("p", "", "kill", "1")
	c.pass("restarted", 20*time.Second, func() bool { return c.get("p").Status.ContainerStatuses[0].RestartCount == 1 })
}

func TestExecTerminal(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: alpine, command: [sleep, infinity]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	types := func(keys string, sizes remotecommand.TerminalSizeQueue, command ...string) string {
		t.Helper()
		client := &typist{ctx: ctx, keys: strings.NewReader(keys), prompted: make(chan struct{})}
		query := url.Values{"command": command, "output": {"1"}, "input": {"1"}, "tty": {"1"}}
		err := c.executor("exec", "p", query.Encode()).StreamWithContext(ctx, remotecommand.StreamOptions{
			Stdin: client, Stdout: client, Tty: true, TerminalSizeQueue: sizes,
		})
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := screen.Show(client.shown.String(), 80)
		if err != nil {
			t.Error(err)
		}
		return strings.Join(rows, "\n")
	}
	if got, want := types("ecko\x7f\x7fho hi\r", nil, "sh"), "/ # echo hi\nhi\n/ #"; got != want {
		t.Errorf("the terminal shows %q, want %q", got, want)
	}
	sizes := make(sizeQueue, 2)
	sizes <- remotecommand.TerminalSize{Width: 100, Height: 30}
	sizes <- remotecommand.TerminalSize{Width: 120, Height: 40}
	if got, want := types("", sizes, "sh", "-c", "until [ \"$(stty size)\" = '40 120' ]; do :; done; stty size"), "40 120\n"; got != want {
		t.Errorf("the terminal says that its size is %q, want %q", got, want)
	}
	close(sizes)
}

// typist types when the shell prompts. What is typed before, the terminal echoes, and the shell once more: so does any terminal.
type typist struct {
	ctx      context.Context
	keys     *strings.Reader
	shown    bytes.Buffer
	prompted chan struct{}
	has      bool // prompted
}

func (p *typist) Read(b []byte) (int, error) {
	if p.keys.Len() > 0 {
		select {
		case <-p.prompted:
		case <-p.ctx.Done():
		}
	}
	return p.keys.Read(b)
}

func (p *typist) Write(b []byte) (int, error) {
	p.shown.Write(b)
	if !p.has && strings.Contains(p.shown.String(), "# ") {
		p.has = true
		close(p.prompted)
	}
	return len(b), nil
}

// sizeQueue are the sizes that a client's terminal has, one after the other.
type sizeQueue chan remotecommand.TerminalSize

func (q sizeQueue) Next() *remotecommand.TerminalSize {
	size, more := <-q
	if !more {
		return nil
	}
	return &size
}

func TestAttach(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, stdin: true, stdinOnce: true, command: [sh, -c, "read a; echo you said $a"]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := c.executor("attach", "p", "input=1&output=1&error=1").StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader("hello\n"), Stdout: &out, Stderr: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "you said hello\n" {
		t.Errorf("attached: %q", out.String())
	}
	c.pass("succeeded", 10*time.Second, c.phase("p", v1.PodSucceeded))
}

// kubectl run -i reads the log of a container that runs, and then attaches. If
// attach fails it reads the log again, and short output is printed twice.
func TestAttachIsLate(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [echo, hi]}]}}`)
	c.pass("succeeded", 10*time.Second, c.phase("p", v1.PodSucceeded))
	attachTo := func(pod string) (string, error) {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		err := c.executor("attach", pod, "output=1&error=1").StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: io.Discard})
		return out.String(), err
	}
	attach := func() (string, error) { return attachTo("p") }
	// The first client hears what nobody has heard, as kubectl debug, which reads no log; kubectl run has read it.
	for _, want := range []string{"hi\n", ""} {
		if out, err := attach(); out != want || err != nil {
			t.Errorf("attached to a container that has just ended: %q, %v, not %q", out, err, want)
		}
	}
	c.create(`{metadata: {name: read}, spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [echo, hi]}]}}`)
	c.pass("succeeded", 10*time.Second, c.phase("read", v1.PodSucceeded))
	if log := c.logs("read", ""); log != "hi\n" {
		t.Errorf("its log is %q", log)
	}
	if out, err := attachTo("read"); out != "" || err != nil {
		t.Errorf("attached to a container whose log was read: %q, %v", out, err)
	}
	if err := c.clock.Step(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := attach(); err == nil || !strings.Contains(err.Error(), "container main not found in pod p_default") {
		t.Errorf("attached to a container that ended long ago: %v", err)
	}
	if _, errs, _ := c.exec("p", "", "true"); !strings.Contains(errs, `container not found ("main")`) {
		t.Errorf("exec in a container that has ended: %q", errs)
	}
}

func TestPortForward(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: unknown}, spec: {containers: [{name: main, image: me/app}]}}`)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: traefik/whoami}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	_, address := c.kubelet()
	upgrade, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{UpgradeTransport: &http.Transport{DialContext: c.dialer.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}})
	if err != nil {
		t.Fatal(err)
	}
	connect := func(pod string) httpstream.Connection {
		r, err := http.NewRequest(http.MethodPost, address+"/portForward/default/"+pod, nil)
		if err != nil {
			t.Fatal(err)
		}
		conn, protocol, err := clientspdy.Negotiate(spdyUpgrade{upgrade}, &http.Client{Transport: upgrade}, r, "portforward.k8s.io")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if protocol != "portforward.k8s.io" {
			t.Errorf("protocol %q", protocol)
		}
		return conn
	}
	forward := func(conn httpstream.Connection, port string) (data, errs string) {
		header := http.Header{}
		header.Set(v1.PortHeader, port)
		header.Set(v1.PortForwardRequestIDHeader, port)
		header.Set(v1.StreamType, v1.StreamTypeError)
		errors, err := conn.CreateStream(header)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Close(); err != nil {
			t.Fatal(err)
		}
		header.Set(v1.StreamType, v1.StreamTypeData)
		stream, err := conn.CreateStream(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(stream, "GET / HTTP/1.1\r\nHost: localhost\r\nKubetab-Client: terminal\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		all, _ := io.ReadAll(stream) // ends when the kubelet closes it, with or without an answer
		text, _ := io.ReadAll(errors)
		return string(all), string(text)
	}
	if data, errs := forward(connect("p"), "80"); !strings.HasPrefix(data, "HTTP/1.1 200 OK") || !strings.HasSuffix(data, "\nRemoteAddr: 127.0.0.1:40000\nGET / HTTP/1.1\nHost: localhost\n") || errs != "" {
		t.Errorf("forwarded: %q %q", data, errs)
	}
	if _, errs := forward(connect("p"), "81"); !strings.Contains(errs, "connection refused") {
		t.Errorf("a port where nothing listens: %q", errs)
	}
	// Nothing is known of where a container listens that does not declare it: who forwards to a port knows.
	c.pass("ready", 10*time.Second, c.ready("unknown"))
	if data, errs := forward(connect("unknown"), "8080"); !strings.HasPrefix(data, "HTTP/1.1 200 OK") || !strings.Contains(data, "Hostname: unknown") || errs != "" {
		t.Errorf("forwarded to an unknown server: %q %q", data, errs)
	}
}

// The API server proxies requests to Pods through the same dialer.
func TestDialPod(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {containers: [{name: main, image: nginx}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	transport := &http.Transport{DialContext: c.dialer.DialContext, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Get("http://" + c.get("p").Status.PodIP + ":80/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get("Server") != "nginx/1.29.4" {
		t.Errorf("the Pod answers %v", response)
	}
	c.create(`{metadata: {name: echo}, spec: {containers: [{name: main, image: traefik/whoami}]}}`)
	c.pass("ready", 10*time.Second, c.ready("echo"))
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, "http://"+c.get("echo").Status.PodIP, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Kubetab-Client", "terminal")
	seen, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Body.Close()
	if text, err := io.ReadAll(seen.Body); err != nil || strings.Contains(string(text), "Kubetab-Client") || strings.Contains(string(text), "Connection: close") {
		t.Errorf("the Pod is asked with %s, %v", text, err)
	}
	if conn, err := c.dialer.DialContext(context.Background(), "tcp", "10.244.0.99:80"); err == nil {
		conn.Close()
		t.Error("an address that nobody has was reached")
	}
	if !strings.Contains(c.logs("p", "tailLines=1"), `"GET / HTTP/1.1" 200 `) {
		t.Errorf("the access log says %q", c.logs("p", "tailLines=1"))
	}
	if _, errs, code := c.exec("p", "", "curl", "-s", "localhost"); code != 0 || !strings.HasPrefix(c.logs("p", "tailLines=1"), "127.0.0.1 - - [") {
		t.Errorf("curl localhost: %d %s, and the access log says %q", code, errs, c.logs("p", "tailLines=1"))
	}
}

func TestDownwardAPIAndVolumes(t *testing.T) {
	ctx := context.Background()
	c := start(t)
	for _, object := range []v1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"color": "blue", "SIZE": "big"}}} {
		if _, err := c.client.CoreV1().ConfigMaps("default").Create(ctx, &object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.client.CoreV1().Secrets("default").Create(ctx, &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key"}, Data: map[string][]byte{"password": []byte("s3cret")}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.create(`
metadata: {name: p, labels: {app: demo, tier: web}, annotations: {note: hi}}
spec:
  restartPolicy: Never
  volumes:
  - {name: info, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}, {path: cpu, resourceFieldRef: {containerName: main, resource: limits.cpu}}]}}
  - {name: settings, configMap: {name: settings, items: [{key: color, path: nested/color}]}}
  - {name: key, secret: {secretName: key}}
  - {name: scratch, emptyDir: {}}
  initContainers:
  - {name: prepare, image: busybox, command: [sh, -c, "echo prepared > /scratch/file"], volumeMounts: [{name: scratch, mountPath: /scratch}]}
  containers:
  - name: main
    image: busybox
    resources: {limits: {cpu: "2", memory: 64Mi}, requests: {cpu: 250m}}
    env:
    - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
    - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: HOST, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
    - {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}}
    - {name: MEM, valueFrom: {resourceFieldRef: {resource: limits.memory}}}
    - {name: JOINED, value: "$(POD_NAME).$(POD_NAMESPACE)"}
    - {name: PASSWORD, valueFrom: {secretKeyRef: {name: key, key: password}}}
    envFrom: [{configMapRef: {name: settings}, prefix: CFG_}]
    command:
    - sh
    - -c
    - |
      echo $POD_NAME $POD_NAMESPACE $POD_IP $NODE $HOST $APP $CPU $MEM $JOINED $PASSWORD $CFG_SIZE
      cat /info/labels; echo; cat /info/cpu; echo
      cat /settings/nested/color; echo
      cat /key/password; echo
      cat /scratch/file
      ls /var/run/secrets/kubernetes.io/serviceaccount
      cut -c1-3 /var/run/secrets/kubernetes.io/serviceaccount/token
      cat /var/run/secrets/kubernetes.io/serviceaccount/namespace; echo
      echo $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT
      echo x > /settings/nested/color || echo read-only
      curl -sk -H "Authorization: Bearer $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)" https://kubernetes.default.svc/version | grep major
      curl -sS https://kubernetes.default.svc/version 2>&1 | head -1
      curl -s --cacert /var/run/secrets/kubernetes.io/serviceaccount/ca.crt https://kubernetes.default.svc/readyz; echo
      curl -sk -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)" https://kubernetes/api/v1/namespaces/default/secrets
      curl -sk https://kubernetes/api/v1/namespaces/default/secrets | grep message
      curl -sk https://172.18.0.1:6443/readyz; echo
      nc -zv kubernetes.default 443; nc -zv kubernetes.default 444; nc -zv 172.18.0.1 6443; nc -zv 172.18.0.1 443; true
    volumeMounts:
    - {name: info, mountPath: /info}
    - {name: settings, mountPath: /settings}
    - {name: key, mountPath: /key}
    - {name: scratch, mountPath: /scratch}
`)
	c.pass("succeeded", 30*time.Second, c.phase("p", v1.PodSucceeded))
	golden(t, "downward-api", c.logs("p", ""))
}
