package core

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/resume"
)

// What two engines that go on from one memory may not share is made by Renew,
// and is not there before.
func TestRenew(t *testing.T) {
	e := start(t, Config{Resume: resume.Config{AwaitIdentity: true}})
	c := clientFor(t, e)
	ctx := t.Context()
	newNamespace(t, c, "renew")
	eventually(t, "the account", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ServiceAccounts("renew").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	token := func() string {
		t.Helper()
		got, err := c.CoreV1().ServiceAccounts("renew").CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Status.Token
	}
	accepts := func(token string) bool {
		t.Helper()
		answer, _ := getAs(t, e, token, "/api")
		return answer.StatusCode == http.StatusOK
	}
	jwks := func() string {
		t.Helper()
		_, body := get(t, e, "/openid/v1/jwks")
		return string(body)
	}

	system, err := c.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old, oldKeys := token(), jwks()
	if !accepts(old) {
		t.Fatal("a token is not accepted before Renew")
	}
	if _, err := c.CoreV1().ConfigMaps("renew").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a root CA before Renew: %v", err)
	}
	events, err := c.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{ResourceVersion: system.ResourceVersion, FieldSelector: "metadata.name=" + metav1.NamespaceSystem})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()

	if _, err := e.ResumePoint().Renew(ctx); err != nil {
		t.Fatal(err)
	}

	if fresh := token(); !accepts(fresh) {
		t.Error("a token is not accepted after Renew")
	}
	// A token that was good is remembered for a while, as in any API server.
	eventually(t, "the old token is refused", func(context.Context) (bool, error) { return !accepts(old), nil })
	if jwks() == oldKeys {
		t.Error("the keys are the old ones")
	}
	event := <-events.ResultChan()
	if event.Type != watch.Modified || event.Object.(*corev1.Namespace).UID == system.UID {
		t.Errorf("kube-system: %s %v, want another UID", event.Type, event.Object)
	}
	var root []byte
	eventually(t, "the root CA", func(ctx context.Context) (bool, error) {
		published, err := c.CoreV1().ConfigMaps("renew").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		if err == nil {
			root = []byte(published.Data["ca.crt"])
		}
		return err == nil, nil
	})
	signed := sign(t, e)
	if signed.CheckSignatureFrom(certificate(t, root)) != nil {
		t.Error("the root CA that is published did not sign the certificate")
	}
	if code := presenting(t, e, signed); code != http.StatusForbidden {
		t.Errorf("a request with the certificate: %d, and not that of a user without rights", code)
	}
	stranger, err := controllers.NewAuthority("ada")
	if err != nil {
		t.Fatal(err)
	}
	if code := presenting(t, e, stranger.Certificate); code != http.StatusUnauthorized {
		t.Errorf("a request with another's certificate: %d", code)
	}
	eventually(t, "a Secret's token", func(ctx context.Context) (bool, error) {
		name := "legacy"
		_, err := c.CoreV1().Secrets("renew").Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
			Type:       corev1.SecretTypeServiceAccountToken,
		}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return false, err
		}
		s, err := c.CoreV1().Secrets("renew").Get(ctx, name, metav1.GetOptions{})
		return err == nil && len(s.Data[corev1.ServiceAccountTokenKey]) > 0 && accepts(string(s.Data[corev1.ServiceAccountTokenKey])), err
	})
}

// sign has a client certificate signed by the cluster.
func sign(t *testing.T, e *Engine) *x509.Certificate {
	t.Helper()
	c := clientFor(t, e)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "ada"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	csr, err := c.CertificatesV1().CertificateSigningRequests().Create(t.Context(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "ada"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test", LastUpdateTime: metav1.NewTime(time.Now()),
	})
	if _, err := c.CertificatesV1().CertificateSigningRequests().UpdateApproval(t.Context(), csr.Name, csr, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	var signed []byte
	eventually(t, "the certificate", func(ctx context.Context) (bool, error) {
		got, err := c.CertificatesV1().CertificateSigningRequests().Get(ctx, csr.Name, metav1.GetOptions{})
		if err == nil {
			signed = got.Status.Certificate
		}
		return len(signed) > 0, err
	})
	return certificate(t, signed)
}

// presenting asks for Secrets with a client certificate.
func presenting(t *testing.T, e *Engine, certificate *x509.Certificate) (code int) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/secrets", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, r)
	if code = w.Code; code == http.StatusForbidden && !strings.Contains(w.Body.String(), `User \"ada\"`) {
		t.Errorf("refused is %s", w.Body)
	}
	return code
}

func certificate(t *testing.T, text []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("no PEM: %q", text)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRenewFails(t *testing.T) {
	if _, err := New(t.Context(), Config{Resume: resume.Config{AwaitIdentity: true}, EtcdServers: []string{"http://127.0.0.1:1"}}); err == nil {
		t.Error("New: a copy of an engine over etcd servers is not refused")
	}
	ended := start(t, Config{Resume: resume.Config{AwaitIdentity: true}})
	if err := ended.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ended.ResumePoint().Renew(t.Context()); err == nil {
		t.Error("Renew: nil for an engine that has ended")
	}
}

// What is no identity of another copy, or not what became of it, is refused, and nothing has happened then.
func TestRestoreRefuses(t *testing.T) {
	kept, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, Config{Resume: resume.Config{AwaitIdentity: true}})
	if err := e.ResumePoint().Freeze(); err != nil {
		t.Fatal(err)
	}
	for what, damaged := range map[string][]byte{"nothing": nil, "half": kept[:len(kept)/2], "no keys": []byte("{}")} {
		if err := e.ResumePoint().Restore(t.Context(), damaged, nil); err == nil || !strings.Contains(err.Error(), "restore the identity") {
			t.Errorf("%s: %v", what, err)
		}
	}
	entry := etcd.Entry{Name: "r0000000000000001", Record: []byte("no record")}
	if err := e.ResumePoint().Restore(t.Context(), kept, []etcd.Entry{entry}); err == nil || !strings.Contains(err.Error(), "restore the objects") {
		t.Errorf("a damaged entry: %v", err)
	}
	if err := e.ResumePoint().Restore(t.Context(), kept, nil); err != nil { // nothing has happened before
		t.Error(err)
	}
}
