// Package core is the Kubernetes API server as a value: the packages that make
// up kube-apiserver, assembled in one process over a store that may live in
// memory, with the controllers without which an API server is not usable.
//
//	         Engine.Handler                         Engine.RESTConfig
//	               |                                       |
//	               v                                       v
//	 +---------------------------+   in-process    +---------------+
//	 | kube-aggregator           | <-------------- | controllers,  |
//	 |  +---------------------+  |   RoundTripper  | informers,    |
//	 |  | kube-apiserver      |  |                 | post-start    |
//	 |  |  +---------------+  |  |                 | hooks         |
//	 |  |  | apiextensions |  |  |                 +---------------+
//	 |  |  +---------------+  |  |
//	 |  +---------------------+  |
//	 +-------------+-------------+
//	               | etcd3 store, watch cache (upstream)
//	               v
//	core/etcd (in this process)  or  a real etcd
//
// # Use
//
// New starts an engine, Engine.Ready waits until it serves, and Engine.Close ends
// it. Clients in the same process use Engine.RESTConfig; Engine.Handler serves
// everybody else, behind any HTTP server. The zero Config is an API server in
// memory without nodes. The examples are programs.
//
// A module that imports core needs no replace directives. Build it with
// -tags grpcnotrace: without the tag, a template engine of golang.org/x/net/trace
// keeps the linker from dropping unused methods.
//
// # For a host that copies the program
//
// A page resumes an engine from a copy of another engine's memory, and goes on from
// what an earlier engine has kept. Package resume is for that, by Config.Resume and
// Engine.ResumePoint. Programs that start engines in the usual way need none of it.
//
// # A cluster as a file
//
// Engine.Cluster saves the cluster as a bundle, and Config.Open has New begin with one:
// package cluster.
//
// # What belongs to the process
//
// Several engines can run in one process. They share what upstream keeps in
// variables of the process; process_test.go lists the variables that core itself
// changes:
//
//   - Feature gates and the emulated version. New fails with ErrOtherGates when an
//     engine that is open has others.
//   - Prometheus registries, the log (klog), the capabilities of Pods, and the random
//     generator of names, to which package resume gives new state.
//   - The variable from which upstream's storage takes its etcd client. New
//     replaces it once. Addresses that are not an engine's go to the client that
//     was there before (store.go).
//   - The provider of metrics of work queues. New leaves it alone; QuietWorkQueues
//     replaces it, for programs that want to be at rest when their engine is.
//     Work queues that are made afterwards set two of their gauges only when an
//     engine's /metrics is read.
//
// # Invariants
//
//   - Behaviour that exists upstream is linked, not written again. This package has
//     the assembly of the servers, and two things that upstream does too slowly for
//     a quick start: hooks that wait a second (poststart.go), and OpenAPI documents
//     that no client has asked for yet (openapi.go).
//   - core knows Kubernetes, and no browsers, sockets, flags or files. Those belong
//     to the packages wasm and server, which import core (imports_test.go).
//   - Close ends every goroutine that New started.
package core
