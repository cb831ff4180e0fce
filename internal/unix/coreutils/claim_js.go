//go:build resumable

package coreutils

import _ "unsafe"

// setLimit is wasm/patch's addition to the runtime: see runtime/malloc.go in its list.
//
//go:linkname setLimit runtime.kubetabLimit
func setLimit(most uint64, ask func(size uintptr) bool)

func init() {
	ask := process.ask
	process.limit = func(most uint64) { setLimit(most, ask) }
}
