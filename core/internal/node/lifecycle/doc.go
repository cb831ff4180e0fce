// Package lifecycle is the life of a Pod on its node, as a kubelet reports it: admission, volumes, the Pod's network,
// images, init containers, sidecars, probes, restarts, and the end. No container runs: the package core/internal/node/container
// simulates it. The queue of Pods, the node's figures and the API server's way to the kubelets are package node's.
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
//   - A Pod has no goroutine. It waits by one timer of the engine's clock, and
//     each event puts it into the queue. Running scripts, hooks and commands of
//     probes have a goroutine each, by Cluster.Go.
//   - Only Sync changes a Pod's state, and the queue runs it once at a time.
//     Events from elsewhere (a process that exits, a probe that ends) go to the
//     Pod's inbox.
//   - Statuses are written with upstream's PatchPodStatus, conditions are made by
//     upstream's pkg/kubelet/status, and event reasons are those of
//     pkg/kubelet/events.
//   - A Pod changes its node and its cluster only through Kubelet and the functions of
//     Cluster, whose owners guard their state.
//   - The order of locks is that of core/internal/node/locks: Pod.mu, then those of Kubelet and of
//     Cluster's functions, and volumes.mu, then Pod.inbox.
package lifecycle
