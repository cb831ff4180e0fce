//go:build resumable

package boundary

import _ "unsafe" // for go:linkname

// All are wasm/patch's additions to the runtime: see runtime/rand.go in its list. The build tag says that they are there.

// Reseed gives Go's random generators new randomness.
//
//go:linkname Reseed runtime.kubetabReseed
func Reseed()

// Tighten has goroutines keep no more stack than they need, from one collection to the next. Those that run have to take
// more again each time: it is for a program that will be frozen.
//
//go:linkname Tighten runtime.kubetabTighten
func Tighten(tight bool)

// scrub collects garbage and zeroes the memory that nothing refers to, so that a picture of it compresses well.
//
//go:linkname scrub runtime.kubetabScrub
func scrub()
