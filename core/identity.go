package core

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	clientv3kubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	"gopkg.in/go-jose/go-jose.v2/jwt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/kubetab/kubetab/core/controllers"
)

// identity is what no other cluster has.
type identity struct {
	key    crypto.Signer // of service account tokens
	ca     *controllers.Authority
	rootCA []byte
}

// newIdentity takes what cfg gives and makes the rest: with AwaitIdentity only a
// key, because nothing is built without one. It fails when there is no
// randomness.
func newIdentity(cfg Config) (identity, error) {
	id := identity{key: cfg.ServiceAccountKey, ca: cfg.CA, rootCA: cfg.RootCA}
	var err error
	if id.key == nil {
		if id.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return identity{}, fmt.Errorf("generate a service account key: %w", err)
		}
	}
	if cfg.AwaitIdentity {
		return identity{key: id.key}, nil
	}
	if id.ca == nil {
		if id.ca, err = controllers.NewAuthority("kubetab"); err != nil {
			return identity{}, err
		}
	}
	if len(id.rootCA) == 0 {
		id.rootCA = id.ca.PEM()
	}
	return id, nil
}

func (id identity) controllers() controllers.Identity {
	return controllers.Identity{RootCA: id.rootCA, ServiceAccountKey: id.key, CA: id.ca}
}

// Renew gives an engine that was made with Config.AwaitIdentity its own keys and
// certificates, new state to upstream's random generators, and its cluster a UID
// (that of the namespace kube-system). It is to be called once, in a program that
// goes on from a copy of another's memory, before anybody else asks the engine
// for anything. The process's own randomness (math/rand, maps) is the caller's.
//
// What Renew leaves as it was copied are the other objects that every cluster is
// born with: their UIDs and creation times are those of the original.
//
// It fails when there is no randomness, with ctx's error when that ends first,
// and when the engine has ended or never came to run its controllers.
func (e *Engine) Renew(ctx context.Context) error {
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	utilrand.Seed(int64(binary.LittleEndian.Uint64(seed[:])))
	id, err := newIdentity(Config{})
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	if err := e.tokens.renew(id.key); err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	if err := e.renewClusterUID(ctx); err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	select {
	case <-e.started:
	case <-ctx.Done():
		return fmt.Errorf("renew: %w", context.Cause(ctx))
	}
	if err := e.loops.identify(id); err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	return nil
}

// renewClusterUID gives the namespace kube-system another UID, which is what
// programs take for the identity of a cluster. The API has no way to change one,
// so the record is exchanged below it; watches tell of it as of any change.
func (e *Engine) renewClusterUID(ctx context.Context) error {
	const key = storagePrefix + "/namespaces/" + metav1.NamespaceSystem
	store := e.store.Client()
	kept, err := store.Kubernetes.Get(ctx, key, clientv3kubernetes.GetOptions{})
	if err != nil {
		return err
	}
	if kept.KV == nil {
		return errors.New(key + " is missing")
	}
	namespace := &corev1.Namespace{}
	codec := protobufserializer.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	if _, _, err := codec.Decode(kept.KV.Value, nil, namespace); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	namespace.UID = uuid.NewUUID()
	var record bytes.Buffer
	if err := codec.Encode(namespace, &record); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	put, err := store.Kubernetes.OptimisticPut(ctx, key, record.Bytes(), kept.KV.ModRevision, clientv3kubernetes.PutOptions{})
	if err == nil && !put.Succeeded {
		err = fmt.Errorf("%s has been changed meanwhile", key)
	}
	return err
}

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
