//go:build tools

// Package conformance names the tests for go.mod: run.mjs builds and runs them.
package conformance

import _ "k8s.io/kubernetes/test/e2e"
