package server_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// podRunner runs scripts in Pods of a server.
type podRunner struct {
	*testing.T
	client kubernetes.Interface
}

// run has a new Pod run a script, and returns what it has printed when the script has ended. The Pod goes on.
func (r podRunner) run(name, script string) string {
	r.Helper()
	pods := r.client.CoreV1().Pods("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(0)),
		Containers:                    []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"sh", "-c", script + `; echo "code $?"; sleep 100000`}}},
	}}
	poll := func(condition func(ctx context.Context) bool) error {
		return wait.PollUntilContextTimeout(r.Context(), 50*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) { return condition(ctx), nil })
	}
	// The account that Pods have is made after the namespace.
	err := poll(func(ctx context.Context) bool {
		_, err := r.client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	if err == nil {
		_, err = pods.Create(r.Context(), pod, metav1.CreateOptions{})
	}
	if err != nil {
		r.Fatal(err)
	}
	var printed []byte
	err = poll(func(ctx context.Context) bool {
		got, err := pods.GetLogs(name, &corev1.PodLogOptions{}).DoRaw(ctx) // fails until the container runs
		printed = got
		return err == nil && strings.Contains(string(got), "code ")
	})
	if err != nil {
		r.Fatalf("%s printed %q: %v", name, printed, err)
	}
	return string(printed)
}

// Files of Pods are in the server's memory: a container that writes without an end finds its disk full, and the process takes
// what the disk has, as much garbage as collectSeldom lets gather beside it, and half of that for the blocks of files, which are
// copied once. What a Pod wrote is free when it has gone.
func TestDiskOfPodsIsFull(t *testing.T) {
	for _, c := range []struct {
		limit      string
		disk, most int64 // bytes of files; MB that may be resident
	}{
		{"512Mi", 64 << 20, 512},
		{"8Gi", 1 << 30, 2700},
	} {
		t.Run(fmt.Sprintf("%d MiB", c.disk>>20), func(t *testing.T) {
			if c.disk >= 1<<30 && os.Getenv("KUBETAB_TIMING") == "" {
				t.Skip("it takes two gigabytes: make test-timing")
			}
			p := startKubetab(t, "--nodes", "1", "--memory-limit", c.limit)
			r := podRunner{t, clientset(t, restConfig(t, p))}
			printed := r.run("fills", "head -c 4G /dev/zero > /tmp/f; ls -l /tmp/f; test -s /tmp/f && head -c 1M /dev/zero > /tmp/g")
			most := highWater(t, p.PID())
			t.Logf("%q; at most %d MB resident", printed, most)
			if !strings.Contains(printed, "No space left on device") || strings.Contains(printed, "code 0") {
				t.Errorf("it printed %q", printed)
			}
			if most > c.most {
				t.Errorf("%d MB were resident, with a disk of %d MB", most, c.disk/1_000_000)
			}
			if err := r.client.CoreV1().Pods("default").Delete(t.Context(), "fills", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if printed := r.run("next", "until head -c 1M /dev/zero > /tmp/f; do sleep 0.1; done 2>/dev/null; test -s /tmp/f"); printed != "code 0\n" {
				t.Errorf("after the Pod has gone: %q", printed)
			}
		})
	}
}

// A script that doubles a text is ended before the process has more memory than it may.
func TestScriptsKeepToTheMemoryLimit(t *testing.T) {
	t.Parallel()
	const limit = 320
	p := startKubetab(t, "--nodes", "1", "--memory-limit", fmt.Sprint(limit, "Mi"))
	r := podRunner{t, clientset(t, restConfig(t, p))}
	printed := r.run("doubles", "sh -c 'x=x; while true; do x=$x$x; done'")
	most := highWater(t, p.PID())
	t.Logf("%q; at most %d MB resident", printed, most)
	if strings.Contains(printed, "code 0") || most > limit*1_048_576/1_000_000+150 { // pages of the program's file are beside it
		t.Errorf("%q, and %d MB were resident", printed, most)
	}
}
