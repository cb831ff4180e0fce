package container

import (
	"context"
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
		b.Container, err = Start(ctx, Config{Clock: now, Image: image, Argv: argv, Files: func() *Tree { return image.Tree(disk) }, Network: alone{}, Processes: shared, Place: place, Go: running.Go, OnExit: func(code int) { b.ended <- code }})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// The second one begins first, as one whose image is there.
	shell := start(2, "busybox", "sh", "-c", "while true; do sleep 3600; done")
	nginx, sleeper := start(1, "nginx"), start(0, "busybox", "sleep", "1000")
	shell.step(t, func() bool { return strings.Contains(allText(shell.Container), "sleep 3600") })
	got, _ := shell.exec(t, "ps")
	for _, want := range []string{"    1 root      0:00 /pause\n    8 root      0:00 nginx: master process nginx -g daemon off;\n", " nginx: worker process\n", "   10 root      0:00 sleep 1000\n", " ps\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("ps shows %q, and not %q", got, want)
		}
	}
	if got, _ := shell.exec(t, "head", "-n", "1", "/proc/8/root/etc/nginx/nginx.conf"); got != "user  nginx;\n" {
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
