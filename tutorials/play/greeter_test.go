package play

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/tutorials/load"
)

// TestGreeterInGo runs the Go program that controller/libraries gives to learners, as the lesson says that it works: with
// client-go's informers, whose streaming lists are compressed; and killed at any moment it writes nothing twice.
func TestGreeterInGo(t *testing.T) {
	t.Chdir(filepath.Join(folder, "play")) // a shell changes it: so it is restored at the end
	program := filepath.Join(t.TempDir(), "greeter")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags=grpcnotrace", "-ldflags=-s -w", "-o", program, ".")
	build.Dir = filepath.Join(folder, "controller", "libraries", "files")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l, err := load.One(os.DirFS(folder), "controller/libraries")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, l)
	defer stop(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	d, err := c.Sit(ctx, t.TempDir(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	desk := func(line string) {
		t.Helper()
		if out, err := d.Run(ctx, []string{line}); err != nil || strings.Contains(out, "(exit ") {
			t.Fatalf("%v\n%s", err, out)
		}
	}

	api := httptest.NewServer(c.engine.Handler())
	defer api.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c,
clusters: [{name: c, cluster: {server: "%s"}}], contexts: [{name: c, context: {cluster: c}}]}`, api.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func() *exec.Cmd {
		p := exec.CommandContext(ctx, program)
		p.Env, p.Stderr = append(p.Environ(), "KUBECONFIG="+kubeconfig), t.Output()
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		return p
	}

	first := watchGreeter(c.requests)
	p := run()
	first.until(ctx, t, "the compressed watches of both kinds have told what is there", func() bool {
		return first.complete["greetings"] == "gzip" && first.complete["configmaps"] == "gzip"
	})
	desk("kubectl wait greeting --all --for=jsonpath='{.status.observedGeneration}'=1 --timeout=5m")
	desk("kubectl delete configmap greeting-dawn")
	desk("kubectl wait configmap/greeting-dawn --for=create --timeout=5m")
	desk(`for n in 1 2 3 4 5 6 7 8 9; do sed "s/N/$n/" guest.yaml | kubectl create -f -; done`)
	first.until(ctx, t, "a guest has its ConfigMap", func() bool {
		for name := range first.written {
			if strings.HasPrefix(name, "greeting-guest-") {
				return true
			}
		}
		return false
	})
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // it was killed
	first.until(ctx, t, "what it had asked for has been answered", func() bool { return first.running == 0 })
	first.stop()
	client, err := kubernetes.NewForConfig(c.engine.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.CoreV1().ConfigMaps(l.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for _, configMap := range list.Items {
		exists[configMap.Name] = true
	}

	second := watchGreeter(c.requests)
	defer second.stop()
	p = run()
	desk("kubectl wait greeting --all --for=jsonpath='{.status.observedGeneration}'=1 --timeout=5m")
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
	second.until(ctx, t, "what it had asked for has been answered", func() bool { return second.running == 0 })
	second.mu.Lock()
	defer second.mu.Unlock()
	for n := range 9 {
		name := fmt.Sprintf("greeting-guest-%d", n+1)
		if exists[name] == second.written[name] {
			t.Errorf("%s: there before the second process: %t, and written by it: %t", name, exists[name], second.written[name])
		}
	}
}

// greeterRequests are what the program asks for.
type greeterRequests struct {
	mu       sync.Mutex
	wake     chan struct{}
	stop     func()
	running  int
	complete map[string]string // resource: Content-Encoding of a watch that has told all that there is
	written  map[string]bool   // ConfigMaps
}

func watchGreeter(l *requestlog.Log) *greeterRequests {
	g := &greeterRequests{wake: make(chan struct{}, 1), complete: map[string]string{}, written: map[string]bool{}}
	g.stop = l.Subscribe(requestlog.Subscriber{
		Want: func(r *http.Request, _ string, _ bool) bool {
			is := strings.HasPrefix(r.UserAgent(), "greeter/")
			if is {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.running++
			}
			return is
		},
		Deliver: g.deliver,
	})
	return g
}

func (g *greeterRequests) deliver(p requestlog.Passing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case p.Part == requestlog.PartEvent && strings.Contains(p.DecodeEvent().Text, "k8s.io/initial-events-end"):
		g.complete[p.Resource] = p.ResponseHeader.Get("Content-Encoding")
	case p.Part == requestlog.PartEnd:
		g.running--
		if p.Method == http.MethodPatch && p.Resource == "configmaps" && p.Status < 300 {
			g.written[p.Name] = true
		}
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// until waits until something is so, which it asks with the lock.
func (g *greeterRequests) until(ctx context.Context, t *testing.T, what string, is func() bool) {
	t.Helper()
	for {
		g.mu.Lock()
		so := is()
		g.mu.Unlock()
		if so {
			return
		}
		select {
		case <-g.wake:
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s: %v", what, context.Cause(ctx))
		}
	}
}
