// Package server is the outside of the native Kubetab: listeners, TLS, the kubeconfig, the keys that live in a data
// directory, and the files of the playground page. It is not the engine: it serves any [http.Handler], and links client-go
// but nothing of Kubernetes' servers (imports_test.go). Of core it imports what a client of an engine needs: people.All,
// whose contexts its kubeconfig has, and the names and formats of bundles and manifests. server/cmd/kubetab puts the
// engine behind it.
//
//	           kubetab serve
//	  :6443 TLS, HTTP/2        :8080 plain HTTP
//	        |                       |
//	Drain (ends watches)      Site (files of the page;
//	        |                  /api answers a Status 404)
//	 the engine's handler
//	        |
//	 core/etcd in DIR, in memory, or a real etcd
//
// Invariants:
//   - a file with a secret in it has mode 0600 and appears whole or not at all;
//   - a kubeconfig that Kubetab did not write is never overwritten;
//   - on shutdown the end of a watch is the end of its response, never a reset connection.
package server
