// Package lifecycle is the life of a Pod on its node, as a kubelet reports it: admission, volumes, the Pod's network, images,
// init containers, sidecars, probes, restarts, and the end. No container runs: the package core/node/container plays what one
// would do. The queue of Pods, the node's figures and the API server's way to the kubelets are package node's.
//
//	See, Gone, SourcesChanged --> inbox <-- exits, probe results <--+
//	                                |                               |
//	                                v                               |
//	queue of package node --> Pod.Sync: one step forward --> container.Container
//	   ^                       |           |
//	   |                       |           +--> Kubelet: Admit, Join, KeepImage, ...
//	   |                       v
//	   +---------------- Cluster: status patches, events, deletion, one timer
//
//	API of the kubelets, metrics --> Container, State: a Pod at one moment
//
// Upstream's names for parts of Sync are SyncPod, SyncTerminatingPod and SyncTerminatedPod. A record is one container of a
// Pod's spec, an instance is one run of it.
//
// Invariants:
//
//   - A Pod has no goroutine. What it waits for is in its timer, which is of the
//     engine's clock, and whatever happens puts it into the queue. Scripts that
//     run have one, and so have hooks and commands of probes, by Cluster.Go.
//   - Only Sync changes a Pod's state, and the queue runs it once at a time. What
//     happens elsewhere (a process that exits, a probe that ends) is left in the
//     Pod's inbox.
//   - Statuses are written with upstream's PatchPodStatus, conditions are made by
//     upstream's pkg/kubelet/status, and event reasons are those of
//     pkg/kubelet/events.
//   - Of its node and its cluster a Pod changes nothing but by Kubelet and by functions
//     of Cluster, whose owners guard what they change.
//   - The order of locks is that of package node: Pod.mu, then those of Kubelet and of
//     Cluster's functions, and volumes.mu, then Pod.inbox.
package lifecycle
