package core

import (
	"context"
	"crypto"
	"fmt"
	"sync"
	"sync/atomic"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

// serviceAccountTokens signs service account tokens and knows the key that
// verifies them. It is upstream's TokenGenerator and PublicKeysGetter, over those
// of the present key.
type serviceAccountTokens struct {
	issuer  string
	present atomic.Pointer[tokenKey]

	mu        sync.Mutex
	listeners []serviceaccount.Listener
}

type tokenKey struct {
	serviceaccount.TokenGenerator
	serviceaccount.PublicKeysGetter
}

// newServiceAccountTokens fails on a key of a kind that cannot sign tokens.
func newServiceAccountTokens(issuer string, key crypto.Signer) (*serviceAccountTokens, error) {
	t := &serviceAccountTokens{issuer: issuer}
	return t, t.renew(key)
}

// renew makes key the one that signs and verifies: earlier tokens are worth
// nothing from then on.
func (t *serviceAccountTokens) renew(key crypto.Signer) error {
	generator, err := serviceaccount.JWTTokenGenerator(t.issuer, key)
	if err != nil {
		return fmt.Errorf("service account key: %w", err)
	}
	keys, err := serviceaccount.StaticPublicKeysGetter([]any{key.Public()})
	if err != nil {
		return fmt.Errorf("service account key: %w", err)
	}
	t.present.Store(&tokenKey{generator, keys})
	t.mu.Lock()
	listeners := t.listeners
	t.mu.Unlock()
	for _, l := range listeners {
		l.Enqueue()
	}
	return nil
}

// GenerateToken is serviceaccount.TokenGenerator's.
func (t *serviceAccountTokens) GenerateToken(ctx context.Context, claims *jwt.Claims, private any) (string, error) {
	return t.present.Load().GenerateToken(ctx, claims, private)
}

// AddListener is serviceaccount.PublicKeysGetter's.
func (t *serviceAccountTokens) AddListener(l serviceaccount.Listener) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listeners = append(t.listeners, l)
}

// GetCacheAgeMaxSeconds is serviceaccount.PublicKeysGetter's.
func (t *serviceAccountTokens) GetCacheAgeMaxSeconds() int {
	return t.present.Load().GetCacheAgeMaxSeconds()
}

// GetPublicKeys is serviceaccount.PublicKeysGetter's.
func (t *serviceAccountTokens) GetPublicKeys(ctx context.Context, keyID string) []serviceaccount.PublicKey {
	return t.present.Load().GetPublicKeys(ctx, keyID)
}
