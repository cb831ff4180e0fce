package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
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
		return nil, errStopped
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
	return c.with(state, o)
}

// with returns the bundle of a state. It fails as Engine.Workspace does.
func (c *Cluster) with(state etcd.State, o SaveOptions) (*bundle.Bundle, error) {
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
		var err error
		if b.Files, err = c.of.Workspace(); err != nil {
			return nil, fmt.Errorf("the files of the workspace: %w", err)
		}
	}
	return b, nil
}

// Write writes what Save returns as bundle.Write does, but with some megabytes of memory, and
// up to bundle.FormatLimits: also a cluster that has filled the memory. begin is called with
// the size of the file in bytes, and returns where the file is written to. What fails before
// that has written nothing. What fails later leaves a part of a file, which must not look
// whole to who reads it.
//
// It fails as Save and bundle.Stream.Write do.
func (c *Cluster) Write(ctx context.Context, o SaveOptions, begin func(size int64) io.Writer) error {
	if c.of.Stopped() {
		return errStopped
	}
	store, err := c.dial()
	if err != nil {
		return err
	}
	defer store.Close()
	// Once to count the records and to find the leases, which come before the records in a
	// file; twice for bundle.Stream.Write.
	from, err := openReading(ctx, store.Client, 3)
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	defer from.close()
	s := bundle.Stream{Records: func() iter.Seq2[etcd.RecordState, error] { return ours(from.records(), o.NoSecrets) }}
	used := map[int64]bool{}
	for r, err := range s.Records() {
		if err != nil {
			return err
		}
		s.Count++
		s.Bytes += int64(len(r.Value))
		used[r.Lease] = true
	}
	if s.Bundle, err = c.with(etcd.State{Revision: from.revision, Leases: namedBy(used, from.leases)}, o); err != nil {
		return err
	}
	return s.Write(begin)
}

// errStopped is returned where the store answers nobody, as after a PUT to core.EtcdPath.
var errStopped = errors.New("etcd is stopped: start it first")

const (
	secretsPrefix    = records.Prefix + "/secrets/"
	configMapsPrefix = records.Prefix + "/configmaps/"
	// trustPrefix begins the names that upstream's
	// kube-apiserver-serving-clustertrustbundle-publisher-controller gives.
	trustPrefix = records.Prefix + "/clustertrustbundles/kubernetes.io:kube-apiserver-serving:"
)

// withoutIdentity takes out of s what belongs to one cluster alone, and all Secrets
// if noSecrets. It fails as own does.
func withoutIdentity(s etcd.State, noSecrets bool) (etcd.State, error) {
	kept := s.Records[:0:0]
	used := map[int64]bool{}
	for _, r := range s.Records {
		r, is, err := own(r, noSecrets)
		if err != nil {
			return etcd.State{}, err
		}
		if is {
			kept = append(kept, r)
			used[r.Lease] = true
		}
	}
	s.Records = kept
	s.Leases = namedBy(used, s.Leases)
	return s, nil
}

// namedBy returns the leases that are used: one whose last record is not in the bundle is
// not, either.
func namedBy(used map[int64]bool, leases []etcd.LeaseState) []etcd.LeaseState {
	return slices.DeleteFunc(leases, func(l etcd.LeaseState) bool { return !used[l.ID] })
}

// ours is withoutIdentity for records that come one after another. It yields their errors,
// and its own.
func ours(all iter.Seq2[etcd.RecordState, error], noSecrets bool) iter.Seq2[etcd.RecordState, error] {
	return func(yield func(etcd.RecordState, error) bool) {
		for r, err := range all {
			is := true
			if err == nil {
				r, is, err = own(r, noSecrets)
			}
			if (is || err != nil) && !yield(r, err) {
				return
			}
		}
	}
}

// own returns what a bundle has of a record, and whether it has it. It fails on a Secret
// that cannot be read: nobody knows what is in it.
func own(r etcd.RecordState, noSecrets bool) (_ etcd.RecordState, is bool, err error) {
	switch {
	case noSecrets && strings.HasPrefix(r.Key, secretsPrefix),
		strings.HasPrefix(r.Key, configMapsPrefix) && strings.HasSuffix(r.Key, "/kube-root-ca.crt"),
		r.Key == configMapsPrefix+"kube-system/extension-apiserver-authentication",
		strings.HasPrefix(r.Key, trustPrefix):
		return r, false, nil
	case strings.HasPrefix(r.Key, secretsPrefix):
		if r.Value, err = withoutToken(r.Value); err != nil {
			return r, false, fmt.Errorf("%s: %w: leave Secrets out to have a bundle without it", r.Key, err)
		}
	}
	return r, true, nil
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
