package resume

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	clientv3kubernetes "go.etcd.io/etcd/client/v3/kubernetes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/internal/identity"
	"github.com/kubetab/kubetab/core/internal/records"
)

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
func (p *Point) Renew(ctx context.Context) ([]byte, error) {
	if p.engine.Store == nil {
		return nil, errors.New("renew: an engine over etcd servers has the identity that is kept there")
	}
	id, err := identity.Complete(controllers.Identity{})
	if err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	kept, err := identity.Marshal(id)
	if err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	p.thaw()
	if err := p.renewClusterUID(ctx); err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	if err := p.identify(ctx, id); err != nil {
		return nil, fmt.Errorf("renew: %w", err)
	}
	return kept, nil
}

// identify makes id the engine's, and lets those start who have waited for one.
func (p *Point) identify(ctx context.Context, id controllers.Identity) error {
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return err
	}
	utilrand.Seed(int64(binary.LittleEndian.Uint64(seed[:])))
	if err := p.engine.Sign(id.ServiceAccountKey); err != nil {
		return err
	}
	select {
	case <-p.engine.Started:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return p.engine.Identify(id)
}

// renewClusterUID gives the namespace kube-system another UID, which is what
// programs take for the identity of a cluster. The API has no way to change one,
// so the record is exchanged below it; watches tell of it as of any change.
func (p *Point) renewClusterUID(ctx context.Context) error {
	const key = records.Prefix + "/namespaces/" + metav1.NamespaceSystem
	store := p.engine.Store.Client()
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
