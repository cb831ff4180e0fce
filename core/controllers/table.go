package controllers

import (
	cloudnames "k8s.io/cloud-provider/names"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
)

// controller is a row of the table: one of kube-controller-manager's
// controllers, and how it comes to run here.
type controller struct {
	name string
	// descriptor is upstream's; nil where upstream's cannot be used.
	descriptor func() *app.ControllerDescriptor
	// aliases are upstream's, where there is no descriptor to ask.
	aliases []string
	// build takes the place of upstream's constructor.
	build func(*Controllers) app.ControllerConstructor
	// timed takes the place of upstream's constructor when there is a clock.
	timed func(*Controllers) app.ControllerConstructor
	// early marks those that start before the server is ready: they ask for no
	// discovery, and Pods or roles are refused or empty without them.
	early bool
	// identity marks those that need Config.Identity.
	identity bool
	// cloud marks those of a cloud-controller-manager, which kube-controller-manager does not have.
	cloud bool
	// absent says why a controller is not here at all.
	absent string
	// note says what is particular about it.
	note string
}

// table is every controller of kube-controller-manager v1.37, and one of clouds, in the order in
// which they are built: those that look at every kind come last, to share the
// informers that the others have asked for. A test compares it with upstream's
// own list.
var table = []controller{
	{name: names.ServiceAccountController, descriptor: newServiceAccountControllerDescriptor, early: true},
	{name: names.RootCACertificatePublisherController, descriptor: newRootCACertificatePublisherControllerDescriptor, early: true, identity: true, note: "when there is a root CA"},
	{name: names.ClusterRoleAggregationController, descriptor: newClusterRoleAggregrationControllerDescriptor, early: true},

	{name: names.ServiceAccountTokenController, aliases: []string{"serviceaccount-token"}, build: (*Controllers).serviceAccountTokens, identity: true, note: "ours constructs it: upstream's constructor reads the key from a file"},
	{name: names.LegacyServiceAccountTokenCleanerController, descriptor: newLegacyServiceAccountTokenCleanerControllerDescriptor},
	{name: names.DeploymentController, descriptor: newDeploymentControllerDescriptor},
	{name: names.ReplicaSetController, descriptor: newReplicaSetControllerDescriptor},
	{name: names.ReplicationControllerController, descriptor: newReplicationControllerDescriptor},
	{name: names.StatefulSetController, descriptor: newStatefulSetControllerDescriptor},
	{name: names.DaemonSetController, descriptor: newDaemonSetControllerDescriptor},
	{name: names.JobController, descriptor: newJobControllerDescriptor, timed: (*Controllers).jobs},
	{name: names.CronJobController, descriptor: newCronJobControllerDescriptor, timed: (*Controllers).cronJobs},
	{name: names.TTLAfterFinishedController, descriptor: newTTLAfterFinishedControllerDescriptor, timed: (*Controllers).ttlAfterFinished},
	{name: names.PodGarbageCollectorController, descriptor: newPodGarbageCollectorControllerDescriptor},
	{name: names.DisruptionController, descriptor: newDisruptionControllerDescriptor},
	{name: names.HorizontalPodAutoscalerController, descriptor: newHorizontalPodAutoscalerControllerDescriptor},
	{name: names.EndpointsController, descriptor: newEndpointsControllerDescriptor},
	{name: names.EndpointSliceController, descriptor: newEndpointSliceControllerDescriptor},
	{name: names.EndpointSliceMirroringController, descriptor: newEndpointSliceMirroringControllerDescriptor},
	{name: names.ServiceCIDRController, descriptor: newServiceCIDRsControllerDescriptor},
	{name: names.NodeLifecycleController, descriptor: newNodeLifecycleControllerDescriptor},
	{name: names.TaintEvictionController, descriptor: newTaintEvictionControllerDescriptor, timed: (*Controllers).taintEviction},
	{name: names.NodeIpamController, descriptor: newNodeIpamControllerDescriptor, note: "when there is a cluster CIDR"},
	{name: names.TTLController, descriptor: newTTLControllerDescriptor},
	{name: names.PersistentVolumeBinderController, aliases: []string{"persistentvolume-binder"}, build: (*Controllers).volumeBinder, note: "upstream's, with a simulated provisioner instead of its volume plugins"},
	{name: names.PersistentVolumeExpanderController, aliases: []string{"persistentvolume-expander"}, build: (*Controllers).volumeExpander, note: "upstream's, with a simulated provisioner instead of its volume plugins"},
	{name: names.PersistentVolumeClaimProtectionController, descriptor: newPersistentVolumeClaimProtectionControllerDescriptor},
	{name: names.PersistentVolumeProtectionController, descriptor: newPersistentVolumeProtectionControllerDescriptor},
	{name: names.VolumeAttributesClassProtectionController, descriptor: newVolumeAttributesClassProtectionControllerDescriptor},
	{name: names.EphemeralVolumeController, descriptor: newEphemeralVolumeControllerDescriptor},
	{name: names.ResourceClaimController, descriptor: newResourceClaimControllerDescriptor},
	{name: names.DeviceTaintEvictionController, descriptor: newDeviceTaintEvictionControllerDescriptor},
	{name: names.ResourcePoolStatusRequestController, descriptor: newResourcePoolStatusRequestControllerDescriptor, note: "its feature gate is off by default"},
	{name: names.PodGroupProtectionController, descriptor: newPodGroupProtectionControllerDescriptor, note: "its feature gate is off by default"},
	{name: names.CertificateSigningRequestSigningController, aliases: []string{"csrsigning"}, build: (*Controllers).signing, identity: true, note: "ours around upstream's authority and rules: upstream's reads the CA from files"},
	{name: names.CertificateSigningRequestApprovingController, descriptor: newCertificateSigningRequestApprovingControllerDescriptor},
	{name: names.CertificateSigningRequestCleanerController, descriptor: newCertificateSigningRequestCleanerControllerDescriptor},
	{name: names.PodCertificateRequestCleanerController, descriptor: newPodCertificateRequestCleanerControllerDescriptor},
	{name: names.KubeAPIServerClusterTrustBundlePublisherController, descriptor: newKubeAPIServerSignerClusterTrustBundledPublisherDescriptor, identity: true, note: "when there is a root CA"},
	{name: names.BootstrapSignerController, descriptor: newBootstrapSignerControllerDescriptor, note: "off by default upstream: it is for joining nodes"},
	{name: names.TokenCleanerController, descriptor: newTokenCleanerControllerDescriptor, note: "off by default upstream: it is for joining nodes"},
	{name: names.ValidatingAdmissionPolicyStatusController, build: (*Controllers).policyStatus, note: "ours constructs it: upstream's constructor makes the OpenAPI definitions of all types before any policy exists"},
	{name: names.NamespaceController, descriptor: newNamespaceControllerDescriptor},
	{name: cloudnames.ServiceLBController, aliases: []string{"service"}, build: (*Controllers).balancer, cloud: true, note: "a cloud-controller-manager's, with a cloud of ours: load balancers have addresses of 172.18.255.0/24"},

	{name: names.ResourceQuotaController, descriptor: newResourceQuotaControllerDescriptor},
	{name: names.GarbageCollectorController, descriptor: newGarbageCollectorControllerDescriptor},
	{name: names.StorageVersionMigratorController, descriptor: newStorageVersionMigratorControllerDescriptor},

	{name: names.PersistentVolumeAttachDetachController, aliases: []string{"attachdetach"}, absent: "simulated volumes are not attached: their CSIDriver says attachRequired: false"},
	{name: names.SELinuxWarningController, absent: "off by default upstream, and nodes without a kernel have no SELinux"},
	{name: names.StorageVersionGarbageCollectorController, aliases: []string{"storage-version-gc"}, absent: "needs APIServerIdentity and StorageVersionAPI, which are for several API servers"},
}

// Check fails as New does on names in enabled.
func Check(enabled []string) error {
	_, err := enabledControllers(enabled)
	return err
}
