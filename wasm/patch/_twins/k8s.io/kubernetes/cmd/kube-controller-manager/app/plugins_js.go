package app

import (
	"context"

	"k8s.io/klog/v2"
	persistentvolumeconfig "k8s.io/kubernetes/pkg/controller/volume/persistentvolume/config"
	"k8s.io/kubernetes/pkg/volume"
)

// There are no volume plugins on js/wasm: nothing can be mounted. The engine
// gives the persistent volume controller a plugin of its own, and does not run
// the controllers that these are for.

func ProbeAttachableVolumePlugins(klog.Logger, persistentvolumeconfig.VolumeConfiguration) ([]volume.VolumePlugin, error) {
	return nil, nil
}

func GetDynamicPluginProber(context.Context, persistentvolumeconfig.VolumeConfiguration) volume.DynamicPluginProber {
	return nil
}

func ProbeExpandableVolumePlugins(klog.Logger, persistentvolumeconfig.VolumeConfiguration) ([]volume.VolumePlugin, error) {
	return nil, nil
}

func ProbeProvisionableRecyclableVolumePlugins(klog.Logger, persistentvolumeconfig.VolumeConfiguration) ([]volume.VolumePlugin, error) {
	return nil, nil
}

func ProbePersistentVolumePlugins(klog.Logger, persistentvolumeconfig.VolumeConfiguration) ([]volume.VolumePlugin, error) {
	return nil, nil
}
