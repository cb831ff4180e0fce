//go:build !resumable

package coreutils

import (
	"runtime"
	"slices"
)

// scripts returns how many goroutines have a function of the interpreter's on their stack. is reports whether a function is.
func scripts(is func(pc uintptr) bool) int {
	records := make([]runtime.StackRecord, runtime.NumGoroutine()+100)
	n, ok := runtime.GoroutineProfile(records)
	for !ok {
		records = make([]runtime.StackRecord, n+n/8)
		n, ok = runtime.GoroutineProfile(records)
	}
	found := 0
	for i := range records[:n] {
		if slices.ContainsFunc(records[i].Stack(), is) {
			found++
		}
	}
	return found
}
