package shell_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// request makes a key and a signing request, both in PEM, as openssl does.
func request(t *testing.T, subject pkix.Name) (key, csr string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: asked}))
}

// TestUsersOfAKubeconfig: kubectl is who its kubeconfig says, as with any cluster, and never the administrator instead.
func TestUsersOfAKubeconfig(t *testing.T) {
	url := httpServer(t)
	t.Cleanup(func() { post(t, url, "rm -rf users; kubectl delete csr ada; kubectl delete clusterrolebinding devs") })
	key, csr := request(t, pkix.Name{CommonName: "ada", Organization: []string{"devs"}})
	other, _ := request(t, pkix.Name{CommonName: "ada"})
	run := func(line string) string {
		t.Helper()
		result := post(t, url, "cd users; export KUBECONFIG=$PWD/config; "+line)
		return result.Stdout + result.Stderr
	}
	post(t, url, "mkdir -p users; kubectl config view --raw > users/config; kubectl create clusterrolebinding devs --clusterrole=view --group=devs")
	run(fmt.Sprintf(`cat >ada.key <<'EOF'
%sEOF
cat >other.key <<'EOF'
%sEOF
kubectl apply -f - <<'EOF'
{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "ada"}, "spec": {
  "request": %q, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}}
EOF
kubectl certificate approve ada
kubectl wait csr/ada --for=jsonpath='{.status.certificate}' --timeout=60s
kubectl get csr ada -o jsonpath='{.status.certificate}' | base64 -d >ada.crt
C="--cluster=$(kubectl config view -o jsonpath='{.clusters[0].name}')"
kubectl config set-credentials ada --client-key=ada.key --client-certificate=ada.crt --embed-certs
kubectl config set-credentials wrong --client-key=other.key --client-certificate=ada.crt
kubectl config set-credentials nobody
kubectl config set-credentials basic --username=kubetab-admin --password=secret
kubectl config set-credentials broken --token=broken
for who in ada wrong nobody basic broken; do kubectl config set-context $who $C --user=$who; done`,
		key, other, base64.StdEncoding.EncodeToString([]byte(csr))))
	for _, c := range []struct{ line, want string }{
		{"kubectl --context ada auth whoami -o jsonpath='{.status.userInfo.username} {.status.userInfo.groups}'", `ada ["devs","system:authenticated"]`},
		{"kubectl --context ada get namespaces -o name", "namespace/default\n"},
		{"kubectl --context ada create namespace x", `User "ada" cannot create resource "namespaces"`},
		{"kubectl --context ada get --raw /api", `"kind":"APIVersions"`},
		{"kubectl --context wrong get namespaces", "tls: private key does not match public key"},
		{"kubectl --context basic get namespaces", `User "system:anonymous" cannot list resource "namespaces"`},
		{"kubectl --context broken get namespaces", "Unauthorized"},
		{"kubectl --client-certificate=ada.crt --client-key=ada.key --context nobody auth can-i list pods", "yes\n"},
		{"kubectl --context ada --token=broken get namespaces -o name", "namespace/default\n"}, // the certificate is looked at first
		{"curl -sk --cert ada.crt --key ada.key $(kubectl config view -o jsonpath='{.clusters[0].cluster.server}')/api/v1/namespaces/default/secrets | jq -r .message", `User "ada" cannot list resource "secrets"`},
		{"curl -k --cert ada.crt --key other.key https://kubernetes/api", "curl: (58) could not load PEM client certificate from ada.crt"},
		{"curl -k --cert nothing --key other.key https://kubernetes/api", "curl: (58) could not load PEM client certificate from nothing"},
		{"curl -sk -H 'Kubetab-Credentials: ada' https://kubernetes/api", `"kind": "APIVersions"`},
		{"kubectl auth whoami -o jsonpath='{.status.userInfo.username}'", "kubetab-admin"},
	} {
		if got := run(c.line); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nand not %q", c.line, got, c.want)
		}
	}
	// The page hears who that is.
	post(t, url, "cp ~/.kube/config users/before")
	t.Cleanup(func() { post(t, url, "mv users/before ~/.kube/config; rm ~/.kube/ada.*") }) // before users is removed
	for _, embedded := range []string{"true", "false"} {
		post(t, url, "cp users/config users/ada.crt users/ada.key ~/.kube; cd ~/.kube; kubectl config set-credentials ada "+
			"--client-key=ada.key --client-certificate=ada.crt --embed-certs="+embedded+"; kubectl config use-context ada")
		if _, text := ask(t, http.MethodGet, url+"/kubetab/identity", ""); !strings.Contains(text, `"user":"ada","groups":["devs"]`) {
			t.Errorf("embedded %s: the page hears %s", embedded, text)
		}
	}
}
