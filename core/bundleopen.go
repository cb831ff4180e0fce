package core

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/kubeapiserver"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
)

// ErrBundle is in the errors of CheckBundle and Config.Open for a bundle that no
// engine of this build can begin with.
var ErrBundle = errors.New("the cluster in the bundle cannot be opened")

// mostRevision is up to where revisions stay what they were. Clients take resource
// versions for numbers of 64 bits, and JavaScript's are exact up to here.
const mostRevision = math.MaxInt64 >> 10

// Opening is what becomes of a bundle in this build.
type Opening struct {
	// Exact says that resource versions stay what they were. They do for a bundle of
	// the same version of Kubernetes.
	Exact bool
	// LeftOut is what this build cannot read of another version's bundle.
	LeftOut []etcd.LeftOut
	// Entries are for resume.Config, with OfOtherBuild unless Exact, and for an engine
	// that was frozen: for Become if Exact, and otherwise for TakeOver, whose base is
	// nothing.
	Entries []etcd.Entry
}

// CheckBundle has upstream's codecs read each record of b, which is one that
// bundle.Read has returned. It fails with ErrBundle: for a bundle of this version of
// Kubernetes with the first record that cannot be read or that is not what its key
// says, and for all with settings that an engine does not start with, or a clock that
// no engine has.
func CheckBundle(b *bundle.Bundle) (Opening, error) {
	o := Opening{Exact: b.Kubernetes == version.Get().GitVersion && b.State.Revision <= mostRevision}
	for i, r := range b.State.Records {
		err := unopenable(r.Key, r.Value)
		switch {
		case err == nil:
		case o.Exact:
			return Opening{}, fmt.Errorf("%w: record %d, %s: %w", ErrBundle, i+1, r.Key, err)
		default:
			o.LeftOut = append(o.LeftOut, etcd.LeftOut{Key: r.Key, Why: err})
		}
	}
	var cfg Config
	cfg.set(b.Settings)
	if err := cfg.Check(); err != nil {
		return Opening{}, fmt.Errorf("%w: its settings: %w", ErrBundle, err)
	}
	if speed := b.Clock.Speed; speed != 0 && !(speed > 0 && speed <= maxSpeed) {
		return Opening{}, fmt.Errorf("%w: its clock has the speed %v, and up to %d is possible", ErrBundle, speed, maxSpeed)
	}
	state := b.State
	if !o.Exact {
		// Resource versions are new ones, and there need not be more than records.
		state = state.Renumbered()
	}
	var err error
	if o.Entries, err = state.Entries(); err != nil {
		return Opening{}, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	return o, nil
}

// Open has New begin with the cluster in b: its objects, with their UIDs, times and,
// if Opening.Exact, resource versions; its settings, in place of those in c; and its
// clock, if c has one. A Store must be empty. Keys and CA are those of c. What is left
// out is told to Resume.OnLeftOut, too.
//
// It fails as CheckBundle does; c is as it was then.
func (c *Config) Open(b *bundle.Bundle) (Opening, error) {
	o, err := CheckBundle(b)
	if err != nil {
		return Opening{}, err
	}
	if c.Clock != nil {
		SetClock(c.Clock, b.Clock)
	}
	c.set(b.Settings)
	c.Resume.Entries, c.Resume.OfOtherBuild = o.Entries, !o.Exact
	return o, nil
}

// SetClock makes c, which shows the real time, show that of a bundle which CheckBundle
// has accepted.
func SetClock(c *clock.Clock, of bundle.Clock) {
	if of.Speed != 0 {
		_ = c.SetRate(of.Speed) // CheckBundle takes none that it refuses
	}
	_ = c.Step(of.Ahead) // bundle.Read takes none below zero
	if of.Paused {
		c.Pause()
	}
}

func (c *Config) set(s bundle.Settings) {
	c.EmulatedVersion = s.EmulatedVersion
	c.RuntimeConfig = s.RuntimeConfig
	c.FeatureGates = s.FeatureGates
	c.Nodes = s.Nodes
	c.Controllers = s.Controllers
	c.NoScheduler = s.NoScheduler
}

// unopenable says why an API server of this build cannot serve a record that comes
// from anybody: it cannot be read, or is not what its key says. One such record would
// keep the server from listing all others of that resource.
func unopenable(key string, record []byte) error {
	gvk, object, err := records.Decode(key, record)
	if err != nil {
		return err
	}
	rest := strings.TrimPrefix(key, records.Prefix+"/")
	if object != nil {
		accessor, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		return misplaced(rest, places(gvk), accessor.GetNamespace(), accessor.GetName())
	}
	var custom metav1.PartialObjectMetadata
	if err := json.Unmarshal(record, &custom); err != nil {
		return err
	}
	return misplaced(rest, []string{gvk.Group + "/"}, custom.Namespace, custom.Name)
}

// places are where objects of a kind are kept below records.Prefix.
func places(gvk schema.GroupVersionKind) []string {
	if records.IsInternal(gvk.Kind) {
		return []string{"ranges/"}
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	resource := plural.GroupResource()
	place := resource.Resource
	if special, ok := kubeapiserver.SpecialDefaultResourcePrefixes[resource]; ok {
		place = special
	}
	// The servers of CRDs and APIServices keep them under their groups.
	found := []string{place + "/", gvk.Group + "/" + place + "/"}
	if gvk.GroupKind() == corev1.SchemeGroupVersion.WithKind("Endpoints").GroupKind() {
		found = append(found, "masterleases/")
	}
	return found
}

// misplaced says whether key, below records.Prefix, is not one that upstream's
// registries give to an object of that name in one of the places.
func misplaced(key string, places []string, namespace, name string) error {
	if !slices.ContainsFunc(places, func(place string) bool { return strings.HasPrefix(key, place) }) {
		return fmt.Errorf("its key is not below %s%s", records.Prefix+"/", places[0])
	}
	if name == "" {
		return nil // allocators and leases of API servers have none
	}
	end := "/" + name
	if namespace != "" {
		end = "/" + namespace + end
	}
	if !strings.HasSuffix(key, end) {
		return fmt.Errorf("its key does not end with %s", end)
	}
	return nil
}
