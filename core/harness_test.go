package core

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/kubetab/kubetab/internal/testlog"
)

const testToken = "static-token-of-a-viewer"

var viewer = &user.DefaultInfo{Name: "vera", Groups: []string{"viewers", user.AllAuthenticated}}

// start returns a ready engine that is closed when the test ends.
func start(t *testing.T, cfg Config) *Engine {
	t.Helper()
	if cfg.EmulatedVersion != "" || len(cfg.FeatureGates) > 0 {
		closeSharedEngine(t)
	}
	e, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := e.Ready(ctx); err != nil {
		t.Fatalf("not ready: %v", err)
	}
	return e
}

// shared is the engine of the tests that change nothing about engines.
var shared struct {
	engine *Engine
	audit  auditLog
}

// sharedEngine starts it, where no test before has.
func sharedEngine(t *testing.T) *Engine {
	t.Helper()
	if shared.engine != nil {
		return shared.engine
	}
	e, err := New(context.Background(), Config{
		Audit:  Audit{Sink: &shared.audit},
		Keys:   Keys{RootCA: testRootCA()},
		Tokens: map[string]user.Info{testToken: viewer},
	})
	if err != nil {
		t.Fatal(err)
	}
	shared.engine = e
	if err := e.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	return e
}

// closeSharedEngine makes room for an engine with other feature gates, which are one set per process. The next test that
// asks for the shared engine has a new one.
func closeSharedEngine(t *testing.T) {
	t.Helper()
	if shared.engine == nil {
		return
	}
	err := shared.engine.Close()
	shared.engine = nil
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	testlog.Quiet()
	QuietWorkQueues()
	code := m.Run()
	if shared.engine != nil {
		if err := shared.engine.Close(); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

func clientFor(t *testing.T, e *Engine) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// patience is how long something may take that should happen: for what hangs, on a machine that is busy with other things.
const patience = 5 * time.Minute

// eventually fails the test unless condition holds within patience.
func eventually(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, patience, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func newNamespace(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// get asks as the server itself.
func get(t *testing.T, e *Engine, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	return send(t, e.RESTConfig(), http.MethodGet, path, header...)
}

// getAs asks as the bearer of token, "" for nobody.
func getAs(t *testing.T, e *Engine, token, path string) (*http.Response, []byte) {
	t.Helper()
	if token == "" {
		return send(t, e.RESTConfigFor(nil), http.MethodGet, path)
	}
	return send(t, e.RESTConfigFor(nil), http.MethodGet, path, "Authorization", "Bearer "+token)
}

func send(t *testing.T, config *rest.Config, method, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	return sendBody(t, config, method, path, nil, header...)
}

func sendBody(t *testing.T, config *rest.Config, method, path string, body io.Reader, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, loopbackHost+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := config.Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, answer
}

// testRootCA is a certificate that nobody has the key of.
func testRootCA() []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kubernetes"}, key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

func dynamicFor(t *testing.T, e *Engine) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// post sends a body as the server itself.
func post(t *testing.T, e *Engine, path, mediaType, body string) (*http.Response, []byte) {
	t.Helper()
	return sendBody(t, e.RESTConfig(), http.MethodPost, path, strings.NewReader(body), "Content-Type", mediaType)
}
