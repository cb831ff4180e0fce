//go:build !resumable

package boundary

import "runtime"

// Resumable is false because Go is one that wasm/patch has no changes for.
const Resumable = false

// Reseed is never called: the module does not export what resuming it would take.
func Reseed() {}

// Tighten does nothing.
func Tighten(tight bool) {}

func scrub() { runtime.GC() }
