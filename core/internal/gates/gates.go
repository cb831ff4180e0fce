// Package gates sets the feature gates and the emulated version, which upstream
// keeps once per process.
package gates

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
	genericfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
)

// Off are gates that are on by default upstream and start peers, leases or
// identities that a single API server in one process has no use for.
var Off = map[string]bool{
	string(genericfeatures.APIServerIdentity):                   false,
	string(genericfeatures.CoordinatedLeaderElection):           false,
	string(genericfeatures.StorageVersionAPI):                   false,
	string(genericfeatures.UnknownVersionInteroperabilityProxy): false,
}

// process guards what upstream keeps once per process: the feature gates and
// the effective version. Engines that agree on them share them.
var process struct {
	mu       sync.Mutex
	engines  int
	gates    map[string]bool
	emulated string
}

// ErrOther is core.ErrOtherGates.
var ErrOther = errors.New("another engine in this process runs with other feature gates or another emulated version")

// Acquire sets the feature gates and the emulated version and returns
// the effective version, and the function that gives them back. It fails on
// unknown or locked gates, on a version that upstream cannot emulate, and with
// ErrOther.
func Acquire(featureGates map[string]bool, emulated string) (basecompatibility.EffectiveVersion, func(), error) {
	process.mu.Lock()
	defer process.mu.Unlock()

	gates := withOff(featureGates)
	effective, ok := compatibility.DefaultComponentGlobalsRegistry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent).(basecompatibility.MutableEffectiveVersion)
	if !ok {
		return nil, nil, errors.New("upstream's effective version cannot be set")
	}
	if process.engines > 0 {
		if emulated != process.emulated || !reflect.DeepEqual(gates, process.gates) {
			return nil, nil, ErrOther
		}
	} else if err := set(effective, utilfeature.DefaultMutableFeatureGate, gates, emulated); err != nil {
		return nil, nil, errors.Join(err, reset(effective, gates))
	} else {
		process.gates, process.emulated = gates, emulated
	}

	process.engines++
	var once sync.Once
	return effective, func() {
		once.Do(func() {
			process.mu.Lock()
			defer process.mu.Unlock()
			if process.engines--; process.engines == 0 {
				// Cannot fail: the same names and versions were set before.
				_ = reset(effective, process.gates)
			}
		})
	}, nil
}

// withOff are gates, with those of Off that are not among them.
func withOff(gates map[string]bool) map[string]bool {
	all := maps.Clone(Off)
	maps.Copy(all, gates)
	return all
}

// set sets the emulated version first: which gates exist, and their
// defaults, depend on it. effective and gate are upstream's variables, or copies
// to try it on.
func set(effective basecompatibility.MutableEffectiveVersion, gate featuregate.MutableVersionedFeatureGate, gates map[string]bool, emulated string) error {
	if emulated != "" {
		v, err := version.ParseMajorMinor(emulated)
		if err != nil {
			return fmt.Errorf("emulated version %q: %w", emulated, err)
		}
		effective.SetEmulationVersion(v)
		if errs := effective.Validate(); len(errs) > 0 {
			return fmt.Errorf("emulated version %q: %w", emulated, errors.Join(errs...))
		}
		if err := gate.SetEmulationVersion(v); err != nil {
			return fmt.Errorf("emulated version %q: %w", emulated, err)
		}
	}
	// Upstream records a setting before it looks whether it may be made, and
	// from then on refuses every other one: what cannot be set must not reach it.
	known := gate.GetAll()
	settable := map[string]bool{}
	for name, on := range gates {
		spec, ok := known[featuregate.Feature(name)]
		_, ours := Off[name]
		switch {
		case ok && spec.LockToDefault && spec.Default != on && !ours:
			return fmt.Errorf("feature gates: %s is locked to %t", name, spec.Default)
		case ok && !(spec.LockToDefault && ours):
			settable[name] = on
		case !ok && !ours: // ours may not exist yet in the emulated version
			return fmt.Errorf("feature gates: unrecognized feature gate: %s", name)
		}
	}
	if err := gate.SetFromMap(settable); err != nil {
		return fmt.Errorf("feature gates: %w", err)
	}
	return nil
}

func reset(effective basecompatibility.MutableEffectiveVersion, gates map[string]bool) error {
	effective.SetEmulationVersion(effective.BinaryVersion())
	err := utilfeature.DefaultMutableFeatureGate.SetEmulationVersion(effective.BinaryVersion())
	_, alphas := gates["AllAlpha"]
	_, betas := gates["AllBeta"]
	for name := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		// The two have set others, which upstream does not take back with them.
		if _, set := gates[string(name)]; set || alphas || betas {
			err = errors.Join(err, utilfeature.DefaultMutableFeatureGate.ResetFeatureValueToDefault(name))
		}
	}
	return err
}

// Try returns what upstream's variables would be with these settings, and changes
// none. It fails as Acquire does.
func Try(gates map[string]bool, emulated string) (basecompatibility.EffectiveVersion, featuregate.MutableVersionedFeatureGate, error) {
	effective := compatibility.DefaultBuildEffectiveVersion()
	gate := utilfeature.DefaultMutableFeatureGate.DeepCopyAndReset()
	if err := gate.SetEmulationVersion(effective.BinaryVersion()); err != nil {
		return nil, nil, err
	}
	if err := gate.AddDependencies(utilfeature.DefaultMutableFeatureGate.Dependencies()); err != nil {
		return nil, nil, err
	}
	return effective, gate, set(effective, gate, withOff(gates), emulated)
}
