// Package identity makes the keys and the CA of a cluster, and encodes and decodes them for a host
// that keeps them.
package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"

	"github.com/kubetab/kubetab/core/controllers"
)

// Complete makes what id lacks. It fails when there is no randomness.
func Complete(id controllers.Identity) (controllers.Identity, error) {
	var err error
	if id.ServiceAccountKey == nil {
		if id.ServiceAccountKey, err = NewKey(); err != nil {
			return controllers.Identity{}, err
		}
	}
	if id.CA == nil {
		if id.CA, err = controllers.NewAuthority("kubetab"); err != nil {
			return controllers.Identity{}, err
		}
	}
	if len(id.RootCA) == 0 {
		id.RootCA = id.CA.PEM()
	}
	return id, nil
}

// NewKey makes a key that signs service account tokens. It fails when there is no
// randomness.
func NewKey() (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate a service account key: %w", err)
	}
	return key, nil
}

// kept is an identity as it is kept: keys in PKCS #8, the certificate in DER.
type kept struct{ Key, CAKey, CA []byte }

// Marshal returns what is kept of a complete identity. It is a secret. It fails on
// keys that have no form in PKCS #8.
func Marshal(id controllers.Identity) ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(id.ServiceAccountKey)
	if err != nil {
		return nil, err
	}
	caKey, err := x509.MarshalPKCS8PrivateKey(id.CA.Key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(kept{key, caKey, id.CA.Certificate.Raw})
}

// Unmarshal returns the identity of which Marshal has made data. Its RootCA is the PEM
// certificate of its CA: another one is not kept. It fails when data is not JSON of the form
// that Marshal writes, when a key is not in PKCS #8 or cannot sign, and when the certificate
// is not DER. It does not check that the CA's key belongs to the certificate. It does not
// keep data.
func Unmarshal(data []byte) (controllers.Identity, error) {
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return controllers.Identity{}, err
	}
	key, err := signer(k.Key)
	if err != nil {
		return controllers.Identity{}, err
	}
	caKey, err := signer(k.CAKey)
	if err != nil {
		return controllers.Identity{}, err
	}
	certificate, err := x509.ParseCertificate(k.CA)
	if err != nil {
		return controllers.Identity{}, err
	}
	ca := &controllers.Authority{Certificate: certificate, Key: caKey}
	return controllers.Identity{ServiceAccountKey: key, CA: ca, RootCA: ca.PEM()}, nil
}

func signer(pkcs8 []byte) (crypto.Signer, error) {
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, err
	}
	s, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key of type %T cannot sign", key)
	}
	return s, nil
}
