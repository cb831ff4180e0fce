package server_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestKubeconfigIsTheAdministrators(t *testing.T) {
	t.Parallel()
	p := startKubetab(t)
	info, err := os.Stat(p.Kubeconfig)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("mode %v (%v), want 0600", info.Mode(), err)
	}
	config := restConfig(t, p)
	who, err := clientset(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if u := who.Status.UserInfo; u.Username != "kubetab-admin" || !slices.Contains(u.Groups, "system:masters") || !slices.Contains(u.Groups, "system:authenticated") {
		t.Errorf("the token is that of %+v", u)
	}

	t.Run("other credentials are refused", func(t *testing.T) {
		wrong := rest.CopyConfig(config)
		wrong.BearerToken += "x"
		if _, err := clientset(t, wrong).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
			t.Errorf("with a wrong token: %v, want 401", err)
		}
		nobody := rest.AnonymousClientConfig(config)
		if _, err := clientset(t, nobody).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("without a token: %v, want 403", err)
		}
		if _, err := clientset(t, nobody).ServerVersion(); err != nil {
			t.Errorf("/version is for everybody: %v", err)
		}
	})
	t.Run("the certificate is of our authority, and of no other", func(t *testing.T) {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(config.CAData)
		for host, trusted := range map[string]*x509.CertPool{"127.0.0.1": roots, "localhost": roots, "kubernetes.default.svc": roots} {
			conn, err := tls.Dial("tcp", strings.TrimPrefix(p.API, "https://"), &tls.Config{RootCAs: trusted, ServerName: host, NextProtos: []string{"h2", "http/1.1"}})
			if err != nil {
				t.Errorf("%s: %v", host, err)
				continue
			}
			if s := conn.ConnectionState(); s.NegotiatedProtocol != "h2" || s.Version != tls.VersionTLS13 {
				t.Errorf("%s: %q over %s", host, s.NegotiatedProtocol, tls.VersionName(s.Version))
			}
			conn.Close()
		}
		for what, c := range map[string]*tls.Config{
			"the system's authorities": {ServerName: "localhost"},
			"another name":             {RootCAs: roots, ServerName: "example.org"},
			"TLS 1.1":                  {RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
		} {
			if conn, err := tls.Dial("tcp", strings.TrimPrefix(p.API, "https://"), c); err == nil {
				conn.Close()
				t.Errorf("%s: the handshake succeeds", what)
			}
		}
	})
	t.Run("it is published to the namespaces", func(t *testing.T) {
		var published string
		waitUntil(t, "kube-root-ca.crt exists", func() bool {
			cm, err := clientset(t, config).CoreV1().ConfigMaps("default").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
			if err == nil {
				published = cm.Data["ca.crt"]
			}
			return err == nil
		})
		if published != string(config.CAData) {
			t.Errorf("kube-root-ca.crt holds %q", published)
		}
	})
}

// A client certificate signed by our authority names its user and groups, as in a cluster made by kubeadm.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startKubetab(t, "--data-dir", dir)
	admin := restConfig(t, p)
	caKey := readPEM(t, filepath.Join(dir, "keys", "ca.key"))
	ca, err := x509.ParseCertificate(readPEM(t, filepath.Join(dir, "keys", "ca.crt")))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := x509.ParsePKCS8PrivateKey(caKey)
	if err != nil {
		t.Fatal(err)
	}
	who := func(parent *x509.Certificate, key any) (*authenticationv1.SelfSubjectReview, error) {
		config := rest.AnonymousClientConfig(admin)
		config.CertData, config.KeyData = clientCertificate(t, parent, key)
		return clientset(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	}
	got, err := who(ca, signer)
	if err != nil {
		t.Fatal(err)
	}
	if u := got.Status.UserInfo; u.Username != "jane" || !slices.Contains(u.Groups, "team") {
		t.Errorf("the certificate is that of %+v", u)
	}
	if _, err := who(nil, nil); !apierrors.IsUnauthorized(err) {
		t.Errorf("a certificate signed by itself: %v, want 401", err)
	}
}

func readPEM(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		t.Fatalf("%s: no PEM", path)
	}
	return block.Bytes
}

// clientCertificate returns a certificate and its key in PEM; without a parent it is signed by itself.
func clientCertificate(t *testing.T, parent *x509.Certificate, parentKey any) (cert, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "jane", Organization: []string{"team"}},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if parent == nil {
		parent, parentKey = template, own
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, own.Public(), parentKey.(crypto.Signer))
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

func TestPageAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html>"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := startKubetab(t, "--http", "127.0.0.1:0", "--static", dir)
	// Of other sites, a page may read the one with the manifests of Kubernetes' documentation, unless its host says otherwise.
	closed := startKubetab(t, "--http", "127.0.0.1:0", "--static", dir, "--fetch-from", "")
	for page, want := range map[string]string{
		p.Page: "; connect-src 'self' https://raw.githubusercontent.com; ", closed.Page: "; connect-src 'self'; ",
	} {
		res, err := http.Get(page + "/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, want) {
			t.Errorf("the policy is %s, without %s", policy, want)
		}
	}
	for path, want := range map[string]struct {
		code int
		body string
	}{
		"/":       {http.StatusOK, "<!doctype html>"},
		"/readyz": {http.StatusNotFound, "the API of this process is at " + p.API},
	} {
		res, err := http.Get(p.Page + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != want.code || !strings.Contains(string(body), want.body) || res.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %s %s %v", path, res.Status, body, err)
		}
	}
}

func TestFlagsReachTheEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens, log := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(tokens, []byte("sesame,ali,7,\"cave,team\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startKubetab(t, "--token-auth-file", tokens, "--audit-log", log, "--runtime-config", "batch/v1=false,api/beta=true", "--emulated-version", "1.36")
	client := clientset(t, restConfig(t, p))

	groups, err := client.Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	beta := false
	for _, g := range groups.Groups {
		if g.Name == "batch" {
			t.Errorf("batch is served with --runtime-config batch/v1=false")
		}
		for _, v := range g.Versions {
			beta = beta || strings.Contains(v.Version, "beta")
		}
	}
	if !beta {
		t.Errorf("no beta version is served with --runtime-config api/beta=true")
	}
	if v, err := client.ServerVersion(); err != nil || v.EmulationMinor != "36" {
		t.Errorf("emulates minor version %q (%v), want 36", v.EmulationMinor, err)
	}

	config := rest.AnonymousClientConfig(restConfig(t, p))
	config.BearerToken = "sesame"
	who, err := clientset(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if u := who.Status.UserInfo; u.Username != "ali" || u.UID != "7" || !slices.Contains(u.Groups, "cave") || !slices.Contains(u.Groups, "team") {
		t.Errorf("the token of the file is that of %+v", u)
	}

	p.Signal(syscall.SIGTERM)
	p.Wait(endLimit)
	if info, err := os.Stat(log); err != nil || info.Mode() != 0o600 {
		t.Errorf("the audit log: %v %v", info, err)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(data)) {
		var event struct {
			Kind, Verb, Level string
			User              struct{ Username string }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Kind != "Event" {
			t.Fatalf("no audit event: %q (%v)", line, err)
		}
		found = found || event.User.Username == "ali" && event.Verb == "create" && event.Level == "Metadata"
	}
	if !found {
		t.Error("no event of ali's request in the audit log")
	}
}

// The native server has the profiler of the process, as kube-apiserver has, for those who may get it.
func TestProfiling(t *testing.T) {
	t.Parallel()
	get := func(config *rest.Config, path string) (status int) {
		clientset(t, config).RESTClient().Get().AbsPath(path).Do(t.Context()).StatusCode(&status)
		return status
	}
	p := startKubetab(t)
	config := restConfig(t, p)
	if status := get(config, "/debug/pprof/heap"); status != http.StatusOK {
		t.Errorf("the administrator gets %d", status)
	}
	if status := get(rest.AnonymousClientConfig(config), "/debug/pprof/heap"); status != http.StatusForbidden {
		t.Errorf("nobody gets %d", status)
	}
	without := startKubetab(t, "--profiling=false")
	if status := get(restConfig(t, without), "/debug/pprof/heap"); status != http.StatusNotFound {
		t.Errorf("with --profiling=false the administrator gets %d", status)
	}
}
