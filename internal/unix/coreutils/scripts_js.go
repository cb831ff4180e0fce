//go:build resumable

package coreutils

import (
	"runtime"
	_ "unsafe" // for linkname
)

// starts is wasm/patch's addition to runtime/lock_js.go. A profile of all goroutines, which scripts asks for natively, keeps the
// only thread there is from everything else for 50 ms.
//
//go:linkname starts runtime.kubetabStarts
func starts(pcs []uintptr) int

// scripts returns how many goroutines the interpreter has started. is reports whether a function is the interpreter's.
func scripts(is func(pc uintptr) bool) int {
	pcs := make([]uintptr, runtime.NumGoroutine()+100)
	n := starts(pcs)
	for n > len(pcs) {
		pcs = make([]uintptr, n+n/8)
		n = starts(pcs)
	}
	found := 0
	for _, pc := range pcs[:n] {
		if is(pc) {
			found++
		}
	}
	return found
}
