//go:build resumable

package bash

// libraryRecovers says that the goroutines of the interpreter recover by themselves: wasm/patch has them do so (interp/runner.go
// in its list).
const libraryRecovers = true
