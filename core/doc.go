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
// It knows Kubernetes. It knows nothing of browsers, sockets, flags or files:
// those belong to the packages wasm and server, which hand it a Config and
// serve its Handler. A test holds the arrows to that direction.
//
// Invariants:
//
//   - Behaviour that exists upstream is linked, not written again. What is
//     written here is assembly, and the two places where upstream waits for
//     wall-clock time at start (hooks.go) or computes what nobody has asked for
//     yet (openapi.go).
//   - An Engine has no package-level state of its own: two engines in one
//     process work. Upstream has such state, and it bites in three places:
//     feature gates and the emulated version are one per process (globals.go),
//     Prometheus registries are shared, and so is klog.
//   - Close ends every goroutine that New started.
package core
