package core

import (
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/core/etcd"
)

// These tests look at all goroutines of the process. Test files run in the
// order of their names, and this one comes before any that starts the shared
// engine.

// leaks are the goroutines there are now, and those that upstream does not
// tie to a server. Other engines than the test's begin goroutines at any time:
// there is none.
func leaks(t *testing.T) []goleak.Option {
	t.Helper()
	closeSharedEngine(t)
	return []goleak.Option{
		goleak.IgnoreCurrent(),
		// A read that waits for the watch cache starts a timer of three seconds
		// and does not stop it.
		goleak.IgnoreTopFunction("k8s.io/apiserver/pkg/storage/cacher.(*watchCache).waitUntilFreshLocked.func2"),
		// The count of a resource's objects waits as long for the watch cache.
		goleak.IgnoreAnyFunction("k8s.io/apiserver/pkg/registry/generic/registry.(*Store).startObservingCount.func1"),
		// buntdb's manager looks once a second whether its database is closed.
		goleak.IgnoreTopFunction("github.com/tidwall/buntdb.(*DB).backgroundManager"),
		// The check "log" of /healthz starts one loop per process.
		goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/util/wait.Forever"),
	}
}

func TestCloseEndsEveryGoroutine(t *testing.T) {
	ignore := leaks(t)
	e, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := clientFor(t, e).CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for range w.ResultChan() { // the watch has been ended, so this ends
	}
	if err := e.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	goleak.VerifyNone(t, ignore...)
}

func TestCloseWhileStarting(t *testing.T) {
	ignore := leaks(t)
	e, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	goleak.VerifyNone(t, ignore...)
}

func TestTheCallersContextEndsTheEngine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e, err := New(ctx, Config{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-e.Done()
	if err := e.Ready(t.Context()); err == nil {
		t.Error("an engine that has ended says it is ready")
	}
}

func TestNewLeavesNothingBehindWhenItFails(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"unknown gate":            {Config{FeatureGates: map[string]bool{"NoSuchGate": true}}, "NoSuchGate"},
		"unknown version":         {Config{EmulatedVersion: "9.99"}, "9.99"},
		"unknown runtime-config":  {Config{RuntimeConfig: map[string]string{"nosuch/v1": "true"}}, "nosuch"},
		"client CA without certs": {Config{Keys: Keys{ClientCA: []byte("not PEM")}}, "client CA"},
		"two stores":              {Config{Store: new(etcd.DB), EtcdServers: []string{"http://127.0.0.1:1"}}, "choose one"},
	} {
		t.Run(name, func(t *testing.T) {
			ignore := leaks(t)
			_, err := New(t.Context(), tc.cfg)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New: %v, want %q", err, tc.want)
			}
			goleak.VerifyNone(t, ignore...)
		})
	}
}

func TestTheEmulatedVersionEndsWithTheEngine(t *testing.T) {
	closeSharedEngine(t)
	for _, tc := range []struct{ emulated, want string }{{"1.36", `"emulationMinor": "36"`}, {"", `"emulationMinor": "37"`}} {
		e, err := New(t.Context(), Config{EmulatedVersion: tc.emulated})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Ready(t.Context()); err != nil { // until then nobody has the right to ask
			t.Fatal(err)
		}
		if _, body := get(t, e, "/version"); !strings.Contains(string(body), tc.want) {
			t.Errorf("emulating %q: %s, want %s", tc.emulated, body, tc.want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestARefusedStartLeavesNoGoroutine(t *testing.T) {
	for what, cfg := range map[string]Config{
		"root CA":    {Keys: Keys{RootCA: []byte("not PEM")}},
		"controller": {Controllers: []string{"no-such-controller"}},
	} {
		t.Run(what, func(t *testing.T) {
			ignore := leaks(t)
			if e, err := New(t.Context(), cfg); err == nil {
				t.Error("the engine started", e.Close())
			}
			goleak.VerifyNone(t, ignore...)
		})
	}
}
