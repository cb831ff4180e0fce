package core_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core"
)

// certified returns a certificate for a name that has signed itself, and its key, in PEM.
func certified(t *testing.T, name string) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
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
	var a, b bytes.Buffer
	_ = pem.Encode(&a, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	_ = pem.Encode(&b, &pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	return a.Bytes(), b.Bytes()
}

// Webhooks run in Pods, and the API server calls them at their Services: admission denies and changes objects, and a
// conversion webhook converts custom resources. No socket is needed.
func TestWebhooksInTheCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, _ := living(t, core.Config{Nodes: 1})
	client, err := kubernetes.NewForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, condition func() error) {
		t.Helper()
		for {
			err := condition()
			if err == nil {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("waited in vain: %s: %v", what, err)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	// serve runs a command of agnhost's behind a Service, and returns the CA that its clients trust.
	serve := func(name string) []byte {
		certificate, key := certified(t, name+".default.svc")
		secret := &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"tls.crt": certificate, "tls.key": key}}
		service := &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ServiceSpec{Selector: map[string]string{"app": name}, Ports: []v1.ServicePort{{Port: 443, TargetPort: intstr.FromInt32(8444)}}}}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}, Spec: v1.PodSpec{
			Volumes: []v1.Volume{{Name: "tls", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: name}}}},
			Containers: []v1.Container{{Name: "main", Image: "registry.k8s.io/e2e-test-images/agnhost:2.53",
				Args:         []string{name, "--tls-cert-file=/tls/tls.crt", "--tls-private-key-file=/tls/tls.key", "--port=8444"},
				VolumeMounts: []v1.VolumeMount{{Name: "tls", MountPath: "/tls"}}}},
		}}
		if _, err := client.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		until("the Pod", func() error {
			_, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
			return err
		})
		return certificate
	}

	hook := func(name, path string, resources ...string) (string, admissionv1.WebhookClientConfig, []admissionv1.RuleWithOperations) {
		return name + ".example.com", admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: "webhook", Path: &path}},
			[]admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: resources}}}
	}
	ca := serve("webhook")
	name, config, rules := hook("pods", "/pods", "pods")
	config.CABundle = ca
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name: name, ClientConfig: config, Rules: rules, SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}}}}
	if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, validating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until("a Pod is denied", func() error {
		unwanted := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "unwanted", Labels: map[string]string{"webhook-e2e-test": "webhook-disallow"}}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: "nginx"}}}}
		_, err := client.CoreV1().Pods("default").Create(ctx, unwanted, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && strings.Contains(err.Error(), `admission webhook "pods.example.com" denied the request: the pod contains unwanted label`) {
			return nil
		}
		return err
	})

	name, config, rules = hook("configmaps", "/mutating-configmaps", "configmaps")
	config.CABundle = ca
	mutating := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "configmaps"}, Webhooks: []admissionv1.MutatingWebhook{{
		Name: name, ClientConfig: config, Rules: rules, SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}}}}
	if _, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until("a ConfigMap is changed", func() error {
		m := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}, Data: map[string]string{"mutation-start": "yes"}}
		m, err := client.CoreV1().ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && m.Data["mutation-stage-1"] != "yes" {
			err = context.DeadlineExceeded
		}
		return err
	})

	extensions, err := apiextensions.NewForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	anything := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "tests.stable.example.com"}, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "stable.example.com", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "tests", Singular: "test", Kind: "Test", ListKind: "TestList"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: anything}, {Name: "v2", Served: true, Schema: anything}},
		Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: serve("crd-conversion-webhook"),
				Service: &apiextensionsv1.ServiceReference{Namespace: "default", Name: "crd-conversion-webhook", Path: ptr.To("/crdconvert")}}}},
	}}
	if _, err := extensions.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	resources, err := dynamic.NewForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	tests := func(version string) dynamic.ResourceInterface {
		return resources.Resource(schema.GroupVersionResource{Group: "stable.example.com", Version: version, Resource: "tests"}).Namespace("default")
	}
	until("a custom resource", func() error {
		_, err := tests("v1").Create(ctx, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "stable.example.com/v1", "kind": "Test", "metadata": map[string]any{"name": "one"}, "hostPort": "localhost:8080"}}, metav1.CreateOptions{})
		return err
	})
	until("it is converted", func() error {
		got, err := tests("v2").Get(ctx, "one", metav1.GetOptions{})
		if err == nil && (got.Object["host"] != "localhost" || got.Object["port"] != "8080") {
			t.Fatalf("converted to %v", got.Object)
		}
		return err
	})
}
