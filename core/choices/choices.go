// Package choices lists the values that a configuration of core can have: the
// versions, feature gates, API groups and controllers of the Kubernetes that is
// linked.
package choices

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/internal/gates"
)

// Choices are what Config.EmulatedVersion, FeatureGates, RuntimeConfig and
// Controllers can be, as the upstream that is linked has it.
type Choices struct {
	// Version is the emulated version that the other fields describe.
	Version string `json:"version"`
	// Versions are all that can be emulated, newest first: the first is the
	// program's own.
	Versions []string `json:"versions"`
	// FeatureGates are those that exist in Version, by name.
	FeatureGates []Gate `json:"featureGates"`
	// GroupVersions are the group versions that have a kind in Version.
	GroupVersions []GroupVersion       `json:"groupVersions"`
	Controllers   []controllers.Choice `json:"controllers"`
}

// Gate is a feature gate in one version.
type Gate struct {
	Name string `json:"name"`
	// Stage is ALPHA, BETA, DEPRECATED, or empty for GA, as upstream writes it.
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	// Locked says that only the default can be set.
	Locked bool `json:"locked"`
	// Needs are the gates without which it cannot be on.
	Needs []string `json:"needs,omitempty"`
}

// GroupVersion is what a runtime-config can turn on and off.
type GroupVersion struct {
	// Name is the key: "batch/v1", and "v1" for the core group.
	Name    string `json:"name"`
	Default bool   `json:"default"`
}

// For returns the choices for an emulated version; empty is the program's
// own. It fails on a version that cannot be emulated.
func For(emulated string) (Choices, error) {
	effective, gate, err := gates.Try(nil, emulated)
	if err != nil {
		return Choices{}, err
	}
	v := effective.EmulationVersion()
	choices := Choices{Version: short(v), Controllers: controllers.Choices()}
	for own := effective.BinaryVersion(); ; own = own.SubtractMinor(1) {
		other := compatibility.DefaultBuildEffectiveVersion()
		other.SetEmulationVersion(own)
		if len(other.Validate()) > 0 {
			break
		}
		choices.Versions = append(choices.Versions, short(own))
	}

	needs := utilfeature.DefaultMutableFeatureGate.Dependencies()
	for name, spec := range gate.GetAll() {
		each := Gate{Name: string(name), Stage: string(spec.PreRelease), Default: spec.Default, Locked: spec.LockToDefault}
		if off, ours := gates.Off[each.Name]; ours && !each.Locked {
			each.Default = off
		}
		for _, other := range needs[name] {
			each.Needs = append(each.Needs, string(other))
		}
		choices.FeatureGates = append(choices.FeatureGates, each)
	}
	slices.SortFunc(choices.FeatureGates, func(a, b Gate) int { return cmp.Compare(a.Name, b.Name) })

	defaults := controlplane.DefaultAPIResourceConfigSource().GroupVersionConfigs
	// Groups come in no order, and the versions of each in that of preference.
	ofGroup := map[string][]GroupVersion{}
	for _, gv := range legacyscheme.Scheme.PrioritizedVersionsAllGroups() {
		if on, known := defaults[gv]; known && exists(gv, v) {
			ofGroup[gv.Group] = append(ofGroup[gv.Group], GroupVersion{gv.String(), on})
		}
	}
	for _, group := range slices.Sorted(maps.Keys(ofGroup)) {
		choices.GroupVersions = append(choices.GroupVersions, ofGroup[group]...)
	}
	return choices, nil
}

// lifecycle is what k8s.io/code-generator's prerelease-lifecycle-gen writes.
type lifecycle interface {
	APILifecycleIntroduced() (major, minor int)
}

// exists reports whether a group version has a kind that was there in a version,
// as upstream decides when it installs APIs (genericapiserver's
// RemoveUnavailableKinds), or kinds that do not say since when they are.
func exists(gv schema.GroupVersion, v *version.Version) bool {
	dated := false
	// In order, so that every run calls the same functions: a profile of one run is a profile of all.
	for _, kind := range slices.Sorted(maps.Keys(legacyscheme.Scheme.KnownTypes(gv))) {
		object, err := legacyscheme.Scheme.New(gv.WithKind(kind))
		if err != nil {
			continue
		}
		if since, ok := object.(lifecycle); ok {
			dated = true
			if major, minor := since.APILifecycleIntroduced(); !v.LessThan(version.MajorMinor(uint(major), uint(minor))) {
				return true
			}
		}
	}
	return !dated
}

func short(v *version.Version) string { return fmt.Sprintf("%d.%d", v.Major(), v.Minor()) }
