package node_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// selfSigned returns a certificate in PEM that has signed itself, and its key.
func selfSigned(t *testing.T, commonName string, names ...string) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: commonName}, DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, b []byte) []byte {
		var out bytes.Buffer
		if err := pem.Encode(&out, &pem.Block{Type: kind, Bytes: b}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", secret)
}

// secret makes a Secret of the type kubernetes.io/tls.
func (c *cluster) secret(name string, certificate, key []byte) {
	c.Helper()
	s := &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: v1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": certificate, "tls.key": key}}
	if _, err := c.client.CoreV1().Secrets("default").Create(context.Background(), s, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// Documentation: tutorials/services/connect-applications-service.
func TestServersOfTLS(t *testing.T) {
	c := start(t)
	certificate, key := selfSigned(t, "my-nginx") // as openssl req -subj "/CN=my-nginx" makes it
	c.secret("nginxsecret", certificate, key)
	other, _ := selfSigned(t, "my-nginx")
	c.secret("other", other, key)
	conf := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "nginxconfigmap"}, Data: map[string]string{"default.conf": `server {
        listen 80 default_server;
        listen [::]:80 default_server ipv6only=on;

        listen 443 ssl;

        root /usr/share/nginx/html;
        index index.html;

        server_name localhost;
        ssl_certificate /etc/nginx/ssl/tls.crt;
        ssl_certificate_key /etc/nginx/ssl/tls.key;

        location / {
                try_files $uri $uri/ =404;
        }
}
`}}
	if _, err := c.client.CoreV1().ConfigMaps("default").Create(context.Background(), conf, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.create(`{metadata: {name: web}, spec: {volumes: [{name: secret-volume, secret: {secretName: nginxsecret}}, {name: configmap-volume, configMap: {name: nginxconfigmap}}], containers: [{name: main, image: "bprashanth/nginxhttps:1.0",
  readinessProbe: {httpGet: {scheme: HTTPS, port: 443}, periodSeconds: 1},
  volumeMounts: [{mountPath: /etc/nginx/ssl, name: secret-volume}, {mountPath: /etc/nginx/conf.d, name: configmap-volume}]}]}}`)
	c.create(`{metadata: {name: netexec}, spec: {volumes: [{name: tls, secret: {secretName: nginxsecret}}], containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [netexec, --http-port=8443, --tls-cert-file=/tls/tls.crt, --tls-private-key-file=/tls/tls.key],
  volumeMounts: [{mountPath: /tls, name: tls}]}]}}`)
	c.create(`{metadata: {name: client}, spec: {volumes: [{name: tls, secret: {secretName: nginxsecret}}, {name: other, secret: {secretName: other}}], containers: [{name: main, image: busybox, command: [sleep, infinity], volumeMounts: [{mountPath: /tls, name: tls}, {mountPath: /other, name: other}]}]}}`)
	for _, name := range []string{"web", "netexec", "client"} {
		c.pass(name+" is ready", 10*time.Second, c.ready(name))
	}
	c.expose("my-nginx", v1.ServiceSpec{Ports: []v1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(80)}, {Name: "https", Port: 443, TargetPort: intstr.FromInt32(443)}}}, "web")
	ip := c.get("netexec").Status.PodIP
	c.until("the Service is known", func() bool { _, _, code := c.exec("client", "", "curl", "-k", "https://my-nginx"); return code == 0 })
	for _, test := range []struct {
		line, want string
		code       int
	}{
		{"curl -k https://my-nginx", "Welcome to nginx!", 0},
		{"curl https://my-nginx --cacert /tls/tls.crt", "Welcome to nginx!", 0},
		{"curl http://my-nginx", "Welcome to nginx!", 0},
		{"curl https://my-nginx", "curl: (60) SSL certificate problem: self-signed certificate", 60},
		{"curl https://my-nginx --cacert /other/tls.crt", "curl: (60) SSL certificate problem", 60},
		{"curl https://my-nginx.default --cacert /tls/tls.crt", "curl: (60) SSL", 60},
		{"curl -k https://my-nginx:80", "curl: (35)", 35},
		{"curl http://my-nginx:443", "Client sent an HTTP request to an HTTPS server.", 0},
		{"wget -qO- https://my-nginx", "Welcome to nginx!", 0},
		{"curl -k https://" + ip + ":8443/hostname", "netexec", 0},
	} {
		out, errs, code := c.exec("client", "", strings.Fields(test.line)...)
		if code != test.code || !strings.Contains(out+errs, test.want) {
			t.Errorf("%s: %d %s%s", test.line, code, out, errs)
		}
	}

	// The API server connects to a Service with TLS: so it calls webhooks.
	roots := x509.NewCertPool()
	named, namedKey := selfSigned(t, "", "hook.default.svc")
	roots.AppendCertsFromPEM(named)
	c.secret("hook", named, namedKey)
	c.create(`{metadata: {name: hook}, spec: {volumes: [{name: tls, secret: {secretName: hook}}], containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [netexec, --http-port=8443, --tls-cert-file=/tls/tls.crt, --tls-private-key-file=/tls/tls.key],
  volumeMounts: [{mountPath: /tls, name: tls}]}]}}`)
	c.pass("ready", 10*time.Second, c.ready("hook"))
	service := c.expose("hook", v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 443, TargetPort: intstr.FromInt32(8443)}}}, "hook")
	client := &http.Client{Transport: &http.Transport{DialContext: c.dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "hook.default.svc"}, DisableKeepAlives: true}}
	c.until("the Service is reached", func() bool {
		response, err := client.Get("https://" + service.Spec.ClusterIP + "/hostname")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return err == nil && string(body) == "hook"
	})
}

// A server whose certificate is not there ends, and says why.
func TestAServerWithoutItsCertificate(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: netexec}, spec: {restartPolicy: Never, containers: [{name: main, image: "registry.k8s.io/e2e-test-images/agnhost:2.40", args: [netexec, --tls-cert-file=/tls/tls.crt, --tls-private-key-file=/tls/tls.key]}]}}`)
	c.pass("failed", 10*time.Second, c.phase("netexec", v1.PodFailed))
	if got := c.logs("netexec", ""); !strings.Contains(got, "/tls/tls.crt: no such file or directory") {
		t.Errorf("%q", got)
	}
}
