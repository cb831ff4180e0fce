package container

import (
	"context"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/kubetab/kubetab/core/clock"
)

// Containers that share a process namespace see each other's processes, can end them, and
// find each other's files below /proc.
func TestSharedNamespace(t *testing.T) {
	now := clock.New(nil)
	now.Pause()
	disk := NewDisk(now, 0)
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); running.Wait() })
	shared := NewNamespace(2)
	start := func(place int, name string, argv ...string) *box {
		image, err := Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		b := &box{clock: now, ended: make(chan int, 1)}
		b.Container, err = Start(ctx, Config{Clock: now, Image: image, Argv: argv, Files: func() *Tree { return image.Tree(disk) }, Network: alone{}, Processes: shared, Place: place, Capabilities: Capabilities(false, nil, nil), Go: running.Go, OnExit: func(code int) { b.ended <- code }})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// The second one begins first, as one whose image is there.
	shell := start(2, "busybox", "sh", "-c", "while true; do sleep 3600; done")
	nginx, sleeper := start(1, "nginx"), start(0, "busybox", "sleep", "1000")
	shell.step(t, func() bool { return shell.runs("sleep 3600") })
	got, _ := shell.exec(t, "ps")
	for _, want := range []string{"    1 root      0:00 /pause\n    8 root      0:00 nginx: master process nginx -g daemon off;\n", " nginx: worker process\n", "   10 root      0:00 sleep 1000\n", " ps\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("ps shows %q, and not %q", got, want)
		}
	}
	if got, _ := shell.exec(t, "head", "-n", "2", path.Join("/proc/8/root", "etc/nginx/nginx.conf")); got != "\nuser  nginx;\n" {
		t.Errorf("the other's file: %q", got)
	}
	if got, code := shell.exec(t, "kill", "-HUP", "8"); got != "" || code != 0 || !nginx.Running() || !strings.Contains(nginx.Log.Tail(9, 1000), "reconfiguring") {
		t.Errorf("HUP: %q, %d, log %q", got, code, nginx.Log.Tail(9, 1000))
	}
	if _, code := shell.exec(t, "kill", "1"); code != 0 || !shell.Running() || !nginx.Running() {
		t.Error("a signal to /pause has ended something")
	}
	shell.exec(t, "kill", "10")
	shell.exec(t, "kill", "8")
	if a, b := <-sleeper.ended, <-nginx.ended; a != 143 || b != 0 {
		t.Errorf("exit codes %d and %d", a, b)
	}
	if got, _ := shell.exec(t, "ps"); strings.Contains(got, "nginx") || strings.Contains(got, "sleep 1000") {
		t.Errorf("they have ended: %q", got)
	}
}

// A container in another's namespace, as kubectl debug makes it, finds the other's files below /proc/1/root, and its own below
// that of its own process.
func TestFilesOfATarget(t *testing.T) {
	target := run(t, "nginx")
	debugger, err := tryRunWith(t, func(c *Config) { c.Processes = target.Namespace() }, "busybox", "sh", "-c", "echo own > /f; sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	debugger.step(t, func() bool { return debugger.runs("sleep 1000") })
	for script, want := range map[string]string{
		"sed -n 2p $of/etc/nginx/nginx.conf": "user  nginx;\n",
		"ls $of/usr/share/nginx/html":        "50x.html\nindex.html\n",
		"cd $of/etc/nginx; ls nginx.conf":    "nginx.conf\n",
		"tr '\\0' ' ' < /proc/1/cmdline":     "nginx: master process nginx -g daemon off; ",
		"r=root/f; cat /proc/$(pgrep -f 'echo own' | head -n 1)/$r /proc/self/$r; ls -d /etc/nginx": "own\nown\nls: /etc/nginx: No such file or directory\n",
	} {
		if got, _ := debugger.exec(t, "sh", "-c", "of=/proc/1/root; "+script); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	if got, _ := target.exec(t, "sh", "-c", "echo made > /made; cat /proc/1/root/made; echo logged > /proc/1/fd/1"); got != "made\n" || !strings.HasSuffix(target.Log.Tail(1, 100), "logged\n") {
		t.Errorf("the target itself: %q, log %q", got, target.Log.Tail(9, 1000))
	}
}
