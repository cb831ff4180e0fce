package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
)

// SaveOptions say what a bundle holds besides objects.
type SaveOptions struct {
	// Name is what the cluster is called, for people. Empty is no name.
	Name string
	// NoSecrets leaves Secrets out.
	NoSecrets bool
}

// Save returns the cluster as it is at one revision, while others go on writing. It
// holds every object as it is stored, events and Secrets too, but for what belongs to
// this cluster alone:
//
//   - the ConfigMaps and the ClusterTrustBundle with the CA's certificate, which the
//     other cluster publishes anew;
//   - the token and the certificate in Secrets of type service-account-token, which
//     the token controller fills in anew.
//
// The identity of NewIdentity is not in the store, and in no bundle.
//
// It fails with bundle.ErrTooLarge where nobody could read the bundle, when the store is
// stopped or cannot be read, when Engine.Workspace fails, and with ctx's error.
func (c *Cluster) Save(ctx context.Context, o SaveOptions) (*bundle.Bundle, error) {
	if c.of.Stopped() {
		return nil, errors.New("etcd is stopped: start it first")
	}
	store, err := c.dial()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	most := bundle.DefaultLimits().Cluster
	state, err := etcd.ReadState(ctx, store.Client, records.Prefix+"/", most)
	switch {
	case errors.Is(err, etcd.ErrLarge):
		return nil, fmt.Errorf("%w: the objects have more than %d bytes", bundle.ErrTooLarge, most)
	case err != nil:
		return nil, fmt.Errorf("read the store: %w", err)
	}
	if state, err = withoutIdentity(state, o.NoSecrets); err != nil {
		return nil, err
	}
	now := time.Now()
	b := &bundle.Bundle{
		Kubernetes: version.Get().GitVersion,
		Build:      version.Get().GitCommit,
		Time:       now,
		Name:       o.Name,
		Settings:   c.of.Settings,
		State:      state,
	}
	if c.of.Clock != nil {
		shown := c.of.Clock.State()
		b.Clock = bundle.Clock{Ahead: max(shown.Now.Sub(now.Round(0)), 0), Paused: shown.Paused, Speed: shown.Rate}
	}
	if c.of.Workspace != nil {
		if b.Files, err = c.of.Workspace(); err != nil {
			return nil, fmt.Errorf("the files of the workspace: %w", err)
		}
	}
	return b, nil
}

const (
	secretsPrefix    = records.Prefix + "/secrets/"
	configMapsPrefix = records.Prefix + "/configmaps/"
	// trustPrefix begins the names that upstream's
	// kube-apiserver-serving-clustertrustbundle-publisher-controller gives.
	trustPrefix = records.Prefix + "/clustertrustbundles/kubernetes.io:kube-apiserver-serving:"
)

// withoutIdentity takes out of s what belongs to one cluster alone, and all Secrets
// if noSecrets. It fails on a Secret that cannot be read: nobody knows what is in it.
func withoutIdentity(s etcd.State, noSecrets bool) (etcd.State, error) {
	kept := s.Records[:0:0]
	for _, r := range s.Records {
		switch {
		case noSecrets && strings.HasPrefix(r.Key, secretsPrefix),
			strings.HasPrefix(r.Key, configMapsPrefix) && strings.HasSuffix(r.Key, "/kube-root-ca.crt"),
			r.Key == configMapsPrefix+"kube-system/extension-apiserver-authentication",
			strings.HasPrefix(r.Key, trustPrefix):
			continue
		case strings.HasPrefix(r.Key, secretsPrefix):
			value, err := withoutToken(r.Value)
			if err != nil {
				return etcd.State{}, fmt.Errorf("%s: %w: leave Secrets out to have a bundle without it", r.Key, err)
			}
			r.Value = value
		}
		kept = append(kept, r)
	}
	s.Records = kept
	// A lease whose last record is not in the bundle is not, either.
	used := map[int64]bool{}
	for _, r := range kept {
		used[r.Lease] = true
	}
	s.Leases = slices.DeleteFunc(s.Leases, func(l etcd.LeaseState) bool { return !used[l.ID] })
	return s, nil
}

// withoutToken returns the record of a Secret without the token of a service account.
func withoutToken(record []byte) ([]byte, error) {
	codec := protobufserializer.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(record, nil, nil)
	if err != nil {
		return nil, err
	}
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return nil, errors.New("it is no Secret of v1")
	}
	if secret.Type != corev1.SecretTypeServiceAccountToken {
		return record, nil
	}
	delete(secret.Data, corev1.ServiceAccountTokenKey)
	delete(secret.Data, corev1.ServiceAccountRootCAKey)
	delete(secret.Annotations, corev1.LastAppliedConfigAnnotation)
	var stripped bytes.Buffer
	if err := codec.Encode(secret, &stripped); err != nil {
		return nil, err
	}
	return stripped.Bytes(), nil
}
