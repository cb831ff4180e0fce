package server_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// bigText is how many bytes an object that fills the memory has.
const bigText = 900_000

// bigData is the text of the object with that number, which is hard to compress.
func bigData(number int64) string {
	data := make([]byte, bigText/4*3)
	rand.NewChaCha8([32]byte{byte(number), byte(number >> 8)}).Read(data) // never fails
	return base64.StdEncoding.EncodeToString(data)
}

// fill creates up to most ConfigMaps of bigText bytes, some at a time, until one is refused. It returns those that were not, and
// why the first one was.
func fill(t *testing.T, client kubernetes.Interface, most int) (acknowledged []*corev1.ConfigMap, refused error) {
	t.Helper()
	var mu sync.Mutex
	var writers sync.WaitGroup
	var next atomic.Int64
	for range 8 {
		writers.Go(func() {
			for i := next.Add(1); i <= int64(most); i = next.Add(1) {
				name := fmt.Sprintf("fill-%d", i)
				big := configMap(name)
				big.Data["a"] = bigData(i)
				made, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), big, metav1.CreateOptions{})
				mu.Lock()
				if err != nil {
					refused = cmp.Or(refused, err)
					next.Store(int64(most))
				} else {
					made.Data = nil // of which the test has no need
					acknowledged = append(acknowledged, made)
				}
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	return acknowledged, refused
}

// A server whose memory is full says so to whoever writes, before the system ends the process; what it has acknowledged is
// there, and can be read and deleted; and then there is room again.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	const limit = 320 << 20
	p := startKubetab(t, "--nodes", "1", "--memory-limit", fmt.Sprint(limit))
	client := clientset(t, restConfig(t, p))
	maps := client.CoreV1().ConfigMaps("default")
	acknowledged, refused := fill(t, client, 2*limit/bigText)
	status := apierrors.APIStatus(nil)
	if !errors.As(refused, &status) || status.Status().Code != http.StatusInsufficientStorage || status.Status().Reason != "InsufficientStorage" {
		t.Fatalf("after %d objects: %v", len(acknowledged), refused)
	}
	if !strings.Contains(refused.Error(), "No space left") || !strings.Contains(refused.Error(), "Nothing was changed") {
		t.Errorf("it is refused with %q", refused)
	}
	t.Logf("%d objects of %d bytes, at most %d MB resident: %v", len(acknowledged), bigText, highWater(t, p.PID()), refused)
	if len(acknowledged) < 10 {
		t.Errorf("there was room for %d objects", len(acknowledged))
	}
	for _, want := range acknowledged {
		got, err := maps.Get(t.Context(), want.Name, metav1.GetOptions{})
		if err != nil || got.UID != want.UID || len(got.Data["a"]) != bigText {
			t.Fatalf("%s was acknowledged with the UID %s: %v", want.Name, want.UID, err)
		}
	}
	file := filepath.Join(t.TempDir(), "full.kubetab")
	if code, out, stderr := kubetab(t, "bundle", "save", "--kubeconfig", p.Kubeconfig, file); code != 0 {
		t.Fatalf("code %d: %s%s", code, out, stderr)
	}
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) < len(acknowledged) {
		t.Fatalf("%d of %d are listed: %v", len(list.Items), len(acknowledged), err)
	}
	for _, gone := range acknowledged[1:] {
		if err := maps.Delete(t.Context(), gone.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// What was deleted is in the history until that is compacted, and garbage until it is collected.
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, startLimit, true, func(ctx context.Context) (bool, error) {
		_, err := maps.Create(ctx, configMap("again"), metav1.CreateOptions{})
		if errors.As(err, &status) && status.Status().Code == http.StatusInsufficientStorage {
			refused = err
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		t.Errorf("all but one are deleted: %v; %v", err, refused)
	}
	if got, err := maps.Get(t.Context(), acknowledged[0].Name, metav1.GetOptions{}); err != nil || got.UID != acknowledged[0].UID {
		t.Errorf("the one that was not deleted: %v", err)
	}
	// Beside it are pages of the program's file, which the system takes away where it needs them.
	if most := highWater(t, p.PID()); most > limit/1_000_000+150 {
		t.Errorf("%d MB were resident", most)
	}
	if p.Ended() {
		t.Error("the process has ended")
	}

	// The file that was saved when the memory was full has everything.
	info, err := os.Stat(file)
	if err != nil || info.Size() < int64(len(acknowledged))*bigText/2 {
		t.Fatalf("the bundle is %v: %v", info, err)
	}
	p.Kill()
	other := clientset(t, restConfig(t, startKubetab(t, "--nodes", "1", "--from", file)))
	for _, want := range acknowledged {
		got, err := other.CoreV1().ConfigMaps("default").Get(t.Context(), want.Name, metav1.GetOptions{})
		if err != nil || got.UID != want.UID || got.ResourceVersion != want.ResourceVersion || got.Data["a"] == "" {
			t.Errorf("%s is not in the bundle: %v", want.Name, err)
		}
	}
}

// highWater returns the most memory that a process has had, in MB of 10^6 bytes: 0 where nobody knows.
func highWater(t *testing.T, pid int) int64 {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	return memoryOf(t, pid, "VmHWM")
}
