package openssl

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// certificate is one that is to be signed.
type certificate struct {
	serial     *big.Int
	subject    asn1.RawValue // a name
	key        asn1.RawValue // a public key as X.509 has it
	begin, end time.Time
	extensions []pkix.Extension
}

// signed is what is signed, with its signature: a certificate or a request.
type signed struct {
	Body      asn1.RawValue
	Algorithm pkix.AlgorithmIdentifier
	Signature asn1.BitString
}

type certificateBody struct {
	Version    int `asn1:"optional,explicit,default:0,tag:0"`
	Serial     *big.Int
	Algorithm  pkix.AlgorithmIdentifier
	Issuer     asn1.RawValue
	Validity   struct{ Begin, End time.Time }
	Subject    asn1.RawValue
	Key        asn1.RawValue
	Extensions []pkix.Extension `asn1:"omitempty,optional,explicit,tag:3"`
}

type requestBody struct {
	Version    int
	Subject    asn1.RawValue
	Key        asn1.RawValue
	Attributes []asn1.RawValue `asn1:"tag:0"`
}

// requestAttribute is one of a request: challengePassword, or the extensions that are asked for.
type requestAttribute struct {
	OID    asn1.ObjectIdentifier
	Values []asn1.RawValue `asn1:"set"`
}

// sign returns the certificate in DER, signed with key. Errors: a digest that the key cannot sign with, and errTooLong.
func (c certificate) sign(by asn1.RawValue, key crypto.Signer, digest string) ([]byte, error) {
	with, algorithm, err := algorithmOf(key, digest)
	if err != nil {
		return nil, err
	}
	if c.end.Year() > 9999 {
		return nil, errTooLong
	}
	body := certificateBody{Serial: c.serial, Algorithm: algorithm, Issuer: by, Subject: c.subject, Key: c.key, Extensions: c.extensions}
	body.Validity.Begin, body.Validity.End = c.begin.UTC().Truncate(time.Second), c.end.UTC().Truncate(time.Second)
	if len(c.extensions) > 0 {
		body.Version = 2 // which is called 3
	}
	return sign(body, key, with, algorithm)
}

// signRequest returns a request in DER, signed with the key that it has the public part of. The errors are those of
// algorithmOf and of encoding/asn1.
func signRequest(subject asn1.RawValue, attributes []asn1.RawValue, key crypto.Signer, digest string) ([]byte, error) {
	with, algorithm, err := algorithmOf(key, digest)
	if err != nil {
		return nil, err
	}
	public, err := publicValue(key.Public())
	if err != nil {
		return nil, err
	}
	return sign(requestBody{Subject: subject, Key: public, Attributes: attributes}, key, with, algorithm)
}

func sign(body any, key crypto.Signer, with crypto.Hash, algorithm pkix.AlgorithmIdentifier) ([]byte, error) {
	der, err := asn1.Marshal(body)
	if err != nil {
		return nil, err
	}
	signature, err := signBytes(der, key, with)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(signed{asn1.RawValue{FullBytes: der}, algorithm, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}})
}

// signBytes returns the signature of data. with is 0 for keys that need no digest.
func signBytes(data []byte, key crypto.Signer, with crypto.Hash) ([]byte, error) {
	if with != 0 {
		h := with.New()
		h.Write(data)
		data = h.Sum(nil)
	}
	return key.Sign(rand.Reader, data, with)
}

// keyKind returns which kind of signatures a public key has: rsa, ec, ed25519, or "".
func keyKind(key crypto.PublicKey) string {
	switch key.(type) {
	case *rsa.PublicKey:
		return "rsa"
	case *ecdsa.PublicKey:
		return "ec"
	case ed25519.PublicKey:
		return "ed25519"
	}
	return ""
}

// algorithmOf returns how key signs with a digest, "" for SHA-256. The error is that of a digest which it cannot sign with.
func algorithmOf(key crypto.Signer, digest string) (crypto.Hash, pkix.AlgorithmIdentifier, error) {
	kind := keyKind(key.Public())
	hash := crypto.SHA256
	if digest != "" {
		hash = digests[digest].id
	}
	if kind == "ed25519" {
		hash = 0
	}
	for _, s := range signatures {
		if s.key != kind || s.hash != hash {
			continue
		}
		algorithm := pkix.AlgorithmIdentifier{Algorithm: s.oid}
		if kind == "rsa" {
			algorithm.Parameters = asn1.NullRawValue
		}
		return hash, algorithm, nil
	}
	return 0, pkix.AlgorithmIdentifier{}, fmt.Errorf("invalid digest: certificates are not signed with %s here", digest)
}

// publicValue returns a public key as X.509 has it.
func publicValue(key crypto.PublicKey) (asn1.RawValue, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	return asn1.RawValue{FullBytes: der}, err
}

// keyBits returns the bits of a public key as X.509 has it, nil for what is none.
func keyBits(key asn1.RawValue) []byte {
	var v struct {
		Algorithm pkix.AlgorithmIdentifier
		Bits      asn1.BitString
	}
	if _, err := asn1.Unmarshal(key.FullBytes, &v); err != nil {
		return nil
	}
	return v.Bits.Bytes
}

// randomSerial returns 159 random bits, as many as OpenSSL's serial numbers have.
func randomSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 159))
}

// serialBytes returns a serial number's bytes, at least one.
func serialBytes(n *big.Int) []byte {
	if n.Sign() == 0 {
		return []byte{0}
	}
	return n.Bytes()
}

// parseSerial parses a number of -set_serial: hexadecimal behind 0x, else decimal.
func parseSerial(text string) (*big.Int, error) {
	n, is := new(big.Int), false
	if len(text) < 100 {
		n, is = n.SetString(text, 0)
	}
	if !is || n.Sign() < 0 {
		return nil, saidf("Unable to parse serial number %q", text)
	}
	return n, nil
}

// complete adds the identifiers of the keys that OpenSSL adds to a certificate with extensions: the subject's, and the issuer's
// unless the certificate is signed with its own key. The errors are those of extensions.
func (c *certificate) complete(from *origin, isSelf bool) error {
	defaults := []setting{{"subjectKeyIdentifier", "hash"}, {"authorityKeyIdentifier", "keyid, issuer"}}
	if len(c.extensions) == 0 {
		return nil
	}
	if isSelf {
		defaults = defaults[:1]
	}
	for _, s := range defaults {
		made, err := from.extension(s.name, s.value)
		if err != nil {
			return err
		}
		if !slices.Contains(from.without, s.name) && !slices.ContainsFunc(c.extensions, func(e pkix.Extension) bool { return e.Id.Equal(made.Id) }) {
			c.extensions = append(c.extensions, made)
		}
	}
	return nil
}
