// Package network is the network of a cluster, in memory: addresses, the names that the cluster's DNS knows, Services in front of
// their endpoints, and the connections on which the API server reaches kubelets and Pods. No packet is sent. Requests are
// HTTP; those with TLS are checked as a handshake would, and only the API server's are encrypted. Other protocols can only be dialled. NetworkPolicies apply as with a CNI plugin that drops what they do not allow.
//
//	container, probe ──▶ View ──▶ Lookup ──▶ Service ──▶ EndpointSlice ──▶ Network.Listening ──▶ a handler
//	                       │                     └────▶ NetworkPolicies
//	                       └─────▶ the API server (Network.API)
//	API server ──▶ Listener.DialAddress ──▶ an http.Server of package node, which asks DialledAddress
package network
