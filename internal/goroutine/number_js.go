//go:build resumable

package goroutine

import _ "unsafe" // for linkname

// These are wasm/patch's additions to runtime/lock_js.go: a stack trace needs the names of functions, for which a page would wait.

//go:linkname number runtime.kubetabGoroutine
func number() uint64

//go:linkname parent runtime.kubetabParentGoroutine
func parent() uint64
