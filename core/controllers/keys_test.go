package controllers_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"

	"k8s.io/client-go/util/cert"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/controllers"
)

var (
	testKey       = newKey()
	testAuthority = newAuthority()
	testRootCA    = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: testAuthority.Certificate.Raw})
	testKeys      = core.Keys{ServiceAccount: testKey, CA: testAuthority, RootCA: testRootCA}
)

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func newAuthority() *controllers.Authority {
	key := newKey()
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kubernetes"}, key)
	if err != nil {
		panic(err)
	}
	return &controllers.Authority{Certificate: certificate, Key: key}
}

func parse(certificate []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(certificate)
	return x509.ParseCertificate(block.Bytes)
}
