package server

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/core/people"
)

// Names of the files in the folder of [OpenKeys].
const (
	caCertFile   = "ca.crt"
	caKeyFile    = "ca.key"
	serveCrtFile = "apiserver.crt"
	serveKeyFile = "apiserver.key"
	accountFile  = "sa.key"
	tokenFile    = "admin.token"
)

// Keys are the secrets of one server: its certificate authority, the serving certificate, the key that signs service
// account tokens and the administrator's bearer token. Safe for use by several goroutines at once.
type Keys struct {
	dir   string   // "" when nothing is kept
	hosts []string // what the serving certificate is for
	now   func() time.Time

	ca      *x509.Certificate
	caKey   crypto.Signer
	account crypto.Signer
	token   string

	mu      sync.Mutex
	serving *tls.Certificate // guarded by mu; renewed by ServingCertificate
}

// OpenKeys reads the keys kept in the folder dir and makes those which are missing there. With dir "" all of them are
// fresh and none is kept.
//
// hosts are the DNS names and IP addresses that the serving certificate is for. A kept certificate is replaced by a new
// one of the same authority when it is for other hosts or has less than [renewBefore] to live, and so is an authority
// which is about to expire, together with everything it signed. now is the time source; nil is the real clock.
//
// Errors: dir cannot be made, read or written; or a file in it does not hold what its name says, in which case the
// text names the file and what to do. Nothing is replaced because it cannot be read.
func OpenKeys(dir string, hosts []string, now func() time.Time) (*Keys, error) {
	if now == nil {
		now = time.Now
	}
	k := &Keys{dir: dir, hosts: hosts, now: now}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the key folder: %w", err)
		}
	}
	for _, step := range []func() error{k.openCA, k.openServing, k.openAccount, k.openToken} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// CA returns the certificate authority's certificate in PEM: what a client must trust.
func (k *Keys) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.ca.Raw})
}

// Authority returns the certificate authority's certificate and key, with which certificate signing requests are signed.
func (k *Keys) Authority() (*x509.Certificate, crypto.Signer) { return k.ca, k.caKey }

// Token returns the administrator's bearer token.
func (k *Keys) Token() string { return k.token }

// Tokens returns the tokens of people.All by name. The administrator's is [Keys.Token], and those of the others are made
// from it, so that they stay what they are as long as it does.
func (k *Keys) Tokens() map[string]string {
	tokens := map[string]string{}
	for i, person := range people.All {
		if i == 0 {
			tokens[person.Name] = k.token
			continue
		}
		mac := hmac.New(sha256.New, []byte(k.token))
		mac.Write([]byte(person.Name))
		tokens[person.Name] = base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	return tokens
}

// ServiceAccountKey returns the ECDSA P-256 key that signs service account tokens.
func (k *Keys) ServiceAccountKey() crypto.Signer { return k.account }

// ClientCAs returns the bundle, in PEM, that client certificates are verified with: the authority itself, as in a
// cluster made by kubeadm, and the certificates in extra, which may be empty.
func (k *Keys) ClientCAs(extra []byte) []byte {
	return append(k.CA(), extra...)
}

// ServingCertificate has the signature of tls.Config.GetCertificate. It renews the certificate when it is about to
// expire, so that a server may run for years; a renewal that cannot be written to disk is used all the same.
func (k *Keys) ServingCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now().After(k.serving.Leaf.NotAfter.Add(-renewBefore)) {
		fresh, err := k.newServing()
		if fresh == nil {
			return nil, err
		}
		k.serving = fresh
	}
	return k.serving, nil
}

func (k *Keys) openCA() error {
	cert, key, err := k.readPair(caCertFile, caKeyFile)
	if err != nil {
		return err
	}
	if cert != nil && !k.now().After(cert.NotAfter.Add(-renewBefore)) {
		k.ca, k.caKey = cert, key
		return nil
	}
	if k.caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	if k.ca, err = newAuthority(k.caKey, k.now()); err != nil {
		return err
	}
	return k.keepPair(caCertFile, caKeyFile, k.ca, k.caKey)
}

func (k *Keys) openServing() error {
	cert, key, err := k.readPair(serveCrtFile, serveKeyFile)
	if err != nil {
		return err
	}
	if cert != nil && fits(cert, k.ca, k.hosts, k.now()) {
		k.serving = &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
		return nil
	}
	k.serving, err = k.newServing()
	return err
}

// newServing makes a serving certificate and keeps it. When it can be made but not kept it returns both.
func (k *Keys) newServing() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert, err := newServingCertificate(k.ca, k.caKey, key, k.hosts, k.now())
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert},
		k.keepPair(serveCrtFile, serveKeyFile, cert, key)
}

func (k *Keys) openAccount() error {
	key, err := k.readKey(accountFile)
	if err != nil || key != nil {
		k.account = key
		return err
	}
	if k.account, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	return k.keepKey(accountFile, k.account)
}

func (k *Keys) openToken() error {
	data, err := k.read(tokenFile)
	if err != nil {
		return err
	}
	if data != nil {
		k.token = strings.TrimSpace(string(data))
		if k.token == "" {
			return k.unreadable(tokenFile, errors.New("empty"))
		}
		return nil
	}
	secret := make([]byte, 32)
	rand.Read(secret) // never fails, says crypto/rand
	k.token = base64.RawURLEncoding.EncodeToString(secret)
	return k.keep(tokenFile, []byte(k.token+"\n"))
}

// readPair returns nil and no error when neither file is there.
func (k *Keys) readPair(certName, keyName string) (*x509.Certificate, crypto.Signer, error) {
	data, err := k.read(certName)
	if err != nil || data == nil {
		return nil, nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, nil, k.unreadable(certName, errors.New("no PEM certificate in it"))
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, nil, k.unreadable(certName, err)
	}
	key, err := k.readKey(keyName)
	if err != nil {
		return nil, nil, err
	}
	if key == nil {
		return nil, nil, k.unreadable(keyName, fs.ErrNotExist)
	}
	if public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !public.Equal(cert.PublicKey) {
		return nil, nil, k.unreadable(keyName, errors.New("not the key of "+certName))
	}
	return cert, key, nil
}

func (k *Keys) readKey(name string) (crypto.Signer, error) {
	data, err := k.read(name)
	if err != nil || data == nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, k.unreadable(name, errors.New("no PEM key in it"))
	}
	var key any
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, k.unreadable(name, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, k.unreadable(name, fmt.Errorf("a %T cannot sign", key))
	}
	return signer, nil
}

// read returns nil and no error when there is no such file, or no folder at all.
func (k *Keys) read(name string) ([]byte, error) {
	if k.dir == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(k.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// keepPair writes the key first: a certificate without its key would stop the next start.
func (k *Keys) keepPair(certName, keyName string, cert *x509.Certificate, key crypto.Signer) error {
	if err := k.keepKey(keyName, key); err != nil {
		return err
	}
	return k.keep(certName, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
}

func (k *Keys) keepKey(name string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return k.keep(name, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (k *Keys) keep(name string, data []byte) error {
	if k.dir == "" {
		return nil
	}
	return writePrivate(filepath.Join(k.dir, name), data)
}

func (k *Keys) unreadable(name string, err error) error {
	return fmt.Errorf("unreadable key %s (%w): restore it, or delete %s to have new keys made", filepath.Join(k.dir, name), err, k.dir)
}
