package core

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/authentication/user"
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
		AuditSink: &shared.audit,
		RootCA:    testRootCA(),
		Tokens:    map[string]user.Info{testToken: viewer},
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

// eventually fails the test unless condition holds within half a minute.
func eventually(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 30*time.Second, true, condition); err != nil {
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
	r, err := http.NewRequestWithContext(t.Context(), method, loopbackHost+path, nil)
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
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

func TestTwoEnginesKeepApart(t *testing.T) {
	one, two := sharedEngine(t), start(t, Config{})
	newNamespace(t, clientFor(t, one), "only-in-one")
	_, err := clientFor(t, two).CoreV1().Namespaces().Get(t.Context(), "only-in-one", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the other engine: %v, want NotFound", err)
	}
}

func TestGatesAreOnePerProcess(t *testing.T) {
	sharedEngine(t)
	for name, cfg := range map[string]Config{
		"gates":   {FeatureGates: map[string]bool{"WatchList": false}},
		"version": {EmulatedVersion: "1.36"},
	} {
		if _, err := New(t.Context(), cfg); !errors.Is(err, ErrOtherGates) {
			t.Errorf("other %s: %v, want ErrOtherGates", name, err)
		}
	}
}

func TestRuntimeConfigTurnsGroupsOff(t *testing.T) {
	e := start(t, Config{RuntimeConfig: map[string]string{"batch/v1": "false"}})
	_, err := clientFor(t, e).Discovery().ServerResourcesForGroupVersion("batch/v1")
	if !apierrors.IsNotFound(err) {
		t.Errorf("discovery of batch/v1: %v, want NotFound", err)
	}
}

func TestPodsAreAdmitted(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "pods")
	eventually(t, "create a Pod", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Pods("pods").Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
		}, metav1.CreateOptions{})
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "serviceaccount") {
			return false, nil // its service account comes a moment after the namespace
		}
		return err == nil, err
	})
	eventually(t, "kube-root-ca.crt", func(ctx context.Context) (bool, error) {
		cm, err := c.CoreV1().ConfigMaps("pods").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil && strings.Contains(cm.Data["ca.crt"], "CERTIFICATE"), ignoreNotFound(err)
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func TestNamespacesTerminate(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "doomed")
	if _, err := c.CoreV1().ConfigMaps("doomed").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "inside"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().Namespaces().Delete(t.Context(), "doomed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace goes", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Namespaces().Get(ctx, "doomed", metav1.GetOptions{})
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	})
}

func TestOwnersCascade(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "owners")
	owner, err := c.CoreV1().ConfigMaps("owners").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.AppsV1().ReplicaSets("owners").Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}},
		Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().ConfigMaps("owners").Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owned goes with its owner", func(ctx context.Context) (bool, error) {
		_, err := c.AppsV1().ReplicaSets("owners").Get(ctx, "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(err), ignoreNotFound(err)
	})
}

func TestAggregatedRolesAreFilled(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	eventually(t, "the role view has rules", func(ctx context.Context) (bool, error) {
		role, err := c.RbacV1().ClusterRoles().Get(ctx, "view", metav1.GetOptions{})
		return err == nil && len(role.Rules) > 0, err
	})
}

func TestIdentities(t *testing.T) {
	e := sharedEngine(t)
	c := clientFor(t, e)
	token, err := c.CoreV1().ServiceAccounts("kube-system").CreateToken(t.Context(), "namespace-controller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = c.CoreV1().ServiceAccounts("kube-system").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "namespace-controller"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		token, err = c.CoreV1().ServiceAccounts("kube-system").CreateToken(t.Context(), "namespace-controller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		token, path string
		status      int
	}{
		"anonymous may see the version":  {"", "/version", 200},
		"anonymous may not list":         {"", "/api/v1/namespaces", 403},
		"a wrong token is not anonymous": {"wrong", "/version", 401},
		"a static token without rights":  {testToken, "/api/v1/secrets", 403},
		"a static token may discover":    {testToken, "/api/v1", 200},
		"the token of a bound account":   {token.Status.Token, "/api/v1/namespaces", 200},
	} {
		t.Run(name, func(t *testing.T) {
			if res, body := getAs(t, e, tc.token, tc.path); res.StatusCode != tc.status {
				t.Errorf("GET %s: %d, want %d: %s", tc.path, res.StatusCode, tc.status, body)
			}
		})
	}
}

func TestTheDefaultUser(t *testing.T) {
	e := start(t, Config{DefaultUser: &user.DefaultInfo{Name: "page", Groups: []string{user.SystemPrivilegedGroup}}})
	if res, body := getAs(t, e, "", "/api/v1/namespaces"); res.StatusCode != 200 {
		t.Errorf("without credentials: %d %s", res.StatusCode, body)
	}
	if res, _ := getAs(t, e, "wrong", "/api/v1/namespaces"); res.StatusCode != 401 {
		t.Errorf("with a wrong token: %d, want 401", res.StatusCode)
	}
}

func TestAWatchDeliversBeforeTheNextEventExists(t *testing.T) {
	c := clientFor(t, sharedEngine(t))
	newNamespace(t, c, "watched")
	w, err := c.CoreV1().ConfigMaps("watched").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, name := range []string{"a", "b", "c"} {
		if _, err := c.CoreV1().ConfigMaps("watched").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		select {
		case event := <-w.ResultChan():
			if got := event.Object.(*corev1.ConfigMap).Name; got != name {
				t.Fatalf("event for %q, want %q", got, name)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("no event for %q", name)
		}
	}
}

// auditLog is an audit.Backend that remembers.
type auditLog struct {
	mu     sync.Mutex
	events []*auditinternal.Event
}

func (l *auditLog) Run(<-chan struct{}) error { return nil }
func (l *auditLog) Shutdown()                 {}
func (l *auditLog) String() string            { return "test" }
func (l *auditLog) ProcessEvents(events ...*auditinternal.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, event := range events {
		l.events = append(l.events, event.DeepCopy())
	}
	return true
}

func TestRequestsAreAudited(t *testing.T) {
	e := sharedEngine(t)
	getAs(t, e, testToken, "/api/v1/namespaces/audited")
	eventually(t, "the audit event", func(context.Context) (bool, error) {
		shared.audit.mu.Lock()
		defer shared.audit.mu.Unlock()
		return slices.ContainsFunc(shared.audit.events, func(event *auditinternal.Event) bool {
			return event.Stage == auditinternal.StageResponseComplete && event.RequestURI == "/api/v1/namespaces/audited" &&
				event.User.Username == "vera" && event.ResponseStatus.Code == 403
		}), nil
	})
}

// TestReadinessStays: /readyz that has been ok does not fall back while the
// controllers that start afterwards add their informers. It looks without a
// pause: the fall lasts some milliseconds.
func TestReadinessStays(t *testing.T) {
	e, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := clientFor(t, e)
	orphan := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "orphan", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "never", UID: "never"}}}}
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), orphan, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(30 * time.Second); ; {
		if res, body := get(t, e, "/readyz?verbose"); res.StatusCode != 200 {
			t.Fatalf("readiness fell back:\n%s", body)
		}
		// The garbage collector is the last to start and works once all its
		// informers are in sync.
		if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "orphan", metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return
		} else if err != nil || time.Now().After(limit) {
			t.Fatalf("the object whose owner never was is still there: %v", err)
		}
	}
}

func TestOpenAPIIsServedByGroup(t *testing.T) {
	e := sharedEngine(t)
	_, body := get(t, e, "/openapi/v3")
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(body, &index); err != nil {
		t.Fatal(err)
	}
	for _, gv := range []string{"api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1"} {
		if index.Paths[gv].ServerRelativeURL == "" {
			t.Fatalf("%s is not in the index", gv)
		}
	}
	const gv = "apis/apps/v1"
	url := index.Paths[gv].ServerRelativeURL
	res, body := get(t, e, url)
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(body, &doc); err != nil || res.StatusCode != 200 {
		t.Fatalf("GET %s: %d %v", url, res.StatusCode, err)
	}
	if _, ok := doc.Components.Schemas["io.k8s.api.apps.v1.Deployment"]; !ok {
		t.Error("the document of apps/v1 has no Deployment")
	}
	if cc := res.Header.Get("Cache-Control"); cc != "public, immutable" {
		t.Errorf("the hash of the index: Cache-Control %q, want an immutable answer", cc)
	}
	if res, _ := get(t, e, "/openapi/v3/"+gv+"?hash=old"); res.StatusCode != http.StatusMovedPermanently || res.Header.Get("Location") != url {
		t.Errorf("another hash: %d to %q, want 301 to the address in the index", res.StatusCode, res.Header.Get("Location"))
	}
	if res, _ := get(t, e, "/openapi/v3/"+gv, "If-None-Match", res.Header.Get("Etag")); res.StatusCode != http.StatusNotModified {
		t.Errorf("If-None-Match with the tag: %d, want 304", res.StatusCode)
	}
	if res, _ := get(t, e, url, "Accept", "text/html"); res.StatusCode != http.StatusNotAcceptable {
		t.Errorf("Accept text/html: %d, want 406", res.StatusCode)
	}
	if res, _ := get(t, e, "/openapi/v3/apis/nosuch/v1"); res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown group: %d, want 404", res.StatusCode)
	}
	res, body = get(t, e, "/openapi/v2", "Accept", "application/json")
	if res.StatusCode != 200 || !strings.Contains(string(body), "io.k8s.api.apps.v1.Deployment") || !strings.Contains(string(body), "CustomResourceDefinition") {
		t.Errorf("OpenAPI v2: %d, %d bytes", res.StatusCode, len(body))
	}
}

func TestRESTConfigSaysWhoAsks(t *testing.T) {
	e := sharedEngine(t)
	changed := e.RESTConfig()
	changed.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	withToken := e.RESTConfig()
	withToken.BearerToken = testToken
	for name, tc := range map[string]struct {
		config *rest.Config
		want   string
	}{
		"the engine's own":        {e.RESTConfig(), user.APIServerUser},
		"a changed copy":          {changed, "nobody"},
		"one with a token":        {withToken, "vera"},
		"one for a user":          {e.RESTConfigFor(&user.DefaultInfo{Name: "eddy", Groups: []string{user.AllAuthenticated}}), "eddy"},
		"one for an impersonator": {func() *rest.Config { c := e.RESTConfigFor(apiServer); c.Impersonate.UserName = "nobody"; return c }(), "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := kubernetes.NewForConfig(tc.config)
			if err != nil {
				t.Fatal(err)
			}
			review, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := review.Status.UserInfo.Username; got != tc.want {
				t.Errorf("the server sees %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCompactionOnDemand(t *testing.T) {
	e := sharedEngine(t)
	c := clientFor(t, e)
	newNamespace(t, c, "compacted")
	old, err := c.CoreV1().Namespaces().Get(t.Context(), "compacted", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	newNamespace(t, c, "compacted-later")
	if res, _ := send(t, e.RESTConfigFor(viewer), http.MethodPost, CompactPath); res.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer compacts: %d, want 403", res.StatusCode)
	}
	if res, _ := send(t, e.RESTConfig(), http.MethodPost, CompactPath); res.StatusCode != http.StatusOK {
		t.Errorf("compact: %d, want 200", res.StatusCode)
	}
	// Events have no watch cache: what the store has forgotten is gone.
	_, err = c.CoreV1().Events("compacted").List(t.Context(), metav1.ListOptions{ResourceVersion: old.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("a list at the old revision: %v, want Expired (410)", err)
	}
	if res, _ := get(t, e, CompactPath); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d, want 405", res.StatusCode)
	}
	// Caches hear of it as of another API server's compaction; they look every 15 s.
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ConfigMaps("compacted").List(ctx, metav1.ListOptions{ResourceVersion: old.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		if apierrors.IsResourceExpired(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		t.Errorf("a list at the old revision from a cache: %v, want Expired (410)", err)
	}
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
