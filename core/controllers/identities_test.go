package controllers_test

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestControllersManageFieldsAsInACluster(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), newDeployment("web", 1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, "web")
	pods, err := c.pods(t.Context(), namespace, "app=web")
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d Pods, %v; want 1", len(pods), err)
	}
	managers := map[string]bool{}
	for _, fields := range pods[0].ManagedFields {
		managers[fields.Manager] = true
	}
	if !managers["kube-controller-manager"] {
		t.Errorf("the Pod is managed by %v, want kube-controller-manager among them", managers)
	}
}

// A controller has the rights of its own role: nobody else may stand behind it.
func TestAPolicySeesTheControllersIdentity(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	const want = "system:serviceaccount:kube-system:replicaset-controller"
	fail := admissionregistrationv1.Fail
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "who"}, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &fail,
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}}}},
		MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "here", Expression: "request.namespace == '" + namespace + "'"}},
		Validations:     []admissionregistrationv1.Validation{{Expression: "request.userInfo.username == '" + want + "' && object.spec.nosuch == 1"}},
	}}
	policies := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy to be type-checked", func(ctx context.Context) (bool, error) {
		p, err := policies.Get(ctx, "who", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return p.Status.TypeChecking != nil && len(p.Status.TypeChecking.ExpressionWarnings) == 1 && p.Status.ObservedGeneration == p.Generation, nil
	})
	c.forget(t, "who")

	// Now without the mistake, and bound: only the replica set controller may
	// create Pods here.
	policy.Name = "only"
	policy.Spec.Validations[0].Expression = "request.userInfo.username == '" + want + "'"
	if _, err := policies.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "only"}, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: "only", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}}}
	if _, err := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy to be enforced", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: podSpec()}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil, errors.New("admitted")
	})
	if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), newDeployment("web", 1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, namespace, "web")
	c.forget(t, "only")
}

func (c *cluster) forget(t *testing.T, policy string) {
	t.Helper()
	if err := c.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), policy, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestATokenSecretIsFilled(t *testing.T) {
	c := sharedCluster(t)
	namespace := c.newNamespace(t)
	secret := &corev1.Secret{Type: corev1.SecretTypeServiceAccountToken, ObjectMeta: metav1.ObjectMeta{Name: "token",
		Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}}}
	if _, err := c.client.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the token", func(ctx context.Context) (bool, error) {
		s, err := c.client.CoreV1().Secrets(namespace).Get(ctx, "token", metav1.GetOptions{})
		return err == nil && len(s.Data[corev1.ServiceAccountTokenKey]) > 0 && string(s.Data[corev1.ServiceAccountRootCAKey]) == string(testRootCA), err
	})
}

func TestAnApprovedRequestIsSigned(t *testing.T) {
	c := sharedCluster(t)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"editors"}}}, newKey())
	if err != nil {
		t.Fatal(err)
	}
	requests := c.client.CertificatesV1().CertificateSigningRequests()
	newRequest := func(name string, usages ...certificatesv1.KeyUsage) *certificatesv1.CertificateSigningRequest {
		request, err := requests.Create(t.Context(), &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName, Usages: usages}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test"}}
		if _, err := requests.UpdateApproval(t.Context(), name, request, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		return request
	}

	newRequest("jane", certificatesv1.UsageClientAuth)
	eventually(t, "the certificate", func(ctx context.Context) (bool, error) {
		request, err := requests.Get(ctx, "jane", metav1.GetOptions{})
		if err != nil || len(request.Status.Certificate) == 0 {
			return false, err
		}
		certificate, err := parse(request.Status.Certificate)
		if err != nil {
			return false, err
		}
		return certificate.Subject.CommonName == "jane", certificate.CheckSignatureFrom(testAuthority.Certificate)
	})

	newRequest("server", certificatesv1.UsageServerAuth)
	eventually(t, "the refusal of a use that the signer does not sign for", func(ctx context.Context) (bool, error) {
		request, err := requests.Get(ctx, "server", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range request.Status.Conditions {
			if condition.Type == certificatesv1.CertificateFailed {
				return condition.Reason == "SignerValidationFailure" && len(request.Status.Certificate) == 0, nil
			}
		}
		return false, nil
	})
}
