// Package node is the cluster's nodes: Node objects with their heartbeats, and a simulated
// kubelet for each, which takes a Pod through the states that a real kubelet reports. No
// container runs: the package core/internal/node/container simulates it from the Pod's own command,
// image, volumes and probes.
//
//	informers (Pods, Nodes, ConfigMaps, Secrets, Services, EndpointSlices, PVCs)
//	    |
//	    v
//	 queue of Pods --> workers --> lifecycle.Pod.Sync: one step forward --> API server
//	    ^                            |          |
//	    +-- lifecycle.Cluster <------+          +--> lifecycle.Node: the kubelet's
//	        (exits, timers, events)                  addresses, images, admission
//
//	 API server --> Dialer --> HTTPS in memory --> core/internal/node/kubeletapi --> logs, exec, ...
//	                                           --> Pods, statistics, metrics of a kubelet
//
// The life of a Pod is core/internal/node/lifecycle: this package has the queue and what a node
// has of its own. Addresses, names and connections are those of core/internal/node/network.
//
// Invariants:
//
//   - The queue runs a Pod's Sync once at a time. The package comment of
//     core/internal/node/lifecycle has the invariants of a Pod.
//   - Idle, there are heartbeats and nothing else.
//   - Everything ends with the context of Run.
//   - A goroutine that holds a lock takes only locks to the right of it in this
//     list: Pod.mu, then one of Nodes.mu, kubelet.state and volumes.mu, then
//     Pod.inbox. Pod's and volumes' are in core/internal/node/lifecycle, which takes the
//     two others by functions of lifecycle.Node and lifecycle.Cluster alone.
//     Their type is of core/internal/node/locks, which checks the order in tests.
//     Requests to the API server are made with none of Nodes.mu, kubelet.state and
//     Pod.inbox held.
//
// # What differs from a real kubelet
//
//   - Commands are those of core/internal/node/container, not the image's programs. The
//     server of an unknown image answers HTTP on the ports that its container
//     declares. If it declares none, it does on those of $PORT, of probes, of Services
//     and of who forwards. Images exist unless their name says otherwise.
//   - ConfigMaps and Secrets in volumes change at once, where a kubelet takes up
//     to a minute. A container that waits for one starts as soon as it is there.
//   - A back-off is reported when it begins, not again at each sync.
//   - CPU and memory are limited for programs alone that are there to use them, such as
//     stress: they are in the usage, which is made up otherwise, and a container over its
//     memory limit is OOMKilled. OOMKilled and evictions for lack of memory happen as well
//     when an annotation asks for them (lifecycle/annotations.go). Files are counted: limits of ephemeral storage and of emptyDir
//     volumes are those of upstream's eviction manager, with the logs of containers
//     (lifecycle/storage.go). Volumes in memory are full at the size that a kubelet gives
//     them, and what a container writes there counts as its memory, but for files that are moved there.
//   - /metrics has a kubelet's counts of Pods, containers and evictions and the sizes of logs and
//     of volumes of claims, /metrics/cadvisor limits, CPU, memory and files (scrape.go). Upstream's metrics of a
//     kubelet's own work, and those that need a kernel, are not there.
//   - The files of all nodes together are limited to what the process can hold
//     (Config.Storage), whatever the nodes report, because Pods may request what the
//     documentation of Kubernetes does. The write that does not fit fails. When a tenth
//     is left, df and the statistics tell of that as what is available, and the node
//     whose Pods take the most comes under disk pressure and evicts (disk_pressure.go). Pods
//     that would free next to nothing are not evicted, a kubelet under pressure admits Pods, and
//     there are no thresholds of inodes.
//   - Seccomp and the like are accepted and have no effect.
//     Users and groups count for files alone. Containers speak HTTP and HTTPS with each other, and
//     what nc says to servers of lines and datagrams; TCP ports can be probed.
//   - A change of resources is given to a container at once, without the
//     conditions and events of a resize.
//   - Static Pods, device plugins, dynamic resources, image volumes' contents,
//     checkpoints, critical Pods that preempt others, graceful node shutdown and
//     garbage collection of images do not exist.
//   - A Pod needs the ConfigMap kube-root-ca.crt like any other: an engine with
//     nodes needs a RootCA.
package node
