package core

import (
	"fmt"

	"k8s.io/apiserver/pkg/server/resourceconfig"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/internal/gates"
)

// Check fails as New does on an emulated version, feature gates, a runtime-config
// and controllers that cannot be, without starting anything.
func (c Config) Check() error {
	if _, _, err := gates.Try(c.FeatureGates, c.EmulatedVersion); err != nil {
		return err
	}
	if err := controllers.Check(c.Controllers); err != nil {
		return err
	}
	enablement := chainConfig{Config: c}.enablement()
	if errs := enablement.Validate(enablementSchemes...); len(errs) > 0 {
		return fmt.Errorf("runtime-config: %w", errs[0])
	}
	if _, err := resourceconfig.MergeAPIResourceConfigs(controlplane.DefaultAPIResourceConfigSource(), enablement.RuntimeConfig, legacyscheme.Scheme); err != nil {
		return fmt.Errorf("runtime-config: %w", err)
	}
	return nil
}
