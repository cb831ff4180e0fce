package controllers

import (
	_ "unsafe" // for go:linkname

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// kube-controller-manager's own descriptors: a controller's name, its aliases,
// the feature gates that it needs, and how it is constructed. Upstream offers
// them only all at once (app.NewControllerDescriptors), which links the volume
// plugins that mount, the attach-detach controller and the file-reading signer
// with them: several megabytes for what cannot run here. The links can go when
// descriptors are exported one by one.

//go:linkname newEndpointsControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newEndpointsControllerDescriptor
func newEndpointsControllerDescriptor() *app.ControllerDescriptor

//go:linkname newEndpointSliceControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newEndpointSliceControllerDescriptor
func newEndpointSliceControllerDescriptor() *app.ControllerDescriptor

//go:linkname newEndpointSliceMirroringControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newEndpointSliceMirroringControllerDescriptor
func newEndpointSliceMirroringControllerDescriptor() *app.ControllerDescriptor

//go:linkname newReplicationControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newReplicationControllerDescriptor
func newReplicationControllerDescriptor() *app.ControllerDescriptor

//go:linkname newPodGarbageCollectorControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newPodGarbageCollectorControllerDescriptor
func newPodGarbageCollectorControllerDescriptor() *app.ControllerDescriptor

//go:linkname newResourceQuotaControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newResourceQuotaControllerDescriptor
func newResourceQuotaControllerDescriptor() *app.ControllerDescriptor

//go:linkname newNamespaceControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newNamespaceControllerDescriptor
func newNamespaceControllerDescriptor() *app.ControllerDescriptor

//go:linkname newServiceAccountControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newServiceAccountControllerDescriptor
func newServiceAccountControllerDescriptor() *app.ControllerDescriptor

//go:linkname newGarbageCollectorControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newGarbageCollectorControllerDescriptor
func newGarbageCollectorControllerDescriptor() *app.ControllerDescriptor

//go:linkname newDaemonSetControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newDaemonSetControllerDescriptor
func newDaemonSetControllerDescriptor() *app.ControllerDescriptor

//go:linkname newJobControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newJobControllerDescriptor
func newJobControllerDescriptor() *app.ControllerDescriptor

//go:linkname newPodGroupProtectionControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newPodGroupProtectionControllerDescriptor
func newPodGroupProtectionControllerDescriptor() *app.ControllerDescriptor

//go:linkname newDeploymentControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newDeploymentControllerDescriptor
func newDeploymentControllerDescriptor() *app.ControllerDescriptor

//go:linkname newReplicaSetControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newReplicaSetControllerDescriptor
func newReplicaSetControllerDescriptor() *app.ControllerDescriptor

//go:linkname newHorizontalPodAutoscalerControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newHorizontalPodAutoscalerControllerDescriptor
func newHorizontalPodAutoscalerControllerDescriptor() *app.ControllerDescriptor

//go:linkname newDisruptionControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newDisruptionControllerDescriptor
func newDisruptionControllerDescriptor() *app.ControllerDescriptor

//go:linkname newStatefulSetControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newStatefulSetControllerDescriptor
func newStatefulSetControllerDescriptor() *app.ControllerDescriptor

//go:linkname newCronJobControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newCronJobControllerDescriptor
func newCronJobControllerDescriptor() *app.ControllerDescriptor

//go:linkname newCertificateSigningRequestApprovingControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newCertificateSigningRequestApprovingControllerDescriptor
func newCertificateSigningRequestApprovingControllerDescriptor() *app.ControllerDescriptor

//go:linkname newCertificateSigningRequestCleanerControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newCertificateSigningRequestCleanerControllerDescriptor
func newCertificateSigningRequestCleanerControllerDescriptor() *app.ControllerDescriptor

//go:linkname newPodCertificateRequestCleanerControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newPodCertificateRequestCleanerControllerDescriptor
func newPodCertificateRequestCleanerControllerDescriptor() *app.ControllerDescriptor

//go:linkname newTTLControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newTTLControllerDescriptor
func newTTLControllerDescriptor() *app.ControllerDescriptor

//go:linkname newBootstrapSignerControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newBootstrapSignerControllerDescriptor
func newBootstrapSignerControllerDescriptor() *app.ControllerDescriptor

//go:linkname newTokenCleanerControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newTokenCleanerControllerDescriptor
func newTokenCleanerControllerDescriptor() *app.ControllerDescriptor

//go:linkname newNodeIpamControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newNodeIpamControllerDescriptor
func newNodeIpamControllerDescriptor() *app.ControllerDescriptor

//go:linkname newNodeLifecycleControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newNodeLifecycleControllerDescriptor
func newNodeLifecycleControllerDescriptor() *app.ControllerDescriptor

//go:linkname newClusterRoleAggregrationControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newClusterRoleAggregrationControllerDescriptor
func newClusterRoleAggregrationControllerDescriptor() *app.ControllerDescriptor

//go:linkname newPersistentVolumeClaimProtectionControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newPersistentVolumeClaimProtectionControllerDescriptor
func newPersistentVolumeClaimProtectionControllerDescriptor() *app.ControllerDescriptor

//go:linkname newPersistentVolumeProtectionControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newPersistentVolumeProtectionControllerDescriptor
func newPersistentVolumeProtectionControllerDescriptor() *app.ControllerDescriptor

//go:linkname newVolumeAttributesClassProtectionControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newVolumeAttributesClassProtectionControllerDescriptor
func newVolumeAttributesClassProtectionControllerDescriptor() *app.ControllerDescriptor

//go:linkname newTTLAfterFinishedControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newTTLAfterFinishedControllerDescriptor
func newTTLAfterFinishedControllerDescriptor() *app.ControllerDescriptor

//go:linkname newRootCACertificatePublisherControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newRootCACertificatePublisherControllerDescriptor
func newRootCACertificatePublisherControllerDescriptor() *app.ControllerDescriptor

//go:linkname newKubeAPIServerSignerClusterTrustBundledPublisherDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newKubeAPIServerSignerClusterTrustBundledPublisherDescriptor
func newKubeAPIServerSignerClusterTrustBundledPublisherDescriptor() *app.ControllerDescriptor

//go:linkname newEphemeralVolumeControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newEphemeralVolumeControllerDescriptor
func newEphemeralVolumeControllerDescriptor() *app.ControllerDescriptor

//go:linkname newResourceClaimControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newResourceClaimControllerDescriptor
func newResourceClaimControllerDescriptor() *app.ControllerDescriptor

//go:linkname newResourcePoolStatusRequestControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newResourcePoolStatusRequestControllerDescriptor
func newResourcePoolStatusRequestControllerDescriptor() *app.ControllerDescriptor

//go:linkname newDeviceTaintEvictionControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newDeviceTaintEvictionControllerDescriptor
func newDeviceTaintEvictionControllerDescriptor() *app.ControllerDescriptor

//go:linkname newLegacyServiceAccountTokenCleanerControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newLegacyServiceAccountTokenCleanerControllerDescriptor
func newLegacyServiceAccountTokenCleanerControllerDescriptor() *app.ControllerDescriptor

//go:linkname newTaintEvictionControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newTaintEvictionControllerDescriptor
func newTaintEvictionControllerDescriptor() *app.ControllerDescriptor

//go:linkname newServiceCIDRsControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newServiceCIDRsControllerDescriptor
func newServiceCIDRsControllerDescriptor() *app.ControllerDescriptor

//go:linkname newStorageVersionMigratorControllerDescriptor k8s.io/kubernetes/cmd/kube-controller-manager/app.newStorageVersionMigratorControllerDescriptor
func newStorageVersionMigratorControllerDescriptor() *app.ControllerDescriptor
