package container

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// issuerClaims are those of a ServiceAccount's token.
type issuerClaims struct {
	Issuer     string   `json:"iss"`
	Subject    string   `json:"sub"`
	Audience   []string `json:"aud"`
	Expiry     int64    `json:"exp"`
	Kubernetes struct {
		Namespace      string
		ServiceAccount struct{ Name, UID string }
	} `json:"kubernetes.io"`
}

// issuerDiscovery verifies a ServiceAccount's token as any relying party can: by the keys to which the issuer's discovery document leads.
func issuerDiscovery(k *call, flags *pflag.FlagSet) int {
	path, audience := flags.String("token-path", "", ""), flags.String("audience", "", "")
	if !k.parse(flags) {
		return 1
	}
	log := func(format string, args ...any) {
		fmt.Fprintf(k.Stderr, "%s %s\n", k.System.Clock().Now().UTC().Format("2006/01/02 15:04:05"), fmt.Sprintf(format, args...))
	}
	token, err := k.Files.ReadFile(k.Path(*path))
	if err != nil {
		log("open %s: %s", *path, strings.ToLower(coreutils.Reason(err)))
		return 1
	}
	log("OK: Got token")
	log("validating with in-cluster discovery")
	if err := k.discover(strings.TrimSpace(string(token)), *audience, log); err != nil {
		log("failed to validate with in-cluster discovery: %v", err)
		log("falling back to validating with external discovery")
		log("%v", err)
		return 1
	}
	return 0
}

// discover verifies a token. It says what has succeeded, and returns what has not.
func (k *call) discover(token, audience string, log func(string, ...any)) error {
	var header struct{ Alg, Kid string }
	var claims issuerClaims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("square/go-jose: compact JWS format must have three parts")
	}
	for i, to := range []any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			return err
		}
	}
	log("OK: got issuer %s", claims.Issuer)
	log("Full, not-validated claims: \n%+v", claims)
	var provider struct {
		Issuer  string `json:"issuer"`
		KeysURI string `json:"jwks_uri"`
	}
	if err := k.getJSON(claims.Issuer+"/.well-known/openid-configuration", &provider); err != nil {
		return err
	}
	if provider.Issuer != claims.Issuer {
		return fmt.Errorf("oidc: issuer did not match the issuer returned by provider, expected %q got %q", claims.Issuer, provider.Issuer)
	}
	log("OK: Constructed OIDC provider for issuer %s", claims.Issuer)
	var set struct{ Keys []issuerKey }
	if err := k.getJSON(provider.KeysURI, &set); err != nil {
		return err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	signed := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch {
	case !slices.Contains(claims.Audience, audience):
		return fmt.Errorf("oidc: expected audience %q got %q", audience, claims.Audience)
	case k.System.Clock().Now().After(time.Unix(claims.Expiry, 0)):
		return fmt.Errorf("oidc: token is expired (Token Expiry: %v)", time.Unix(claims.Expiry, 0).UTC())
	case !slices.ContainsFunc(set.Keys, func(key issuerKey) bool { return key.Kid == header.Kid && key.verifies(signed[:], signature) }):
		return errors.New("failed to verify signature: failed to verify id token signature")
	}
	log("OK: Validated signature on JWT")
	log("OK: Got valid claims from token!")
	log("Full, validated claims: \n%+v", claims)
	return nil
}

// getJSON asks the API server with the Pod's token.
func (k *call) getJSON(address string, to any) error {
	header := http.Header{}
	if token, err := k.Files.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/token"); err == nil {
		header.Set("Authorization", "Bearer "+string(token))
	}
	response, err := k.Request(http.MethodGet, address, nil, header, false, 0)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := coreutils.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	return json.Unmarshal(body, to)
}

// issuerKey is a JSON Web Key for the algorithms with which Kubernetes signs: RS256 and ES256.
type issuerKey struct {
	Kid, Kty, N, E, X, Y string
}

// verifies reports whether a signature of a digest is by the key.
func (key issuerKey) verifies(digest, signature []byte) bool {
	number := func(text string) *big.Int {
		b, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return new(big.Int)
		}
		return new(big.Int).SetBytes(b)
	}
	switch {
	case key.Kty == "RSA":
		public := &rsa.PublicKey{N: number(key.N), E: int(number(key.E).Int64())}
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, digest, signature) == nil
	case key.Kty == "EC" && len(signature) == 64:
		point := make([]byte, 65)
		point[0] = 4 // not compressed
		if x, y := number(key.X), number(key.Y); x.BitLen() <= 256 && y.BitLen() <= 256 {
			x.FillBytes(point[1:33])
			y.FillBytes(point[33:])
		}
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
		return err == nil && ecdsa.Verify(public, digest, new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	}
	return false
}
