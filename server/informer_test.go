package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetab/kubetab/server/internal/process"
)

// observer is what a controller sees of one resource through a shared informer. It knows of every object what it was
// told last, and complains when it is told something that cannot follow: a second ADDED, a change or an end of what is
// not there, or a step back.
type observer struct {
	informer cache.SharedIndexInformer

	mu    sync.Mutex
	known map[string]uint64 // name -> resourceVersion
	wrong []string
}

func version(t testing.TB, o metav1.Object) uint64 {
	rv, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return rv
}

func observe(t *testing.T, informer cache.SharedIndexInformer) *observer {
	t.Helper()
	o := &observer{informer: informer, known: map[string]uint64{}}
	step := func(what string, object any, check func(name string, rv uint64, before uint64, exists bool) bool) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		m := object.(metav1.Object)
		rv := version(t, m)
		o.mu.Lock()
		defer o.mu.Unlock()
		before, exists := o.known[m.GetName()]
		if !check(m.GetName(), rv, before, exists) {
			o.wrong = append(o.wrong, fmt.Sprintf("%s %s at %d, known: %v at %d", what, m.GetName(), rv, exists, before))
		}
		if what == "delete" {
			delete(o.known, m.GetName())
		} else {
			o.known[m.GetName()] = rv
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			step("add", object, func(_ string, _, _ uint64, exists bool) bool { return !exists })
		},
		UpdateFunc: func(_, object any) { // a list after a lost watch tells what is there again, at the same version
			step("update", object, func(_ string, rv, before uint64, exists bool) bool { return exists && rv >= before })
		},
		DeleteFunc: func(object any) {
			step("delete", object, func(_ string, _, _ uint64, exists bool) bool { return exists })
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// sees reports whether the observer knows exactly what want holds.
func (o *observer) sees(want map[string]uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.known) != len(want) || len(o.informer.GetStore().List()) != len(want) {
		return false
	}
	for name, rv := range want {
		if o.known[name] != rv {
			return false
		}
	}
	return true
}

// mustSee waits until the observer knows exactly what the server has, and fails if it was told anything wrong.
func (o *observer) mustSee(t *testing.T, when string, list func() map[string]uint64) {
	t.Helper()
	waitUntil(t, "the informer knows what the server has "+when, func() bool { return o.sees(list()) })
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.wrong) > 0 {
		t.Fatalf("the informer was told what cannot be:\n%s", strings.Join(o.wrong, "\n"))
	}
}

// events makes, changes and deletes Event objects, and lists them. Events are not behind a watch cache in kube-apiserver:
// their watches are the store's own, and so is their end at a compaction.
type events struct {
	t      *testing.T
	client kubernetes.Interface
	count  int
}

// change makes three objects, changes one and deletes one.
func (e *events) change() {
	e.t.Helper()
	api := e.client.CoreV1().Events("default")
	for range 3 {
		e.count++
		name := fmt.Sprintf("e%d", e.count)
		if _, err := api.Create(e.t.Context(), &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: name},
			InvolvedObject: corev1.ObjectReference{Namespace: "default", Name: "thing"},
		}, metav1.CreateOptions{}); err != nil {
			e.t.Fatal(err)
		}
	}
	if _, err := api.Patch(e.t.Context(), fmt.Sprintf("e%d", e.count), "application/merge-patch+json", []byte(`{"reason":"Changed"}`), metav1.PatchOptions{}); err != nil {
		e.t.Fatal(err)
	}
	if err := api.Delete(e.t.Context(), fmt.Sprintf("e%d", e.count-1), metav1.DeleteOptions{}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *events) list() map[string]uint64 {
	e.t.Helper()
	list, err := e.client.CoreV1().Events("default").List(e.t.Context(), metav1.ListOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	versions := map[string]uint64{}
	for i := range list.Items {
		versions[list.Items[i].Name] = version(e.t, &list.Items[i])
	}
	return versions
}

// compacted reports whether the server no longer has the state at resourceVersion rv.
func (e *events) compacted(rv string) bool {
	_, err := e.client.CoreV1().Events("default").List(e.t.Context(), metav1.ListOptions{ResourceVersion: rv, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	return apierrors.IsResourceExpired(err)
}

// A client that was away while the server compacted is told 410 Gone when it comes back, lists again, and has missed
// nothing: what went meanwhile is deleted, what came is added, and nothing comes twice.
func TestInformerSurvivesACompaction(t *testing.T) {
	t.Parallel()
	p := startKubetab(t, "--etcd-compaction-interval", "200ms")
	direct := restConfig(t, p)
	e := &events{t: t, client: clientset(t, direct)}
	network := newLink(t, p.API)
	through := restConfig(t, p)
	through.Host = "https://" + network.address
	through.AcceptContentTypes, through.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON // which expiries can read
	gone := &expiries{}
	through.Wrap(func(next http.RoundTripper) http.RoundTripper { gone.next = next; return gone })
	factory := informers.NewSharedInformerFactoryWithOptions(clientset(t, through), 0, informers.WithNamespace("default"))
	o := observe(t, factory.Core().V1().Events().Informer())
	ctx, stop := context.WithCancel(t.Context())
	defer factory.Shutdown()
	defer stop()
	factory.Start(ctx.Done())

	e.change()
	o.mustSee(t, "at first", e.list)

	for round := range 1 {
		network.cut()
		last := o.informer.LastSyncResourceVersion()
		e.change()
		waitUntil(t, "the informer's last version is compacted", func() bool { return e.compacted(last) })
		e.change()
		before := gone.count.Load()
		network.mend(p.API)
		o.mustSee(t, fmt.Sprintf("after cut %d", round+1), e.list)
		if gone.count.Load() == before {
			t.Error("the watch was not refused with 410: this test tests nothing")
		}
		e.change() // and goes on
		o.mustSee(t, fmt.Sprintf("some time after cut %d", round+1), e.list)
	}
}

// expiries counts the watches that are told 410 on their stream. client-go tells nobody: its reflector only lists again.
type expiries struct {
	next  http.RoundTripper
	count atomic.Int64
}

func (e *expiries) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := e.next.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" {
		res.Body = &spy{ReadCloser: res.Body, found: func() { e.count.Add(1) }}
	}
	return res, err
}

// spy reads along until it finds the error that ends an expired watch.
type spy struct {
	io.ReadCloser
	seen  []byte
	found func()
}

func (s *spy) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.seen = append(s.seen, p[:n]...)
	if bytes.Contains(s.seen, []byte(`"type":"ERROR"`)) && bytes.Contains(s.seen, []byte(`"code":410`)) {
		s.found()
		s.seen = nil
	}
	return n, err
}

// An informer outlives its server: after a restart on the same data it goes on where it was.
func TestInformerSurvivesARestart(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*process.Process){
		"SIGTERM": func(p *process.Process) { p.Signal(syscall.SIGTERM); p.Wait(endLimit) },
		"kill -9": func(p *process.Process) { p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := startKubetab(t, "--data-dir", dir)
			network := newLink(t, p.API) // for the client, the restarted server has the same address
			config := restConfig(t, p)
			config.Host = "https://" + network.address
			client := clientset(t, config)
			e := &events{t: t, client: client}
			factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
			o := observe(t, factory.Core().V1().Events().Informer())
			// ConfigMaps are behind a watch cache, which starts empty with the server.
			maps := observe(t, factory.Core().V1().ConfigMaps().Informer())
			listMaps := func() map[string]uint64 {
				list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				versions := map[string]uint64{}
				for i := range list.Items {
					versions[list.Items[i].Name] = version(t, &list.Items[i])
				}
				return versions
			}
			ctx, stop := context.WithCancel(t.Context())
			defer factory.Shutdown()
			defer stop()
			factory.Start(ctx.Done())

			e.change()
			if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("before"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			o.mustSee(t, "at first", e.list)
			maps.mustSee(t, "at first", listMaps)

			end(p)
			network.cut()
			network.mend(startKubetab(t, "--data-dir", dir).API)
			e.change()
			if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("after"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			o.mustSee(t, "after the restart", e.list)
			maps.mustSee(t, "after the restart", listMaps)
		})
	}
}
