package core

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3kubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	"gopkg.in/go-jose/go-jose.v2/jwt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/controllers/informerset"
	"github.com/kubetab/kubetab/core/etcd"
)

// identity is what no other cluster has.
type identity struct {
	key    crypto.Signer // of service account tokens
	ca     *controllers.Authority
	rootCA []byte
}

// NewIdentity makes the keys and the CA of a cluster, for Config.Identity and for
// Restore. They are secrets. It fails when there is no randomness.
func NewIdentity() ([]byte, error) {
	id, err := newIdentity(Config{})
	if err != nil {
		return nil, err
	}
	return id.marshal()
}

// newIdentity takes what cfg gives and makes the rest: with AwaitIdentity only a
// key, because nothing is built without one. It fails when there is no
// randomness, and on a Config.Identity that is damaged.
func newIdentity(cfg Config) (identity, error) {
	if cfg.Identity != nil {
		id, err := unmarshalIdentity(cfg.Identity)
		if err != nil {
			return identity{}, fmt.Errorf("the identity: %w: %w", ErrKept, err)
		}
		return id, nil
	}
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

// keptIdentity is an identity as it is kept: keys in PKCS #8, the certificate in DER.
type keptIdentity struct{ Key, CAKey, CA []byte }

func (id identity) marshal() ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(id.key)
	if err != nil {
		return nil, err
	}
	caKey, err := x509.MarshalPKCS8PrivateKey(id.ca.Key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(keptIdentity{key, caKey, id.ca.Certificate.Raw})
}

// unmarshalIdentity fails on bytes that marshal has not made.
func unmarshalIdentity(data []byte) (identity, error) {
	var kept keptIdentity
	if err := json.Unmarshal(data, &kept); err != nil {
		return identity{}, err
	}
	key, err := signer(kept.Key)
	if err != nil {
		return identity{}, err
	}
	caKey, err := signer(kept.CAKey)
	if err != nil {
		return identity{}, err
	}
	certificate, err := x509.ParseCertificate(kept.CA)
	if err != nil {
		return identity{}, err
	}
	ca := &controllers.Authority{Certificate: certificate, Key: caKey}
	return identity{key: key, ca: ca, rootCA: ca.PEM()}, nil
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

// ErrKept is in what New returns when Config.Identity or Config.Entries cannot be
// used. Without them it may succeed.
var ErrKept = errors.New("what was kept of an earlier engine cannot be used")

// errNotFrozen is of what only an engine that was frozen can do.
var errNotFrozen = errors.New("the engine was not frozen")

// frozen is an engine's hold on its store.
type frozen struct {
	mu    sync.Mutex
	hold  *etcd.Hold // nil when the engine is not frozen
	ended bool       // nothing is held any more
}

// thaw lets others write.
func (f *frozen) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thawLocked()
}

func (f *frozen) thawLocked() {
	if f.hold != nil {
		f.hold.Release()
		f.hold = nil
	}
}

// end is thaw for good.
func (f *frozen) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.thawLocked()
}

// Freeze holds back all writes to the store, until Renew, Restore, TakeOver or
// Close: what is copied from then on is at the same revision for all. Requests that
// write wait, each as long as its context. Freezing twice is harmless.
//
// It fails on an engine over etcd servers, to which others write, and on one that
// ends.
func (e *Engine) Freeze() error {
	if e.store == nil {
		return errors.New("freeze: an engine over etcd servers cannot hold back what others write")
	}
	e.frozen.mu.Lock()
	defer e.frozen.mu.Unlock()
	switch {
	case e.frozen.ended:
		return errors.New("freeze: the engine has ended")
	case e.frozen.hold == nil:
		e.frozen.hold = e.store.Hold()
	}
	return nil
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
// It returns the identity, for Restore; it is a secret. It fails when there is no
// randomness, with ctx's error when that ends first, on an engine over etcd
// servers, and when the engine has ended or never came to run its controllers.
func (e *Engine) Renew(ctx context.Context) ([]byte, error) {
	if e.store == nil {
		return nil, errors.New("renew: an engine over etcd servers has the identity that is kept there")
	}
	id, err := newIdentity(Config{})
	if err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	kept, err := id.marshal()
	if err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	e.frozen.thaw()
	if err := e.renewClusterUID(ctx); err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	if err := e.identify(ctx, id); err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	return kept, nil
}

// Base returns what is in the store of an engine that has been frozen: together
// with what Config.Tap is told of from then on, all that Config.Entries needs. It
// must be called before Renew and Restore. The error is that of a damaged store.
func (e *Engine) Base() ([]etcd.Entry, error) {
	e.frozen.mu.Lock()
	defer e.frozen.mu.Unlock()
	if e.frozen.hold == nil {
		return nil, errNotFrozen
	}
	return e.frozen.hold.Entries()
}

// Restore is Renew for an engine that is to be what another copy has become: with
// the identity that Renew returned there, and the entries that Config.Tap was told
// of since. Objects keep their UIDs, resource versions and times, and reach all who
// watch as ordinary events; a client that watched there goes on from where it was.
//
// It fails on an identity or an entry that is damaged, and with etcd.ErrBase for
// entries of an engine that was copied from another original, and for an engine that
// was not frozen; nothing has happened then, and Renew can follow. It fails
// otherwise as Renew does.
func (e *Engine) Restore(ctx context.Context, kept []byte, entries []etcd.Entry) error {
	id, err := unmarshalIdentity(kept)
	if err != nil {
		return fmt.Errorf("restore the identity: %w", err)
	}
	if err := e.leap(func(h *etcd.Hold) error { return h.Replay(entries) }); err != nil {
		return fmt.Errorf("restore the objects: %w", err)
	}
	if err := e.identify(ctx, id); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// leapPatience bounds how long controllers hear nothing after a leap.
const leapPatience = 10 * time.Second

// leap has f change the store, which is held, and lets others write again if that
// succeeds. Controllers, scheduler and kubelets hear of it when all caches have it.
// It fails with errNotFrozen and as f does.
func (e *Engine) leap(f func(*etcd.Hold) error) error {
	e.frozen.mu.Lock()
	defer e.frozen.mu.Unlock()
	hold := e.frozen.hold
	if hold == nil {
		return errNotFrozen
	}
	var step *informerset.Step
	select {
	case <-e.started:
		step = informerset.Begin(e.loops.views)
	default: // they will begin with all that there is
	}
	last := map[schema.GroupKind]int64{}
	from := hold.Revision()
	err := f(hold)
	if err == nil {
		hold.Changed(from, func(_, value string, rev int64) {
			if of, ok := storedType([]byte(value)); ok {
				kind := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind).GroupKind()
				last[kind] = max(last[kind], rev)
			}
		})
		e.frozen.thawLocked()
	}
	if step != nil {
		go func() {
			ctx, cancel := context.WithTimeout(e.loops.ctx, leapPatience)
			defer cancel()
			step.End(ctx, last)
		}()
	}
	return err
}

// identify makes id the engine's, and lets those start who have waited for one.
func (e *Engine) identify(ctx context.Context, id identity) error {
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return err
	}
	utilrand.Seed(int64(binary.LittleEndian.Uint64(seed[:])))
	if err := e.tokens.renew(id.key); err != nil {
		return err
	}
	select {
	case <-e.started:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return e.loops.identify(id)
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
