// Package settings says whether an engine starts with the settings of a cluster, and what a runtime-config turns on and off.
package settings

import (
	"fmt"
	"strings"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/server/resourceconfig"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/internal/gates"
)

// Check fails as core.New does on an emulated version, feature gates, a runtime-config and controllers that cannot be,
// without starting anything.
func Check(s bundle.Settings) error {
	if _, _, err := gates.Try(s.FeatureGates, s.EmulatedVersion); err != nil {
		return err
	}
	if err := controllers.Check(s.Controllers); err != nil {
		return err
	}
	enablement, err := Enablement(s.RuntimeConfig)
	if err != nil {
		return err
	}
	if _, err := resourceconfig.MergeAPIResourceConfigs(controlplane.DefaultAPIResourceConfigSource(), enablement.RuntimeConfig, legacyscheme.Scheme); err != nil {
		return fmt.Errorf("runtime-config: %w", err)
	}
	return nil
}

// enablementSchemes are the schemes of the three servers, whose groups a
// runtime-config may name.
var enablementSchemes = []options.GroupRegistry{apiextensionsapiserver.Scheme, legacyscheme.Scheme, aggregatorscheme.Scheme}

// Enablement is a runtime-config with the names of the core group that
// kube-apiserver's flag takes, too: "v1" and "api/v1" are "/v1". It fails for a group
// that none of the three servers has.
func Enablement(runtimeConfig map[string]string) (*options.APIEnablementOptions, error) {
	config := map[string]string{}
	for key, value := range runtimeConfig {
		if core := strings.TrimPrefix(key, "api/"); core == "v1" || strings.HasPrefix(core, "v1/") {
			key = "/" + core
		}
		config[key] = value
	}
	o := &options.APIEnablementOptions{RuntimeConfig: config}
	if errs := o.Validate(enablementSchemes...); len(errs) > 0 {
		return nil, fmt.Errorf("runtime-config: %w", errs[0])
	}
	return o, nil
}
