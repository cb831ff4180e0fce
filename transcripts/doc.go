// Package transcripts runs HTTP transcripts against a Kubernetes API server and compares what it answers with
// what the transcript says.
//
// A transcript is a text file that tells one behaviour of the API as a short story of requests and answers.
// The answers in testdata/ were recorded from a real kube-apiserver v1.37: they are the truth that Kubetab,
// built natively or for a browser, is measured against. The package knows HTTP and the encodings of the API;
// it links no part of the server, so that only the wire connects the two.
//
//	# One sentence on the behaviour.
//	# Follows: the text that promises it.
//	namespaces 1
//
//	=== a title, which says what is to be seen
//	@capture rv1 metadata.resourceVersion
//	POST /api/v1/namespaces/${ns}/configmaps
//	Accept: application/json
//
//	apiVersion: v1
//	kind: ConfigMap
//	metadata: {name: a}
//	----
//	201 Created
//	Content-Type: application/json
//
//	apiVersion: v1
//	...
//
// README.md describes every directive and setting.
//
// Invariants:
//   - a transcript owns what it touches: namespaces and names are fresh in every run, so that all of them run at
//     once, and again on the same server;
//   - an answer is shown without the values that differ between any two servers (uid, time, revision, address),
//     and with everything else;
//   - nothing sleeps: a step that depends on somebody else repeats until its condition holds or its deadline passes.
package transcripts
