package controllers

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
	_ "unsafe" // for go:linkname

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/certificate/csr"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	certificatesapi "k8s.io/kubernetes/pkg/apis/certificates"
	"k8s.io/kubernetes/pkg/controller/certificates"
	"k8s.io/kubernetes/pkg/controller/certificates/authority"
	_ "k8s.io/kubernetes/pkg/controller/certificates/signer" // the link below
)

// Upstream's own settings, in pkg/controller/certificates/signer.
const (
	signingWorkers   = 5
	signingBackdate  = 5 * time.Minute
	signingShort     = 8 * time.Hour
	shortestDuration = 10 * time.Minute
)

// signers are those of kubernetes.io that kube-controller-manager signs for
// when it is given one CA for all. The names in the values are the queues'.
var signers = []struct{ signer, controller string }{
	{certificatesv1.KubeletServingSignerName, "csrsigning-kubelet-serving"},
	{certificatesv1.KubeAPIServerClientKubeletSignerName, "csrsigning-kubelet-client"},
	{certificatesv1.KubeAPIServerClientSignerName, "csrsigning-kube-apiserver-client"},
	{certificatesv1beta1.LegacyUnknownSignerName, "csrsigning-legacy-unknown"},
}

// requestVerifier says whether a request is one for the signer, and what is
// wrong with it.
type requestVerifier = func(request *x509.CertificateRequest, usages []certificatesv1.KeyUsage, signer string) (recognized bool, err error)

// verifierFor returns upstream's rules for a signer of kubernetes.io. Upstream
// has them only behind a constructor that reads the CA from files; the link can
// go when it takes the CA as a value.
//
//go:linkname verifierFor k8s.io/kubernetes/pkg/controller/certificates/signer.getCSRVerificationFuncForSignerName
func verifierFor(signer string) (requestVerifier, error)

// Authority is a certificate authority that signs requests.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// NewAuthority returns a fresh authority with a P-256 key that is good for ten
// years, as client-go's util/cert makes it. It fails when there is no randomness.
func NewAuthority(commonName string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate the authority's key: %w", err)
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: commonName}, key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority's certificate: %w", err)
	}
	return &Authority{Certificate: certificate, Key: key}, nil
}

// PEM returns the authority's certificate as clients are given it.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: a.Certificate.Raw})
}

// signing signs approved certificate signing requests with Config.CA, by the
// rules of pkg/controller/certificates/signer.
func (c *Controllers) signing() app.ControllerConstructor {
	return func(ctx context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		if c.CA == nil {
			return nil, nil
		}
		if c.CA.Certificate == nil || c.CA.Key == nil {
			return nil, errors.New("the authority lacks its certificate or its key")
		}
		client, err := shared.NewClient("certificate-controller")
		if err != nil {
			return nil, err
		}
		requests := shared.InformerFactory.Certificates().V1().CertificateSigningRequests()
		var running []*certificates.CertificateController
		for _, s := range signers {
			verify, err := verifierFor(s.signer)
			if err != nil {
				return nil, err
			}
			one := &signer{
				name:      s.signer,
				verify:    verify,
				authority: &authority.CertificateAuthority{Certificate: c.CA.Certificate, PrivateKey: c.CA.Key},
				longest:   shared.ComponentConfig.CSRSigningController.ClusterSigningDuration.Duration,
				client:    client,
			}
			running = append(running, certificates.NewCertificateController(ctx, s.controller, client, requests, one.handle))
		}
		return loop{name, func(ctx context.Context) {
			done := make(chan struct{})
			for _, r := range running {
				go func() {
					r.Run(ctx, signingWorkers)
					done <- struct{}{}
				}()
			}
			for range running {
				<-done
			}
		}}, nil
	}
}

type signer struct {
	name      string
	verify    requestVerifier
	authority *authority.CertificateAuthority
	longest   time.Duration
	client    clientset.Interface
}

// handle signs request, a copy that it may change, if it is approved and for
// this signer. A request that breaks the signer's rules gets the condition
// Failed.
func (s *signer) handle(ctx context.Context, request *certificatesv1.CertificateSigningRequest) error {
	if request.Spec.SignerName != s.name || !certificates.IsCertificateRequestApproved(request) ||
		certificates.HasTrueCondition(request, certificatesv1.CertificateFailed) {
		return nil
	}
	parsed, err := certificatesapi.ParseCSR(request.Spec.Request)
	if err != nil {
		return fmt.Errorf("parse the request %s: %w", request.Name, err)
	}
	recognized, err := s.verify(parsed, request.Spec.Usages, s.name)
	switch {
	case err != nil:
		request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue,
			Reason: "SignerValidationFailure", Message: err.Error(), LastUpdateTime: metav1.Now(),
		})
	case !recognized:
		return nil
	default:
		der, err := s.authority.Sign(parsed.Raw, authority.PermissiveSigningPolicy{
			TTL: s.duration(request.Spec.ExpirationSeconds), Usages: request.Spec.Usages,
			Backdate: signingBackdate, Short: signingShort,
		})
		if err != nil {
			return fmt.Errorf("sign %s: %w", request.Name, err)
		}
		request.Status.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	_, err = s.client.CertificatesV1().CertificateSigningRequests().UpdateStatus(ctx, request, metav1.UpdateOptions{})
	return err
}

// duration is what was asked for, between the shortest and the longest.
func (s *signer) duration(seconds *int32) time.Duration {
	if seconds == nil {
		return s.longest
	}
	return min(max(csr.ExpirationSecondsToDuration(*seconds), shortestDuration), s.longest)
}
