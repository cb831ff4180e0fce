//go:build resumable

package absent

import "unsafe"

// resumable says that the program's runtime has wasm/patch's additions. Without them a module is not cut.
const resumable = true

// setLabel is what runtime/pprof calls: new goroutines have the label of the one that starts them.
//
//go:linkname setLabel runtime/pprof.runtime_setProfLabel
func setLabel(label unsafe.Pointer)

// label is the other half of setLabel.
//
//go:linkname label runtime/pprof.runtime_getProfLabel
func label() unsafe.Pointer

// These are wasm/patch's additions to the runtime: see runtime/preempt.go and runtime/lock_js.go in its list.

//go:linkname arrived runtime.kubetabArrived
func arrived()

//go:linkname endLabelled runtime.kubetabEnd
func endLabelled(label unsafe.Pointer)

//go:linkname waiting runtime.kubetabWaiting
func waiting(labels []unsafe.Pointer) int
