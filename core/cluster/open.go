package cluster

import (
	"errors"
	"fmt"
	"math"

	"k8s.io/component-base/version"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
	"github.com/kubetab/kubetab/core/internal/settings"
)

// ErrBundle is in the errors of Check and Manifests for a bundle that no
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
	// Entries are the Base of a resume.Config, with OfOtherBuild unless Exact, and for an
	// engine that was frozen: the base of Become if Exact, and otherwise the entries of
	// TakeOver, whose base is nothing.
	Entries []etcd.Entry
}

// Check has upstream's codecs read each record of b, which is one that bundle.Read has
// returned. It fails with ErrBundle: for a bundle of this version of Kubernetes with the
// first record that cannot be read or that is not what its key says, and for all with
// settings that an engine does not start with, or a clock that no engine has.
func Check(b *bundle.Bundle) (Opening, error) {
	o, err := check(b)
	if err != nil {
		return Opening{}, err
	}
	state := b.State
	if !o.Exact {
		// Resource versions are new ones, and there need not be more than records.
		state = state.Renumbered()
	}
	if o.Entries, err = state.Entries(); err != nil {
		return Opening{}, fmt.Errorf("%w: %w", ErrBundle, err)
	}
	return o, nil
}

// check is Check without Entries, which are as large as the cluster and take memory.
// They are there for every bundle that bundle.Read has returned.
func check(b *bundle.Bundle) (Opening, error) {
	o := Opening{Exact: b.Kubernetes == version.Get().GitVersion && b.State.Revision <= mostRevision}
	var reader records.Reader
	for i, r := range b.State.Records {
		err := reader.Unservable(r.Key, r.Value)
		switch {
		case err == nil:
		case o.Exact:
			return Opening{}, fmt.Errorf("%w: record %d, %s: %w", ErrBundle, i+1, r.Key, err)
		default:
			o.LeftOut = append(o.LeftOut, etcd.LeftOut{Key: r.Key, Why: err})
		}
	}
	if err := settings.Check(b.Settings); err != nil {
		return Opening{}, fmt.Errorf("%w: its settings: %w", ErrBundle, err)
	}
	if speed := b.Clock.Speed; speed != 0 && !(speed > 0 && speed <= clock.MaxRate) {
		return Opening{}, fmt.Errorf("%w: its clock has the speed %v, and up to %d is possible", ErrBundle, speed, clock.MaxRate)
	}
	return o, nil
}

// SetClock makes c, which shows the real time, show that of a bundle which Check has
// accepted.
func SetClock(c *clock.Clock, of bundle.Clock) {
	if of.Speed != 0 {
		_ = c.SetRate(of.Speed) // Check takes none that it refuses
	}
	_ = c.Step(of.Ahead) // bundle.Read takes none below zero
	if of.Paused {
		c.Pause()
	}
}
