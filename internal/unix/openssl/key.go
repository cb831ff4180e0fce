package openssl

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// The types of PEM blocks.
const (
	pemPrivate     = "PRIVATE KEY"
	pemRSA         = "RSA PRIVATE KEY"
	pemEC          = "EC PRIVATE KEY"
	pemEncrypted   = "ENCRYPTED PRIVATE KEY"
	pemPublic      = "PUBLIC KEY"
	pemRSAPublic   = "RSA PUBLIC KEY"
	pemECParams    = "EC PARAMETERS"
	pemCertificate = "CERTIFICATE"
	pemRequest     = "CERTIFICATE REQUEST"
)

// errEncrypted is what is said of keys that a passphrase protects.
var errEncrypted = errors.New("the key is encrypted, and nothing is encrypted here: openssl pkey decrypts it where there is an OpenSSL")

// privateKey reads a key: one of RSA, of an elliptic curve, or Ed25519. what is its name in messages. The errors are
// those of find, errEncrypted, and those of crypto/x509.
func (r *run) privateKey(name, what string) (crypto.Signer, error) {
	b, err := r.find(name, what, pemPrivate, pemRSA, pemEC, pemEncrypted)
	if err != nil {
		return nil, err
	}
	if b.Type == pemEncrypted || strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED") {
		return nil, unreadable(what, name, errEncrypted)
	}
	key, err := parsePrivate(b)
	if err != nil {
		return nil, unreadable(what, name, err)
	}
	return key, nil
}

// parsePrivate returns the key of a block, or of DER without a type. The errors are those of crypto/x509, and one for a
// key that cannot sign.
func parsePrivate(b *pem.Block) (crypto.Signer, error) {
	switch b.Type {
	case pemRSA:
		return signer(x509.ParsePKCS1PrivateKey(b.Bytes))
	case pemEC:
		return signer(x509.ParseECPrivateKey(b.Bytes))
	case "":
		for _, kind := range []string{pemRSA, pemEC} {
			if key, err := parsePrivate(&pem.Block{Type: kind, Bytes: b.Bytes}); err == nil {
				return key, nil
			}
		}
	}
	return signer(x509.ParsePKCS8PrivateKey(b.Bytes))
}

// signer returns what a parser of keys has returned, if that can sign.
func signer(key any, err error) (crypto.Signer, error) {
	if err != nil {
		return nil, err
	}
	s, can := key.(crypto.Signer)
	if !can {
		return nil, errors.New("keys of this type cannot sign")
	}
	return s, nil
}

// publicKey reads a public key. The errors are those of find and of crypto/x509.
func (r *run) publicKey(name, what string) (crypto.PublicKey, error) {
	b, err := r.find(name, what, pemPublic, pemRSAPublic)
	if err != nil {
		return nil, err
	}
	var key crypto.PublicKey
	if b.Type == pemRSAPublic {
		key, err = x509.ParsePKCS1PublicKey(b.Bytes)
	} else {
		key, err = x509.ParsePKIXPublicKey(b.Bytes)
	}
	if err != nil {
		return nil, unreadable(what, name, err)
	}
	return key, nil
}

// privateBlock returns a key as PKCS#8 or, with traditional, as what was there before for keys of RSA and of elliptic curves.
func privateBlock(key crypto.Signer, traditional bool) (*pem.Block, error) {
	if traditional {
		switch key := key.(type) {
		case *rsa.PrivateKey:
			return &pem.Block{Type: pemRSA, Bytes: x509.MarshalPKCS1PrivateKey(key)}, nil
		case *ecdsa.PrivateKey:
			der, err := x509.MarshalECPrivateKey(key)
			return &pem.Block{Type: pemEC, Bytes: der}, err
		}
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return &pem.Block{Type: pemPrivate, Bytes: der}, err
}

// publicBlock returns a public key as X.509 has it.
func publicBlock(key crypto.PublicKey) (*pem.Block, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	return &pem.Block{Type: pemPublic, Bytes: der}, err
}

// sameKey reports whether both are the same public key.
func sameKey(a, b crypto.PublicKey) bool {
	known, can := a.(interface{ Equal(crypto.PublicKey) bool })
	return can && known.Equal(b)
}

// curve is an elliptic curve with its names.
type curve struct {
	elliptic.Curve
	name, nist string
}

var curves = []curve{
	{elliptic.P256(), "prime256v1", "P-256"}, {elliptic.P384(), "secp384r1", "P-384"}, {elliptic.P521(), "secp521r1", "P-521"},
	{elliptic.P224(), "secp224r1", "P-224"},
}

// curveOf returns the curve of a name. The error lists those that there are.
func curveOf(name string) (curve, error) {
	for _, c := range curves {
		if name == c.name || name == c.nist || name == "secp256r1" && c.nist == "P-256" {
			return c, nil
		}
	}
	return curve{}, fmt.Errorf("invalid curve %q: there are prime256v1 (P-256), secp384r1 (P-384), secp521r1 (P-521) and secp224r1 (P-224)", name)
}

// keyText shows a key as OpenSSL does: a public one, or a private one with all its numbers.
func keyText(key any) string {
	var b strings.Builder
	switch key := key.(type) {
	case *rsa.PublicKey:
		fmt.Fprintf(&b, "Public-Key: (%d bit)\n", key.N.BitLen())
		number(&b, "Modulus", key.N)
		number(&b, "Exponent", big.NewInt(int64(key.E)))
	case *rsa.PrivateKey:
		fmt.Fprintf(&b, "Private-Key: (%d bit, %d primes)\n", key.N.BitLen(), len(key.Primes))
		number(&b, "modulus", key.N)
		number(&b, "publicExponent", big.NewInt(int64(key.E)))
		number(&b, "privateExponent", key.D)
		if len(key.Primes) == 2 {
			number(&b, "prime1", key.Primes[0])
			number(&b, "prime2", key.Primes[1])
			number(&b, "exponent1", key.Precomputed.Dp)
			number(&b, "exponent2", key.Precomputed.Dq)
			number(&b, "coefficient", key.Precomputed.Qinv)
		}
	case *ecdsa.PublicKey:
		fmt.Fprintf(&b, "Public-Key: (%d bit)\n", key.Params().BitSize)
		pointText(&b, key)
	case *ecdsa.PrivateKey:
		fmt.Fprintf(&b, "Private-Key: (%d bit)\n", key.Params().BitSize)
		if d, err := key.Bytes(); err == nil {
			b.WriteString("priv:\n" + hexLines(d, "    ", 15))
		}
		pointText(&b, &key.PublicKey)
	case ed25519.PublicKey:
		b.WriteString("ED25519 Public-Key:\npub:\n" + hexLines(key, "    ", 15))
	case ed25519.PrivateKey:
		b.WriteString("ED25519 Private-Key:\npriv:\n" + hexLines(key.Seed(), "    ", 15))
		b.WriteString("pub:\n" + hexLines(key[ed25519.SeedSize:], "    ", 15))
	default:
		b.WriteString("Unable to load Public Key\n")
	}
	return b.String()
}

func pointText(b *strings.Builder, key *ecdsa.PublicKey) {
	if point, err := key.Bytes(); err == nil {
		b.WriteString("pub:\n" + hexLines(point, "    ", 15))
	}
	for _, c := range curves {
		if c.Curve == key.Curve {
			fmt.Fprintf(b, "ASN1 OID: %s\nNIST CURVE: %s\n", c.name, c.nist)
		}
	}
}

// number shows a number of a key: small ones in a line, large ones in bytes.
func number(b *strings.Builder, name string, n *big.Int) {
	if n.IsUint64() {
		fmt.Fprintf(b, "%s: %d (0x%x)\n", name, n, n)
		return
	}
	bytes := n.Bytes()
	if bytes[0] >= 0x80 {
		bytes = append([]byte{0}, bytes...)
	}
	b.WriteString(name + ":\n" + hexLines(bytes, "    ", 15))
}

// hexLines shows bytes with colons between them, so many in a line.
func hexLines(data []byte, indent string, each int) string {
	var b strings.Builder
	for i, c := range data {
		if i%each == 0 {
			b.WriteString(indent)
		}
		fmt.Fprintf(&b, "%02x", c)
		if i < len(data)-1 {
			b.WriteByte(':')
		}
		if i%each == each-1 || i == len(data)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// indent puts blanks before each line of text.
func indent(text string, blanks int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", blanks) + line)
	}
	return b.String()
}
