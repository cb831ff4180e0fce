// Package node is the cluster's nodes: Node objects with their heartbeats, and
// a simulated kubelet for each, which takes a Pod through what a real one
// reports. No container runs; what one would do is played by the package
// core/node/container from the Pod's own command, image, volumes and probes.
//
//	informers (Pods, Nodes, ConfigMaps, Secrets, Services, EndpointSlices, PVCs)
//	    |
//	    v
//	 queue of Pods --> workers --> pod.sync(): one step forward, level by level
//	    ^                            |  status patches, events, deletion
//	    |                            v
//	 exits, probe results,       container.Container (a script or a server)
//	 one timer for each Pod          ^
//	                                 |  logs, exec, attach, port-forward
//	 API server --> Dialer --> HTTPS in memory --> kubelet API
//
// Invariants:
//
//   - A Pod has no goroutine. What it waits for is in its timer, which is of the
//     engine's clock, and whatever happens puts it into the queue. Scripts that
//     run have one.
//   - Only sync changes a Pod's state, and the queue runs it once at a time. What
//     happens elsewhere (a process that exits, a probe that ends) is left in the
//     Pod's inbox.
//   - Statuses are written with upstream's PatchPodStatus, conditions are made by
//     upstream's pkg/kubelet/status, and event reasons are those of
//     pkg/kubelet/events.
//   - Idle, there are heartbeats and nothing else.
//   - Everything ends with the context of Run.
package node
